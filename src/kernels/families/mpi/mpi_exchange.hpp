#pragma once
/// What the kernels over MPI share.
#include <mpi.h>

#include <limits>

#include "src/kernels/families/mpi/group.hpp"
#include "src/kernels/families/mpi/requests.hpp"
#include "src/kernels/families/support/exchange_base.hpp"

namespace merganser::kernels::detail {

inline constexpr std::size_t kMostMpiBytes = std::numeric_limits<int>::max();

[[nodiscard]] inline int mpi_count(std::size_t bytes) { return static_cast<int>(bytes); }  // the plan has checked it

/// In-neighbours, then out-neighbours: the ranks of Requests.
[[nodiscard]] inline std::vector<int> in_then_out(const comm::Graph& graph) {
  std::vector<int> ranks = graph.in;
  ranks.insert(ranks.end(), graph.out.begin(), graph.out.end());
  return ranks;
}

}  // namespace merganser::kernels::detail
