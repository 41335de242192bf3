/// The four points of an ellipsoid, against a general eigenvalue solver.
#include <gtest/gtest.h>

#include "src/flow/kernels.hpp"
#include "tests/flow/reference.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;

/// Cells so wide that every ellipsoid of this test is small against them.
constexpr Cells kWide{{-50, -50, -50}, {100, 100, 100}, {0.01, 0.01, 0.01}, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}};

struct Found {
  Vec3 major;  ///< sqrt((a^2 - c^2) / 5) v1
  Vec3 middle;
};

/// Computes the points by the kernel, checking that every lane of a batch gives the same.
Found find(double volume, const double* b5) {
  const Site site{0, 0, 0, volume};
  double row[Row::width] = {};
  std::copy_n(b5, 5, row + Row::shape);
  const std::uint32_t index[kBatch] = {};
  Batch batch;
  EXPECT_EQ(find_points(&site, row, {index, kBatch}, 1, kWide, &batch), 1U);
  Found found;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t k = 1; k < kBatch; ++k) {
      EXPECT_EQ(batch.first[a][k], batch.first[a][0]);
      EXPECT_EQ(batch.second[a][k], batch.second[a][0]);
    }
    found.major[a] = 50 * (batch.first[a][0] + batch.second[a][0]);
    found.middle[a] = 50 * (batch.first[a][0] - batch.second[a][0]);
  }
  return found;
}

double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// The points have the second moment of the ellipsoid, up to a sphere: 5 (e e^T + t t^T) = B - c^2.
void expect_second_moment(double volume, const double* b5) {
  const Axes expected = principal_axes(b5, volume);
  const Found found = find(volume, b5);
  // B33 follows from the other entries, with an error that grows as the minor B11 B22 - B12^2 cancels.
  const double cancels = b5[0] * b5[3] / (b5[0] * b5[3] - b5[1] * b5[1]);
  const double scale = expected.square[0] * std::max(1.0, cancels * cancels / 16);
  const double b[3][3] = {{b5[0], b5[1], b5[2]}, {b5[1], b5[3], b5[4]}, {b5[2], b5[4], b33(b5, volume)}};
  double worst = 0;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const double moment = 5 * (found.major[i] * found.major[j] + found.middle[i] * found.middle[j]);
      worst = std::max(worst, std::fabs(moment - b[i][j] + (i == j ? expected.square[2] : 0)));
    }
  EXPECT_LT(worst, 1e-14 * scale) << b5[0] << " " << b5[1] << " " << b5[2] << " " << b5[3] << " " << b5[4];
  EXPECT_LT(std::fabs(dot(found.major, found.middle)), 4e-15 * scale);
  EXPECT_GE(dot(found.major, found.major) * (1 + 1e-12), dot(found.middle, found.middle));
  // The direction of an axis is determined where its length differs from the others.
  const double gap = (expected.square[0] - expected.square[1]) / scale;
  if (gap > 1e-3) {
    const Vec3 v{expected.vector[0][0], expected.vector[0][1], expected.vector[0][2]};
    EXPECT_NEAR(std::fabs(dot(found.major, v)), std::sqrt(dot(found.major, found.major)), 1e-12 * std::sqrt(scale));
  }
}

TEST(Points, have_the_second_moment_of_random_ellipsoids) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> u(0, 1);
  for (int n = 0; n < 20000; ++n) {
    const double volume = 0.01 + u(random);
    double b5[5];
    reference::random_shape(random, volume, {std::exp(4 * u(random)), std::exp(4 * u(random)), 1}, b5);
    expect_second_moment(volume, b5);
  }
}

TEST(Points, have_the_second_moment_where_axes_are_equal_or_nearly_so) {
  std::mt19937_64 random(2);
  for (const double nearly : {0.0, 1e-15, 1e-12, 1e-9, 1e-6, 1e-4})
    for (const Vec3& ratio :
         {Vec3{1, 1, 1}, Vec3{2, 1, 1}, Vec3{2, 2, 1}, Vec3{1e3, 1, 1}, Vec3{1e3, 1e3, 1}, Vec3{4, 2, 1}})
      for (int n = 0; n < 200; ++n) {
        double b5[5];
        reference::random_shape(random, 0.1, {ratio[0] * (1 + nearly), ratio[1], ratio[2] * (1 - nearly)}, b5);
        expect_second_moment(0.1, b5);
      }
}

TEST(Points, lie_along_the_axes_of_ellipsoids_that_are_not_turned) {
  const double pi = std::acos(-1.0);
  const double squares[6][3] = {{4, 2, 1}, {4, 1, 2}, {2, 4, 1}, {1, 4, 2}, {2, 1, 4}, {1, 2, 4}};
  for (const auto& s : squares) {
    const double volume = 4 * pi / 3 * std::sqrt(8.0);
    const double b5[5] = {s[0], 0, 0, s[1], 0};
    const Found found = find(volume, b5);
    for (std::size_t a = 0; a < 3; ++a) {
      EXPECT_NEAR(std::fabs(found.major[a]), s[a] == 4 ? std::sqrt(3.0 / 5) : 0, 1e-15);
      EXPECT_NEAR(std::fabs(found.middle[a]), s[a] == 2 ? std::sqrt(1.0 / 5) : 0, 1e-15);
    }
  }
}

TEST(Points, of_a_sphere_are_its_centre) {
  for (const double volume : {1e-9, 0.1, 0.7, 1234.5}) {
    const double r2 = std::pow(0.75 * volume / std::acos(-1.0), 2.0 / 3);
    const double b5[5] = {r2, 0, 0, r2, 0};
    const Found found = find(volume, b5);
    EXPECT_EQ(found.major, (Vec3{0, 0, 0}));
    EXPECT_EQ(found.middle, (Vec3{0, 0, 0}));
  }
}

}  // namespace
