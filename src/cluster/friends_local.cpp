// Search of friends among the points of a rank (friends_local.hpp): a grid of cells of at least the linking length, in which
// each cell is compared with itself and with 13 of its neighbours (friends_scan.hpp); crowded cells have trees
// (friends_tree.hpp).
#include "src/cluster/friends_local.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/cluster/friends_scan.hpp"
#include "src/cluster/friends_tree.hpp"

namespace merganser::cluster {
namespace {

constexpr std::uint32_t kNoCell = 0xffffffffU;
constexpr std::int64_t kMaxAxisPlaces = std::int64_t{1}
                                        << 20;  // along an axis: rounding of cell numbers stays below 2^-30
constexpr double kCellMargin = 1 + 1e-6;  // cells are longer than the linking length by more than rounding moves points
constexpr double kSpotsPerCell = 8;  // mean number of spots of a cell whose size the linking length does not decide
constexpr std::uint32_t kCrowdedCell = 32;  // spots of a cell above which it has a tree
constexpr std::size_t kSpotsAhead = 64;     // prefetch distance
constexpr std::size_t kLot = 128;           // spots processed at a time
constexpr float kNoLimit = std::numeric_limits<float>::infinity();

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
    if (own_count_ == 0) {
      for (const FriendSpot& g : ghosts_) set[g.point] = g.point;
      return;
    }
    make_cells();
    measure_filter();
    sort(set);
    FriendSets sets(box_, length_, workspace_, edges_);
    FriendTrees trees(spots_);
    make_trees(sets, trees);
    if (!tree_.empty()) write_filter(0, spots_.size());  // trees have reordered spots
    for (std::uint32_t z = 0; z < axis_[0].count; ++z)
      for (std::uint32_t y = 0; y < axis_[1].count; ++y) scan_cells_of_row(sets, trees, z, y);
    for (std::uint32_t i = 0; i < spots_.size(); ++i)
      if (!sets.is_representative(i)) set[spots_[i].point] = spots_[sets.find(i)].point;
  }

 private:
  /// Returns point i of this rank.
  [[nodiscard]] FriendSpot spot(std::size_t i) const {
    const std::size_t v = subset_.empty() ? i : subset_[i];
    const std::size_t at = v * own_.stride;
    return {own_.x[at], own_.y[at], own_.z[at], static_cast<std::uint32_t>(v)};
  }

  /// Chooses the cells: of at least the linking length, for kSpotsPerCell points each, around the points of this rank.
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
    double edge = std::max(length_ * kCellMargin, std::cbrt(volume * kSpotsPerCell / static_cast<double>(own_count_)));
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

  /// Chooses the unit of the filter, the widest edge of a cell, and the limits of its squared distances, beyond all rounding.
  void measure_filter() {
    unit_ = std::min({axis_[0].inverse, axis_[1].inverse, axis_[2].inverse});
    double widest = 1;  // greatest coordinate in units
    for (std::size_t a = 0; a < 3; ++a) {
      const double extent = box_.extent[a] * unit_;
      widest = std::max(widest, extent);
      filter_.period[a] = box_.periodic[a] ? static_cast<float>(extent) : kNoLimit;
    }
    // On an axis the coordinates of two spots, the period, their difference and that across the period are rounded to single precision:
    // each by 2^-24 of `widest` at most, and less in double precision. Over three axes that is below twice as much.
    const double doubt = 6 * 0x1p-24 * widest + 0x1p-22;
    const double length = length_ * unit_;
    const double near = length + 2 * doubt;
    const double sure = length - 2 * doubt;
    const auto to_float = [](double x) {
      return static_cast<float>(std::min(x, double{std::numeric_limits<float>::max()}));
    };
    filter_.near2 = to_float(near * near * (1 + 1e-6));
    filter_.sure2 = sure > 0 ? to_float(sure * sure * (1 - 1e-6)) : -1.0F;
  }

  /// Sorts spots into the order of cells, and makes every point a set of its own. Ghosts that are beyond all cells have no friends
  /// among this rank's points.
  void sort(std::uint32_t* set) {
    const std::size_t cells = std::size_t{axis_[0].count} * axis_[1].count * axis_[2].count;
    start_.assign(cells + 1, 0);
    FriendVector<std::uint32_t>& keys = workspace_.keys;
    FriendVector<std::uint32_t>& order = workspace_.parent;  // which FriendSets sets afterwards
    keys.resize(own_count_ + ghosts_.size());
    const auto number = [&](std::size_t at, const FriendSpot& s) {
      set[s.point] = s.point;
      keys[at] = cell_of(s);
      if (keys[at] != kNoCell) ++start_[keys[at] + 1];
    };
    for (std::size_t i = 0; i < own_count_; ++i) number(i, spot(i));
    for (std::size_t g = 0; g < ghosts_.size(); ++g) number(own_count_ + g, ghosts_[g]);
    for (std::size_t c = 0; c < cells; ++c) start_[c + 1] += start_[c];
    const std::size_t count = start_[cells];
    order.resize(count);
    for (std::size_t at = 0; at < keys.size(); ++at)
      if (keys[at] != kNoCell) order[start_[keys[at]]++] = static_cast<std::uint32_t>(at);
    for (std::size_t c = cells; c > 0; --c) start_[c] = start_[c - 1];
    start_[0] = 0;
    spots_.resize(count);
    workspace_.filter.resize(3 * (count + FriendFilter::kPadding));
    for (std::size_t a = 0; a < 3; ++a) filter_.at[a] = workspace_.filter.data() + a * (count + FriendFilter::kPadding);
    for (std::size_t begin = 0; begin < count; begin += kLot) {
      const std::size_t end = std::min(begin + kLot, count);
      for (std::size_t k = begin; k < end; ++k) {
        prefetch(order[std::min(k + kSpotsAhead, count - 1)]);
        spots_[k] = order[k] < own_count_ ? spot(order[k]) : ghosts_[order[k] - own_count_];
      }
      write_filter(begin, end);
    }
  }

  /// Fetches the position of point i of this rank into the cache.
  [[gnu::always_inline]] void prefetch(std::size_t i) const {
    const std::size_t at = (i >= own_count_ ? 0 : subset_.empty() ? i : subset_[i]) * own_.stride;
    __builtin_prefetch(own_.x + at);
    if (own_.z != own_.x + 2) {
      __builtin_prefetch(own_.y + at);
      __builtin_prefetch(own_.z + at);
    }
  }

  /// Writes the coordinates of the filter of spots begin .. end - 1.
  void write_filter(std::size_t begin, std::size_t end) {
    const std::size_t stride = spots_.size() + FriendFilter::kPadding;
    float* const x = workspace_.filter.data();
    float* const y = x + stride;
    float* const z = y + stride;
    const Vec3 lower = box_.lower;
    for (std::size_t k = begin; k < end; ++k) {
      x[k] = static_cast<float>((spots_[k].x - lower[0]) * unit_);
      y[k] = static_cast<float>((spots_[k].y - lower[1]) * unit_);
      z[k] = static_cast<float>((spots_[k].z - lower[2]) * unit_);
    }
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
    limits_.fill(FriendRun{0, 0, {-kNoLimit, -kNoLimit, -kNoLimit}, {kNoLimit, kNoLimit, kNoLimit}});
    limits_[0].lower[1] = limits_[3].lower[1] = least_above(axis_[1], y);
    limits_[1].upper[1] = greatest_below(axis_[1], y);
    limits_[1].lower[2] = limits_[2].lower[2] = limits_[3].lower[2] = least_above(axis_[0], z);
    const bool plain = axis_[0].is_plain_at(z) && axis_[1].is_plain_at(y);
    for (std::uint32_t x = 0; x < axis_[2].count; ++x) {
      const std::uint32_t c = cell(z, y, x);
      if (start_[c] == start_[c + 1]) continue;
      if (!tree_.empty() && tree_[c] != kNoCell) {
        join_cells(sets, trees, c, x);
      } else {
        scan_cell(sets, c, x, !(plain && axis_[2].is_plain_at(x)));
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
      for (std::uint32_t i = start_[c]; i < start_[c + 1]; ++i)
        for (std::uint32_t j = start_[d]; j < start_[d + 1]; ++j)
          if (sets.are_friends(i, j)) sets.connect(i, j);
    };
    if (next != kNoCell) join(c - x + next);
    for (const std::uint32_t row : rows_) {
      if (row == kNoCell) continue;
      join(row + x);
      if (next != kNoCell) join(row + next);
      if (previous != kNoCell) join(row + previous);
    }
  }

  /// Returns the coordinate of the filter from which on spots of a cell reach the cell above: rounded as those of spots, so that the
  /// order of the two is kept.
  [[nodiscard]] float least_above(const CellAxis& axis, std::uint32_t i) const {
    return static_cast<float>((static_cast<double>(axis.index(i) + 1) - axis.reach) / axis.inverse * unit_);
  }
  /// Returns the coordinate of the filter up to which spots of a cell reach the cell below, rounded likewise.
  [[nodiscard]] float greatest_below(const CellAxis& axis, std::uint32_t i) const {
    return static_cast<float>((static_cast<double>(axis.index(i)) + axis.reach) / axis.inverse * unit_);
  }

  /// Connects the spots of a cell with each other and with those of the 13 cells after it that the linking length reaches.
  /// @param wraps  whether separations may be shorter across a periodic face
  void scan_cell(FriendSets& sets, std::uint32_t c, std::uint32_t x, bool wraps) {
    const std::uint32_t next = axis_[2].next(x);
    const std::uint32_t previous = axis_[2].previous(x);
    const float above = least_above(axis_[2], x);
    const float below = greatest_below(axis_[2], x);
    run_count_ = 0;
    FriendRun all{0, 0, {-kNoLimit, -kNoLimit, -kNoLimit}, {kNoLimit, kNoLimit, kNoLimit}};
    if (next != kNoCell) add_run(all, c - x + next, c - x + next, above, kNoLimit);
    for (std::size_t r = 0; r < 4; ++r) {
      if (rows_[r] == kNoCell) continue;
      std::uint32_t first = x;
      std::uint32_t last = x;
      if (next == x + 1) {
        last = next;
      } else if (next != kNoCell) {
        add_run(limits_[r], rows_[r] + next, rows_[r] + next, above, kNoLimit);
      }
      if (previous != kNoCell && previous + 1 == x) {
        first = previous;
      } else if (previous != kNoCell && previous != next) {
        add_run(limits_[r], rows_[r] + previous, rows_[r] + previous, -kNoLimit, below);
      }
      add_run(limits_[r], rows_[r] + first, rows_[r] + last, -kNoLimit, kNoLimit);
    }
    scan_friends(filter_, start_[c], start_[c + 1], {runs_.data(), run_count_}, wraps, pairs_);
    for (std::size_t p = 0; p < pairs_.sure_count; ++p) connect(sets, pairs_.sure[p], wraps);
    for (std::size_t p = 0; p < pairs_.open_count; ++p)
      if (sets.are_friends(pairs_.open[p].a, pairs_.open[p].b)) connect(sets, pairs_.open[p], wraps);
  }

  /// Connects two friends.
  static void connect(FriendSets& sets, const FriendPair& pair, bool wraps) {
    if (wraps) {
      sets.connect(pair.a, pair.b);
    } else {
      sets.unite(pair.a, pair.b);
    }
  }

  /// Adds consecutive cells to the runs of scan_cell(), unless they are empty.
  /// @param limits  along y and z  @param first, last  the cells, both included  @param lower, upper  limits along x
  void add_run(const FriendRun& limits, std::uint32_t first, std::uint32_t last, float lower, float upper) {
    FriendRun& run = runs_[run_count_];
    run = limits;
    run.begin = start_[first];
    run.end = start_[last + 1];
    run.lower[0] = lower;
    run.upper[0] = upper;
    run_count_ += run.begin < run.end ? 1 : 0;
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
  double unit_ = 1;                      // units of the filter in one of length
  FriendFilter filter_{};                // of the spots, in workspace_.filter
  std::array<std::uint32_t, 4> rows_{};  // of scan_cells_of_row: first cells of the rows after it, or kNoCell ...
  std::array<FriendRun, 4> limits_{};    // ... and limits of the spots of its cells that reach them
  std::array<FriendRun, 13> runs_{};     // of scan_cell
  std::size_t run_count_ = 0;            // number of those
  FriendPairs pairs_;                    // found by scan_cell
};

}  // namespace

void find_friends(const Box& box, double length, const PointView& own, std::span<const std::uint32_t> subset,
                  std::span<const FriendSpot> ghosts, FriendWorkspace& workspace, std::uint32_t* set,
                  std::vector<FriendEdge>& edges) {
  CellSearch(box, length, own, subset, ghosts, workspace, edges).run(set);
}

}  // namespace merganser::cluster
