// Removal of sent parcels from a rank's container.
#include "src/cluster/remove_parcels.hpp"

#include <cstddef>
#include <cstring>

namespace merganser::cluster {

// Compaction of this rank's container, sites and payload rows, after parcels were sent to their owners.
void remove_parcels(Parcels& parcels, const std::vector<std::uint8_t>& gone) {
  const std::size_t row_bytes = parcels.schema().width() * sizeof(double);
  std::size_t j = 0;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (gone[i]) continue;
    if (i != j) {
      parcels.site(j) = parcels.site(i);
      std::memcpy(parcels.row(j), parcels.row(i), row_bytes);
    }
    ++j;
  }
  parcels.resize(j);
}

}  // namespace merganser::cluster
