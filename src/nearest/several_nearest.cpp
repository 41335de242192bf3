// Exact search of several nearest parcels of one point in a cell list: a vectorised filter leaves few for canonical distances.
#include "merganser/nearest/several_nearest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "src/nearest/cell_keys.hpp"
#include "src/nearest/several_search.hpp"

namespace merganser::nearest {
namespace {

constexpr std::uint32_t kChunk = 256;  // vertices that the filter takes at a time

}  // namespace

SeveralNearest::SeveralNearest(const CellList& cells, const links::Ids& ids, std::size_t count, const MoreAxes& more)
    : cells_(cells), ids_(ids), more_(more), distance2_(count), vertex_(count) {
  double diagonal2 = 0;
  for (const double extent : cells.box_.extent) diagonal2 += extent * extent;
  const double in_cell =
      static_cast<double>(std::max<std::size_t>(cells.n_, 1)) / static_cast<double>(cells.cell_count());
  guess_ = std::cbrt(2 * static_cast<double>(count) / in_cell / 4.19) / cells.scale_;
  far_ = std::sqrt(diagonal2) * 1.01;
  for (std::size_t axis = 0; axis < 3; ++axis)
    wraps_[axis] = cells.box_.periodic[axis] && cells.cells_[axis] >= 3 &&
                   cells.upper_[axis] - cells.lower_[axis] >= cells.box_.extent[axis] - cells.slack_;
}

bool SeveralNearest::find(const CellList::Query& query, const Best& bound, std::span<Best> best,
                          const NearConditions& conditions) {
  constexpr int kMaxBalls = 3;  // with more axes; the last has 64 times as many parcels as the first
  query_ = query;
  conditions_ = conditions;
  bound_ = bound;
  if (cells_.n_ == 0) {
    std::fill(best.begin(), best.end(), bound);
    return true;
  }
  // A ball that holds as many parcels as are searched decides, if it is not much larger than one that usually does.
  const double reach = std::sqrt(conditions.reach2) * (1 + 1e-12);
  if (!(reach < 2 * guess_ && search_ball(reach)) && !search_block()) {
    double radius = guess_;
    for (int balls = 1; !search_ball(radius); ++balls, radius *= 2)
      if (more_.count > 0 && balls == kMaxBalls) return false;
  }
  for (std::size_t i = 0; i < best.size(); ++i) {
    const std::uint32_t v = vertex_[i];
    best[i] = {distance2_[i], v == links::kNone ? bound.id : ids_[v], v};
  }
  return true;
}

/// Receiver of several_search(): passes on what it finds, and searches what it leaves.
class SeveralNearest::Sink final : public SeveralSink {
 public:
  Sink(SeveralNearest& search, double most2, const Take& take, std::size_t count)
      : search_(search), take_(take), most2_(most2), best_(count), near_(count) {}
  void take(std::uint32_t vertex, std::span<const Near> nearest) override {
    ++taken_;
    take_(vertex, nearest);
  }
  void leave(std::uint32_t vertex, double reach2) override {
    // Where many are left, positions tell little about the nearest, and it would give up often.
    if (search_.more_.count == 0 || ++left_ <= kFew + taken_ / kShare)
      search(vertex, reach2);
    else
      give_up(vertex);
  }
  /// Searches the nearest of a small parcel by itself, unless it gives up for all. @param reach2  as of leave()
  void search(std::uint32_t vertex, double reach2) {
    const Site& s = search_.cells_.sorted_[vertex];
    const double* const more = search_.more_.values + vertex * search_.more_.count;
    if (gives_up || !search_.find({{s.x, s.y, s.z}, vertex}, Best(), best_, {most2_, more, reach2}))
      return give_up(vertex);
    std::size_t found = 0;
    for (; found < best_.size() && best_[found].vertex != links::kNone; ++found)
      near_[found] = {best_[found].distance2, best_[found].vertex};
    take_(vertex, {near_.data(), found});
  }
  void sort(std::span<Near> near) const override {
    std::sort(near.begin(), near.end(), [&](const Near& a, const Near& b) {
      return a.distance2 != b.distance2 ? a.distance2 < b.distance2 : search_.ids_[a.vertex] < search_.ids_[b.vertex];
    });
  }

  std::vector<std::uint32_t> given_up;  // small parcels whose nearest are not found

 private:
  void give_up(std::uint32_t vertex) {
    given_up.push_back(vertex);
    gives_up = given_up.size() > kMany + taken_;
  }
  static constexpr std::size_t kFew = 16;
  static constexpr std::size_t kShare = 4;
  static constexpr std::size_t kMany = 64;
  SeveralNearest& search_;
  const Take& take_;
  double most2_;
  std::size_t taken_ = 0;  // small parcels whose nearest several_search() has found
  std::size_t left_ = 0;   // others
  std::vector<Best> best_;
  std::vector<Near> near_;
};

double SeveralNearest::parcels_per_cell(std::size_t count) {
  // The ball of half a cell edge, in which several_search() is certain, is 0.52 cells.
  const auto n = static_cast<double>(count);
  return std::clamp((n + 2.5 * std::sqrt(n)) / 0.52, kParcelsPerCell, 2 * kParcelsPerCell);
}

std::vector<std::uint32_t> SeveralNearest::find_all(double most2, const Take& take) {
  return find_small(nullptr, most2, take);
}

std::vector<std::uint32_t> SeveralNearest::find_some(std::span<const std::uint32_t> vertices, double most2,
                                                     const Take& take) {
  return find_small(&vertices, most2, take);
}

/// Does what find_some() does, or with null what find_all() does.
std::vector<std::uint32_t> SeveralNearest::find_small(const std::span<const std::uint32_t>* vertices, double most2,
                                                      const Take& take) {
  // Vertices that take less time by themselves than the visit of all nodes: so few and 1 of so many parcels together.
  constexpr std::size_t kFew = 8;
  constexpr std::size_t kMany = 16384;
  const auto count = static_cast<std::uint32_t>(distance2_.size());
  Sink sink(*this, most2, take, count);
  SeveralSearch search{
      {}, cells_.sorted_, cells_.box_, count, most2, more_, cells_.scale_ * cells_.scale_ * kFilterUnits, &sink};
  const bool by_nodes = count <= kMaxNear / 2 && cells_.fill_block_search(search.block);
  if (vertices != nullptr && (!by_nodes || vertices->size() < kFew + cells_.n_ / kMany)) {
    for (const std::uint32_t v : *vertices) sink.search(v, std::numeric_limits<double>::infinity());
    return std::move(sink.given_up);
  }
  if (!by_nodes) {
    for (std::uint32_t v = 0; v < cells_.n_; ++v)
      if (cells_.is_small(v)) sink.leave(v, std::numeric_limits<double>::infinity());
    return std::move(sink.given_up);
  }
  if (vertices != nullptr)
    cells_.list_by_node(node_start_, *vertices);
  else
    cells_.list_by_node(node_start_);
  search.block.node_start = node_start_.data();
  write_more_filter(search.block);
  several_search(search);
  return std::move(sink.given_up);
}

/// Writes the coordinates of the filter beside the position, if one parcel is searched and they are near enough to each other.
void SeveralNearest::write_more_filter(BlockSearch& block) {
  if (distance2_.size() > 1 || more_.count == 0 || more_.count > kMaxMoreFilter || cells_.n_ == 0) return;
  const std::size_t stride = cells_.n_ + CellList::kPadding;
  more_filter_.resize(more_.count * stride);
  std::uint16_t* to[kMaxMoreFilter];
  for (std::size_t a = 0; a < more_.count; ++a) block.more[a] = to[a] = more_filter_.data() + a * stride;
  if (nearest::write_more_filter(more_, cells_.n_, cells_.scale_ * kFilterUnits, to))
    block.more_axes = static_cast<std::uint32_t>(more_.count);
}

/// Begins the list of a search within a radius.
void SeveralNearest::begin(double radius) {
  most2_ = radius * radius;
  std::fill(distance2_.begin(), distance2_.end(), bound_.distance2);
  std::fill(vertex_.begin(), vertex_.end(), links::kNone);
}

/// Computes which of the two layers of cells around the nearest node of the search grid there are on an axis, and lowers the radius up
/// to which parcels are in them. Where cells fill a period, layers go on behind its faces. @return false if the query point is beyond
/// the cells
bool SeveralNearest::choose_layers(std::size_t axis, double& reach) {
  Layers& to = layers_[axis];
  const std::int64_t cells = cells_.cells_[axis];
  const double g = (query_.point[axis] - cells_.lower_[axis]) * cells_.inverse_width_[axis];
  if (!(g >= 0 && g <= static_cast<double>(cells))) return false;
  const auto node = static_cast<std::int64_t>(g + 0.5);
  to.count = 0;
  for (std::int64_t layer = node - 1; layer <= node; ++layer) {
    const bool inside = layer >= 0 && layer < cells;
    if (!inside && !wraps_[axis]) continue;
    const double shift = inside ? 0 : layer < 0 ? cells_.box_.extent[axis] : -cells_.box_.extent[axis];
    to.cell[to.count] = static_cast<std::size_t>(inside ? layer : layer < 0 ? cells - 1 : 0);
    to.place[to.count++] = query_.point[axis] + shift;
  }
  // Beyond the outermost cells there are images of parcels only.
  const bool periodic = cells_.box_.periodic[axis];
  const std::int64_t first = wraps_[axis] ? node - 1 : std::max<std::int64_t>(node - 1, 0);
  const std::int64_t end = wraps_[axis] ? node + 1 : std::min(node + 1, cells);
  if (first > 0 || periodic) reach = std::min(reach, (g - static_cast<double>(first)) * cells_.width_[axis]);
  if (end < cells || periodic) reach = std::min(reach, (static_cast<double>(end) - g) * cells_.width_[axis]);
  return true;
}

/// Searches the 2x2x2 cells around the nearest node of the search grid, up to the nearest of their faces that is no wall.
/// @return whether the list is complete
bool SeveralNearest::search_block() {
  double reach = guess_;
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (!choose_layers(axis, reach)) return false;
  reach = reach * (1 - 1e-12) - 4 * cells_.slack_;
  if (reach <= 0) return false;
  begin(reach);
  const double error2 = error2_of({layers_[0].place[0], layers_[1].place[0], layers_[2].place[0]});
  const Layers& x = layers_[0];
  const bool is_run = x.count == 2 && x.cell[0] + 1 == x.cell[1];
  Vec3 at;
  for (int k = 0; k < layers_[2].count; ++k) {
    at[2] = layers_[2].place[k];
    for (int j = 0; j < layers_[1].count; ++j) {
      at[1] = layers_[1].place[j];
      const std::size_t row = (layers_[2].cell[k] * static_cast<std::size_t>(cells_.cells_[1]) + layers_[1].cell[j]) *
                              static_cast<std::size_t>(cells_.cells_[0]);
      for (int i = 0; i < (is_run ? 1 : x.count); ++i) {
        at[0] = x.place[i];
        scan_row(row + x.cell[i], row + x.cell[is_run ? 1 : i], at, error2);
      }
    }
  }
  return is_complete();
}

/// Searches the parcels within a radius of the query point and its periodic images. @return whether the list is complete
bool SeveralNearest::search_ball(double radius) {
  begin(radius);
  const double r = radius * (1 + 1e-12) + cells_.slack_;
  const double r2 = r * r * (1 + 1e-12) + std::numeric_limits<double>::min();
  const auto images = [&](std::size_t axis) { return cells_.box_.periodic[axis] ? 3 : 1; };
  constexpr double kSign[3] = {0, 1, -1};
  Vec3 image;
  const auto gap2 = [&](std::size_t axis) {
    const double gap = cells_.gap(static_cast<int>(axis), image[axis], 0, cells_.cells_[axis] - 1);
    return gap * gap;
  };
  for (int k = 0; k < images(2); ++k) {
    image[2] = query_.point[2] + kSign[k] * cells_.box_.extent[2];
    const double z2 = gap2(2);
    if (z2 > r2) continue;
    for (int j = 0; j < images(1); ++j) {
      image[1] = query_.point[1] + kSign[j] * cells_.box_.extent[1];
      const double yz2 = z2 + gap2(1);
      if (yz2 > r2) continue;
      for (int i = 0; i < images(0); ++i) {
        image[0] = query_.point[0] + kSign[i] * cells_.box_.extent[0];
        if (yz2 + gap2(0) <= r2) scan_around(image, r);
      }
    }
  }
  return is_complete() || radius > far_;
}

/// Searches the cells within a radius, rounding included, of an image of the query point.
void SeveralNearest::scan_around(const Vec3& image, double r) {
  std::array<std::int64_t, 3> lo;
  std::array<std::int64_t, 3> hi;
  for (int a = 0; a < 3; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    lo[axis] = cells_.cell_on_axis(a, image[axis] - r);
    hi[axis] = cells_.cell_on_axis(a, image[axis] + r);
  }
  const double error2 = error2_of(image);
  for (std::int64_t z = lo[2]; z <= hi[2]; ++z) {
    const double gz = cells_.gap(2, image[2], z, z);
    for (std::int64_t y = lo[1]; y <= hi[1]; ++y) {
      const double gy = cells_.gap(1, image[1], y, y);
      const double rest = r * r * (1 + 1e-12) - gz * gz - gy * gy;
      if (rest < 0) continue;
      const double half = std::sqrt(rest) + cells_.slack_;
      const std::int64_t first = std::max(lo[0], cells_.cell_on_axis(0, image[0] - half));
      const std::int64_t last = std::min(hi[0], cells_.cell_on_axis(0, image[0] + half));
      const std::int64_t row = (z * cells_.cells_[1] + y) * cells_.cells_[0];
      if (first <= last)
        scan_row(static_cast<std::size_t>(row + first), static_cast<std::size_t>(row + last), image, error2);
    }
  }
}

/// Returns what covers the errors of squared distances in scan_row(). @param place  of the point or its image
double SeveralNearest::error2_of(const Vec3& place) const {
  double most = 0;
  for (std::size_t a = 0; a < 3; ++a)
    most = std::max({most, std::fabs(place[a]), std::fabs(cells_.lower_[a]), std::fabs(cells_.upper_[a])});
  // Of a distance: each coordinate and each difference is rounded, and images differ from the canonical distance by the slack.
  const double error = most * 0x1p-48 + 2 * cells_.slack_;
  return 1e5 * error * error + std::numeric_limits<double>::min();
}

/// Searches a run of cells of a row of the search grid, from `first` to `last`, by the filter. @param place  of the point or its image
void SeveralNearest::scan_row(std::size_t first, std::size_t last, const Vec3& place, double error2) {
  const std::uint32_t end = cells_.start_[2 * last + 2];
  std::uint32_t near[kChunk];
  for (std::uint32_t at = cells_.start_[2 * first]; at < end; at += kChunk) {
    // (d + e)^2 <= (1 + 1e-4) d^2 + (1 + 1e4) e^2, with e from error2_of()
    const double limit = std::min({most2_, conditions_.most2, distance2_.back()}) * (1 + 1e-4) + error2;
    const std::uint32_t n =
        near_in_run(cells_.sorted_, cells_.n_, {place, limit}, at, std::min(at + kChunk, end), near);
    for (std::uint32_t i = 0; i < n; ++i) {
      const Site& s = cells_.sorted_[near[i]];
      double d2 = cells_.box_.distance2(query_.point, {s.x, s.y, s.z});
      if (!(d2 <= std::min(most2_, conditions_.most2))) continue;
      const double* const more = more_.values + near[i] * more_.count;
      for (std::size_t a = 0; a < more_.count; ++a) {
        const double d = conditions_.more[a] - more[a];
        d2 = d2 + d * d;
      }
      if (d2 <= distance2_.back() && near[i] != query_.self) insert(near[i], d2);
    }
  }
}

/// Inserts a vertex at a squared distance into the list if it is less than the last.
void SeveralNearest::insert(std::uint32_t v, double d2) {
  const auto is_before = [&](std::size_t i) {
    if (d2 != distance2_[i]) return d2 < distance2_[i];
    return ids_[v] < (vertex_[i] == links::kNone ? bound_.id : ids_[vertex_[i]]);
  };
  std::size_t at = distance2_.size();
  while (at > 0 && is_before(at - 1)) --at;
  if (at == distance2_.size() || (at > 0 && vertex_[at - 1] == v))
    return;  // the same has been seen around another image
  for (std::size_t i = distance2_.size() - 1; i > at; --i) {
    distance2_[i] = distance2_[i - 1];
    vertex_[i] = vertex_[i - 1];
  }
  distance2_[at] = d2;
  vertex_[at] = v;
}

}  // namespace merganser::nearest
