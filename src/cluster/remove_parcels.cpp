// Removal of sent parcels from a rank's container.
#include "src/cluster/remove_parcels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace merganser::cluster {

// Compaction of this rank's container, sites and payload rows, after parcels were sent to their owners or merged. Which are gone is as good
// as random, so those that stay are listed before they are copied, without branches.
void remove_parcels(Parcels& parcels, const std::vector<std::uint8_t>& gone) {
  constexpr std::size_t kLot = 1024;
  const std::size_t width = parcels.schema().width();
  const std::size_t n = gone.size();
  const auto first = std::find_if(gone.begin(), gone.end(), [](std::uint8_t g) { return g != 0; });
  if (first == gone.end()) return parcels.resize(n);
  auto kept = static_cast<std::size_t>(first - gone.begin());
  Site* const sites = &parcels.site(0);
  double* const rows = parcels.row(0);
  std::uint16_t staying[kLot + 1];
  for (std::size_t begin = kept; begin < n; begin += kLot) {
    const std::size_t lot = std::min(kLot, n - begin);
    std::size_t count = 0;
    for (std::size_t i = 0; i < lot; ++i) {
      staying[count] = static_cast<std::uint16_t>(i);
      count += gone[begin + i] == 0 ? 1 : 0;
    }
    for (std::size_t k = 0; k < count; ++k, ++kept) {
      const std::size_t i = begin + staying[k];
      sites[kept] = sites[i];
      std::memcpy(rows + kept * width, rows + i * width, width * sizeof(double));
    }
  }
  parcels.resize(kept);
}

}  // namespace merganser::cluster
