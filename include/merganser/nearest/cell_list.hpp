#pragma once
/// Parcels of one rank sorted by cells of a search grid, and the exact nearest-neighbour search among them.
///
/// The search grid is not the physical grid: it is cut so that a cell holds a few parcels, whatever the physical cells
/// hold. Within a cell small parcels come first. Rows of cells are contiguous along x, so a block of 2x2x2 cells is four
/// runs of memory. Where parcels crowd, the cells are cut over the part of the region that holds any, and cells
/// that are crowded nevertheless are searched by trees.
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "merganser/links/links.hpp"
#include "merganser/nearest/point_set.hpp"

namespace merganser::nearest {

/// The part of the box that a rank owns. A face is a wall if nothing lies beyond it.
struct Region {
  Vec3 lower;
  Vec3 upper;
  std::array<bool, 3> wall_lower{};
  std::array<bool, 3> wall_upper{};
};

/// Nearest candidate found so far. Candidates of one parcel compare by (distance2, id): the same as by links::Key.
struct Best {
  double distance2 = std::numeric_limits<double>::infinity();
  std::int64_t id = 0;
  std::uint32_t vertex = links::kNone;  ///< kNone: not one of this rank's parcels
};

/// Size of the search cells: about a dozen parcels balance visits to empty space against candidates (measured).
inline constexpr double kParcelsPerCell = 12;

class BestSoFar;
class CrowdedTrees;
struct BlockSearch;

/// Sorted parcels of one rank. A vertex is a position in the sorted order.
class CellList {
 public:
  CellList(const Box& box, const Region& region);
  CellList(CellList&&) noexcept;
  CellList& operator=(CellList&&) noexcept;
  ~CellList();

  /// How to cut the region: `parcels_per_cell` parcels per cube-like cell; or the given cells (search rule cells8).
  struct Cut {
    double parcels_per_cell = kParcelsPerCell;
    std::array<std::int64_t, 3> cells{0, 0, 0};  ///< not 0: exactly these, cut by ...
    const Grid* grid = nullptr;                  ///< ... the canonical cells of this grid, ...
    std::array<std::int64_t, 3> first{0, 0, 0};  ///< ... starting with this one
  };

  /// Counts the points per cell and the small ones. Cheap: reads the positions once, or three times if they crowd.
  /// @return number of small points
  /// @throws InputError for a point outside the region, naming it and its coordinates; Unwrapped instead, and where a point is
  /// not in the box on a periodic axis, for points that are wrapped on demand
  std::int64_t bin(const PointSet& points, const Cut& cut);
  /// Sorts the parcels by cells. Writes sorted sites to `sorted` (n sites); `scratch` (scratch_bytes(n)) is used until
  /// the search is done.
  /// Cost: O(n); O(m log m) time and 6 to 12 bytes of memory each for m parcels in cells with more than 64 of a kind.
  void sort(const PointSet& points, Site* sorted, std::byte* scratch);
  /// Bytes that sort() needs for n parcels.
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t n) {
    return 3 * (n + kPadding) * sizeof(float) + 2 * n * sizeof(std::uint32_t);
  }

  /// A small parcel whose nearest neighbour is not certain from the block around it: `best` is the nearest known.
  struct Open {
    std::uint32_t vertex;
    Best best;
  };
  /// Nearest other parcel of every small parcel: target[v] for those that are certain; the rest are returned, completed as far
  /// as this rank's own parcels and their periodic images go. target[v] = kNone for parcels that are not small.
  /// @param ids  global ids by vertex
  /// Cost: O(n log n) wherever the parcels are.
  std::vector<Open> search_exact(std::vector<std::uint32_t>& target, const links::Ids& ids);

  /// A point to search around, in canonical coordinates, anywhere in the box.
  struct Query {
    Vec3 point;
    std::uint32_t self = links::kNone;  ///< the vertex it is, if it is one of this rank's
  };
  /// Improves `best`: the exact nearest among this rank's parcels, if nearer than `best`.
  void nearest(const Query& query, const links::Ids& ids, Best& best) const;

  /// The published rule: candidates in this rank's cells among the 8 around the nearest node of the grid given to bin().
  void nearest_cells8(const Query& query, const links::Ids& ids, Best& best) const;

  /// Parcels in the list.
  [[nodiscard]] std::size_t size() const noexcept { return n_; }
  /// Whether a vertex is a small point.
  [[nodiscard]] bool is_small(std::uint32_t vertex) const { return (key_[order_[vertex]] & 1U) == 0; }
  /// Sites by vertex, as sort() wrote them.
  [[nodiscard]] const Site* sites() const noexcept { return sorted_; }
  /// Container position of a vertex.
  [[nodiscard]] const std::uint32_t* order() const noexcept { return order_.data(); }
  /// Number of search cells.
  [[nodiscard]] std::int64_t cell_count() const noexcept { return cells_[0] * cells_[1] * cells_[2]; }
  /// Small parcels of a cell are the vertices start(2c) .. start(2c+1), the others start(2c+1) .. start(2c+2).
  [[nodiscard]] std::uint32_t start(std::size_t half_cell) const { return start_[half_cell]; }
  /// As given.
  [[nodiscard]] const Region& region() const noexcept { return region_; }

  /// Name of the vector target that search_exact uses on this CPU.
  [[nodiscard]] static const char* vector_target();

 private:
  static constexpr std::size_t kPadding = 64;
  void choose_cells(double parcels_per_cell);
  void measure_cells();
  struct Census {
    std::int64_t small = 0;
    std::size_t crowded = 0;  // parcels in cells with more than `crowd`
    std::uint32_t most = 0;   // parcels of one half-cell
  };
  [[nodiscard]] Census count(const PointSet& points, std::uint32_t crowd);
  [[nodiscard]] bool narrow_to(const PointSet& points);
  void grow_trees(const PointSet& points);
  void list_by_node();
  [[nodiscard]] bool fit(BlockSearch& block) const;
  [[nodiscard]] bool is_final(const Vec3& p, double distance2) const;
  [[nodiscard]] std::int64_t cell_on_axis(int axis, double x) const;
  [[nodiscard]] double gap(int axis, double x, std::int64_t first, std::int64_t last) const;
  void look(BestSoFar& best_so_far) const;
  void scan_ball(const Vec3& image, BestSoFar& best_so_far) const;
  struct CellBox;
  void scan_box(const CellBox& box, const Vec3& image, BestSoFar& best_so_far) const;
  struct Row;
  void scan_row(const Row& row, const Vec3& image, BestSoFar& best_so_far) const;
  void scan_cells(const Row& row, const Vec3* image, BestSoFar& best_so_far) const;
  void scan_run(std::uint32_t begin, std::uint32_t end, const Vec3* image, BestSoFar& best_so_far) const;

  Box box_;
  Region region_;
  double slack_ = 0;  // rounding of coordinates, absolute
  Vec3 lower_;        // of the cells: the region, or the part of it that holds parcels
  Vec3 upper_;
  std::array<std::int64_t, 3> cells_{1, 1, 1};
  Vec3 width_{};  // of a cell
  Vec3 inverse_width_{};
  Grid grid_;  // cells8: the physical grid
  std::array<std::int64_t, 3> first_{};
  bool canonical_ = false;
  std::size_t n_ = 0;
  std::uint32_t most_ = 0;          // parcels of one half-cell
  std::vector<std::uint32_t> key_;  // half-cell of a parcel, by container position
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> start_;
  Site* sorted_ = nullptr;
  float* filter_ = nullptr;           // scratch: coordinates of the filter, ...
  std::uint32_t* by_node_ = nullptr;  // ... small parcels listed under their nearest node
  std::vector<std::uint32_t> node_start_;
  double scale_ = 1;
  std::unique_ptr<CrowdedTrees> trees_;  // of the crowded cells; null if there are none
};

}  // namespace merganser::nearest
