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

constexpr std::uint32_t kLeaf = 16;  // most parcels of a part that is not halved

/// How often a run is halved.
int depth_of(std::uint32_t size) { return std::bit_width((size - 1) / kLeaf); }

std::size_t number_of(const CrowdedTrees::Run& run) {
  return (run.begin + CrowdedTrees::kCrowded - 1) / CrowdedTrees::kCrowded;
}

bool is_point(const Vec3& lower, const Vec3& upper) {
  return lower[0] == upper[0] && lower[1] == upper[1] && lower[2] == upper[2];
}

/// The container position travels in the place of the volume while sites are sorted.
std::size_t position_in(const Site& s) { return std::bit_cast<std::uint64_t>(s.volume); }

}  // namespace

/// Parts are numbered as in a heap: the whole is 1, the halves of i are 2i and 2i + 1.
struct CrowdedTrees::Part {
  std::uint32_t number = 1;
  int level = 0;
  [[nodiscard]] Run of(const Run& run) const {
    const std::uint64_t size = run.end - run.begin;
    const std::uint64_t at = number - (std::uint64_t{1} << level);
    return {run.begin + static_cast<std::uint32_t>(size * at >> level),
            run.begin + static_cast<std::uint32_t>(size * (at + 1) >> level)};
  }
  [[nodiscard]] Part half(std::uint32_t which) const { return {2 * number + which, level + 1}; }
};

class CrowdedTrees::Grower {
 public:
  Grower(const Run& run, Site* sites, const PointSet& points, Bounds* bounds)
      : run_(run), sites_(sites), points_(points), bounds_(bounds), depth_(depth_of(run.end - run.begin)) {}

  void grow(const Part& part) {
    const Run r = part.of(run_);
    Site* const begin = sites_ + r.begin;
    Site* const end = sites_ + r.end;
    const Bounds b = bounds_of(begin, end);
    bounds_[part.number - 1] = b;
    if (is_point(b.lower, b.upper)) {
      // Only the two lowest ids can win, of which one may be the parcel that asks.
      std::nth_element(begin, std::min(begin + 1, end), end, [&](const Site& s, const Site& t) {
        return points_.id(position_in(s)) < points_.id(position_in(t));
      });
      return;
    }
    if (part.level == depth_) return;
    halve(b, begin, sites_ + part.half(0).of(run_).end, end);
    grow(part.half(0));
    grow(part.half(1));
  }

 private:
  static Bounds bounds_of(const Site* begin, const Site* end) {
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

  Run run_;
  Site* sites_;
  const PointSet& points_;
  Bounds* bounds_;
  int depth_;
};

CrowdedTrees::CrowdedTrees(std::size_t n, const std::vector<Run>& runs) : first_box_(n / kCrowded + 1) {
  std::size_t boxes = 0;
  for (const Run& run : runs) {
    first_box_[number_of(run)] = boxes;
    boxes += (std::size_t{2} << depth_of(run.end - run.begin)) - 1;
  }
  bounds_.resize(boxes);
}

void CrowdedTrees::grow(const Run& run, Site* sites, std::uint32_t* order, const PointSet& points) {
  for (std::uint32_t v = run.begin; v < run.end; ++v) sites[v].volume = std::bit_cast<double>(std::uint64_t{order[v]});
  Grower(run, sites, points, bounds_.data() + first_box_[number_of(run)]).grow({});
  for (std::uint32_t v = run.begin; v < run.end; ++v) {
    order[v] = static_cast<std::uint32_t>(position_in(sites[v]));
    sites[v].volume = points.site(order[v]).volume;
  }
}

double CrowdedTrees::distance2_to(const Bounds& b, const Box& box, const Vec3& q) {
  Vec3 s;
  for (int a = 0; a < 3; ++a) {
    const double below = b.lower[a] - q[a];
    const double above = q[a] - b.upper[a];
    s[a] = std::max({below, above, 0.0});
    if (box.periodic[a]) {
      const double farthest = std::max(b.upper[a] - q[a], q[a] - b.lower[a]);
      s[a] = std::min(s[a], std::max(box.extent[a] - farthest, 0.0));
    }
  }
  return (s[0] * s[0] + s[1] * s[1]) + s[2] * s[2];
}

void CrowdedTrees::search(const Run& run, const Box& box, BestSoFar& best_so_far) const {
  const Bounds* const bounds = bounds_.data() + first_box_[number_of(run)] - 1;
  const int depth = depth_of(run.end - run.begin);
  const auto bound_of = [&](const Part& p) { return distance2_to(bounds[p.number], box, best_so_far.point()); };
  struct Later {
    Part part;
    double distance2;
  };
  std::array<Later, 32> later;
  std::size_t count = 0;
  later[count++] = {{}, bound_of({})};
  while (count > 0) {
    auto [part, distance2] = later[--count];
    // At the same distance a lower id may win.
    while (distance2 <= best_so_far.distance2()) {
      const Run r = part.of(run);
      const Bounds& b = bounds[part.number];
      const bool point = is_point(b.lower, b.upper);
      if (point || part.level == depth) {
        const std::uint32_t end = point ? std::min(r.end, r.begin + 2) : r.end;
        for (std::uint32_t v = r.begin; v < end; ++v) best_so_far.offer(v);
        break;
      }
      Later near{part.half(0), bound_of(part.half(0))};
      Later far{part.half(1), bound_of(part.half(1))};
      if (far.distance2 < near.distance2) std::swap(near, far);
      if (far.distance2 <= best_so_far.distance2()) later[count++] = far;
      part = near.part;
      distance2 = near.distance2;
    }
  }
}

}  // namespace merganser::nearest
