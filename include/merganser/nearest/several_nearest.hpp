#pragma once
/// Exact search of several nearest parcels of one point in a cell list. Local.
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "merganser/nearest/cell_list.hpp"

namespace merganser::nearest {

struct BlockSearch;

/// Parcel near another one.
struct Near {
  double distance2;      ///< squared canonical distance
  std::uint32_t vertex;  ///< vertex in the cell list
};

/// Coordinates of parcels beside their position. Distances are then those of position and these together: after the canonical squared
/// distance, the squares of their differences are added in order.
struct MoreAxes {
  const double* values = nullptr;  ///< `count` numbers of each vertex of the cell list, finite
  std::size_t count = 0;           ///< coordinates of a point; 0: position alone
};

/// Further conditions of a query of SeveralNearest.
struct NearConditions {
  double most2 = std::numeric_limits<double>::infinity();  ///< greatest squared distance of positions, inclusive
  const double* more = nullptr;  ///< coordinates of the query point beside its position, if parcels have such
  /// A squared distance within which there are as many parcels as are searched; infinite: unknown. It changes the time alone.
  double reach2 = std::numeric_limits<double>::infinity();
};

/// Search of a number of nearest parcels at once in a sorted cell list: most points find them within the 2x2x2 cells around their
/// nearest node of the search grid, the others in balls of growing radius. Cells that are crowded are scanned whole.
class SeveralNearest {
 public:
  /// Prepares searches. Refers to the cell list and the ids. Local.
  /// @param ids  global ids by vertex; lower ones win ties
  /// @param count  number of parcels that are searched, at least 1
  /// @param more  coordinates beside the position, which the search refers to
  SeveralNearest(const CellList& cells, const links::Ids& ids, std::size_t count, const MoreAxes& more = {});
  /// Finds the nearest parcels of a query point, anywhere in the box, that are less than a bound, by (distance2, id). Local.
  /// @param bound  a candidate without a vertex, that of another rank for example
  /// @param best  replaced by those found, as many as are searched, ascending; then copies of the bound
  /// @return false if it gave up, and `best` is as before: with more axes, where many positions are nearer than the parcels searched
  bool find(const CellList::Query& query, const Best& bound, std::span<Best> best,
            const NearConditions& conditions = {});
  /// Receiver of the nearest parcels of a small parcel, ascending by (distance2, id).
  using Take = std::function<void(std::uint32_t vertex, std::span<const Near> nearest)>;
  /// Finds the nearest parcels of every small parcel of the cell list, at most those within a distance. Most small parcels find them by a
  /// vectorised search of all that are near one node of the search grid, the others by find(). Uses the scratch memory of
  /// CellList::sort(). Local. @param most2  greatest squared distance of positions, inclusive; infinite: any
  /// @param take  called once for each small parcel but those returned, in no certain order, with as many as are searched or all there are
  /// @return with more axes, small parcels for which it gave up
  std::vector<std::uint32_t> find_all(double most2, const Take& take);
  /// Does what find_all() does for some small parcels. Local. @param vertices  these, each once
  std::vector<std::uint32_t> find_some(std::span<const std::uint32_t> vertices, double most2, const Take& take);
  /// Returns the number of parcels per cell of the search grid with which find_all() is fast. @param count  as for the constructor
  [[nodiscard]] static double parcels_per_cell(std::size_t count);

 private:
  class Sink;
  /// Cells that the search of a query point scans on one axis: those on both sides of the node (corner of cells) of the search grid
  /// that is nearest to the point.
  struct Layers {
    int count;
    std::size_t cell[2];
    double place[2];  // of the query point, or its image that is nearest to the layer
  };
  [[nodiscard]] std::vector<std::uint32_t> find_small(const std::span<const std::uint32_t>* vertices, double most2,
                                                      const Take& take);
  void write_more_filter(BlockSearch& block);
  [[nodiscard]] bool choose_layers(std::size_t axis, double& reach);
  [[nodiscard]] bool search_block();
  [[nodiscard]] bool search_ball(double radius);
  void scan_around(const Vec3& image, double radius);
  void scan_row(std::size_t first, std::size_t last, const Vec3& place, double error2);
  void insert(std::uint32_t v, double d2);
  void begin(double radius);
  [[nodiscard]] bool is_complete() const { return std::min(distance2_.back(), conditions_.most2) <= most2_; }
  [[nodiscard]] double error2_of(const Vec3& place) const;

  const CellList& cells_;
  links::Ids ids_;
  MoreAxes more_;
  double guess_ = 0;  // radius of a ball that holds about twice the parcels searched
  double far_ = 0;    // no two points of the box are that far from each other
  CellList::Query query_{};
  NearConditions conditions_;
  Best bound_;
  double most2_ = 0;             // greatest squared distance of the positions looked at
  std::array<bool, 3> wraps_{};  // by axis: the cells fill the period
  std::array<Layers, 3> layers_{};
  std::vector<std::uint32_t> node_start_;   // by node of the search grid: first of its small parcels
  std::vector<std::uint16_t> more_filter_;  // coordinates of the filter beside the position, by axis and vertex
  std::vector<double> distance2_;           // list of one query
  std::vector<std::uint32_t> vertex_;       // by entry; links::kNone: the bound
};

}  // namespace merganser::nearest
