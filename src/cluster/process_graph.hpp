#pragma once
/// Whom each rank may ask, and how far it sees.
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/nearest/point_set.hpp"

namespace merganser::cluster {

/// Up to this many ranks everybody is a neighbour of everybody: as many arcs as a block has neighbours in 3D.
inline constexpr int kSmallWorld = 27;

/// Another number than kSmallWorld for what this process makes meanwhile. For tests: few ranks then ask those that touch
/// only, as many do. Every process alike; not to be nested.
class SmallWorld {
 public:
  explicit SmallWorld(int ranks);
  ~SmallWorld();
  SmallWorld(const SmallWorld&) = delete;
  SmallWorld& operator=(const SmallWorld&) = delete;
};

/// The symmetric graph of a decomposition: everybody up to kSmallWorld ranks, above that the ranks whose blocks touch,
/// or lie within twice the largest gap between parcels. Any rank can tell the arcs of any other.
class ProcessGraph {
 public:
  /// Collective. Keeps a reference to the decomposition. @param sample  points spread like those to come; null: blocks that touch
  ProcessGraph(comm::Transport& t, const Decomposition& d, const nearest::PointSet* sample);

  /// Ranks that `rank` may ask, without itself, ascending. Cost: O(ranks) where a sample was given.
  [[nodiscard]] std::vector<int> of(int rank) const;
  /// How far this rank sees: no point of a rank that it may not ask is nearer, squared.
  [[nodiscard]] double sight2() const { return sight2_; }
  /// The least distance that any rank sees; infinite if every rank may ask every other.
  [[nodiscard]] double least_sight() const { return least_sight_; }

 private:
  const Decomposition& decomposition_;
  bool everybody_;
  double distance_ = 0;  // 0: blocks that touch
  double sight2_;
  double least_sight_;
};

}  // namespace merganser::cluster
