// Serialization of parcels to messages by copies of site and payload row.
#include "merganser/parcels/packed.hpp"

#include <cstring>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser {

void append_parcel(std::vector<std::byte>& message, const Site& site, const double* row, std::size_t width) {
  const std::size_t at = message.size();
  message.resize(at + sizeof site + width * sizeof(double));
  std::memcpy(message.data() + at, &site, sizeof site);
  std::memcpy(message.data() + at + sizeof site, row, width * sizeof(double));
}

// Appends the parcels of a message to a container, without a check of their contents.
void append_parcels(std::span<const std::byte> message, Parcels& parcels) {
  const std::size_t bytes = parcels.parcel_bytes();
  if (message.size() % bytes != 0)
    throw CommError("a message of " + std::to_string(message.size()) + " bytes is no number of parcels of " +
                    std::to_string(bytes) + " bytes");
  std::size_t i = parcels.size();
  parcels.resize(i + message.size() / bytes);
  for (; !message.empty(); message = message.subspan(bytes), ++i) {
    std::memcpy(&parcels.site(i), message.data(), sizeof(Site));
    std::memcpy(parcels.row(i), message.data() + sizeof(Site), bytes - sizeof(Site));
  }
}

}  // namespace merganser
