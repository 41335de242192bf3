#pragma once
/// Every edge of a graph against the forest's path between its ends.
#include <functional>
#include <optional>
#include <span>

#include "merganser/comm/transport.hpp"
#include "src/msf/verify/hierarchy.hpp"

namespace merganser::msf::detail {

struct Violation {
  Edge24 edge{0, 0, 0};
  Edge24 greatest{0, 0, 0};  ///< on the path between its ends
};

/// What this rank's edges show; the least edge that shows it.
struct PathFindings {
  std::optional<Edge24> between_trees;
  std::optional<Violation> too_small;
};

/// Edges of one rank: how many, and a copy of some of them.
struct EdgeSource {
  std::size_t size = 0;
  std::function<void(std::size_t first, std::span<Edge24> to)> read;
};

/// Lets the ends of every edge climb the hierarchy until they meet. Collective.
/// @param equal  called by every rank the same number of times with edges that equal the greatest one on their paths:
///               those of the forest that the graph has
/// @param done   called now and then with the share that is done
[[nodiscard]] PathFindings check_paths(const Hierarchy& hierarchy, const EdgeSource& edges, comm::Transport& transport,
                                       const std::function<void(std::span<const Edge24>)>& equal,
                                       const std::function<void(double)>& done);

}  // namespace merganser::msf::detail
