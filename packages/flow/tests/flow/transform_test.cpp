/// Complex Fourier transforms of every library in this build, against the definition.
#include "src/flow/fft/transform.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numbers>
#include <random>

#include "merganser/base/error.hpp"
#include "merganser/flow/inversion.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using namespace merganser::test;
using fft::kLanes;

using Numbers = std::vector<double, AlignedAllocator<double>>;

/// kLanes columns of n complex numbers.
struct Columns {
  explicit Columns(std::size_t n) : re(n * kLanes), im(n * kLanes) {}
  Numbers re;
  Numbers im;
};

Columns random_columns(std::size_t n, unsigned seed) {
  Columns c(n);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  for (std::size_t i = 0; i < c.re.size(); ++i) {
    c.re[i] = u(random);
    c.im[i] = u(random);
  }
  return c;
}

/// Computes the transform by its definition, in long double.
Columns slow(const Columns& in, std::size_t n) {
  Columns out(n);
  for (std::size_t t = 0; t < kLanes; ++t)
    for (std::size_t k = 0; k < n; ++k) {
      long double re = 0;
      long double im = 0;
      for (std::size_t j = 0; j < n; ++j) {
        const long double angle =
            -2 * std::numbers::pi_v<long double> * static_cast<long double>(j * k % n) / static_cast<long double>(n);
        const long double x = in.re[j * kLanes + t];
        const long double y = in.im[j * kLanes + t];
        re += x * std::cos(angle) - y * std::sin(angle);
        im += x * std::sin(angle) + y * std::cos(angle);
      }
      out.re[k * kLanes + t] = static_cast<double>(re);
      out.im[k * kLanes + t] = static_cast<double>(im);
    }
  return out;
}

Columns run(fft::Transform& transform, const Columns& in, bool inverse = false) {
  Columns work = in;
  Columns more = in;
  const fft::Block spare{more.re.data(), more.im.data()};
  fft::Block out = transform.run(
      inverse ? fft::Block{work.im.data(), work.re.data()} : fft::Block{work.re.data(), work.im.data()}, spare);
  if (inverse) std::swap(out.re, out.im);
  Columns result(0);
  result.re.assign(out.re, out.re + in.re.size());
  result.im.assign(out.im, out.im + in.re.size());
  return result;
}

double distance(const Columns& a, const Columns& b, double scale = 1) {
  double most = 0;
  for (std::size_t i = 0; i < a.re.size(); ++i)
    most = std::max({most, std::fabs(a.re[i] * scale - b.re[i]), std::fabs(a.im[i] * scale - b.im[i])});
  return most;
}

class TransformTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Libraries, TransformTest, testing::ValuesIn(fft_libraries()),
                         [](const auto& info) { return info.param; });

TEST_P(TransformTest, agrees_with_the_definition) {
  for (const std::size_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 22, 25, 27, 32, 35, 48, 60, 64, 77, 128}) {
    SCOPED_TRACE(n);
    const auto transform = fft::make_transform(GetParam(), n);
    const Columns in = random_columns(n, static_cast<unsigned>(n));
    const double unit = 4e-16 * std::sqrt(static_cast<double>(n)) * (2 + std::log2(static_cast<double>(n)));
    EXPECT_LT(distance(run(*transform, in), slow(in, n)), 2 * unit);
    const Columns back = run(*transform, run(*transform, in), true);
    EXPECT_LT(distance(back, in, 1 / static_cast<double>(n)), 2 * unit);
  }
}

TEST_P(TransformTest, a_column_does_not_see_its_neighbours) {
  for (const std::size_t n : {16, 21, 32, 60}) {
    const auto transform = fft::make_transform(GetParam(), n);
    const Columns first = random_columns(n, 1);
    Columns second = random_columns(n, 2);
    for (std::size_t j = 0; j < n; ++j) {
      second.re[j * kLanes + 3] = first.re[j * kLanes + 3];
      second.im[j * kLanes + 3] = first.im[j * kLanes + 3];
    }
    const Columns a = run(*transform, first);
    const Columns b = run(*transform, second);
    for (std::size_t j = 0; j < n; ++j) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(a.re[j * kLanes + 3]), std::bit_cast<std::uint64_t>(b.re[j * kLanes + 3]));
      EXPECT_EQ(std::bit_cast<std::uint64_t>(a.im[j * kLanes + 3]), std::bit_cast<std::uint64_t>(b.im[j * kLanes + 3]));
    }
  }
}

TEST(Transforms, a_library_that_is_not_there_is_refused_with_those_that_are) {
  const std::string text = refusal<UsageError>([] { (void)fft::make_transform("fftpack", 8); });
  EXPECT_NE(text.find("fftpack; allowed in this build: auto, lanes"), std::string::npos) << text;
}

}  // namespace
