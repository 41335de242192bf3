// Generated parcels of verify: nine kinds of configurations in which a merge step could go wrong.
#include "apps/verify/cases.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "merganser/base/random.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/generate.hpp"

namespace merganser::app {
namespace {

/// Builder of the parcels of a generated input of verify, with ids in scattered order, so that results that depend on ascending ids
/// are found.
class Builder {
 public:
  /// Starts with the next parcel of the generated input `c`, within whose grid parcels are added.
  Builder(Case& c, Random& random) : case_(c), random_(random) {}

  /// Adds a parcel near `at`, whose volume is given in units of the volume below which parcels are small.
  void add(const Vec3& at, double volume_over_limit) {
    const double volume = volume_over_limit * case_.grid.cell_volume() / case_.min_volume_ratio;
    const Box& box = case_.grid.box;
    Vec3 p = at;
    for (int a = 0; a < 3; ++a) {
      p[a] = box.wrap(a, p[a]);
      p[a] = std::clamp(p[a], box.lower[a], box.lower[a] + box.extent[a]);
      if (box.periodic[a] && p[a] >= box.lower[a] + box.extent[a]) p[a] = box.lower[a];
    }
    const Schema& schema = case_.parcels.schema();
    std::vector<double> row(schema.width(), 0.0);
    for (std::size_t c = 0; c < 3; ++c) row[schema.offset("vorticity") + c] = random_.uniform(-10, 10);
    row[schema.offset("buoyancy")] = random_.uniform(-1, 1);
    fill_shape(row.data() + schema.offset("B"), volume);
    case_.parcels.append({p[0], p[1], p[2], volume}, row.data());
    // Multiplication by an odd number is a permutation of the integers modulo 2^62, so ids are unique.
    const std::uint64_t scattered = (next_++ * 0x9e3779b97f4a7c15ULL) & 0x3fffffffffffffffULL;
    case_.parcels.set_id(case_.parcels.size() - 1, static_cast<std::int64_t>(scattered));
  }
  /// Adds a small parcel near `at`, with random volume.
  void add_small(const Vec3& at) { add(at, random_.uniform(0.1, 0.99)); }
  /// Returns a random point of the box of the generated input.
  [[nodiscard]] Vec3 random_point() {
    const Box& b = case_.grid.box;
    Vec3 p;
    for (std::size_t a = 0; a < 3; ++a) p[a] = b.lower[a] + b.extent[a] * random_.uniform();
    return p;
  }

 private:
  /// Sets the shape matrix of a parcel to a random ellipsoid: axes along x, y and z in random proportion, then rotated about z. B33
  /// follows from the volume.
  void fill_shape(double* b5, double volume) {
    const double r = std::cbrt(0.75 * volume / M_PI);
    const double p = random_.uniform(0.6, 1.6);
    const double q = random_.uniform(0.6, 1.6);
    const double a2 = r * r * p;
    const double b2 = r * r * q;
    const double angle = random_.uniform(0, M_PI);
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    b5[0] = a2 * c * c + b2 * s * s;
    b5[1] = (a2 - b2) * c * s;
    b5[2] = 0;
    b5[3] = a2 * s * s + b2 * c * c;
    b5[4] = 0;
  }

  Case& case_;
  Random& random_;
  std::uint64_t next_ = 1;  // number of the next parcel, from which its id is scattered
};

/// Chooses a small grid for a generated input of verify, with random walls and periodic axes. @param lowest  least cells per axis
/// @param span  number of choices
void make_small_grid(Case& c, Random& random, std::uint64_t lowest, std::uint64_t span) {
  for (auto& n : c.grid.cells) n = static_cast<std::int64_t>(lowest + random.below(span));
  for (auto& p : c.grid.box.periodic) p = random.below(2) == 1;
  for (std::size_t a = 0; a < 3; ++a) c.grid.box.extent[a] = static_cast<double>(c.grid.cells[a]);
}

/// Fills the grid of a case with random parcels. @param fraction  share of small parcels
void make_random(Case& c, Random& random, double fraction) {
  RandomParcels o;
  o.per_cell = static_cast<std::int64_t>(2 + random.below(10));
  o.variable_per_cell = random.below(2) == 1;
  o.min_volume_ratio = c.min_volume_ratio = static_cast<double>(o.per_cell);
  o.small_fraction = fraction;
  o.seed = random.bits();
  o.shuffle = random.below(2) == 1;
  c.parcels = generate_random(o, Decomposition(c.grid, 1), 0);
}

/// Fills the grid of a generated input of verify with a lattice of parcels whose distances are exactly tied. @param holes  leave out
/// a third, and make some not small
void make_lattice(Case& c, Random& random, bool holes) {
  const std::array<std::uint64_t, 3> per_axis{1 + random.below(2), 1 + random.below(2), 1 + random.below(2)};
  Builder build(c, random);
  std::array<std::int64_t, 3> n{};
  for (std::size_t a = 0; a < 3; ++a) n[a] = c.grid.cells[a] * static_cast<std::int64_t>(per_axis[a]);
  for (std::int64_t x = 0; x < n[0]; ++x)
    for (std::int64_t y = 0; y < n[1]; ++y)
      for (std::int64_t z = 0; z < n[2]; ++z) {
        if (holes && random.below(3) == 0) continue;
        const std::array<std::int64_t, 3> i{x, y, z};
        Vec3 p;
        for (std::size_t a = 0; a < 3; ++a)
          p[a] = c.grid.box.lower[a] +
                 c.grid.box.extent[a] * (static_cast<double>(i[a]) + 0.5) / static_cast<double>(n[a]);
        build.add(p, holes && random.below(4) == 0 ? 1.5 : 0.5);
      }
}

/// Places clumps of up to 25 parcels in a case, many of them on faces between cells.
void make_clumps(Case& c, Random& random) {
  Builder build(c, random);
  const std::uint64_t count = 3 + random.below(12);
  for (std::uint64_t k = 0; k < count; ++k) {
    Vec3 centre = build.random_point();
    // Half of the coordinates are rounded to faces between cells, on which blocks meet.
    for (std::size_t a = 0; a < 3; ++a)
      if (random.below(2) == 1) centre[a] = c.grid.box.lower[a] + std::round(centre[a] - c.grid.box.lower[a]);
    const std::uint64_t members = 1 + random.below(25);
    for (std::uint64_t m = 0; m < members; ++m) {
      Vec3 p = centre;
      for (auto& x : p) x += random.uniform(-0.3, 0.3);
      if (random.below(8) == 0) {
        build.add(p, random.uniform(1.0, 3.0));
      } else {
        build.add_small(p);
      }
    }
  }
}

/// Places up to 13 parcels in a case, so that most blocks are empty.
void make_few(Case& c, Random& random) {
  Builder build(c, random);
  const std::uint64_t count = random.below(14);
  for (std::uint64_t k = 0; k < count; ++k) {
    if (random.below(5) == 0) {
      build.add(build.random_point(), 2.0);
    } else {
      build.add_small(build.random_point());
    }
  }
}

/// Places the parcels of a case at one to three points, up to 12 at each: distances of 0, decided by ids alone.
void make_coincident(Case& c, Random& random) {
  Builder build(c, random);
  const std::uint64_t places = 1 + random.below(3);
  for (std::uint64_t k = 0; k < places; ++k) {
    const Vec3 p = build.random_point();
    const std::uint64_t members = 1 + random.below(12);
    for (std::uint64_t m = 0; m < members; ++m) build.add_small(p);
  }
}

}  // namespace

// Generated input of verify: kinds take turns, sizes and shapes are random by the seed.
Case make_case(std::uint64_t seed, int index) {
  Random random(seed, 0x636173657321ULL, static_cast<std::uint32_t>(index));
  Case c;
  const char* what = "";
  make_small_grid(c, random, 3, 7);
  switch (index % kCaseKinds) {
    case 0:
      what = "random";
      make_random(c, random, random.uniform(0.1, 0.9));
      break;
    case 1:
      what = "lattice with exact ties";
      make_lattice(c, random, false);
      break;
    case 2:
      what = "lattice with holes";
      make_lattice(c, random, true);
      break;
    case 3:
      what = "few in many cells";
      make_small_grid(c, random, 8, 8);
      make_few(c, random);
      break;
    case 4:
      what = "clumps on faces";
      make_clumps(c, random);
      break;
    case 5:
      what = "random, all small";
      make_random(c, random, 1.0);
      break;
    case 6:
      what = "coincident";
      make_coincident(c, random);
      break;
    case 7:
      what = "random, odd box";
      for (std::size_t a = 0; a < 3; ++a) {
        c.grid.box.lower[a] = random.uniform(-3, 3);
        c.grid.box.extent[a] *= random.uniform(0.001, 0.003);
      }
      make_random(c, random, 0.5);
      break;
    default:
      what = "random, none small";
      make_random(c, random, 0.0);
      break;
  }
  c.name = fmt::format("{}: {}", index, what);
  return c;
}

}  // namespace merganser::app
