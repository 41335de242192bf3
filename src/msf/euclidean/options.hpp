#pragma once
/// Options of searches among points, checked.
#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"

namespace merganser::msf::euclidean {

/// The same on all ranks and in their ranges. Collective. @throws UsageError on every rank
void check_together(const EuclideanOptions& options, comm::Transport& transport);

/// Most points in a leaf. Where boxes tell less, larger leaves leave fewer of them to look at.
inline std::uint32_t leaf_of(const EuclideanOptions& options, std::size_t axes) {
  if (options.leaf != 0) return static_cast<std::uint32_t>(options.leaf);
  if (axes <= 3) return 24;
  return axes <= 6 ? 48 : 64;
}

}  // namespace merganser::msf::euclidean
