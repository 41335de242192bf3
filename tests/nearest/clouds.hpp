#pragma once
/// Generators of parcels at positions that are hard for a search (ties, faces, clusters), and the quadratic search as
/// oracle.
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "merganser/geometry/box.hpp"
#include "merganser/links/links.hpp"
#include "merganser/nearest/cell_list.hpp"
#include "merganser/parcels/parcels.hpp"
#include "tests/geometry/boxes.hpp"

namespace merganser::test {

/// Parcels below this volume are small.
inline constexpr double kSmall = 1.0;

inline Box cube(bool periodic) { return {{0, 0, 0}, {1, 1, 1}, {periodic, periodic, periodic}}; }

inline void add_point(Parcels& parcels, std::int64_t id, const Vec3& p, bool small) {
  const std::size_t i = parcels.size();
  parcels.resize(i + 1);
  std::fill_n(parcels.row(i), parcels.schema().width(), 0.0);
  parcels.site(i) = {p[0], p[1], p[2], small ? 0.5 * kSmall : 2 * kSmall};
  parcels.set_id(i, id);
}

/// Distribution of the coordinates of one axis.
enum class Along { uniform, lattice, faces, clusters, one_plane, few_values };

class Coordinates {
 public:
  Coordinates(Along along, std::mt19937_64& random) : along_(along), random_(random), steps_(1 + random() % 12) {
    for (double& c : centre_) c = unit();
  }
  /// Returns the next coordinate, in [0, 1].
  double next() {
    switch (along_) {
      case Along::uniform:
        return unit();
      case Along::lattice:
        return static_cast<double>(random_() % steps_) / static_cast<double>(steps_);
      case Along::faces: {
        const double face = static_cast<double>(random_() % (steps_ + 1)) / static_cast<double>(steps_);
        const double beside[] = {face, std::nextafter(face, 0.0), std::nextafter(face, 1.0)};
        return beside[random_() % 3];
      }
      case Along::clusters:
        return std::clamp(centre_[random_() % 4] + (unit() - 0.5) * std::pow(10.0, -double(random_() % 13)), 0.0, 1.0);
      case Along::one_plane:
        return centre_[0];
      case Along::few_values:
        return centre_[random_() % 4];
    }
    return 0;
  }

 private:
  double unit() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  Along along_;
  std::mt19937_64& random_;
  std::uint64_t steps_;
  double centre_[4];
};

struct Cloud {
  Box box;
  Parcels parcels;
};

/// Generates up to `most` parcels in any box; ids are distinct, in no order, also negative.
inline Cloud any_cloud(const Box& box, int most) {
  const int n = *rc::gen::inRange(0, most + 1);
  const int small_of_8 = *rc::gen::element(0, 1, 4, 8);
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  std::vector<Coordinates> axes;
  for (int a = 0; a < 3; ++a)
    axes.emplace_back(*rc::gen::element(Along::uniform, Along::lattice, Along::faces, Along::clusters, Along::one_plane,
                                        Along::few_values),
                      random);
  std::vector<std::int64_t> ids;
  for (int i = 0; i < n; ++i) ids.push_back((i - n / 4) * std::int64_t{1000000007});
  std::shuffle(ids.begin(), ids.end(), random);
  Cloud cloud{box, {}};
  for (const std::int64_t id : ids) {
    Vec3 p;
    for (int a = 0; a < 3; ++a) {
      const double upper = box.lower[a] + box.extent[a];
      p[a] = std::clamp(box.lower[a] + axes[static_cast<std::size_t>(a)].next() * box.extent[a], box.lower[a], upper);
      p[a] = box.wrap(a, p[a]);
    }
    add_point(cloud.parcels, id, p, static_cast<int>(random() % 8) < small_of_8);
  }
  return cloud;
}

/// Generates groups of crowded parcels: at points, in blobs, on lines, planes and lattices, in the midst of others or
/// alone.
inline Cloud any_crowd(const Box& box, int most) {
  std::mt19937_64 random(*rc::gen::arbitrary<std::uint64_t>());
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  const int groups = *rc::gen::inRange(1, 4);
  const int small_of_8 = *rc::gen::element(1, 4, 8);
  const bool at_faces = *rc::gen::arbitrary<bool>();
  std::vector<std::int64_t> ids;
  for (int i = 0; i < most; ++i) ids.push_back((i - most / 4) * std::int64_t{1000000007});
  std::shuffle(ids.begin(), ids.end(), random);
  Cloud cloud{box, {}};
  for (int group = 0; group < groups; ++group) {
    const int n = *rc::gen::inRange(0, most / groups + 1);
    const int dimensions = *rc::gen::inRange(0, 4);
    const double size = std::pow(10.0, -*rc::gen::element(0, 1, 2, 5, 9, 13));
    const std::uint64_t steps = *rc::gen::element(0, 0, 1, 4, 16);  // of a lattice; 0: none
    Vec3 origin;
    Vec3 along[3];
    for (double& c : origin) c = at_faces ? static_cast<double>(random() % 3) / 2 : unit();
    for (Vec3& v : along)
      for (double& c : v) c = random() % 2 == 0 ? 0 : unit() - 0.5;
    for (int i = 0; i < n; ++i) {
      Vec3 p = origin;
      for (int k = 0; k < dimensions; ++k) {
        const double t = steps == 0 ? unit() : static_cast<double>(random() % (steps + 1)) / static_cast<double>(steps);
        for (int a = 0; a < 3; ++a) p[a] += size * t * along[k][a];
      }
      for (int a = 0; a < 3; ++a) {
        const double x = box.wrap(a, box.lower[a] + p[a] * box.extent[a]);
        p[a] = std::clamp(x, box.lower[a], box.lower[a] + box.extent[a]);
      }
      add_point(cloud.parcels, ids[cloud.parcels.size()], p, static_cast<int>(random() % 8) < small_of_8);
    }
  }
  return cloud;
}

inline Vec3 position(const Parcels& parcels, std::size_t i) {
  return {parcels.site(i).x, parcels.site(i).y, parcels.site(i).z};
}

/// Result of a quadratic search: the container position of the nearest, and its key.
struct Nearest {
  std::int64_t index = -1;
  links::Key key;
};

/// Returns the nearest of all parcels but `i` to parcel i, in the total order of links, among those that `allowed`
/// accepts.
template <class Allowed>
Nearest oracle(const Box& box, const Parcels& parcels, std::size_t i, Allowed&& allowed) {
  Nearest best;
  for (std::size_t j = 0; j < parcels.size(); ++j) {
    if (j == i || !allowed(j)) continue;
    const links::Key key{box.distance2(position(parcels, i), position(parcels, j)),
                         std::min(parcels.id(i), parcels.id(j)), std::max(parcels.id(i), parcels.id(j))};
    if (best.index < 0 || key < best.key) best = {static_cast<std::int64_t>(j), key};
  }
  return best;
}

/// Cell list with the memory that it works in.
class Sorted {
 public:
  Sorted(const Box& box, const nearest::Region& region, const Parcels& parcels, const nearest::CellList::Cut& cut)
      : cells_(box, region) {
    fill(parcels, cut);
  }
  void fill(const Parcels& parcels, const nearest::CellList::Cut& cut) {
    const nearest::PointSet points(parcels, kSmall);
    small_ = cells_.bin(points, cut);
    sites_ = std::vector<Site>(parcels.size());
    scratch_ = RawBuffer(nearest::CellList::scratch_bytes(parcels.size()));
    cells_.sort(points, sites_.data(), scratch_.data());
    ids_ = points.ids(cells_.order());
    target_.assign(parcels.size(), 12345);
  }
  std::vector<nearest::CellList::Open> search() { return cells_.search_exact(target_, ids_); }

  [[nodiscard]] const nearest::CellList& cells() const { return cells_; }
  [[nodiscard]] const links::Ids& ids() const { return ids_; }
  [[nodiscard]] std::int64_t small() const { return small_; }
  /// Container position of the target of a vertex, -1 if it has none.
  [[nodiscard]] std::int64_t target(std::uint32_t vertex) const {
    return target_[vertex] == links::kNone ? -1 : static_cast<std::int64_t>(cells_.order()[target_[vertex]]);
  }
  [[nodiscard]] std::int64_t container(std::uint32_t vertex) const {
    return vertex == links::kNone ? -1 : static_cast<std::int64_t>(cells_.order()[vertex]);
  }

 private:
  nearest::CellList cells_;
  std::vector<Site> sites_;
  RawBuffer scratch_;
  links::Ids ids_;
  std::vector<std::uint32_t> target_;
  std::int64_t small_ = 0;
};

/// Returns the region of a rank that owns the whole box.
inline nearest::Region whole(const Box& box) {
  nearest::Region r;
  for (int a = 0; a < 3; ++a) {
    r.lower[a] = box.lower[a];
    r.upper[a] = box.lower[a] + box.extent[a];
    r.wall_lower[a] = r.wall_upper[a] = !box.periodic[a];
  }
  return r;
}

/// Compares search_exact with the quadratic search for every parcel. @return the first difference as text; empty: none
inline std::string difference(const Cloud& cloud, const nearest::CellList::Cut& cut) {
  const Parcels& parcels = cloud.parcels;
  Sorted sorted(cloud.box, whole(cloud.box), parcels, cut);
  const auto open = sorted.search();
  std::vector<std::uint8_t> is_open(parcels.size(), 0);
  for (std::uint32_t v = 0; v < parcels.size(); ++v) {
    const std::size_t i = sorted.cells().order()[v];
    const bool small = parcels.site(i).volume < kSmall;
    const std::int64_t expected =
        small ? oracle(cloud.box, parcels, i, [](std::size_t) { return true; }).index : std::int64_t{-1};
    if (sorted.target(v) != expected)
      return "parcel " + std::to_string(i) + " has target " + std::to_string(sorted.target(v)) + ", not " +
             std::to_string(expected) + " of " + std::to_string(parcels.size());
  }
  for (const auto& [v, best] : open) {
    const std::size_t i = sorted.cells().order()[v];
    const Nearest expected = oracle(cloud.box, parcels, i, [](std::size_t) { return true; });
    if (is_open[i]++ != 0) return "open twice";
    if (parcels.site(i).volume >= kSmall) return "open, but not small";
    if (sorted.container(best.vertex) != expected.index) return "open with another partner";
    if (expected.index >= 0 && bits(best.distance2) != bits(expected.key.distance2))
      return "open with another distance";
    if (expected.index >= 0 && best.id != parcels.id(static_cast<std::size_t>(expected.index)))
      return "open with another id";
    if (expected.index < 0 && !std::isinf(best.distance2)) return "an unmatched parcel has a distance";
  }
  return "";
}

inline nearest::CellList::Cut any_cut() {
  nearest::CellList::Cut cut;
  cut.parcels_per_cell = *rc::gen::element(nearest::kParcelsPerCell, 1.0, 0.25, 3.0, 60.0, 1e6);
  return cut;
}

}  // namespace merganser::test
