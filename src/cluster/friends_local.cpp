// Search of friends among the points of a rank (friends_local.hpp): a grid of cells of at least the linking length, in which
// each cell is compared with itself and with 13 of its neighbours; crowded cells have trees (friends_tree.hpp).
#include "src/cluster/friends_local.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/cluster/friends_tree.hpp"

namespace merganser::cluster {
namespace {

constexpr std::uint32_t kNoCell = 0xffffffffU;
constexpr std::int64_t kMaxAxisPlaces = std::int64_t{1}
                                        << 20;  // along an axis: rounding of cell numbers stays below 2^-30
constexpr double kCellMargin = 1 + 1e-6;  // cells are longer than the linking length by more than rounding moves points
constexpr std::uint32_t kCrowdedCell = 32;  // spots of a cell above which it has a tree

/// Cells of one axis that a rank looks at: consecutive ones, over a periodic face if necessary.
struct CellAxis {
  double lower = 0;         ///< lower face of the box
  double inverse = 0;       ///< cells per unit of length
  double reach = 0;         ///< linking length in cells, with a margin
  std::int64_t cells = 1;   ///< of the whole axis
  std::int64_t first = 0;   ///< the first that is looked at
  std::uint32_t count = 1;  ///< number of those
  bool periodic = false;    ///< whether the axis is periodic
  bool whole = false;       ///< periodic, and all cells are looked at: the last is beside the first
  bool is_plain = false;    ///< adjacent cells that no periodic face divides are near in coordinates

  /// Returns the cell of a coordinate of the whole axis, and what is left of it in cells.
  [[nodiscard]] std::int64_t cell(double x, double& rest) const {
    const double u = (x - lower) * inverse;
    const auto c = std::clamp(static_cast<std::int64_t>(u), std::int64_t{0}, cells - 1);
    rest = u - static_cast<double>(c);
    return c;
  }
  /// Returns the place of a coordinate's cell among those looked at; `count` or more if it is none.
  [[nodiscard]] std::uint32_t place(double x) const {
    double rest = 0;
    std::int64_t c = cell(x, rest) - first;
    if (c < 0 && periodic) c += cells;
    return c < 0 || c >= count ? count : static_cast<std::uint32_t>(c);
  }
  /// Returns the place above a place; kNoCell: there is none, or it is the same.
  [[nodiscard]] std::uint32_t next(std::uint32_t i) const {
    return i + 1 < count ? i + 1 : whole && i > 0 ? 0 : kNoCell;
  }
  /// Returns the place below a place; kNoCell: there is none, or it is the same.
  [[nodiscard]] std::uint32_t previous(std::uint32_t i) const {
    return i > 0 ? i - 1 : whole && count > 1 ? count - 1 : kNoCell;
  }
  /// Returns whether distances of spots in this cell and adjacent ones are those of their coordinates.
  [[nodiscard]] bool is_plain_at(std::uint32_t i) const {
    const std::int64_t c = index(i);
    return !periodic || (is_plain && c > 0 && c < cells - 1);
  }
  /// Returns the cell of the whole axis at a place.
  [[nodiscard]] std::int64_t index(std::uint32_t i) const {
    const std::int64_t c = first + i;
    return c < cells ? c : c - cells;
  }
  /// Returns the coordinate up to which spots of a cell reach the cell below.
  [[nodiscard]] double below(std::uint32_t i) const {
    return lower + (static_cast<double>(index(i)) + reach) / inverse;
  }
  /// Returns the coordinate from which on spots of a cell reach the cell above.
  [[nodiscard]] double above(std::uint32_t i) const {
    return lower + (static_cast<double>(index(i) + 1) - reach) / inverse;
  }
};

/// Search of friends in cells.
class CellSearch {
 public:
  CellSearch(const Box& box, double length, const PointView& own, std::span<const std::uint32_t> subset,
             std::span<const FriendSpot> ghosts, FriendWorkspace& workspace, std::vector<FriendEdge>& edges)
      : box_(box),
        length_(length),
        own_(own),
        subset_(subset),
        own_count_(subset.empty() ? own.size : subset.size()),
        ghosts_(ghosts),
        workspace_(workspace),
        spots_(workspace.spots),
        start_(workspace.start),
        edges_(edges) {}

  /// Finds all friends and writes the sets.
  void run(std::uint32_t* set) {
    for (const FriendSpot& g : ghosts_) set[g.point] = g.point;
    if (own_count_ == 0) return;
    make_cells();
    sort();
    FriendSets sets(box_, length_, workspace_, edges_);
    FriendTrees trees(spots_);
    make_trees(sets, trees);
    for (std::uint32_t z = 0; z < axis_[0].count; ++z)
      for (std::uint32_t y = 0; y < axis_[1].count; ++y) scan_cells_of_row(sets, trees, z, y);
    for (std::uint32_t i = 0; i < spots_.size(); ++i) set[spots_[i].point] = spots_[sets.find(i)].point;
  }

 private:
  /// Returns point i of this rank.
  [[nodiscard]] FriendSpot spot(std::size_t i) const {
    const std::size_t v = subset_.empty() ? i : subset_[i];
    const std::size_t at = v * own_.stride;
    return {own_.x[at], own_.y[at], own_.z[at], static_cast<std::uint32_t>(v)};
  }

  /// Chooses the cells: of at least the linking length, about one for each point, around the points of this rank.
  void make_cells() {
    Vec3 lower{spot(0).x, spot(0).y, spot(0).z};
    Vec3 upper = lower;
    for (std::size_t i = 1; i < own_count_; ++i) {
      const FriendSpot s = spot(i);
      lower = {std::min(lower[0], s.x), std::min(lower[1], s.y), std::min(lower[2], s.z)};
      upper = {std::max(upper[0], s.x), std::max(upper[1], s.y), std::max(upper[2], s.z)};
    }
    double volume = 1;
    for (std::size_t a = 0; a < 3; ++a) volume *= std::max(upper[a] - lower[a], length_);
    double edge = std::max(length_ * kCellMargin, std::cbrt(volume / static_cast<double>(own_count_)));
    const double most = 2 * static_cast<double>(own_count_) + 64;
    for (;; edge *= 1.25) {
      double cells = 1;
      for (std::size_t a = 0; a < 3; ++a) {
        axis_[a] = make_axis(2 - a, edge, lower[2 - a], upper[2 - a]);
        cells *= axis_[a].count;
      }
      if (cells <= most) return;
    }
  }

  /// Makes the cells of one axis around a range of coordinates.
  [[nodiscard]] CellAxis make_axis(std::size_t axis, double edge, double lower, double upper) const {
    CellAxis a;
    a.lower = box_.lower[axis];
    a.periodic = box_.periodic[axis];
    const double cells = std::floor(box_.extent[axis] / edge);
    a.cells = cells >= static_cast<double>(kMaxAxisPlaces)
                  ? kMaxAxisPlaces
                  : std::max<std::int64_t>(1, static_cast<std::int64_t>(cells));
    a.inverse = static_cast<double>(a.cells) / box_.extent[axis];
    a.reach = length_ * a.inverse * kCellMargin + 1e-8;
    a.is_plain = a.cells >= 5;
    double rest = 0;
    a.first = a.cell(lower, rest) - 1;
    std::int64_t last = a.cell(upper, rest) + 1;
    if (!a.periodic) {
      a.first = std::max<std::int64_t>(a.first, 0);
      last = std::min(last, a.cells - 1);
    } else if (last - a.first + 1 >= a.cells) {
      a.whole = true;
      a.first = 0;
      last = a.cells - 1;
    }
    a.count = static_cast<std::uint32_t>(last - a.first + 1);
    if (a.first < 0) a.first += a.cells;
    return a;
  }

  /// Returns the cell of a spot; kNoCell if it is not looked at.
  [[nodiscard]] std::uint32_t cell_of(const FriendSpot& s) const {
    const std::uint32_t x = axis_[2].place(s.x);
    const std::uint32_t y = axis_[1].place(s.y);
    const std::uint32_t z = axis_[0].place(s.z);
    if (x >= axis_[2].count || y >= axis_[1].count || z >= axis_[0].count) return kNoCell;
    return cell(z, y, x);
  }

  /// Sorts spots into the order of cells. Ghosts that are beyond all cells have no friends among this rank's points.
  void sort() {
    const std::size_t cells = std::size_t{axis_[0].count} * axis_[1].count * axis_[2].count;
    start_.assign(cells + 1, 0);
    FriendVector<std::uint32_t>& keys = workspace_.keys;
    keys.resize(own_count_ + ghosts_.size());
    std::uint32_t count = 0;
    const auto number = [&](std::size_t at, const FriendSpot& s) {
      keys[at] = cell_of(s);
      if (keys[at] == kNoCell) return;
      ++start_[keys[at] + 1];
      ++count;
    };
    for (std::size_t i = 0; i < own_count_; ++i) number(i, spot(i));
    for (std::size_t g = 0; g < ghosts_.size(); ++g) number(own_count_ + g, ghosts_[g]);
    for (std::size_t c = 0; c < cells; ++c) start_[c + 1] += start_[c];
    spots_.resize(count);
    const auto put = [&](std::size_t at, const FriendSpot& s) {
      if (keys[at] != kNoCell) spots_[start_[keys[at]]++] = s;
    };
    for (std::size_t i = 0; i < own_count_; ++i) put(i, spot(i));
    for (std::size_t g = 0; g < ghosts_.size(); ++g) put(own_count_ + g, ghosts_[g]);
    for (std::size_t c = cells; c > 0; --c) start_[c] = start_[c - 1];
    start_[0] = 0;
  }

  /// Builds the trees of crowded cells and of those beside them, and connects the friends of each such cell.
  void make_trees(FriendSets& sets, FriendTrees& trees) {
    const auto cells = static_cast<std::uint32_t>(start_.size() - 1);
    std::vector<std::uint32_t> crowded;
    for (std::uint32_t c = 0; c < cells; ++c)
      if (start_[c + 1] - start_[c] > kCrowdedCell) crowded.push_back(c);
    if (crowded.empty()) return;
    tree_.assign(cells, kNoCell);
    for (const std::uint32_t c : crowded) {
      const std::uint32_t x = c % axis_[2].count;
      const std::uint32_t y = c / axis_[2].count % axis_[1].count;
      const std::uint32_t z = c / axis_[2].count / axis_[1].count;
      for (const std::uint32_t k : {axis_[0].previous(z), z, axis_[0].next(z)})
        for (const std::uint32_t j : {axis_[1].previous(y), y, axis_[1].next(y)})
          for (const std::uint32_t i : {axis_[2].previous(x), x, axis_[2].next(x)})
            if (i != kNoCell && j != kNoCell && k != kNoCell) make_tree(sets, trees, cell(k, j, i));
    }
  }

  /// Builds the tree of a cell, unless it is empty or has one.
  void make_tree(FriendSets& sets, FriendTrees& trees, std::uint32_t c) {
    if (tree_[c] != kNoCell || start_[c] == start_[c + 1]) return;
    tree_[c] = trees.build(start_[c], start_[c + 1]);
    trees.connect(sets, tree_[c]);
  }

  /// Returns the number of the cell at these places: cells of one row, along x, follow each other.
  [[nodiscard]] std::uint32_t cell(std::uint32_t z, std::uint32_t y, std::uint32_t x) const {
    return (z * axis_[1].count + y) * axis_[2].count + x;
  }

  /// Connects the friends of the cells of one row, with each other and with those of rows after it.
  void scan_cells_of_row(FriendSets& sets, FriendTrees& trees, std::uint32_t z, std::uint32_t y) {
    const std::uint32_t next_z = axis_[0].next(z);
    const std::uint32_t next_y = axis_[1].next(y);
    const auto row = [&](std::uint32_t k, std::uint32_t j) {
      return k == kNoCell || j == kNoCell ? kNoCell : cell(k, j, 0);
    };
    rows_ = {row(z, next_y), row(next_z, axis_[1].previous(y)), row(next_z, y), row(next_z, next_y)};
    above_z_ = axis_[0].above(z);
    above_y_ = axis_[1].above(y);
    below_y_ = axis_[1].below(y);
    const bool plain = axis_[0].is_plain_at(z) && axis_[1].is_plain_at(y);
    for (std::uint32_t x = 0; x < axis_[2].count; ++x) {
      const std::uint32_t c = cell(z, y, x);
      if (start_[c] == start_[c + 1]) continue;
      if (!tree_.empty() && tree_[c] != kNoCell) {
        join_cells(sets, trees, c, x);
      } else if (plain && axis_[2].is_plain_at(x)) {
        scan_cell<true>(sets, c, x);
      } else {
        scan_cell<false>(sets, c, x);
      }
    }
  }

  /// Connects a cell that has a tree with the 13 cells after it.
  void join_cells(FriendSets& sets, FriendTrees& trees, std::uint32_t c, std::uint32_t x) {
    const std::uint32_t next = axis_[2].next(x);
    const std::uint32_t previous = axis_[2].previous(x);
    const auto join = [&](std::uint32_t d) {
      if (start_[d] == start_[d + 1]) return;
      if (tree_[d] != kNoCell) return trees.join(sets, tree_[c], tree_[d]);
      for (std::uint32_t i = start_[c]; i < start_[c + 1]; ++i) scan<false>(sets, i, start_[d], start_[d + 1]);
    };
    if (next != kNoCell) join(c - x + next);
    for (const std::uint32_t row : rows_) {
      if (row == kNoCell) continue;
      join(row + x);
      if (next != kNoCell) join(row + next);
      if (previous != kNoCell) join(row + previous);
    }
  }

  /// Connects a spot with its friends among consecutive spots. @tparam kPlain  distances are those of the coordinates
  template <bool kPlain>
  void scan(FriendSets& sets, std::uint32_t i, std::uint32_t first, std::uint32_t last) const {
    const FriendSpot a = spots_[i];
    const double length2 = sets.length2();
    for (std::uint32_t j = first; j < last; ++j) {
      if constexpr (kPlain) {
        const FriendSpot& b = spots_[j];
        const double dx = a.x - b.x;
        const double dy = a.y - b.y;
        const double dz = a.z - b.z;
        if ((dx * dx + dy * dy) + dz * dz <= length2) sets.unite(i, j);
      } else {
        if (sets.are_friends(i, j)) sets.connect(i, j);
      }
    }
  }

  /// Connects the spots of a cell with each other and with those of the 13 cells after it that the linking length reaches.
  template <bool kPlain>
  void scan_cell(FriendSets& sets, std::uint32_t c, std::uint32_t x) const {
    const std::uint32_t next = axis_[2].next(x);
    const std::uint32_t previous = axis_[2].previous(x);
    const double above_x = axis_[2].above(x);
    const double below_x = axis_[2].below(x);
    for (std::uint32_t i = start_[c]; i < start_[c + 1]; ++i) {
      const FriendSpot& s = spots_[i];
      const bool above_z = s.z >= above_z_;
      const bool above_y = s.y >= above_y_;
      const std::uint32_t next_x = s.x >= above_x ? next : kNoCell;
      const std::uint32_t previous_x = s.x <= below_x ? previous : kNoCell;
      scan<kPlain>(sets, i, i + 1, start_[c + 1]);
      if (next_x != kNoCell) scan<kPlain>(sets, i, start_[c - x + next], start_[c - x + next + 1]);
      if (above_y) scan_row<kPlain>(sets, i, rows_[0], x, next_x, previous_x);
      if (!above_z) continue;
      if (s.y <= below_y_) scan_row<kPlain>(sets, i, rows_[1], x, next_x, previous_x);
      scan_row<kPlain>(sets, i, rows_[2], x, next_x, previous_x);
      if (above_y) scan_row<kPlain>(sets, i, rows_[3], x, next_x, previous_x);
    }
  }

  /// Connects a spot with those of up to three cells of a row: consecutive ones but at a periodic face.
  /// @param row  its first cell; kNoCell: nothing is done
  template <bool kPlain>
  void scan_row(FriendSets& sets, std::uint32_t i, std::uint32_t row, std::uint32_t x, std::uint32_t next,
                std::uint32_t previous) const {
    if (row == kNoCell) return;
    std::uint32_t first = x;
    std::uint32_t last = x;
    if (next == x + 1) {
      last = next;
    } else if (next != kNoCell) {
      scan<kPlain>(sets, i, start_[row + next], start_[row + next + 1]);
    }
    if (previous != kNoCell && previous + 1 == x) {
      first = previous;
    } else if (previous != kNoCell && previous != next) {
      scan<kPlain>(sets, i, start_[row + previous], start_[row + previous + 1]);
    }
    scan<kPlain>(sets, i, start_[row + first], start_[row + last + 1]);
  }

  const Box& box_;
  double length_;
  const PointView& own_;
  std::span<const std::uint32_t> subset_;
  std::size_t own_count_;
  std::span<const FriendSpot> ghosts_;
  FriendWorkspace& workspace_;
  FriendVector<FriendSpot>& spots_;
  FriendVector<std::uint32_t>& start_;
  std::vector<FriendEdge>& edges_;
  std::array<CellAxis, 3> axis_;         // of z, y, x: cells along x follow each other, as in many files
  std::vector<std::uint32_t> tree_;      // by cell: root of its tree, or kNoCell; empty: no cell is crowded
  std::array<std::uint32_t, 4> rows_{};  // of scan_cells_of_row: first cells of the rows after it, or kNoCell
  double above_z_ = 0;                   // coordinates from which on spots of the row reach rows beside it
  double above_y_ = 0;
  double below_y_ = 0;
};

}  // namespace

void find_friends(const Box& box, double length, const PointView& own, std::span<const std::uint32_t> subset,
                  std::span<const FriendSpot> ghosts, FriendWorkspace& workspace, std::uint32_t* set,
                  std::vector<FriendEdge>& edges) {
  CellSearch(box, length, own, subset, ghosts, workspace, edges).run(set);
}

}  // namespace merganser::cluster
