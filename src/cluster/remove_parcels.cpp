// Removal of sent parcels from a rank's container.
#include "src/cluster/remove_parcels.hpp"

#include <cstddef>
#include <cstring>

namespace merganser::cluster {

// Compaction of this rank's container, sites and payload rows, after parcels were sent to their owners.
void remove_parcels(Parcels& parcels, const std::vector<std::uint8_t>& gone) {
  const std::size_t row_bytes = parcels.schema().width() * sizeof(double);
  const std::size_t n = gone.size();
  std::size_t kept = 0;
  for (std::size_t begin = 0; begin < n;) {
    if (gone[begin] != 0) {
      ++begin;
      continue;
    }
    std::size_t end = begin + 1;
    while (end < n && gone[end] == 0) ++end;
    if (begin != kept) {
      std::memmove(&parcels.site(kept), &parcels.site(begin), (end - begin) * sizeof(Site));
      std::memmove(parcels.row(kept), parcels.row(begin), (end - begin) * row_bytes);
    }
    kept += end - begin;
    begin = end;
  }
  parcels.resize(kept);
}

}  // namespace merganser::cluster
