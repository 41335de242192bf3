// Candidate ranks of the nearest-neighbour search, and the search cutoff within which they suffice.
#include "src/cluster/candidate_ranks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "src/cluster/distributed_search.hpp"

namespace merganser::cluster {
namespace {

std::atomic<int> small_world = kSmallWorld;  // largest number of ranks that are all candidates; tests replace it

}  // namespace

SmallWorld::SmallWorld(int ranks) { small_world = ranks; }
SmallWorld::~SmallWorld() { small_world = kSmallWorld; }

// Candidates of the nearest-neighbour search: their reach comes from the gaps of a sample, and the cutoff is the
// distance to the nearest block of a rank that is no candidate.
CandidateRanks::CandidateRanks(comm::Transport& t, const Decomposition& d, const nearest::PointSet* sample)
    : decomposition_(d),
      all_ranks_(d.ranks() <= small_world),
      cutoff2_(std::numeric_limits<double>::infinity()),
      min_cutoff_(cutoff2_) {
  if (all_ranks_) return;
  if (sample != nullptr) {
    double gap = largest_gap(*sample, d, t.rank());
    t.all_reduce({&gap, 1}, comm::Op::max);
    distance_ = 2 * gap;
  }
  const std::vector<int> candidates = compute(t.rank());
  for (int r = 0; r < d.ranks(); ++r)
    if (r != t.rank() && !std::binary_search(candidates.begin(), candidates.end(), r))
      cutoff2_ = std::min(cutoff2_, d.distance2_between(t.rank(), r));
  min_cutoff_ = std::sqrt(cutoff2_);
  t.all_reduce({&min_cutoff_, 1}, comm::Op::min);
}

std::vector<int> CandidateRanks::compute(int rank) const {
  if (!all_ranks_) return distance_ > 0 ? decomposition_.within(rank, distance_) : decomposition_.neighbours(rank);
  std::vector<int> others(static_cast<std::size_t>(decomposition_.ranks()));
  std::iota(others.begin(), others.end(), 0);
  others.erase(others.begin() + rank);
  return others;
}

}  // namespace merganser::cluster
