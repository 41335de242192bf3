// Gathering of all ranks' points on rank 0, for reference computations over all pairs.
#include "src/msf/euclidean/sites.hpp"

#include <algorithm>

#include "merganser/comm/collectives.hpp"

namespace merganser::msf::euclidean {

// Gather of all points on rank 0, sorted by id.
Sites::Sites(const CheckedPoints& given, comm::Transport& transport, double alpha)
    : axes_(given.axes()),
      periods_(given.periods()),
      norm_(given.norm()),
      sphere_(given.sphere()),
      plain_(norm_ == Norm::squares && !sphere_ && !periodic()),
      divisor_(given.divisor()),
      stretch_(given.stretch(alpha)) {
  if (transport.size() == 1) {
    at_.resize(given.size() * axes_);
    for (std::size_t i = 0; i < given.size(); ++i)
      given.write_coordinates(i, at_.data() + static_cast<std::size_t>(given.id(i)) * axes_);
    return;
  }
  std::vector<std::uint64_t> ids(given.size());
  std::vector<double> mine(given.size() * axes_);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = given.id(i);
    given.write_coordinates(i, mine.data() + i * axes_);
  }
  const auto all_ids = comm::gather_to_first(transport, ids);
  const auto all = comm::gather_to_first(transport, mine);
  if (transport.rank() != 0) return;
  at_.resize(static_cast<std::size_t>(given.total()) * axes_);
  for (std::size_t r = 0; r < static_cast<std::size_t>(transport.size()); ++r)
    for (std::size_t i = 0; i < all_ids[r].size(); ++i)
      std::copy_n(all[r].begin() + static_cast<std::ptrdiff_t>(i * axes_), axes_,
                  at_.begin() + static_cast<std::ptrdiff_t>(all_ids[r][i] * axes_));
}

}  // namespace merganser::msf::euclidean
