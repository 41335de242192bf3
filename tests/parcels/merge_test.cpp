// Merge of one star: cube root, shapes, merge rules and conserved moments against the formulas and the plain reference.
#include "merganser/parcels/merge.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "merganser/base/error.hpp"
#include "merganser/cluster/reference.hpp"
#include "merganser/parcels/generate.hpp"
#include "tests/parcels/ellipsoids.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

TEST(CubeRoot, is_right_to_a_rounding_for_all_sizes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const double x =
        i % 2 == 0 ? std::bit_cast<double>(random()) : 1 + 7 * static_cast<double>(random() >> 11) * 0x1p-53;
    if (!std::isfinite(x)) continue;
    const long double y = std::cbrt(static_cast<long double>(x));
    ASSERT_NEAR(static_cast<double>(cube_root(x) / y), 1, 3e-16) << std::hexfloat << x;
  }
}

TEST(CubeRoot, of_special_values) {
  EXPECT_EQ(cube_root(0.0), 0.0);
  EXPECT_TRUE(std::signbit(cube_root(-0.0)));
  EXPECT_EQ(cube_root(1), 1);
  EXPECT_EQ(cube_root(-8), -2);
  EXPECT_EQ(cube_root(0x1p-1074), 0x1p-358);
  EXPECT_NEAR(cube_root(std::numeric_limits<double>::max()) / 0x1p341, std::cbrt(2.0), 1e-15);
}

TEST(CubeRoot, has_the_bits_it_always_had) {
  // Any change of these changes every digest.
  EXPECT_EQ(cube_root(2), 0x1.428a2f98d728bp+0);
  EXPECT_EQ(cube_root(0.1), 0x1.db4c7760bcff3p-2);
  EXPECT_EQ(cube_root(0.99), 0x1.fe49a0fb2bf3dp-1);
  EXPECT_EQ(cube_root(1e-310), 0x1.a9d1b0b5d7427p-344);
}

TEST(Shape, b33_and_determinant_belong_together) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> size(0.1, 4);
  std::uniform_real_distribution<double> angle(0, kPi);
  for (int i = 0; i < 1000; ++i) {
    const Vec3 squares{size(random), size(random), size(random)};
    const auto b = shape(squares, frame(2 * angle(random), angle(random)));
    const double product = squares[0] * squares[1] * squares[2];
    EXPECT_NEAR(det3({b[0], b[1], b[2], b[3], b[4], b[5]}), product, 1e-13 * product);
    EXPECT_NEAR(b33(b.data(), ellipsoid_volume(squares)), b[5], 1e-12 * b[5]);
    EXPECT_FALSE(is_singular(b.data(), ellipsoid_volume(squares)));
  }
}

TEST(Shape, b33_does_not_depend_on_the_unit_of_length) {
  const Vec3 squares{2, 1, 0.5};
  const Frame f = frame(0.3, 0.7);
  for (const double unit : {1e-12, 1e-3, 1e12}) {
    const auto b = shape({squares[0] * unit, squares[1] * unit, squares[2] * unit}, f);
    EXPECT_FALSE(is_singular(b.data(), ellipsoid_volume(squares) * std::pow(unit, 1.5))) << unit;
    EXPECT_NEAR(b33(b.data(), ellipsoid_volume(squares) * std::pow(unit, 1.5)), b[5], 1e-13 * b[5]) << unit;
  }
}

TEST(Shape, what_b33_cannot_be_recovered_from_is_singular) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  const double good[5] = {1, 0.5, 0, 1, 0};
  EXPECT_FALSE(is_singular(good, 1));
  const double bad[][5] = {{1, 1, 0, 1, 0},   {1, 1.5, 0, 1, 0},       {0, 0, 0, 1, 0},        {1, 0, 0, 0, 0},
                           {-1, 0, 0, -1, 0}, {nan, 0, 0, 1, 0},       {1, 0, inf, 1, 0},      {1, 0, 0, 1, nan},
                           {0, 0, 0, 0, 0},   {1, 1 - 1e-16, 0, 1, 0}, {1e200, 0, 0, 1e200, 0}};
  const double thin[5] = {1, 1, 0.5, 1, 0.5};  // a needle, whose B33 is B13^2 / B11
  EXPECT_FALSE(is_singular(thin, 1e-16));
  EXPECT_NEAR(b33(thin, 1e-16), 0.25, 1e-15);
  EXPECT_TRUE(is_singular(thin, 1e-9)) << "or a disc";
  for (const auto& b : bad) EXPECT_TRUE(is_singular(b, 1)) << b[0] << ' ' << b[1] << ' ' << b[3];
}

Box open_box(double half) { return {{-half, -half, -half}, {2 * half, 2 * half, 2 * half}, {true, true, false}}; }

/// Merges all parcels, the first as the centre, and returns the result as a container of one.
Parcels merge_all(const Parcels& parcels, const Box& box) {
  std::vector<Member> members;
  for (std::size_t i = 0; i < parcels.size(); ++i) members.push_back({&parcels.site(i), parcels.row(i)});
  Parcels result(parcels.schema());
  result.resize(1);
  merge_star(MergeRules(parcels.schema(), box), members, result.site(0), result.row(0));
  return result;
}

TEST(MergeStar, a_sphere_with_eight_around_it_becomes_a_sphere) {
  const auto sphere = [](double abc) {
    const double square = std::cbrt(abc) * std::cbrt(abc);
    return Vec3{square, square, square};
  };
  Parcels parcels;
  add_ellipsoid(parcels, 0, {0, 0, 0}, sphere(0.49), frame(0, 0), 1.5);
  for (const double x : {-0.6, 0.6})
    for (const double y : {-0.6, 0.6})
      for (const double z : {-0.6, 0.6}) {
        const double b = x < 0 ? (z < 0 ? 1.8 : 1.7) : (z < 0 ? 1.4 : 1.5);
        add_ellipsoid(parcels, static_cast<std::int64_t>(parcels.size()), {x, y, z}, sphere(0.25), frame(0, 0), b);
      }
  const Parcels one = merge_all(parcels, open_box(kPi / 2));
  EXPECT_NEAR(one.site(0).volume, 10.430087609918, 1e-12);
  EXPECT_NEAR(one.site(0).x, 0, 2e-15);
  EXPECT_NEAR(one.site(0).y, 0, 2e-15);
  EXPECT_NEAR(one.site(0).z, 0, 2e-15);
  EXPECT_NEAR(one.row(0)[kBuoyancy], 1.580321285140562, 2e-15);
  const double expected[5] = {1.837100426792041, 0, 0, 1.837100426792041, 0};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_NEAR(one.row(0)[kShape + i], expected[i], 2e-15);
  EXPECT_NEAR(b33(one.row(0) + kShape, one.site(0).volume), 1.837100426792041, 4e-15);
}

TEST(MergeStar, the_halves_of_a_split_ellipsoid_give_it_back) {
  const Vec3 parent{2.25, 0.25, 16.0 / 9};
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      const Frame f = frame(i * kPi / 4, j * kPi / 4);
      const Vec3 half{parent[0] / 4, parent[1], parent[2]};
      const double reach = 0.5 * std::sqrt(0.6 * parent[0]);
      Parcels parcels;
      add_ellipsoid(parcels, 0, {reach * f[0][0], reach * f[0][1], reach * f[0][2]}, half, f, 1.8);
      add_ellipsoid(parcels, 1, {-reach * f[0][0], -reach * f[0][1], -reach * f[0][2]}, half, f, 1.4);
      const Parcels one = merge_all(parcels, open_box(10));
      const auto expected = shape(parent, f);
      for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(one.row(0)[kShape + k], expected[k], 2e-15);
      EXPECT_NEAR(one.row(0)[kBuoyancy], 1.6, 2e-15);
      EXPECT_NEAR(one.site(0).x, 0, 2e-15);
      EXPECT_NEAR(one.site(0).volume, ellipsoid_volume(parent), 2e-14);
    }
  }
}

TEST(MergeStar, a_cluster_across_a_periodic_edge_is_that_in_the_middle_moved) {
  Parcels middle;
  Parcels edge;
  std::mt19937 random(4);
  std::uniform_real_distribution<double> near(-0.2, 0.2);
  const Box box = open_box(1);
  for (int i = 0; i < 4; ++i) {
    const Vec3 x{near(random), near(random), near(random)};
    const Frame f = frame(i, 0.5 * i);
    add_ellipsoid(middle, i, x, {0.02, 0.01, 0.03}, f);
    add_ellipsoid(edge, i, {box.wrap(0, x[0] + 1), box.wrap(1, x[1] + 1), x[2]}, {0.02, 0.01, 0.03}, f);
  }
  const Parcels a = merge_all(middle, box);
  const Parcels b = merge_all(edge, box);
  EXPECT_NEAR(b.site(0).x, box.wrap(0, a.site(0).x + 1), 1e-15);
  EXPECT_NEAR(b.site(0).y, box.wrap(1, a.site(0).y + 1), 1e-15);
  for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(b.row(0)[kShape + k], a.row(0)[kShape + k], 1e-16);
}

TEST(MergeStar, the_result_is_symmetric_where_the_members_are) {
  for (const double sign : {1.0, -1.0}) {
    Parcels parcels;
    add_ellipsoid(parcels, 0, {0, 0, 0}, {1.44, 1.44, 1.44}, frame(0, 0));
    for (const double d : {-1.2, 1.2}) add_ellipsoid(parcels, 1 + (d > 0), {d, sign * d, 0}, {.4, .4, .4}, frame(0, 0));
    const Parcels one = merge_all(parcels, open_box(10));
    const double* b = one.row(0) + kShape;
    EXPECT_NEAR(b[0], b[3], 1e-15);
    EXPECT_GT(sign * b[1], 0.1);
    EXPECT_NEAR(b[2], 0, 1e-16);
    EXPECT_NEAR(b[4], 0, 1e-16);
  }
}

TEST(MergeStar, moments_are_conserved_and_the_determinant_is_the_volumes) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> u(-1, 1);
  for (int sample = 0; sample < 500; ++sample) {
    Parcels parcels;
    const int n = 2 + sample % 6;
    double volume = 0;
    double vb = 0;
    Vec3 vx{0, 0, 0};
    for (int i = 0; i < n; ++i) {
      const Vec3 squares{0.5 + 0.4 * u(random), 0.5 + 0.4 * u(random), 0.5 + 0.4 * u(random)};
      add_ellipsoid(parcels, i, {u(random), u(random), u(random)}, squares, frame(3 * u(random), u(random)), u(random),
                    {u(random), u(random), u(random)});
      const Site& s = parcels.site(parcels.size() - 1);
      volume += s.volume;
      vb += s.volume * parcels.row(parcels.size() - 1)[kBuoyancy];
      vx = {vx[0] + s.volume * s.x, vx[1] + s.volume * s.y, vx[2] + s.volume * s.z};
    }
    const Parcels one = merge_all(parcels, open_box(50));
    const Site& s = one.site(0);
    EXPECT_NEAR(s.volume, volume, 1e-14 * volume);
    EXPECT_NEAR(s.volume * one.row(0)[kBuoyancy], vb, 1e-13);
    EXPECT_NEAR(s.volume * s.x, vx[0], 1e-13 * volume);
    EXPECT_NEAR(s.volume * s.z, vx[2], 1e-13 * volume);
    // The second moment about the new centre before the rescale has the direction of the result.
    double sum[6] = {};
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      const double* b = parcels.row(i) + kShape;
      const Site& m = parcels.site(i);
      const double r[3] = {m.x - s.x, m.y - s.y, m.z - s.z};
      const double full[6] = {b[0], b[1], b[2], b[3], b[4], b33(b, m.volume)};
      static constexpr int pair[6][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}};
      for (int k = 0; k < 6; ++k) sum[k] += m.volume / volume * (full[k] + 5 * r[pair[k][0]] * r[pair[k][1]]);
    }
    const double* b = one.row(0) + kShape;
    const double f = b[0] / sum[0];
    for (int k = 1; k < 5; ++k) EXPECT_NEAR(b[k], f * sum[k], 1e-13);
    EXPECT_NEAR(b33(b, s.volume), f * sum[5], 1e-12);
  }
}

TEST(MergeStar, a_centre_alone_is_left_as_it_is_bit_for_bit) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {2, 2, 2}};
  const Parcels parcels = generate_random({}, Decomposition(grid, 1), 0);
  for (std::size_t i = 0; i < 20; ++i) {
    const Member alone{&parcels.site(i), parcels.row(i)};
    Site site;
    double row[10];
    merge_star(MergeRules(parcels.schema(), grid.box), {&alone, 1}, site, row);
    EXPECT_EQ(std::memcmp(&site, &parcels.site(i), sizeof site), 0);
    EXPECT_EQ(std::memcmp(row, parcels.row(i), sizeof row), 0);
  }
}

TEST(MergeStar, rounding_does_not_carry_a_parcel_through_a_wall) {
  const Box box{{-1, -1, -1}, {1, 1, 1}, {false, false, false}};
  std::mt19937_64 random(6);
  int clamped = 0;
  for (int i = 0; i < 20000; ++i) {
    Parcels parcels;
    const double far = -static_cast<double>(random() >> 11) * 0x1p-53;
    add_ellipsoid(parcels, 0, {far, far, -1}, {1e-6, 1e-6, 1e-6}, frame(0, 0));
    add_ellipsoid(parcels, 1, {0, 0, -1}, {1, 1, 1}, frame(0, 0));
    parcels.site(0).volume *= 0x1p-40;
    const Parcels one = merge_all(parcels, box);
    ASSERT_TRUE(box.contains({one.site(0).x, one.site(0).y, one.site(0).z}));
    clamped += one.site(0).x == 0;
  }
  EXPECT_GT(clamped, 0);
}

/// Returns a schema with EPIC's attributes and one of every other rule.
Schema rich_schema() {
  std::vector<Attribute> a = Schema::epic().attributes();
  a.push_back({"mass", 2, Rule::sum, {"m1", "m2"}, "kg"});
  a.push_back({"tag", 1, Rule::centre, {"tag"}, ""});
  a.push_back({"kind", 2, Rule::largest, {"k1", "k2"}, ""});
  a.push_back({"second", 5, Rule::ellipsoid, {"C11", "C12", "C13", "C22", "C23"}, ""});
  a.push_back({"own", 1, Rule::callback, {"own"}, ""});
  return Schema(std::move(a));
}

struct Cluster {
  Parcels parcels;
  std::vector<Member> members;
};

/// Returns random members around a point that may be near a periodic edge, with ascending ids from the second on.
Cluster random_cluster(const Schema& schema, const Box& box, std::size_t n, std::mt19937_64& random) {
  const auto u = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  Cluster cluster{Parcels(schema), {}};
  cluster.parcels.resize(n);
  const Vec3 centre{u(), u(), u()};
  for (std::size_t i = 0; i < n; ++i) {
    Site& s = cluster.parcels.site(i);
    s = {box.wrap(0, centre[0] + 0.2 * u()), box.wrap(1, centre[1] + 0.2 * u()), 0.8 * centre[2] + 0.2 * u(),
         0.01 + u()};
    if (random() % 4 == 0 && i > 0) s.volume = cluster.parcels.site(i - 1).volume;
    double* row = cluster.parcels.row(i);
    for (std::size_t c = 0; c < schema.width(); ++c) row[c] = u() - 0.5;
    for (const char* name : {"B", "second"}) {
      if (!schema.has(name)) continue;
      const auto b = shape({0.1 + u(), 0.1 + u(), 0.1 + u()}, frame(6 * u(), 3 * u()));
      std::copy_n(b.data(), 5, row + schema.offset(name));
    }
    cluster.parcels.set_id(i, i == 0 ? static_cast<std::int64_t>(random() % 100) : static_cast<std::int64_t>(100 + i));
  }
  for (std::size_t i = 0; i < n; ++i) cluster.members.push_back({&cluster.parcels.site(i), cluster.parcels.row(i)});
  return cluster;
}

TEST(MergeStar, has_the_bits_of_the_plain_reference) {
  const Box box{{0, 0, 0}, {1, 1, 1}, {true, true, false}};
  std::mt19937_64 random(8);
  for (const Schema& schema : {Schema::epic(), rich_schema()}) {
    MergeRules rules(schema, box);
    rules.callbacks.resize(schema.attributes().size());
    rules.callbacks.back() = [](std::span<const Member> m, double volume, double* out) {
      *out = volume * m.back().row[1] + static_cast<double>(m.size());
    };
    for (std::size_t sample = 0; sample < 3000; ++sample) {
      const Cluster cluster = random_cluster(schema, box, 1 + sample % 7, random);
      Site fast_site;
      Site plain_site;
      std::vector<double> fast(schema.width());
      std::vector<double> plain(schema.width());
      merge_star(rules, cluster.members, fast_site, fast.data());
      merge_reference(rules, cluster.members, plain_site, plain.data());
      ASSERT_EQ(std::memcmp(&fast_site, &plain_site, sizeof fast_site), 0) << sample;
      ASSERT_EQ(std::memcmp(fast.data(), plain.data(), schema.width() * sizeof(double)), 0) << sample;
    }
  }
}

TEST(MergeStar, may_write_over_the_centre) {
  const Box box{{0, 0, 0}, {1, 1, 1}, {true, true, false}};
  std::mt19937_64 random(9);
  for (const Schema& schema : {Schema::epic(), rich_schema()}) {
    MergeRules rules(schema, box);
    rules.callbacks.resize(schema.attributes().size());
    rules.callbacks.back() = [](std::span<const Member> m, double, double* out) { *out = 2 * m[0].row[1]; };
    Cluster cluster = random_cluster(schema, box, 4, random);
    Site site;
    std::vector<double> row(schema.width());
    merge_star(rules, cluster.members, site, row.data());
    merge_star(rules, cluster.members, cluster.parcels.site(0), cluster.parcels.row(0));
    EXPECT_EQ(std::memcmp(&site, &cluster.parcels.site(0), sizeof site), 0);
    EXPECT_EQ(std::memcmp(row.data(), cluster.parcels.row(0), schema.width() * sizeof(double)), 0);
  }
}

TEST(MergeStar, follows_the_rule_of_each_attribute) {
  const Schema schema({{"mean", 1, Rule::mean, {"mean"}, ""},
                       {"sum", 1, Rule::sum, {"sum"}, ""},
                       {"centre", 1, Rule::centre, {"centre"}, ""},
                       {"largest", 1, Rule::largest, {"largest"}, ""}});
  Parcels parcels(schema);
  const double rows[3][6] = {{0, 1, 1, 1, 1, 0}, {0, 2, 2, 2, 2, 0}, {0, 5, 5, 5, 5, 0}};
  parcels.append({0, 0, 0, 1}, rows[0]);
  parcels.append({0, 0, 0, 2}, rows[1]);
  parcels.append({0, 0, 0, 1}, rows[2]);
  for (std::int64_t i = 0; i < 3; ++i) parcels.set_id(static_cast<std::size_t>(i), 5 + i);
  const Parcels one = merge_all(parcels, open_box(1));
  EXPECT_EQ(one.id(0), 5);
  EXPECT_EQ(one.row(0)[1], 2.5);
  EXPECT_EQ(one.row(0)[2], 8);
  EXPECT_EQ(one.row(0)[3], 1);
  EXPECT_EQ(one.row(0)[4], 2);
  parcels.site(1).volume = 1;  // three equals: the lowest id
  parcels.set_id(2, 1);
  EXPECT_EQ(merge_all(parcels, open_box(1)).row(0)[4], 5);
}

TEST(MergeStar, counts_only_members_with_a_value_under_the_rules_of_present_ones) {
  const Schema schema({{"mean", 1, Rule::mean_present, {"mean"}, ""}, {"sum", 1, Rule::sum_present, {"sum"}, ""}});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto merge = [&](std::array<double, 3> values) {
    Parcels parcels(schema);
    const std::array<double, 3> volumes{1, 2, 3};
    for (std::size_t i = 0; i < 3; ++i) {
      const double row[4] = {0, values[i], values[i], 0};
      parcels.append({0, 0, 0, volumes[i]}, row);
      parcels.set_id(i, static_cast<std::int64_t>(i));
    }
    const Parcels one = merge_all(parcels, open_box(1));
    return std::array<double, 2>{one.row(0)[1], one.row(0)[2]};
  };
  EXPECT_EQ(merge({1, 2, 5}), (std::array<double, 2>{20 * (1.0 / 6), 8}));
  EXPECT_EQ(merge({nan, 2, 5}), (std::array<double, 2>{19 * (1.0 / 5), 7}));
  EXPECT_EQ(merge({1, nan, nan}), (std::array<double, 2>{1, 1}));
  const auto none = merge({nan, nan, nan});
  EXPECT_TRUE(std::isnan(none[0]) && std::isnan(none[1]));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(none[0]), std::bit_cast<std::uint64_t>(nan)) << "one bit pattern, for digests";
}

TEST(MergeStar, names_the_attribute_whose_callback_is_missing) {
  const Schema schema({{"odd", 1, Rule::callback, {"odd"}, ""}});
  Parcels parcels(schema);
  const double row[2] = {0, 1};
  for (int i = 0; i < 2; ++i) parcels.append({0, 0, 0, 1}, row);
  try {
    static_cast<void>(merge_all(parcels, open_box(1)));
    FAIL() << "no error";
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("odd"), std::string::npos);
  }
}

}  // namespace
