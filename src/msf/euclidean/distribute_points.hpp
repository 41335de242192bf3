#pragma once
/// Points checked, brought to canonical coordinates, and distributed to ranks by place.
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"
#include "src/msf/euclidean/point_tree.hpp"

namespace merganser::msf::euclidean {

/// Coordinates as they are compared: see PointSet.
[[nodiscard]] Vec3 canonical(const PointSet& points, std::size_t i);
[[nodiscard]] Metric metric_of(const PointSet& points);

/// Who owns a place: ranks halved again and again by planes, equal coordinates by the next axis.
class Owners {
 public:
  /// @param sample  of all points; the same on every rank
  Owners(std::vector<Vec3> sample, int ranks);
  [[nodiscard]] int owner(const Vec3& p) const;

 private:
  struct Cut {
    Vec3 at;
    std::size_t axis;
    int below;  ///< next cut for what lies below, -1 - rank: the owner
    int above;
  };
  int cut(Vec3* first, Vec3* last, int rank, int ranks);
  std::vector<Cut> cuts_;
  int only_ = -1;
};

class SurplusPoints;

struct DistributedPoints {
  std::vector<Item> items;
  std::uint64_t total = 0;  ///< points on all ranks
  bool surplus = false;     ///< some points may be surplus
  /// If asked for: ids of the points that came from each rank, in order, and where each of this rank's points went (-1:
  /// surplus).
  std::vector<std::vector<std::uint64_t>> came;
  std::vector<int> went;
};

/// Checks the points together. @return their number. Collective. @throws InputError on every rank
[[nodiscard]] std::uint64_t check(const PointSet& points, comm::Transport& transport);
/// The points of this rank's part of space; equal points are on one rank. Where many points of a sample are equal, all but
/// `fold` of equal points of a rank are surplus. Collective.
[[nodiscard]] DistributedPoints distribute_points(const PointSet& points, std::uint32_t fold,
                                                  comm::Transport& transport, SurplusPoints& surplus,
                                                  bool remember = false);

}  // namespace merganser::msf::euclidean
