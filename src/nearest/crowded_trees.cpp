// k-d trees of crowded half-cells of the cell list: implicit trees by median splits, and the search in them.
#include "src/nearest/crowded_trees.hpp"

#include <algorithm>
#include <array>
#include <bit>

// Sites are passed by value inside std::nth_element, which GCC remarks on since its version 4.6.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

namespace merganser::nearest {
namespace {

constexpr std::uint32_t kLeaf = 16;  // maximum parcels of a part that is not halved

/// Returns the depth of the k-d tree of a crowded half-cell of the cell list with `size` parcels: the number of times that they are
/// halved, until no part has more than kLeaf.
int tree_depth(std::uint32_t size) { return std::bit_width((size - 1) / kLeaf); }

/// Returns the index of the run of a crowded half-cell in first_box_. No two runs share one: each is longer than kCrowded vertices.
std::size_t tree_index(const CrowdedTrees::Run& run) {
  return (run.begin + CrowdedTrees::kCrowded - 1) / CrowdedTrees::kCrowded;
}

/// Returns whether the bounding box of a part of a k-d tree is a single point: all parcels in it coincide.
bool is_point(const Vec3& lower, const Vec3& upper) {
  return lower[0] == upper[0] && lower[1] == upper[1] && lower[2] == upper[2];
}

/// Returns the container position of a parcel's site, which stands in the place of its volume while sites are sorted.
std::size_t container_position(const Site& s) { return std::bit_cast<std::uint64_t>(s.volume); }

}  // namespace

/// Node of an implicit k-d tree, a part of its run of vertices, numbered as in a heap: the whole is 1, the halves of i are 2i and
/// 2i + 1.
struct CrowdedTrees::Part {
  std::uint32_t number = 1;
  int level = 0;  // times that the run was halved
  /// Returns the vertices of this part of a run; sizes of parts of one level differ by 1 at most.
  [[nodiscard]] Run range_in(const Run& run) const {
    const std::uint64_t size = run.end - run.begin;
    const std::uint64_t at = number - (std::uint64_t{1} << level);
    return {run.begin + static_cast<std::uint32_t>(size * at >> level),
            run.begin + static_cast<std::uint32_t>(size * (at + 1) >> level)};
  }
  /// Returns the lower (0) or upper (1) half of this part of the k-d tree.
  [[nodiscard]] Part half(std::uint32_t which) const { return {2 * number + which, level + 1}; }
};

/// Recursive construction of the k-d tree of one crowded half-cell: bounding box of each part, then a split at the median of its
/// longest axis.
class CrowdedTrees::Builder {
 public:
  /// Makes the builder of CrowdedTrees::build() for the tree of a run; `bounds` has room for all boxes of the tree.
  Builder(const Run& run, Site* sites, const PointSet& points, Bounds* bounds)
      : run_(run), sites_(sites), points_(points), bounds_(bounds), depth_(tree_depth(run.end - run.begin)) {}

  /// Sorts the sites of a part so that its halves are parts, and stores the bounding boxes of all its parts.
  void build(const Part& part) {
    const Run r = part.range_in(run_);
    Site* const begin = sites_ + r.begin;
    Site* const end = sites_ + r.end;
    const Bounds b = compute_bounds(begin, end);
    bounds_[part.number - 1] = b;
    if (is_point(b.lower, b.upper)) {
      // All distances are equal: only the two lowest ids can win, of which one may be the query's own parcel.
      std::nth_element(begin, std::min(begin + 1, end), end, [&](const Site& s, const Site& t) {
        return points_.id(container_position(s)) < points_.id(container_position(t));
      });
      return;
    }
    if (part.level == depth_) return;
    halve(b, begin, sites_ + part.half(0).range_in(run_).end, end);
    build(part.half(0));
    build(part.half(1));
  }

 private:
  /// Returns the bounding box of the parcels begin .. end - 1, at least one.
  static Bounds compute_bounds(const Site* begin, const Site* end) {
    Bounds b{{begin->x, begin->y, begin->z}, {begin->x, begin->y, begin->z}};
    for (const Site* s = begin + 1; s < end; ++s) {
      const Vec3 p{s->x, s->y, s->z};
      for (int a = 0; a < 3; ++a) {
        b.lower[a] = std::min(b.lower[a], p[a]);
        b.upper[a] = std::max(b.upper[a], p[a]);
      }
    }
    return b;
  }

  /// Splits the parcels of a part at the median of the longest axis of their bounding box.
  static void halve(const Bounds& b, Site* begin, Site* middle, Site* end) {
    const Vec3 e{b.upper[0] - b.lower[0], b.upper[1] - b.lower[1], b.upper[2] - b.lower[2]};
    if (e[0] >= e[1] && e[0] >= e[2]) {
      std::nth_element(begin, middle, end, [](const Site& s, const Site& t) { return s.x < t.x; });
    } else if (e[1] >= e[2]) {
      std::nth_element(begin, middle, end, [](const Site& s, const Site& t) { return s.y < t.y; });
    } else {
      std::nth_element(begin, middle, end, [](const Site& s, const Site& t) { return s.z < t.z; });
    }
  }

  Run run_;                 // vertices of the half-cell whose tree is built
  Site* sites_;             // sites of the parcels by vertex, permuted
  const PointSet& points_;  // points of the search, for their ids
  Bounds* bounds_;          // out, by number of the part less one: bounding box
  int depth_;               // number of times that the run is halved
};

// Allocates the k-d trees of crowded half-cells: memory for all bounding boxes in one array.
CrowdedTrees::CrowdedTrees(std::size_t n, const std::vector<Run>& runs) : first_box_(n / kCrowded + 1) {
  std::size_t boxes = 0;
  for (const Run& run : runs) {
    first_box_[tree_index(run)] = boxes;
    boxes += (std::size_t{2} << tree_depth(run.end - run.begin)) - 1;
  }
  bounds_.resize(boxes);
}

// Builds the k-d tree of one crowded half-cell. While sites are sorted, each has its container position in place of its volume, so
// that only one array is permuted.
void CrowdedTrees::build(const Run& run, Site* sites, std::uint32_t* order, const PointSet& points) {
  for (std::uint32_t v = run.begin; v < run.end; ++v) sites[v].volume = std::bit_cast<double>(std::uint64_t{order[v]});
  Builder(run, sites, points, bounds_.data() + first_box_[tree_index(run)]).build({});
  for (std::uint32_t v = run.begin; v < run.end; ++v) {
    order[v] = static_cast<std::uint32_t>(container_position(sites[v]));
    sites[v].volume = points.site(order[v]).volume;
  }
}

/// Returns the least canonical squared distance from query point q to any point of a part's bounding box; a bound that rounding
/// does not break.
double CrowdedTrees::distance2_to(const Bounds& b, const Box& box, const Vec3& q) {
  Vec3 s;
  for (int a = 0; a < 3; ++a) {
    const double below = b.lower[a] - q[a];
    const double above = q[a] - b.upper[a];
    s[a] = std::max({below, above, 0.0});
    // On a periodic axis the canonical separation is the smaller of |d| and period - |d|, so the least over the box is
    // that of the nearer face, or the period less the distance to the farther face.
    if (box.periodic[a]) {
      const double farthest = std::max(b.upper[a] - q[a], q[a] - b.lower[a]);
      s[a] = std::min(s[a], std::max(box.extent[a] - farthest, 0.0));
    }
  }
  return (s[0] * s[0] + s[1] * s[1]) + s[2] * s[2];
}

// Searches one crowded half-cell: descends to the nearer half first and skips parts that are farther than the best candidate so
// far.
void CrowdedTrees::search(const Run& run, const Box& box, BestSoFar& best_so_far) const {
  const Bounds* const bounds = bounds_.data() + first_box_[tree_index(run)] - 1;
  const int depth = tree_depth(run.end - run.begin);
  const auto part_distance2 = [&](const Part& p) { return distance2_to(bounds[p.number], box, best_so_far.point()); };
  /// Part of the k-d tree to visit later, with its least squared distance from the query point.
  struct PendingPart {
    Part part;
    double distance2;
  };
  // Stack of parts to visit later. A tree has at most 27 levels below its root (fewer than 2^31 parcels, kLeaf in a
  // part), and each adds at most one entry.
  std::array<PendingPart, 32> later;
  std::size_t count = 0;
  later[count++] = {{}, part_distance2({})};
  while (count > 0) {
    auto [part, distance2] = later[--count];
    // At the same distance a lower id may win.
    while (distance2 <= best_so_far.distance2()) {
      const Run r = part.range_in(run);
      const Bounds& b = bounds[part.number];
      const bool point = is_point(b.lower, b.upper);
      if (point || part.level == depth) {
        const std::uint32_t end = point ? std::min(r.end, r.begin + 2) : r.end;
        for (std::uint32_t v = r.begin; v < end; ++v) best_so_far.consider(v);
        break;
      }
      PendingPart near{part.half(0), part_distance2(part.half(0))};
      PendingPart far{part.half(1), part_distance2(part.half(1))};
      if (far.distance2 < near.distance2) std::swap(near, far);
      if (far.distance2 <= best_so_far.distance2()) later[count++] = far;
      part = near.part;
      distance2 = near.distance2;
    }
  }
}

}  // namespace merganser::nearest
