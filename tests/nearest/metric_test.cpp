/// Tests of the distances between points and boxes that trees of points compare by: bits of the canonical formula, and
/// bounds that no pair of points undercuts.
#include "merganser/nearest/metric.hpp"

#include <gtest/gtest.h>

#include <map>

#include "merganser/base/random.hpp"

namespace {

using namespace merganser;
using namespace merganser::nearest;

constexpr double kPiHere = 3.14159265358979323846;

/// The canonical value from its definition, in plain loops: separations around periods, added from the left.
template <std::size_t D>
double separate(const Metric<D>& metric, const Place<D>& a, const Place<D>& b) {
  double chord = 0;
  double other = 0;
  for (std::size_t i = 0; i < D; ++i) {
    double s = a[i] > b[i] ? a[i] - b[i] : b[i] - a[i];
    if (metric.period[i] - s < s) s = metric.period[i] - s;
    if (metric.norm == Norm::squares) chord += s * s;
    if (metric.norm == Norm::sum) chord += s;
    if (metric.norm == Norm::most && s > chord) chord = s;
    other += (a[i] + b[i]) * (a[i] + b[i]);
  }
  if (!metric.sphere || chord <= 3) return chord;
  return std::max(3.0, 4 - std::sqrt(other));
}

template <std::size_t D>
Place<D> random_place(Random& random, bool sphere, bool lattice) {
  Place<D> p{};
  double sum = 0;
  do {
    sum = 0;
    for (double& x : p) {
      x = sphere ? random.uniform(-1, 1) : random.uniform();
      if (lattice) x = std::floor(x * 4) / 4;
      sum += x * x;
    }
  } while (sphere && sum == 0);
  if (sphere)
    for (double& x : p) x /= std::sqrt(sum);
  return p;
}

/// Metrics of every norm, with and without periods, and of the sphere.
template <std::size_t D>
std::vector<Metric<D>> all_metrics() {
  std::vector<Metric<D>> all;
  for (const Norm norm : {Norm::squares, Norm::sum, Norm::most})
    for (const bool periodic : {false, true}) {
      Metric<D> metric;
      metric.norm = norm;
      metric.any_period = periodic;
      if (periodic) metric.period[D - 1] = metric.period[0] = 1;
      all.push_back(metric);
    }
  all.push_back({});
  all.back().sphere = true;
  return all;
}

template <std::size_t D>
void expect_canonical() {
  Random random(D, 1, 0);
  for (const auto& metric : all_metrics<D>())
    for (int i = 0; i < 400; ++i) {
      const auto a = random_place<D>(random, metric.sphere, i % 3 == 0);
      const auto b = i % 17 == 0 ? a : random_place<D>(random, metric.sphere, i % 3 == 0);
      ASSERT_EQ(metric.distance2(a, b), separate(metric, a, b)) << D << ' ' << static_cast<int>(metric.norm);
      ASSERT_EQ(metric.distance2(b, a), metric.distance2(a, b));
      ASSERT_EQ(metric.distance2(a, a), 0);
    }
}

TEST(MetricTest, two_points_have_the_bits_of_the_canonical_formula_in_every_norm_and_around_periods) {
  expect_canonical<3>();
  expect_canonical<4>();
  expect_canonical<8>();
  expect_canonical<16>();
}

template <std::size_t D>
void expect_lower_bounds() {
  Random random(D, 2, 0);
  for (const auto& metric : all_metrics<D>())
    for (int i = 0; i < 150; ++i) {
      std::vector<Place<D>> sets[2];
      Bounds<D> boxes[2];
      for (int s = 0; s < 2; ++s)
        for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
          auto p = random_place<D>(random, metric.sphere, i % 2 == 0);
          if (!metric.sphere && i % 5 != 0) p[0] = s == 0 ? p[0] * 0.25 : 0.5 + p[0] * 0.375;  // apart on one axis
          sets[s].push_back(p);
          boxes[s].add(p);
        }
      double least = kInfinity;
      for (const auto& a : sets[0]) {
        double of_point = kInfinity;
        for (const auto& b : sets[1]) of_point = std::min(of_point, metric.distance2(a, b));
        ASSERT_LE(metric.distance2(a, boxes[1]), of_point);
        ASSERT_LE(metric.distance2(boxes[0], boxes[1]), metric.distance2(a, boxes[1]));
        ASSERT_EQ(metric.distance2(a, boxes[0]), 0) << "inside";
        least = std::min(least, of_point);
      }
      ASSERT_EQ(metric.distance2(boxes[0], boxes[1]), metric.distance2(boxes[1], boxes[0]));
      if (!metric.sphere && sets[0].size() == 1 && sets[1].size() == 1) {
        ASSERT_EQ(metric.distance2(boxes[0], boxes[1]), least) << "boxes of one point are that point";
      }
    }
}

TEST(MetricTest, boxes_bound_the_values_of_all_points_inside_from_below) {
  expect_lower_bounds<3>();
  expect_lower_bounds<6>();
  expect_lower_bounds<12>();
}

TEST(MetricTest, boxes_are_as_far_apart_as_the_nearest_of_their_corners_around_a_period_too) {
  Metric<3> metric;
  const Bounds<3> low{{0.125, 0, 0}, {0.25, 0.5, 0}};
  const Bounds<3> high{{0.75, 0.75, 0}, {0.875, 1, 0}};
  EXPECT_EQ(metric.distance2(low, high), 0.25 + 0.0625);
  metric.norm = Norm::sum;
  EXPECT_EQ(metric.distance2(low, high), 0.75);
  metric.norm = Norm::most;
  EXPECT_EQ(metric.distance2(low, high), 0.5);
  metric.any_period = true;
  metric.period[0] = 1;  // from 0.875 on to 1.125
  metric.norm = Norm::squares;
  EXPECT_EQ(metric.distance2(low, high), 0.0625 + 0.0625);
  EXPECT_EQ(metric.distance2(high, low), 0.0625 + 0.0625);
  metric.norm = Norm::sum;
  EXPECT_EQ(metric.distance2(low, high), 0.5);
  metric.period[0] = 0.75;  // the boxes touch around it
  EXPECT_EQ(metric.distance2(low, high), 0.25);
  EXPECT_EQ(metric.distance2(Place<3>{0.25, 0.5, 0}, high), 0.125 + 0.25);
}

TEST(MetricTest, a_metric_is_plain_with_squares_and_no_period_only) {
  std::vector<bool> plain;
  std::vector<bool> periodic;
  for (const auto& metric : all_metrics<3>()) {
    plain.push_back(metric.plain());
    periodic.push_back(metric.periodic());
  }
  EXPECT_EQ(plain, (std::vector<bool>{true, false, false, false, false, false, true}));
  EXPECT_EQ(periodic, (std::vector<bool>{false, true, false, true, false, true, false}));
}

TEST(MetricTest, a_distance_from_the_compared_value_is_its_root_itself_or_an_angle) {
  EXPECT_EQ(distance_from_compared(6.25, Norm::squares, false), 2.5);
  EXPECT_EQ(distance_from_compared(6.25, Norm::sum, false), 6.25);
  EXPECT_EQ(distance_from_compared(6.25, Norm::most, false), 6.25);
  EXPECT_EQ(distance_from_compared(0, Norm::squares, true), 0);
  EXPECT_NEAR(distance_from_compared(2, Norm::squares, true), kPiHere / 2, 1e-15);
  EXPECT_NEAR(distance_from_compared(1, Norm::squares, true), kPiHere / 3, 1e-15);
  EXPECT_NEAR(distance_from_compared(3, Norm::squares, true), 2 * kPiHere / 3, 1e-15);
  EXPECT_NEAR(distance_from_compared(std::nextafter(3.0, 4.0), Norm::squares, true), 2 * kPiHere / 3, 3e-15);
  EXPECT_NEAR(distance_from_compared(4, Norm::squares, true), kPiHere, 1e-15);
  EXPECT_NEAR(distance_from_compared(4 - 1e-6, Norm::squares, true), kPiHere - 1e-6, 1e-12);
}

TEST(MetricTest, the_bound_of_compared_values_at_a_distance_is_not_below_any_of_them_and_hardly_above) {
  Random random(3, 3, 0);
  for (const Norm norm : {Norm::squares, Norm::sum, Norm::most}) {
    for (int i = 0; i < 500; ++i) {
      const double compared = std::exp2(random.uniform(-900, 900));
      const double above = compared_above(distance_from_compared(compared, norm, false), norm, false);
      ASSERT_GE(above, compared);
      ASSERT_LE(above, compared * (1 + 1e-11));
      if (norm != Norm::squares) {
        ASSERT_EQ(above, compared);
      }
    }
  }
  for (int i = 0; i < 3000; ++i) {
    const double compared = i < 1000 ? std::exp2(random.uniform(-60, 2)) : random.uniform(2.9, 4);
    const double above = compared_above(distance_from_compared(compared, Norm::squares, true), Norm::squares, true);
    ASSERT_GE(above, compared);
    // Just short of 120 degrees the two formulas overlap.
    ASSERT_LE(above, (compared > 2.99 ? std::max(compared, 3.0) : compared) * (1 + 1e-9)) << compared;
  }
  EXPECT_GE(compared_above(kPiHere, Norm::squares, true), 4);
  EXPECT_GE(compared_above(4, Norm::squares, true), 4) << "beyond any angle";
  EXPECT_EQ(compared_above(0, Norm::squares, true), 0);
  EXPECT_EQ(compared_above(kInfinity, Norm::squares, false), kInfinity);
  EXPECT_EQ(compared_above(kInfinity, Norm::sum, false), kInfinity);
}

TEST(BoundsTest, a_box_grows_by_points_and_boxes_and_knows_its_longest_axis) {
  Bounds<4> box;
  EXPECT_TRUE(box.empty());
  box.add(Place<4>{1, 2, 3, 4});
  EXPECT_FALSE(box.empty());
  EXPECT_EQ(box.widest(), 0U) << "of equal extents the first axis";
  box.add(Place<4>{0, 2, 5, 4});
  EXPECT_EQ(box.lower, (Place<4>{0, 2, 3, 4}));
  EXPECT_EQ(box.upper, (Place<4>{1, 2, 5, 4}));
  EXPECT_EQ(box.widest(), 2U);
  EXPECT_EQ(box.extent(2), 2);
  Bounds<4> other;
  other.add(Place<4>{0.5, -1, 4, 6});
  box.add(other);
  EXPECT_EQ(box.lower, (Place<4>{0, -1, 3, 4}));
  EXPECT_EQ(box.upper, (Place<4>{1, 2, 5, 6}));
  EXPECT_EQ(box.widest(), 1U);
  box.add(Bounds<4>{});
  EXPECT_EQ(box.upper, (Place<4>{1, 2, 5, 6})) << "an empty box adds nothing";
  box.add(Place<4>{0, 0, 0, 7});
  EXPECT_EQ(box.widest(), 2U) << "5, then 3: axis 2 has the longest extent";
}

TEST(WithAxesTest, the_least_number_of_axes_that_has_room_is_taken) {
  const std::map<std::size_t, std::size_t> expected{{1, 3}, {3, 3},  {4, 4},   {5, 6},   {6, 6},   {7, 8},
                                                    {8, 8}, {9, 12}, {12, 12}, {13, 16}, {15, 16}, {16, 16}};
  for (const auto& [dimension, axes] : expected)
    EXPECT_EQ(with_axes(dimension, [](auto d) { return d.value; }), axes) << dimension;
}

}  // namespace
