#include "src/cluster/process_graph.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/cluster/distributed_search.hpp"

namespace merganser::cluster {
namespace {

std::atomic<int> small_world = kSmallWorld;

}  // namespace

SmallWorld::SmallWorld(int ranks) { small_world = ranks; }
SmallWorld::~SmallWorld() { small_world = kSmallWorld; }

ProcessGraph::ProcessGraph(comm::Transport& t, const Decomposition& d, const nearest::PointSet* sample)
    : decomposition_(d),
      everybody_(d.ranks() <= small_world),
      sight2_(std::numeric_limits<double>::infinity()),
      least_sight_(sight2_) {
  if (everybody_) return;
  if (sample != nullptr) {
    double gap = largest_gap(*sample, d, t.rank());
    t.all_reduce({&gap, 1}, comm::Op::max);
    distance_ = 2 * gap;
  }
  const std::vector<int> askable = of(t.rank());
  for (int r = 0; r < d.ranks(); ++r)
    if (r != t.rank() && !std::binary_search(askable.begin(), askable.end(), r))
      sight2_ = std::min(sight2_, d.distance2_between(t.rank(), r));
  least_sight_ = std::sqrt(sight2_);
  t.all_reduce({&least_sight_, 1}, comm::Op::min);
}

std::vector<int> ProcessGraph::of(int rank) const {
  if (!everybody_) return distance_ > 0 ? decomposition_.within(rank, distance_) : decomposition_.neighbours(rank);
  std::vector<int> others(static_cast<std::size_t>(decomposition_.ranks()));
  std::iota(others.begin(), others.end(), 0);
  others.erase(others.begin() + rank);
  return others;
}

}  // namespace merganser::cluster
