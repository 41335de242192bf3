// Nearest-neighbour query of one point in the cell list: cells that a ball or a shell intersects, and k-d trees in
// crowded ones.
#include <algorithm>
#include <cmath>
#include <limits>

#include "merganser/nearest/cell_list.hpp"
#include "src/nearest/best_so_far.hpp"
#include "src/nearest/crowded_trees.hpp"

namespace merganser::nearest {

/// Row of search cells along x, first .. last, at (y, z).
struct CellList::Row {
  std::int64_t z;
  std::int64_t y;
  std::int64_t first;  // index along x of the first search cell
  std::int64_t last;   // index along x of the last search cell, included
};

/// Box of search cells, lo .. hi on each axis, both included.
struct CellList::CellBox {
  std::array<std::int64_t, 3> lo;
  std::array<std::int64_t, 3> hi;
};

/// Returns a lower bound of the distance on one axis from coordinate x to any parcel in search cells first .. last.
double CellList::gap(int axis, double x, std::int64_t first, std::int64_t last) const {
  const double below = lower_[axis] + static_cast<double>(first) * width_[axis] - x;
  const double above = x - (lower_[axis] + static_cast<double>(last + 1) * width_[axis]);
  return std::max(std::max(below, above) - slack_, 0.0);
}

// Runs the query of a single point, as those from other ranks: searches around all images of the point that a nearer parcel may
// be close to.
void CellList::nearest(const Query& query, const links::Ids& ids, Best& best) const {
  if (n_ == 0) return;
  const SearchContext context{box_, slack_, sorted_, ids};
  BestSoFar best_so_far(context, query, best);
  search_images(best_so_far);
  best = best_so_far.result();
}

/// Searches the cell list for parcels nearer than the best so far around the query point, then around its periodic images.
void CellList::search_images(BestSoFar& best_so_far) const {
  // The canonical separation is that to the nearest image, so each image of the query point is searched for; images
  // beyond the limit are skipped.
  const auto square_of_gap = [&](int axis, double x) {
    const double d = gap(axis, x, 0, cells_[axis] - 1);
    return d * d;
  };
  const Vec3 sign{0, 1, -1};
  const auto images = [&](int axis) { return box_.periodic[axis] ? std::size_t{3} : std::size_t{1}; };
  Vec3 image;
  for (std::size_t k = 0; k < images(2); ++k) {
    image[2] = best_so_far.point()[2] + sign[k] * box_.extent[2];
    const double z2 = square_of_gap(2, image[2]);
    if (z2 > best_so_far.limit2()) continue;
    for (std::size_t j = 0; j < images(1); ++j) {
      image[1] = best_so_far.point()[1] + sign[j] * box_.extent[1];
      const double yz2 = z2 + square_of_gap(1, image[1]);
      if (yz2 > best_so_far.limit2()) continue;
      for (std::size_t i = 0; i < images(0); ++i) {
        image[0] = best_so_far.point()[0] + sign[i] * box_.extent[0];
        if (yz2 + square_of_gap(0, image[0]) <= best_so_far.limit2()) scan_ball(image, best_so_far);
      }
    }
  }
}

/// Searches the cells of the search grid that intersect the ball around an image of the query point whose radius is the best
/// distance so far.
void CellList::scan_ball(const Vec3& image, BestSoFar& best_so_far) const {
  CellBox box;
  if (best_so_far.limit2() == std::numeric_limits<double>::infinity()) {
    // No candidate yet: the query's own cell first, so that the ball is finite where that cell is not empty.
    for (int a = 0; a < 3; ++a) box.lo[a] = cell_on_axis(a, image[a]);
    scan_cells({box.lo[2], box.lo[1], box.lo[0], box.lo[0]}, &image, best_so_far);
  }
  const double r = std::sqrt(best_so_far.limit2());
  for (int a = 0; a < 3; ++a) {
    box.lo[a] = cell_on_axis(a, image[a] - r);
    box.hi[a] = cell_on_axis(a, image[a] + r);
  }
  // A ball of many cells shrinks as nearer parcels are found: nearer halves first, the rest is then mostly skipped.
  if ((box.hi[0] - box.lo[0] + 1) * (box.hi[1] - box.lo[1] + 1) * (box.hi[2] - box.lo[2] + 1) > 100)
    return scan_box(box, image, best_so_far);
  for (std::int64_t z = box.lo[2]; z <= box.hi[2]; ++z)
    for (std::int64_t y = box.lo[1]; y <= box.hi[1]; ++y) scan_row({z, y, box.lo[0], box.hi[0]}, image, best_so_far);
}

/// Halves a box of search cells until few remain, and searches the nearer half first. Recursion depth: the logarithm of the
/// number of cells.
void CellList::scan_box(const CellBox& box, const Vec3& image, BestSoFar& best_so_far) const {
  const bool is_row = box.lo[2] == box.hi[2] && box.lo[1] == box.hi[1];
  if (is_row) {
    const auto row = (box.lo[2] * cells_[1] + box.lo[1]) * cells_[0];
    const auto first = static_cast<std::size_t>(row + box.lo[0]);
    const auto last = static_cast<std::size_t>(row + box.hi[0]);
    if (start_[2 * first] == start_[2 * last + 2]) return;
    if (last - first < 4) return scan_row({box.lo[2], box.lo[1], box.lo[0], box.hi[0]}, image, best_so_far);
  }
  // Halved across its longest edge, so that the halves stay near to cubes.
  int axis = 0;
  double longest = 0;
  for (int a = 0; a < 3; ++a) {
    const double length = static_cast<double>(box.hi[a] - box.lo[a]) * width_[a];
    if (length > longest) longest = length, axis = a;
  }
  std::array<CellBox, 2> half{box, box};
  half[0].hi[axis] = (box.lo[axis] + box.hi[axis]) / 2;
  half[1].lo[axis] = half[0].hi[axis] + 1;
  std::array<double, 2> distance2{0, 0};
  for (std::size_t h = 0; h < 2; ++h)
    for (int a = 0; a < 3; ++a) {
      const double d = gap(a, image[a], half[h].lo[a], half[h].hi[a]);
      distance2[h] += d * d;
    }
  const std::size_t near = distance2[1] < distance2[0] ? 1 : 0;
  for (const std::size_t h : {near, 1 - near})
    if (distance2[h] <= best_so_far.limit2()) scan_box(half[h], image, best_so_far);
}

/// Searches the cells of a row of the search grid that intersect the ball around an image of the query point whose radius is the
/// best distance so far.
void CellList::scan_row(const Row& row, const Vec3& image, BestSoFar& best_so_far) const {
  const double z = gap(2, image[2], row.z, row.z);
  const double y = gap(1, image[1], row.y, row.y);
  const double rest = best_so_far.limit2() - z * z - y * y;
  if (rest < 0) return;
  const double half = std::sqrt(rest) + slack_;
  const std::int64_t first = std::max(row.first, cell_on_axis(0, image[0] - half));
  const std::int64_t last = std::min(row.last, cell_on_axis(0, image[0] + half));
  if (first <= last) scan_cells({row.z, row.y, first, last}, &image, best_so_far);
}

/// Searches all parcels in the cells of a row of the search grid: crowded half-cells by their trees, others by a scan.
/// @param image  only image of the query point that matters; null: all matter
void CellList::scan_cells(const Row& row, const Vec3* image, BestSoFar& best_so_far) const {
  const auto cell = static_cast<std::size_t>((row.z * cells_[1] + row.y) * cells_[0]);
  const std::size_t begin = 2 * (cell + static_cast<std::size_t>(row.first));
  const std::size_t end = 2 * (cell + static_cast<std::size_t>(row.last)) + 2;
  if (!trees_) return scan_run(start_[begin], start_[end], image, best_so_far);
  for (std::size_t h = begin; h < end; ++h) {
    const CrowdedTrees::Run run{start_[h], start_[h + 1]};
    if (run.end - run.begin > CrowdedTrees::kCrowded) {
      trees_->search(run, box_, best_so_far);
    } else {
      scan_run(run.begin, run.end, image, best_so_far);
    }
  }
}

/// Compares the parcels of the vertices begin .. end - 1 with the best candidate so far; with an image, only vertices within the
/// search limit of the image.
void CellList::scan_run(std::uint32_t begin, std::uint32_t end, const Vec3* image, BestSoFar& best_so_far) const {
  if (image == nullptr) {
    for (std::uint32_t v = begin; v < end; ++v) best_so_far.consider(v);
    return;
  }
  const Vec3 p = *image;
  for (std::uint32_t v = begin; v < end; ++v) {
    const Site& s = sorted_[v];
    const double x = s.x - p[0];
    const double y = s.y - p[1];
    const double z = s.z - p[2];
    if (x * x + y * y + z * z <= best_so_far.limit2()) best_so_far.consider(v);
  }
}

// Runs a query by the published search rule cells8: the candidates are the parcels of the 2x2x2 cells around the nearest grid
// node, all compared.
void CellList::nearest_cells8(const Query& query, const links::Ids& ids, Best& best) const {
  // The two cells per axis around the nearest node, in this rank's numbering; a cell that wrapping gives twice counts
  // once.
  std::array<std::array<std::int64_t, 2>, 3> cell;
  std::array<int, 3> count{0, 0, 0};
  for (int a = 0; a < 3; ++a) {
    const std::int64_t node = grid_.node(a, query.point[a]);
    for (std::int64_t c = node - 1; c <= node; ++c) {
      std::int64_t g = c;
      if (box_.periodic[a]) g = (c + grid_.cells[a]) % grid_.cells[a];
      const std::int64_t here = g - first_[a];
      if (g < 0 || g >= grid_.cells[a] || here < 0 || here >= cells_[a]) continue;
      if (count[a] == 1 && cell[a][0] == here) continue;
      cell[a][static_cast<std::size_t>(count[a]++)] = here;
    }
  }
  const SearchContext context{box_, slack_, sorted_, ids};
  BestSoFar best_so_far(context, query, best);
  for (int k = 0; k < count[2]; ++k)
    for (int j = 0; j < count[1]; ++j)
      for (int i = 0; i < count[0]; ++i)
        scan_cells({cell[2][static_cast<std::size_t>(k)], cell[1][static_cast<std::size_t>(j)],
                    cell[0][static_cast<std::size_t>(i)], cell[0][static_cast<std::size_t>(i)]},
                   nullptr, best_so_far);
  best = best_so_far.result();
}

}  // namespace merganser::nearest
