// Removal of parcels from a rank's container.
#include "src/cluster/remove_parcels.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace merganser::cluster {
namespace {

/// Moves the parcels that are not gone to the front, each by itself: where many are gone, which ones is as good as random, so they are
/// listed first, without branches. @return their number
std::size_t move_each(Parcels& parcels, const std::vector<std::uint8_t>& gone) {
  constexpr std::size_t kLot = 1024;
  const std::size_t width = parcels.schema().width();
  Site* const sites = &parcels.site(0);
  double* const rows = parcels.row(0);
  std::uint16_t staying[kLot + 1];
  std::size_t kept = 0;
  for (std::size_t begin = 0; begin < gone.size(); begin += kLot) {
    const std::size_t lot = std::min(kLot, gone.size() - begin);
    std::size_t count = 0;
    for (std::size_t i = 0; i < lot; ++i) {
      staying[count] = static_cast<std::uint16_t>(i);
      count += gone[begin + i] == 0;
    }
    for (std::size_t k = 0; k < count; ++k, ++kept) {
      const std::size_t i = begin + staying[k];
      sites[kept] = sites[i];
      std::memmove(rows + kept * width, rows + i * width, width * sizeof(double));
    }
  }
  return kept;
}

/// Moves the parcels that are not gone to the front, all between two that are gone together. @return their number
std::size_t move_runs(Parcels& parcels, const std::vector<std::uint8_t>& gone) {
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
  return kept;
}

}  // namespace

// Compaction of this rank's container, sites and payload rows, after parcels have merged or were sent to their owners.
void remove_parcels(Parcels& parcels, const std::vector<std::uint8_t>& gone) {
  constexpr std::size_t kMany = 8;  // parcels are gone if they are more than 1 of so many
  const std::size_t left = gone.size() - static_cast<std::size_t>(std::count(gone.begin(), gone.end(), 0));
  parcels.resize(left > gone.size() / kMany ? move_each(parcels, gone) : move_runs(parcels, gone));
}

}  // namespace merganser::cluster
