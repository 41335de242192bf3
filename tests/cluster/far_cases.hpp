#pragma once
/// Cases of the far search: parcels with large holes between them, merged by ranks whose candidates are touching
/// blocks, and by the serial reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/reference.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/cluster/candidate_ranks.hpp"
#include "tests/support/total_digest.hpp"

namespace merganser::test {

/// Volumes below 1 are small.
inline constexpr double kRatio = 20;

struct FarCase {
  Grid grid;
  Parcels parcels;
  std::string name;
};

/// Appends a parcel at a position in units of the box; volume in units of the largest small one.
inline void add_parcel(FarCase& c, const Vec3& unit, double volume) {
  const Box& box = c.grid.box;
  const auto at = [&](int a) {
    const auto axis = static_cast<std::size_t>(a);
    const double x = box.lower[axis] + unit[axis] * box.extent[axis];
    return box.periodic[axis] ? box.wrap(a, x) : std::clamp(x, box.lower[axis], box.lower[axis] + box.extent[axis]);
  };
  const std::size_t i = c.parcels.size();
  c.parcels.resize(i + 1);
  const double v = volume * c.grid.cell_volume() / kRatio;
  c.parcels.site(i) = {at(0), at(1), at(2), v};
  double* const row = c.parcels.row(i);
  std::fill_n(row, c.parcels.schema().width(), 0.0);
  c.parcels.set_id(i, static_cast<std::int64_t>((i * 7919) % 100003));
  for (int k = 1; k <= 4; ++k) row[k] = 0.25 * k + static_cast<double>(i);
  row[5] = row[8] = 0.01 * std::cbrt(v) * std::cbrt(v);
}

inline FarCase empty_case(const std::array<std::int64_t, 3>& cells, const Vec3& extent,
                          const std::array<bool, 3>& periodic, const std::string& name) {
  return {{{{-0.3, 0.1, 0}, extent, periodic}, cells}, Parcels(), name};
}

/// Generates one of many kinds of sparse sets of parcels, by the seed.
inline FarCase random_case(unsigned seed, const std::array<std::int64_t, 3>& cells) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  std::uniform_real_distribution<double> u(0, 1);
  Vec3 extent;
  for (double& e : extent) e = below(2) == 0 ? 1 : 0.2 + 4 * u(random);
  const unsigned kind = below(6);
  FarCase c = empty_case(cells, extent, {below(2) == 0, below(2) == 0, below(2) == 0},
                         "seed " + std::to_string(seed) + ", kind " + std::to_string(kind));
  const unsigned n = below(3) == 0 ? 2 + below(6) : 2 + below(kind == 3 ? 400 : 90);
  const double small = below(3) == 0 ? 0.15 : (below(2) == 0 ? 0.6 : 1);  // part of the parcels
  const auto volume = [&] { return u(random) < small ? 0.2 + 0.7 * u(random) : 1.5 + u(random); };
  const auto anywhere = [&] { return Vec3{u(random), u(random), u(random)}; };
  const unsigned clumps = 1 + below(4);
  std::vector<Vec3> centre(clumps);
  for (Vec3& x : centre) x = anywhere();
  const double spread = below(2) == 0 ? 0.01 : 0.08;
  const double steps = 2 + below(3);
  for (unsigned i = 0; i < n; ++i) {
    Vec3 p = anywhere();
    if (kind == 1 && i % 9 != 0)  // clumps, and a few elsewhere
      for (std::size_t a = 0; a < 3; ++a) p[a] = centre[i % clumps][a] + spread * (p[a] - 0.5);
    if (kind == 2)  // a lattice with ties
      for (double& x : p) x = std::floor(x * steps) / steps;
    if (kind == 3 && i % 40 != 0)  // a crowded corner
      for (double& x : p) x *= 0.12;
    if (kind == 4) p[1] = p[2] = 0.5;  // a line, so chains of links
    if (kind == 5) {                   // gaps that shrink: a chain over many ranks
      p = {1 - std::pow(0.9, 1 + i), 0.3, 0.3};
      if (i > 40) break;
    }
    add_parcel(c, p, volume());
  }
  return c;
}

/// Generates a bar that is full of parcels but for holes as long as a few of its `blocks` blocks, with a few parcels in
/// them.
inline FarCase holed_case(unsigned seed, int blocks) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(0, 1);
  const bool flat = random() % 2 == 0;
  FarCase c =
      empty_case({2 * blocks, 4, 4}, {1.0 * blocks, 1.3, flat ? 0.3 : 1.3},
                 {random() % 2 == 0, random() % 2 == 0, random() % 2 == 0}, "holes, seed " + std::to_string(seed));
  struct Hole {
    Vec3 centre;
    Vec3 half;  // of its edges
  };
  std::vector<Hole> holes(1 + random() % 3);
  for (Hole& h : holes) {
    const bool across = random() % 2 == 0;
    h.centre = {u(random), u(random), u(random)};
    h.half = {(0.2 + 2 * u(random)) / blocks, across ? 1 : u(random), across ? 1 : u(random)};
  }
  const double small = random() % 2 == 0 ? 1 : 0.3;
  const int n = blocks * static_cast<int>((flat ? 60 : 100) * (1 + 3 * u(random)));
  for (int i = 0; i < n; ++i) {
    const Vec3 p{u(random), u(random), u(random)};
    const bool in_hole = std::any_of(holes.begin(), holes.end(), [&](const Hole& h) {
      for (std::size_t a = 0; a < 3; ++a)
        if (std::abs(p[a] - h.centre[a]) > h.half[a]) return false;
      return true;
    });
    if (!in_hole || u(random) < 0.01) add_parcel(c, p, u(random) < small ? 0.2 + 0.7 * u(random) : 2);
  }
  return c;
}

/// Moves every parcel by an amount that depends on its id and the step only, hence is the same on any rank.
inline void perturb(Parcels& parcels, int step, double most) {
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    std::mt19937 random(static_cast<unsigned>(parcels.id(i) * 31 + step));
    Site& s = parcels.site(i);
    for (double* const x : {&s.x, &s.y, &s.z}) *x += most * (static_cast<double>(random() % 2001) / 1000 - 1);
    s.volume *= 0.5;
  }
}

struct Merged {
  std::vector<std::string> digests;  // after each step
  std::vector<std::int64_t> merged;
  std::vector<std::int64_t> unmatched;
  std::vector<std::int64_t> to_small;
  friend bool operator==(const Merged&, const Merged&) = default;
};

inline ClusterOptions far_options(Prune prune = Prune::single_pass) {
  ClusterOptions o;
  o.min_volume_ratio = kRatio;
  o.prune = prune;
  return o;
}

inline void bring_into_box(Parcels& parcels, const Box& box) {
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    Site& s = parcels.site(i);
    int axis = 0;
    for (double* const x : {&s.x, &s.y, &s.z}) {
      const auto a = static_cast<std::size_t>(axis);
      *x = box.periodic[a] ? box.wrap(axis, *x) : std::clamp(*x, box.lower[a], box.lower[a] + box.extent[a]);
      ++axis;
    }
  }
}

inline Merged run_reference(const FarCase& c, int steps, double stirred) {
  Merged m;
  Parcels p = c.parcels;
  for (int i = 0; i < steps; ++i) {
    const StepReport r = cluster_reference(p, c.grid, far_options());
    m.digests.push_back(digest(p).to_string());
    m.merged.push_back(r.merged);
    m.unmatched.push_back(r.unmatched);
    m.to_small.push_back(r.links_to_small);
    perturb(p, i, stirred);
    bring_into_box(p, c.grid.box);
  }
  return m;
}

/// Communication of the steps, over all ranks.
struct FarCost {
  std::int64_t most_waves = 0;  // of a rank in a step
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  std::int64_t records = 0;
  std::int64_t cross_links = 0;
};

/// Makes steps over a transport, and checks that one redistribute() brings every merged parcel to its owner.
/// Collective.
inline Merged run_far_steps(comm::Transport& t, const FarCase& c, const std::string& shape,
                            const ClusterOptions& options, int steps, double stirred, FarCost* cost = nullptr) {
  const Decomposition d(c.grid, t.size(), shape);
  const auto owner = [&](const Site& s) { return d.owner({s.x, s.y, s.z}); };
  Parcels mine;
  for (std::size_t i = 0; i < c.parcels.size(); ++i)
    if (owner(c.parcels.site(i)) == t.rank()) mine.append(c.parcels.site(i), c.parcels.row(i));
  Clusterer clusterer(t, d, mine.schema(), options);
  Merged m;
  std::int64_t waves = 0;
  std::vector<std::int64_t> sums(4, 0);
  for (int i = 0; i < steps; ++i) {
    const StepReport r = clusterer.step(mine);
    if (options.prune == Prune::single_pass) {
      EXPECT_EQ(r.counters.collectives, 0);
    }
    waves = std::max(waves, r.counters.waves);
    sums[0] += r.counters.messages;
    sums[1] += r.counters.bytes;
    sums[2] += r.counters.records;
    sums[3] += r.cross_links;
    m.digests.push_back(total_digest(t, mine).to_string());
    m.merged.push_back(t.all_reduce(r.merged, comm::Op::sum));
    m.unmatched.push_back(t.all_reduce(r.unmatched, comm::Op::sum));
    m.to_small.push_back(t.all_reduce(r.links_to_small, comm::Op::sum));
    clusterer.redistribute(mine);
    EXPECT_TRUE(clusterer.redistributes_in_one_wave());
    EXPECT_EQ(clusterer.in_transit(), 0) << c.name;
    for (std::size_t k = 0; k < mine.size(); ++k) EXPECT_EQ(owner(mine.site(k)), t.rank()) << c.name;
    perturb(mine, i, stirred);
    do clusterer.redistribute(mine);
    while (t.all_reduce(clusterer.in_transit(), comm::Op::sum) > 0);
  }
  if (cost != nullptr) {
    t.all_reduce(sums, comm::Op::sum);
    *cost = {t.all_reduce(waves, comm::Op::max), sums[0], sums[1], sums[2], sums[3]};
  }
  return m;
}

inline void expect_merged(const Merged& got, const Merged& want, const std::string& where) {
  EXPECT_EQ(got.merged, want.merged) << where;
  EXPECT_EQ(got.unmatched, want.unmatched) << where;
  EXPECT_EQ(got.to_small, want.to_small) << where;
  EXPECT_EQ(got.digests, want.digests) << where;
}

}  // namespace merganser::test
