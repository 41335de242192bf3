/// Fourier transforms along rows of a field: definition, inverse, derivatives, independence of columns.
#include "src/flow/fft/rows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "merganser/flow/inversion.hpp"

namespace {

using namespace merganser::flow;
using fft::Field;
using fft::kLanes;

constexpr std::size_t kGroups = 3;
constexpr std::size_t kColumns = kGroups * kLanes;

Field random_field(std::size_t size, unsigned seed) {
  Field f(size);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  for (double& x : f) x = u(random);
  return f;
}

class RowsTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Libraries, RowsTest, testing::ValuesIn(fft_libraries()),
                         [](const auto& info) { return info.param; });

TEST_P(RowsTest, real_rows_have_the_spectrum_of_the_definition) {
  for (const std::size_t n : {2, 4, 6, 8, 10, 14, 16, 18, 24, 32, 34, 64}) {
    SCOPED_TRACE(n);
    const std::size_t stride = kColumns + kLanes;
    const Field in = random_field(n * stride, static_cast<unsigned>(n));
    const std::size_t row = 2 * stride + kLanes;
    Field out((n / 2 + 1) * row);
    fft::RealRows rows(GetParam(), n);
    rows.forward({in.data(), stride}, {out.data(), row}, stride, kGroups);
    for (std::size_t k = 0; k <= n / 2; ++k)
      for (std::size_t c = 0; c < kColumns; ++c) {
        long double re = 0;
        long double im = 0;
        for (std::size_t j = 0; j < n; ++j) {
          const long double angle =
              -2 * std::numbers::pi_v<long double> * static_cast<long double>(j * k % n) / static_cast<long double>(n);
          re += in[j * stride + c] * std::cos(angle);
          im += in[j * stride + c] * std::sin(angle);
        }
        ASSERT_NEAR(out[k * row + c], static_cast<double>(re), 3e-14) << k;
        ASSERT_NEAR(out[k * row + stride + c], static_cast<double>(im), 3e-14) << k;
      }
    Field back(n * stride);
    rows.inverse({out.data(), row}, stride, {back.data(), stride}, kGroups);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t c = 0; c < kColumns; ++c)
        ASSERT_NEAR(back[j * stride + c] / static_cast<double>(n), in[j * stride + c], 2e-15);
  }
}

TEST_P(RowsTest, trigonometric_polynomials_have_their_derivatives) {
  for (const std::size_t n : {4, 6, 10, 16, 32}) {
    SCOPED_TRACE(n);
    const double period = 2.5;
    const double unit = 2 * std::numbers::pi / period;
    Field in(n * kColumns);
    Field want(n * kColumns);
    for (std::size_t c = 0; c < kColumns; ++c) {
      const auto wave = static_cast<double>(c % (n / 2));  // below n / 2
      for (std::size_t j = 0; j < n; ++j) {
        const double x = period * static_cast<double>(j) / static_cast<double>(n);
        const double alternating = j % 2 == 0 ? 0.5 : -0.5;
        in[j * kColumns + c] = 2 * std::sin(unit * wave * x) - std::cos(unit * wave * x) + 3 + alternating;
        want[j * kColumns + c] = unit * wave * (2 * std::cos(unit * wave * x) + std::sin(unit * wave * x));
      }
    }
    fft::RealRows rows(GetParam(), n);
    rows.derivative({in.data(), kColumns}, {in.data(), kColumns}, period, kGroups);
    for (std::size_t i = 0; i < in.size(); ++i) ASSERT_NEAR(in[i], want[i], 1e-12) << i;
  }
}

TEST_P(RowsTest, complex_rows_come_back) {
  for (const std::size_t n : {1, 3, 8, 30}) {
    const std::size_t row = 2 * kColumns + kLanes;
    const Field in = random_field(n * row, 5);
    Field work = in;
    fft::ComplexRows rows(GetParam(), n);
    rows.forward({work.data(), row}, kColumns, kGroups);
    double sum = 0;  // row 0 of the spectrum is the sum of all
    for (std::size_t j = 0; j < n; ++j) sum += in[j * row + kColumns + 1];
    EXPECT_NEAR(work[kColumns + 1], sum, 1e-14);
    rows.inverse({work.data(), row}, kColumns, kGroups);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t c = 0; c < 2 * kColumns; ++c)
        ASSERT_NEAR(work[j * row + c] / static_cast<double>(n), in[j * row + c], 2e-15);
  }
}

}  // namespace
