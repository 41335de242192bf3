#pragma once
/// Search for joints of places among points that are all on this rank, with a tree of boxes or, in many dimensions, over all points.
#include <memory>
#include <span>
#include <vector>

#include "src/msf/euclidean/fitted.hpp"

namespace merganser::msf::euclidean {

/// Metric of points, with periods by axis that is compared, for place searches.
struct PlaceMetric {
  std::size_t axes = 0;         ///< coordinates that are compared
  Norm norm = Norm::squares;    ///< norm by which distances compare
  bool sphere = false;          ///< points lie on the unit sphere
  double divisor = 0;           ///< above 0: distances are compared values divided by it (Metric::divisor)
  std::vector<double> periods;  ///< by axis: its period; infinite: not periodic
};

/// Joint of a place, and what lies nearest to it.
struct PlaceJoint {
  Joint joint;           ///< edge of least mutual reachability
  bool touches = false;  ///< the distance to a point of the set is 0
};

/// Points of one rank, prepared for the search of joints. Queries are local and may run concurrently.
class PlaceSearch {
 public:
  virtual ~PlaceSearch() = default;
  /// Returns the joint of a place, given as its canonical coordinates: that of join_points(). @param row  work space
  [[nodiscard]] virtual PlaceJoint join(const double* place, std::vector<Near>& row) const = 0;
  /// Returns a number by which places that are near each other have near numbers, for queries in that order.
  [[nodiscard]] virtual std::uint32_t region(const double* place) const = 0;
};

/// Builds the search over points, given as canonical coordinates by id, with their core distances by id; k is that of the core
/// distances. `places` and `cores` must outlive the search.
[[nodiscard]] std::unique_ptr<const PlaceSearch> make_place_search(const PlaceMetric& metric,
                                                                   std::span<const double> places,
                                                                   std::span<const double> cores, std::size_t k);

}  // namespace merganser::msf::euclidean
