#pragma once
/// Points checked, brought to canonical coordinates, and distributed to ranks by place.
#include <vector>

#include "merganser/comm/transport.hpp"
#include "merganser/msf/euclidean.hpp"
#include "src/msf/euclidean/point_tree.hpp"

namespace merganser::msf::euclidean {

/// A rank's points as they were given, with their numbers and the coordinates that are compared.
class Given {
 public:
  /// Checks the points together. Collective. @throws InputError on every rank
  Given(const PointSet& points, comm::Transport& transport);

  [[nodiscard]] std::size_t size() const { return points_.size(); }
  /// Points on all ranks.
  [[nodiscard]] std::uint64_t total() const { return total_; }
  [[nodiscard]] std::uint64_t id(std::size_t i) const { return points_.ids.empty() ? first_ + i : points_.ids[i]; }
  /// Coordinates as they are compared: see PointSet.
  [[nodiscard]] Vec3 at(std::size_t i) const;
  [[nodiscard]] Metric metric() const;

 private:
  void number(comm::Transport& transport);
  void check_values() const;
  void check_ids(comm::Transport& transport) const;

  const PointSet& points_;
  std::uint64_t total_ = 0;
  std::uint64_t first_ = 0;  ///< number of the first point where the caller gives none
};

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

/// The points of this rank's part of space; equal points are on one rank. Where many points of a sample are equal, all but
/// `fold` of equal points of a rank are surplus. Collective.
[[nodiscard]] DistributedPoints distribute_points(const Given& points, std::uint32_t fold, comm::Transport& transport,
                                                  SurplusPoints& surplus, bool remember = false);

}  // namespace merganser::msf::euclidean
