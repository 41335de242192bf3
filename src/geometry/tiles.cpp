// Domain decomposition by boxes of the caller: check that they tile the domain, neighbours, owners and routes.
#include "src/geometry/tiles.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"

namespace merganser {
namespace {

constexpr double kRounding = 1e-9;  // faces nearer to each other than this share of the box's extent are identified

/// Formats the block of a rank for error messages: "[0, 1] x [0, 1] x [0, 0.5]".
std::string block_text(const Decomposition::Block& b) {
  std::string text;
  for (int a = 0; a < 3; ++a)
    text += std::string(a == 0 ? "" : " x ") + "[" + number_text(b.lower[a]) + ", " + number_text(b.upper[a]) + "]";
  return text;
}

/// Gives faces of the ranks' blocks that differ by rounding one coordinate: that of the box if it is near, else that of the lowest
/// of them.
void identify_faces(const Box& box, std::vector<Decomposition::Block>& blocks) {
  for (int a = 0; a < 3; ++a) {
    const double slack = kRounding * box.extent[a];
    const double ends[2] = {box.lower[a], box.lower[a] + box.extent[a]};
    std::vector<double*> faces;
    for (auto& b : blocks) {
      for (double* const face : {&b.lower[a], &b.upper[a]}) {
        for (const double end : ends)
          if (std::fabs(*face - end) <= slack) *face = end;
        faces.push_back(face);
      }
    }
    // In ascending order each face within rounding of the one before it takes that coordinate.
    std::sort(faces.begin(), faces.end(), [](const double* p, const double* q) { return *p < *q; });
    for (std::size_t i = 1; i < faces.size(); ++i)
      if (*faces[i] - *faces[i - 1] <= slack && *faces[i] != ends[1]) *faces[i] = *faces[i - 1];
  }
}

/// Checks the block of one rank in a decomposition by boxes. @throws InputError if it is empty or extends beyond the box
void check_block(const Box& box, int rank, const Decomposition::Block& b) {
  for (int a = 0; a < 3; ++a) {
    const double upper = box.lower[a] + box.extent[a];
    if (b.lower[a] >= box.lower[a] && b.upper[a] <= upper && b.upper[a] > b.lower[a]) continue;
    throw InputError(
        "box " + block_text(b) + " of rank " + std::to_string(rank) +
        "; allowed: boxes that are not empty and inside " +
        block_text(
            {box.lower, {box.lower[0] + box.extent[0], box.lower[1] + box.extent[1], box.lower[2] + box.extent[2]}}));
  }
}

/// Returns the share of the domain's volume that the block of a rank fills.
double volume_share(const Box& box, const Decomposition::Block& b) {
  double part = 1;
  for (int a = 0; a < 3; ++a) part *= (b.upper[a] - b.lower[a]) / box.extent[a];
  return part;
}

/// Returns whether the blocks of two ranks in a decomposition by boxes overlap by more than rounding.
bool has_overlap(const Box& box, const Decomposition::Block& p, const Decomposition::Block& q) {
  for (int a = 0; a < 3; ++a)
    if (std::min(p.upper[a], q.upper[a]) - std::max(p.lower[a], q.lower[a]) <= kRounding * box.extent[a]) return false;
  return true;
}

}  // namespace

// Makes the decomposition by boxes: faces within rounding are identified, then each block and the tiling as a whole are checked.
Decomposition Decomposition::from_boxes(const Grid& grid, std::vector<Block> blocks) {
  check_grid(grid);
  if (blocks.empty() || blocks.size() > 0x7fffffff)
    throw UsageError("a decomposition of " + std::to_string(blocks.size()) + " boxes; allowed: one for each rank");
  const Box& box = grid.box;
  for (const Block& b : blocks)
    for (int a = 0; a < 3; ++a)
      if (!std::isfinite(b.lower[a]) || !std::isfinite(b.upper[a]))
        throw InputError("box " + block_text(b) + "; allowed: finite coordinates");
  identify_faces(box, blocks);
  double shares = 0;
  for (std::size_t r = 0; r < blocks.size(); ++r) {
    check_block(box, static_cast<int>(r), blocks[r]);
    shares += volume_share(box, blocks[r]);
    for (std::size_t other = 0; other < r; ++other)
      if (has_overlap(box, blocks[r], blocks[other]))
        throw InputError("boxes of ranks " + std::to_string(other) + " and " + std::to_string(r) + ", " +
                         block_text(blocks[other]) + " and " + block_text(blocks[r]) +
                         ", overlap; allowed: boxes that touch at most");
  }
  // Blocks inside the box that do not overlap tile it if and only if their volumes add up to its own, up to rounding.
  if (std::fabs(shares - 1) > 6 * kRounding * static_cast<double>(blocks.size()))
    throw InputError("boxes hold " + number_text(100 * shares) +
                     " % of the domain; allowed: boxes that leave nothing out");
  Decomposition d(grid);
  d.kind_ = Kind::boxes;
  d.shape_ = {static_cast<int>(blocks.size()), 1, 1};
  auto tiles = std::make_shared<Tiles>();
  tiles->blocks = std::move(blocks);
  tiles->neighbours.resize(tiles->blocks.size());
  d.tiles_ = tiles;
  for (int r = 0; r < d.ranks(); ++r)
    for (int other = 0; other < d.ranks(); ++other)
      if (other != r && d.distance2_between(r, other) == 0)
        tiles->neighbours[static_cast<std::size_t>(r)].push_back(other);
  return d;
}

// Returns the rank whose box contains a point: a face belongs to the box above it, except at the upper end of the domain.
int Decomposition::Tiles::owner(const Decomposition& d, const Vec3& p) const {
  int nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < blocks.size(); ++r) {
    const Block& b = blocks[r];
    bool inside = true;
    for (int a = 0; a < 3; ++a) {
      const bool last = b.upper[a] >= d.grid().box.lower[a] + d.grid().box.extent[a];
      inside = inside && p[a] >= b.lower[a] && (p[a] < b.upper[a] || (last && p[a] <= b.upper[a]));
    }
    if (inside) return static_cast<int>(r);
    const double distance2 = d.distance2_to_block(p, static_cast<int>(r));
    if (distance2 < least) {
      least = distance2;
      nearest = static_cast<int>(r);
    }
  }
  return nearest;  // a point outside the box by rounding: the nearest block, the lowest rank of several
}

// Returns the next rank on a shortest route between boxes, by a search from its end.
int Decomposition::Tiles::next_hop(int rank, int owner) const {
  // Breadth-first search from the owner: the first vertex that has `rank` as a neighbour is on a shortest path.
  std::vector<std::uint8_t> seen(blocks.size(), 0);
  std::vector<int> wave{owner};
  seen[static_cast<std::size_t>(owner)] = 1;
  while (!wave.empty()) {
    std::vector<int> next;
    for (const int r : wave)
      for (const int n : neighbours[static_cast<std::size_t>(r)]) {
        if (n == rank) return r;
        if (seen[static_cast<std::size_t>(n)] != 0) continue;
        seen[static_cast<std::size_t>(n)] = 1;
        next.push_back(n);
      }
    wave = std::move(next);
  }
  throw InputError("no way from rank " + std::to_string(rank) + " to rank " + std::to_string(owner));
}

}  // namespace merganser
