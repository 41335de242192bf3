// Splitting of ellipsoids: principal axes, children, ids, and conserved moments.
#include "merganser/parcels/split.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/parcels/merge.hpp"
#include "merganser/parcels/statistics.hpp"
#include "tests/parcels/ellipsoids.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

Grid wide_grid() { return {{{-50, -50, -50}, {100, 100, 100}, {true, true, false}}, {1, 1, 1}}; }

double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

TEST(Axes, reproduce_the_matrix_and_are_orthonormal) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-3, 3);
  std::uniform_real_distribution<double> angle(0, kPi);
  for (int sample = 0; sample < 2000; ++sample) {
    const Vec3 squares{std::pow(10, exponent(random)), std::pow(10, exponent(random)), std::pow(10, exponent(random))};
    const auto b = shape(squares, frame(2 * angle(random), angle(random)));
    const Axes a = principal_axes(b.data(), ellipsoid_volume(squares));
    ASSERT_GE(a.square[0], a.square[1]);
    ASSERT_GE(a.square[1], a.square[2]);
    const double matrix[3][3] = {{b[0], b[1], b[2]}, {b[1], b[3], b[4]}, {b[2], b[4], b[5]}};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        ASSERT_NEAR(dot(a.vector[i], a.vector[j]), i == j, 3e-15);
        double sum = 0;
        for (int k = 0; k < 3; ++k) sum += a.square[k] * a.vector[k][i] * a.vector[k][j];
        // B33 comes from the volume, so it carries the error of the division by B11 B22 - B12^2.
        ASSERT_NEAR(sum, matrix[i][j], (i == 2 && j == 2 ? 1e-9 : 4e-15) * a.square[0]);
      }
  }
}

TEST(Axes, are_exact_for_spheres_and_ellipsoids_along_the_coordinates) {
  const double sphere[5] = {2.25, 0, 0, 2.25, 0};
  const Axes round = principal_axes(sphere, ellipsoid_volume({2.25, 2.25, 2.25}));
  EXPECT_EQ(round.square[0], 2.25);
  EXPECT_NEAR(round.square[2], 2.25, 1e-15);
  const double along[5] = {1, 0, 0, 9, 0};
  const Axes a = principal_axes(along, ellipsoid_volume({1, 9, 4}));
  EXPECT_EQ(a.square[0], 9);
  EXPECT_NEAR(a.square[1], 4, 1e-14);
  EXPECT_EQ(a.square[2], 1);
  EXPECT_EQ(a.vector[0][1], 1);
  EXPECT_EQ(a.vector[2][0], 1);
}

TEST(Split, the_children_are_where_and_what_they_must_be) {
  const Vec3 parent{3.75, 0.15, 16.0 / 9};
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      const Frame f = frame(i * kPi / 4, j * kPi / 4);
      Parcels parcels;
      add_ellipsoid(parcels, 7, {1, 2, 3}, parent, f, 0.5, {1, 2, 3});
      const double det = det3({1, 0, 0, 1, 0, 1}) * parent[0] * parent[1] * parent[2];
      ASSERT_EQ(split(parcels, wide_grid()), 1);
      ASSERT_EQ(parcels.size(), 2U);
      for (std::size_t child = 0; child < 2; ++child) {
        const Site& s = parcels.site(child);
        const double offset[3] = {s.x - 1, s.y - 2, s.z - 3};
        EXPECT_NEAR(std::fabs(dot(offset, f[0].data())), 0.75, 1e-14);
        EXPECT_NEAR(dot(offset, offset), 0.75 * 0.75, 1e-14);
        EXPECT_EQ(s.volume, 0.5 * ellipsoid_volume(parent));
        EXPECT_EQ(parcels.row(child)[kBuoyancy], 0.5);
        const auto expected = shape({parent[0] / 4, parent[1], parent[2]}, f);
        for (std::size_t k = 0; k < 5; ++k) EXPECT_NEAR(parcels.row(child)[kShape + k], expected[k], 1e-14);
        const double* b = parcels.row(child) + kShape;
        EXPECT_NEAR(det3({b[0], b[1], b[2], b[3], b[4], b33(b, s.volume)}), det / 4, 1e-13);
      }
      EXPECT_EQ(parcels.id(0), 7);
      EXPECT_EQ(parcels.id(1), 8);
    }
  }
}

TEST(Split, then_merge_is_the_identity) {
  const Vec3 parent{3.75, 0.15, 16.0 / 9};
  for (int i = 0; i < 8; ++i) {
    for (int j = 0; j < 8; ++j) {
      Parcels parcels;
      add_ellipsoid(parcels, 1, {0, 0, 0}, parent, frame(i * kPi / 4, j * kPi / 4), 0.25);
      const Parcels before = parcels;
      ASSERT_EQ(split(parcels, wide_grid()), 1);
      const Member members[2] = {{&parcels.site(0), parcels.row(0)}, {&parcels.site(1), parcels.row(1)}};
      merge_star(MergeRules(parcels.schema(), wide_grid().box), members, parcels.site(0), parcels.row(0));
      EXPECT_NEAR(parcels.site(0).x, 0, 1e-14);
      EXPECT_NEAR(parcels.site(0).z, 0, 1e-14);
      EXPECT_NEAR(parcels.site(0).volume, before.site(0).volume, 1e-14);
      for (std::size_t c = 1; c < 10; ++c) EXPECT_NEAR(parcels.row(0)[c], before.row(0)[c], 1e-14);
    }
  }
}

TEST(Split, happens_from_the_greatest_aspect_ratio_and_the_longest_axis_on) {
  const auto splits = [](const Vec3& squares, const SplitOptions& options) {
    Parcels parcels;
    add_ellipsoid(parcels, 0, {0, 0, 0}, squares, frame(0, kPi / 2));
    // frame(0, pi/2) has its first vector along x only to rounding; make it exact.
    double* b = parcels.row(0) + kShape;
    b[0] = squares[0], b[1] = b[2] = b[4] = 0, b[3] = squares[1];
    return split(parcels, wide_grid(), options);
  };
  SplitOptions options;
  options.max_semi_axis = 1.5;
  EXPECT_EQ(splits({2.25, 1, 1}, options), 1);
  EXPECT_EQ(splits({2.24, 1, 1}, options), 0);
  options.max_semi_axis = 100;
  EXPECT_EQ(splits({16, 1, 4}, options), 1);
  EXPECT_EQ(splits({15.99, 1, 4}, options), 0);
  options.max_aspect_ratio = 3.9;
  EXPECT_EQ(splits({15.99, 1, 4}, options), 1);
}

TEST(Split, the_longest_axis_is_by_default_that_of_a_sphere_of_one_cell) {
  const Grid grid{{{0, 0, 0}, {8, 8, 8}, {true, true, false}}, {8, 8, 8}};
  const double radius = std::cbrt(0.75 / kPi);
  Parcels parcels;
  for (const double factor : {0.999, 1.001}) {
    const double square = factor * factor * radius * radius;
    add_ellipsoid(parcels, static_cast<std::int64_t>(parcels.size()), {4, 4, 4}, {square, square, square}, frame(0, 0));
  }
  EXPECT_EQ(split(parcels, grid), 1);
}

TEST(Split, a_quick_look_never_overlooks_a_long_parcel) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> ratio(1, 5);
  std::uniform_real_distribution<double> angle(0, kPi);
  SplitOptions options;
  options.max_semi_axis = 1.2;
  int long_ones = 0;
  for (int sample = 0; sample < 20000; ++sample) {
    const double a2 = 0.3 * ratio(random);
    const double ac = ratio(random);
    const double ab = 1 + (ac - 1) * angle(random) / kPi;
    Parcels parcels;
    add_ellipsoid(parcels, 0, {0, 0, 0}, {a2, a2 / (ab * ab), a2 / (ac * ac)}, frame(2 * angle(random), angle(random)));
    const Axes exact = principal_axes(parcels.row(0) + kShape, parcels.site(0).volume);
    const double a = std::sqrt(exact.square[0]);
    const bool is_long = a >= 1.2 || a >= 4 * std::sqrt(exact.square[2]);
    long_ones += is_long;
    ASSERT_EQ(split(parcels, wide_grid(), options), is_long ? 1 : 0);
  }
  EXPECT_GT(long_ones, 1000);
}

TEST(Split, keeps_zeroth_first_and_second_moments_and_halves_sums) {
  std::vector<Attribute> attributes = Schema::epic().attributes();
  attributes.push_back({"mass", 1, Rule::sum, {"mass"}, "kg"});
  attributes.push_back({"tag", 1, Rule::largest, {"tag"}, ""});
  const Schema schema(std::move(attributes));
  Parcels epic;
  add_ellipsoid(epic, 3, {1, 1, 1}, {9, 0.5, 0.4}, frame(0.4, 1.1), 2);
  std::vector<double> row(epic.row(0), epic.row(0) + 10);
  row.insert(row.end(), {6, 11});
  Parcels parcels(schema);
  parcels.append(epic.site(0), row.data());
  parcels.set_id(0, 3);
  const Moments before = moments(parcels, wide_grid().box);
  ASSERT_EQ(split(parcels, wide_grid()), 1);
  const Moments after = moments(parcels, wide_grid().box);
  EXPECT_EQ(after.volume.value(), before.volume.value());
  EXPECT_NEAR(after.volume_position[2].value(), before.volume_position[2].value(), 1e-14);
  EXPECT_EQ(parcels.row(0)[schema.offset("mass")], 3);
  EXPECT_EQ(parcels.row(1)[schema.offset("mass")], 3);
  EXPECT_EQ(parcels.row(1)[schema.offset("tag")], 11);
  for (int c = 0; c < 2; ++c) {
    const Site& s = parcels.site(static_cast<std::size_t>(c));
    EXPECT_NEAR(parcels.row(static_cast<std::size_t>(c))[kShape] + 5 * (s.x - 1) * (s.x - 1), row[kShape], 1e-13);
  }
}

TEST(Split, children_beyond_a_wall_are_reflected_and_beyond_a_periodic_edge_wrapped) {
  const Grid grid{{{0, 0, 0}, {4, 4, 4}, {true, false, false}}, {1, 1, 1}};
  const Frame f = frame(0.6, 0.8);  // all components positive
  SplitOptions options;
  options.max_semi_axis = 0.9;
  Parcels parcels;
  add_ellipsoid(parcels, 0, {3.95, 3.95, 3.95}, {1, 0.3, 0.2}, f);
  ASSERT_EQ(split(parcels, grid, options), 1);
  const double reach = 0.5 * std::sqrt(0.6);
  const auto expected = shape({0.25, 0.3, 0.2}, f);
  std::size_t outer = parcels.site(0).x < 1 ? 0 : 1;
  const Site& s = parcels.site(outer);
  const double* b = parcels.row(outer) + kShape;
  EXPECT_NEAR(s.x, 3.95 + reach * f[0][0] - 4, 1e-14);
  EXPECT_NEAR(s.y, 8 - (3.95 + reach * f[0][1]), 1e-14);
  EXPECT_NEAR(s.z, 8 - (3.95 + reach * f[0][2]), 1e-14);
  EXPECT_NEAR(b[1], -expected[1], 1e-14);  // odd in y only
  EXPECT_NEAR(b[2], -expected[2], 1e-14);  // odd in z only
  EXPECT_NEAR(b[4], expected[4], 1e-14);   // odd in both
  EXPECT_NEAR(b[0], expected[0], 1e-14);
}

TEST(Split, new_ids_come_from_the_given_sequence) {
  Parcels parcels;
  for (int i = 0; i < 3; ++i) add_ellipsoid(parcels, 10 + i, {0, 0, 0}, {30, 1, 1}, frame(i, 1));
  SplitOptions options;
  options.next_id = 101;
  options.id_step = 4;
  EXPECT_EQ(split(parcels, wide_grid(), options), 3);
  std::multiset<std::int64_t> ids;
  for (std::size_t i = 0; i < parcels.size(); ++i) ids.insert(parcels.id(i));
  EXPECT_EQ(ids, (std::multiset<std::int64_t>{10, 11, 12, 101, 105, 109}));
}

TEST(Split, consecutive_ids_give_a_child_the_id_after_that_of_its_parent) {
  Parcels parcels;
  for (int i = 0; i < 3; ++i) add_ellipsoid(parcels, 40 - 2 * i, {0, 0, 0}, {30, 1, 1}, frame(i, 1));
  SplitOptions options;
  options.consecutive_ids = true;
  EXPECT_EQ(split(parcels, wide_grid(), options), 3);
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < parcels.size(); ++i) ids.push_back(parcels.id(i));
  EXPECT_EQ(ids, (std::vector<std::int64_t>{40, 38, 36, 41, 39, 37}));
}

TEST(Split, refuses_a_schema_without_ellipsoid_and_an_aspect_ratio_of_one) {
  Parcels parcels(Schema({{"mass", 1, Rule::sum, {"mass"}, ""}}));
  EXPECT_THROW(split(parcels, wide_grid()), UsageError);
  Parcels epic;
  SplitOptions options;
  options.max_aspect_ratio = 1;
  EXPECT_THROW(split(epic, wide_grid(), options), UsageError);
}

TEST(Split, one_parcel_per_boundary_cell_doubles_exactly) {
  const Grid grid{{{0, 0, 0}, {4, 4, 4}, {true, true, false}}, {32, 32, 32}};
  const double h = grid.spacing(0);
  const double volume = 0.5 * grid.cell_volume();
  const double a = 0.9 * h;
  const double rest = std::pow(0.75 * volume / kPi, 2) / (a * a);  // (bc)^2
  Parcels parcels;
  for (int i = 0; i < 32; ++i) {
    for (const int side : {0, 1}) {
      const Vec3 x{side == 0 ? 1e-3 * h : 4 - 1e-3 * h, (i + 0.5) * h, 2};
      add_ellipsoid(parcels, static_cast<std::int64_t>(parcels.size()), x, {1, 1, 1}, frame(0, 0));
      const std::size_t last = parcels.size() - 1;
      parcels.site(last).volume = volume;
      const double b[5] = {a * a, 0, 0, std::sqrt(rest), 0};
      std::copy_n(b, 5, parcels.row(last) + kShape);
    }
  }
  SplitOptions options;
  options.max_semi_axis = a;
  EXPECT_EQ(split(parcels, grid, options), 64);
  EXPECT_EQ(parcels.size(), 128U);
  for (std::size_t i = 0; i < parcels.size(); ++i)
    EXPECT_TRUE(parcels.site(i).x >= 0 && parcels.site(i).x < 4) << parcels.site(i).x;
}

}  // namespace
