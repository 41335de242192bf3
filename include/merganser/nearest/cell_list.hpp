#pragma once
/// Cell list (linked-cell grid) of the parcels of one rank, and the exact nearest-neighbour search in it. Local: no
/// communication.
///
/// The search grid is not the physical grid: it is cut so that a cell holds a few parcels, whatever the physical cells
/// hold. Within a cell small parcels come first. Rows of cells are contiguous along x, so a block of 2x2x2 cells is
/// four runs of memory. Where parcels crowd, only the part of the region that holds any is cut into cells, and cells
/// that are still crowded are searched by k-d trees.
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "merganser/links/links.hpp"
#include "merganser/nearest/point_set.hpp"

namespace merganser::nearest {

/// Box-shaped part of the domain that a rank owns and whose parcels are searched. A face is a wall if nothing lies beyond it.
struct Region {
  Vec3 lower;                        ///< lower corner of the region, in units of the box
  Vec3 upper;                        ///< upper corner of the region
  std::array<bool, 3> wall_lower{};  ///< by axis: the lower face is a wall
  std::array<bool, 3> wall_upper{};  ///< by axis: the upper face is a wall
};

/// Nearest candidate of one query point of a nearest-neighbour search so far. Candidates of one point compare by (distance2, id),
/// the same order as that of links::Key.
struct Best {
  double distance2 = std::numeric_limits<double>::infinity();  ///< squared distance; infinite: no candidate yet
  std::int64_t id = 0;                                         ///< global id of the candidate
  std::uint32_t vertex = links::kNone;  ///< vertex of the candidate on this rank; kNone: none, or on another rank
};

/// Mean number of parcels per search cell: about a dozen balance visits to empty space against candidates (measured).
inline constexpr double kParcelsPerCell = 12;

class BestSoFar;
class CrowdedTrees;
class SeveralNearest;
struct BlockSearch;

/// Cell list of the parcels or points of one rank, for nearest-neighbour search. bin() counts, sort() orders, then any number of
/// searches. A vertex is a position in the sorted order.
class CellList {
 public:
  /// Makes an empty cell list. @param region  block of this rank; its parcels must lie in it, up to rounding
  CellList(const Box& box, const Region& region);
  CellList(CellList&&) noexcept;
  CellList& operator=(CellList&&) noexcept;
  ~CellList();

  /// Parameters of the search grid: `parcels_per_cell` parcels per cube-like cell; or the given cells (search rule
  /// cells8).
  struct Cut {
    double parcels_per_cell = kParcelsPerCell;   ///< mean parcels per cell, > 0
    std::array<std::int64_t, 3> cells{0, 0, 0};  ///< number of cells by axis; 0: from parcels_per_cell
    const Grid* grid = nullptr;                  ///< with `cells`: grid of which they are the canonical cells
    std::array<std::int64_t, 3> first{0, 0, 0};  ///< with `cells`: the first of them in the grid, by axis
  };

  /// Counts the points per search cell and the small ones. Reads the positions once, or three times if they crowd.
  /// @return number of small points
  /// @throws InputError for a point outside the region, naming it and its coordinates, or a volume that is not
  /// is_volume(); for points that are wrapped on demand Unwrapped instead, also where a point is not in the box on a
  /// periodic axis
  std::int64_t bin(const PointSet& points, const Cut& cut);
  /// Sorts the points given to bin() by search cells. Writes sorted sites to `sorted` (n sites, kept until the searches are
  /// done); `scratch` (scratch_bytes(n)) is used until the searches are done.
  /// Cost: O(n); O(m log m) time and 6 to 12 bytes of memory each for m parcels in cells with more than 64 of a kind.
  void sort(const PointSet& points, Site* sorted, std::byte* scratch);
  /// Returns the bytes of scratch memory that sort() needs for n parcels.
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t n) {
    return 3 * (n + kPadding) * sizeof(std::uint16_t) + 2 * n * sizeof(std::uint32_t);
  }

  /// Small parcel whose nearest neighbour may be on another rank; `best` is the nearest parcel of this rank.
  struct Open {
    std::uint32_t vertex;  ///< vertex of the small parcel
    Best best;             ///< its nearest parcel of this rank
  };
  /// Finds the nearest other parcel of every small parcel among this rank's parcels and their periodic images.
  /// target[v] = kNone for parcels that are not small or have no other.
  /// @param target  written, one per vertex: nearest vertex
  /// @param ids  global ids by vertex; lower ones win ties
  /// @return the small parcels that may have a nearer parcel outside the region, with the best of this rank
  /// Cost: O(n log n) wherever the parcels are.
  std::vector<Open> search_exact(std::vector<std::uint32_t>& target, const links::Ids& ids);

  /// Query point of a nearest-neighbour search in canonical (wrapped) coordinates, anywhere in the box.
  struct Query {
    Vec3 point;  ///< position
    /// Vertex at this point, which is no candidate; kNone: it is not one of this rank's
    std::uint32_t self = links::kNone;
  };
  /// Replaces `best` by the exact nearest among this rank's parcels, if that is nearer (or as near with a lower id).
  void nearest(const Query& query, const links::Ids& ids, Best& best) const;

  /// Replaces `best` by the nearest by the published rule, if that is nearer: candidates are this rank's parcels in the
  /// 8 cells around the nearest node of the grid given to bin().
  void nearest_cells8(const Query& query, const links::Ids& ids, Best& best) const;

  /// Returns whether cells are so crowded that k-d trees search them; valid after bin().
  [[nodiscard]] bool is_crowded() const noexcept;
  /// Returns the number of parcels or points in the cell list.
  [[nodiscard]] std::size_t size() const noexcept { return n_; }
  /// Returns whether a vertex is a small parcel or point, for which a neighbour is searched.
  [[nodiscard]] bool is_small(std::uint32_t vertex) const { return (key_[order_[vertex]] & 1U) == 0; }
  /// Returns the sites (position and volume) by vertex, written by sort() to the caller's memory.
  [[nodiscard]] const Site* sites() const noexcept { return sorted_; }
  /// Returns the position of each vertex in the points given to bin().
  [[nodiscard]] const std::uint32_t* order() const noexcept { return order_.data(); }
  /// Returns the number of cells of the search grid.
  [[nodiscard]] std::int64_t cell_count() const noexcept { return cells_[0] * cells_[1] * cells_[2]; }
  /// Returns the first vertex of a half-cell: small parcels of cell c are the vertices start(2c) .. start(2c+1) - 1,
  /// the others start(2c+1) .. start(2c+2) - 1.
  [[nodiscard]] std::uint32_t start(std::size_t half_cell) const { return start_[half_cell]; }
  /// Returns this rank's block of the domain, as it was given to the constructor.
  [[nodiscard]] const Region& region() const noexcept { return region_; }

  /// Returns the name of the vector instructions that search_exact uses on this CPU, as "AVX3".
  [[nodiscard]] static const char* vector_target();

 private:
  friend class SeveralNearest;
  static constexpr std::size_t kPadding = 64;  // filter coordinates beyond the last vertex, which vectors may read
  void choose_cells(double parcels_per_cell);
  void measure_cells();
  /// Occupation of the search cells, which count() returns, for the choice of the search grid.
  struct Census {
    std::int64_t small = 0;   ///< small parcels
    std::size_t crowded = 0;  ///< parcels in cells with more than `crowd`
    std::uint32_t most = 0;   ///< parcels of the fullest half-cell
  };
  [[nodiscard]] Census count(const PointSet& points, std::uint32_t crowd);
  [[nodiscard]] bool narrow_to_points(const PointSet& points);
  void build_trees(const PointSet& points);
  void write_filter(std::size_t begin, std::size_t end);
  void list_by_node(std::vector<std::uint32_t>& node_start) const;
  void list_by_node(std::vector<std::uint32_t>& node_start, std::span<const std::uint32_t> vertices) const;
  void sort_by_node(std::vector<std::uint32_t>& node_start, const auto& for_each) const;
  [[nodiscard]] bool fill_block_search(BlockSearch& block) const;
  [[nodiscard]] bool is_final(const Vec3& p, double distance2) const;
  [[nodiscard]] std::int64_t cell_on_axis(int axis, double x) const;
  [[nodiscard]] double gap(int axis, double x, std::int64_t first, std::int64_t last) const;
  void search_images(BestSoFar& best_so_far) const;
  void scan_ball(const Vec3& image, BestSoFar& best_so_far) const;
  struct CellBox;
  void scan_box(const CellBox& box, const Vec3& image, BestSoFar& best_so_far) const;
  struct Row;
  void scan_row(const Row& row, const Vec3& image, BestSoFar& best_so_far) const;
  void scan_cells(const Row& row, const Vec3* image, BestSoFar& best_so_far) const;
  void scan_run(std::uint32_t begin, std::uint32_t end, const Vec3* image, BestSoFar& best_so_far) const;

  Box box_;
  Region region_;
  double slack_ = 0;                            // rounding of coordinates, absolute
  Vec3 lower_;                                  // of the cells: the region, or the part of it that holds parcels
  Vec3 upper_;                                  // upper corner of the cells
  std::array<std::int64_t, 3> cells_{1, 1, 1};  // number of search cells by axis
  Vec3 width_{};                                // edges of a search cell by axis
  Vec3 inverse_width_{};                        // reciprocals of the edges
  Grid grid_;                                   // cells8: the physical grid
  std::array<std::int64_t, 3> first_{};         // cells8: first of this rank's cells in the physical grid, by axis
  bool canonical_ = false;                      // cells8: search cells are cells of the physical grid
  std::size_t n_ = 0;                           // number of points
  std::uint32_t most_ = 0;                      // parcels of one half-cell
  std::vector<std::uint32_t> key_;              // half-cell of a parcel, by container position
  std::vector<std::uint32_t> order_;            // by vertex: position of its parcel in the container
  std::vector<std::uint32_t> start_;            // by half-cell: first vertex in it
  Site* sorted_ = nullptr;                      // by vertex: position and volume, in the caller's memory
  std::uint16_t* filter_ = nullptr;             // scratch: coordinates of the filter, by axis and vertex, ...
  std::uint32_t* node_of_ = nullptr;            // ... the nearest node of each vertex, ...
  std::uint32_t* by_node_ = nullptr;            // ... small parcels listed under their nearest node
  std::vector<std::uint32_t> node_start_;       // by node of the search grid: first entry of by_node_
  double scale_ = 1;                            // reciprocal of the widest edge of a cell
  std::unique_ptr<CrowdedTrees> trees_;         // of the crowded cells; null if there are none
};

}  // namespace merganser::nearest
