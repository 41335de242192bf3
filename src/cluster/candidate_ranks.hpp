#pragma once
/// Candidate ranks: those to which the search of a rank may send queries, and the search cutoff within which they
/// suffice.
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/nearest/point_set.hpp"

namespace merganser::cluster {

/// Largest number of ranks of which all are candidate ranks of each other in the nearest-neighbour search: a block in 3D has
/// at most as many arcs then as with touching blocks, 26.
inline constexpr int kSmallWorld = 27;

/// Scoped replacement of kSmallWorld, for tests: while it lives, CandidateRanks made by this process treat more than
/// `ranks` ranks as many, so that only ranks whose blocks touch are candidates. Every process must set the same number;
/// scopes must not be nested.
class SmallWorld {
 public:
  /// Replaces the number for CandidateRanks that this process makes from now on.
  explicit SmallWorld(int ranks);
  /// Restores kSmallWorld.
  ~SmallWorld();
  SmallWorld(const SmallWorld&) = delete;
  SmallWorld& operator=(const SmallWorld&) = delete;
};

/// Candidate ranks of a decomposition, the ranks to which a rank's search may send queries. The relation is symmetric.
/// Up to kSmallWorld ranks all are candidates of each other; with more, the ranks whose blocks touch or lie within
/// twice the largest gap between parcels. Any rank can compute the candidates of any other.
class CandidateRanks {
 public:
  /// Determines how far candidate ranks reach and the search cutoffs. Collective. Refers to the decomposition, which must
  /// outlive it. @param sample  points of this rank, distributed like those to come; null: blocks that touch
  CandidateRanks(comm::Transport& t, const Decomposition& d, const nearest::PointSet* sample);

  /// Returns the candidate ranks of `rank`, without itself, ascending. Local. Cost: O(ranks) where a sample was given.
  [[nodiscard]] std::vector<int> compute(int rank) const;
  /// Returns the search cutoff of this rank, squared, in units of the box: no point of a rank that is no candidate is nearer.
  [[nodiscard]] double cutoff2() const { return cutoff2_; }
  /// Returns the least search cutoff of all ranks, in units of the box; infinite if all ranks are candidates of each other.
  [[nodiscard]] double min_cutoff() const { return min_cutoff_; }

 private:
  const Decomposition& decomposition_;
  bool all_ranks_;       ///< all ranks are candidates of each other
  double distance_ = 0;  // largest distance between blocks of candidates; 0: blocks that touch
  double cutoff2_;
  double min_cutoff_;
};

}  // namespace merganser::cluster
