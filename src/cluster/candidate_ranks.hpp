#pragma once
/// The candidate ranks of each rank, to which its search may send queries, and the search cutoff that follows.
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/nearest/point_set.hpp"

namespace merganser::cluster {

/// Up to this many ranks all ranks are candidates of each other: as many arcs as a block has neighbours in 3D.
inline constexpr int kSmallWorld = 27;

/// Replaces kSmallWorld, during its lifetime, for what this process makes. For tests: the candidates of few ranks are then
/// those whose blocks touch, as they are of many. The same on every process; not to be nested.
class SmallWorld {
 public:
  explicit SmallWorld(int ranks);
  ~SmallWorld();
  SmallWorld(const SmallWorld&) = delete;
  SmallWorld& operator=(const SmallWorld&) = delete;
};

/// The candidate ranks of a decomposition, a symmetric relation: all ranks up to kSmallWorld, above that the ranks whose
/// blocks touch, or lie within twice the largest gap between parcels. Any rank can compute those of any other.
class CandidateRanks {
 public:
  /// Collective. Keeps a reference to the decomposition. @param sample  points spread like those to come; null: blocks that touch
  CandidateRanks(comm::Transport& t, const Decomposition& d, const nearest::PointSet* sample);

  /// The candidate ranks of `rank`, without itself, ascending. Cost: O(ranks) where a sample was given.
  [[nodiscard]] std::vector<int> of(int rank) const;
  /// The search cutoff of this rank, squared: no point of a rank that is no candidate is nearer.
  [[nodiscard]] double cutoff2() const { return cutoff2_; }
  /// The least search cutoff of all ranks; infinite if all ranks are candidates of each other.
  [[nodiscard]] double min_cutoff() const { return min_cutoff_; }

 private:
  const Decomposition& decomposition_;
  bool all_ranks_;
  double distance_ = 0;  // 0: blocks that touch
  double cutoff2_;
  double min_cutoff_;
};

}  // namespace merganser::cluster
