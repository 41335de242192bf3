/// Fused operations of the flow's kernels against std::fma, with every vector target of this processor.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/flow/fused_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cstddef>

#include "merganser/base/detail/highway.hpp"
#include "src/flow/fused.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {

/// Computes a b + c, a b - c, c - a b, and a b + c of numbers, of n triples, n a multiple of 8.
void Fuse(const double* const (&abc)[3], std::size_t n, double* const (&to)[4]) {
  const hn::CappedTag<double, 8> d;
  for (std::size_t i = 0; i < n; i += hn::Lanes(d)) {
    const auto a = hn::LoadU(d, abc[0] + i);
    const auto b = hn::LoadU(d, abc[1] + i);
    const auto c = hn::LoadU(d, abc[2] + i);
    hn::StoreU(fused_add(a, b, c), d, to[0] + i);
    hn::StoreU(fused_subtract(a, b, c), d, to[1] + i);
    hn::StoreU(fused_subtract_from(a, b, c), d, to[2] + i);
  }
  for (std::size_t i = 0; i < n; ++i) to[3][i] = fused_add(abc[0][i], abc[1][i], abc[2][i]);
}

}  // namespace merganser::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "merganser/base/random.hpp"
#include "tests/flow/every_target.hpp"

namespace merganser::flow {
HWY_EXPORT(Fuse);
}

namespace {

using namespace merganser;

/// Draws a number whose digits are random, or few so that sums cancel and ties arise, with an exponent in [-range, range].
double draw(Random& random, int range) {
  std::uint64_t digits = random.bits() >> 12;
  const std::uint64_t kind = random.below(4);
  if (kind == 0) digits &= ~std::uint64_t{0} << 26;
  if (kind == 1) digits &= ~std::uint64_t{0} << 48;
  if (kind == 2 && random.below(2) == 0)
    digits = (digits & 3) | (random.below(2) == 0 ? 0 : ~std::uint64_t{0} >> 12 & ~std::uint64_t{3});
  const auto exponent =
      static_cast<std::uint64_t>(1023 - range) + random.below(2 * static_cast<std::uint64_t>(range) + 1);
  return std::bit_cast<double>(random.below(2) << 63 | exponent << 52 | digits);
}

/// Columns a, b and c of the operations to compare.
using Triples = std::array<std::vector<double>, 3>;

void compare(const Triples& given) {
  const std::size_t n = given[0].size();
  const auto same = [](double x, double y) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) || (x != x && y != y);
  };
  test::for_every_target([&](const char* name) {
    std::array<std::vector<double>, 4> got;
    for (std::vector<double>& column : got) column.resize(n);
    const double* const abc[3] = {given[0].data(), given[1].data(), given[2].data()};
    double* const to[4] = {got[0].data(), got[1].data(), got[2].data(), got[3].data()};
    {
      using namespace merganser::flow;
      MERGANSER_DISPATCH(Fuse)(abc, n, to);
    }
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double a = given[0][i], b = given[1][i], c = given[2][i];
      if (same(got[0][i], std::fma(a, b, c)) && same(got[1][i], std::fma(a, b, -c)) &&
          same(got[2][i], std::fma(-a, b, c)) && same(got[3][i], std::fma(a, b, c)))
        continue;
      if (++wrong < 4) ADD_FAILURE() << name << std::hexfloat << ": " << a << " * " << b << " + " << c;
    }
    EXPECT_EQ(wrong, 0U) << name;
  });
}

TEST(Fused, operations_have_the_bits_of_the_C_library_for_random_numbers) {
  Random random(7, 0, 0);
  for (const int range : {1, 30, 60, 500, 1022}) {
    Triples given;
    for (int i = 0; i < 80000; ++i) {
      const double a = draw(random, range);
      const double b = draw(random, range);
      // A third of the sums cancel but for some digits, a third have their smaller part far below the last digit.
      double c = draw(random, range);
      const std::uint64_t kind = random.below(3);
      if (kind == 0) c = -(a * b) * (1 + static_cast<double>(random.below(5)) * 0x1p-52);
      if (kind == 1)
        c = std::ldexp(a * b, static_cast<int>(random.below(240)) - 120) * (random.below(2) == 0 ? 1 : 1.5);
      given[0].push_back(a);
      given[1].push_back(b);
      given[2].push_back(c);
    }
    SCOPED_TRACE(range);
    compare(given);
  }
}

TEST(Fused, operations_have_the_bits_of_the_C_library_at_the_ends_of_the_range) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> ends;
  for (const double x : {0.0, 1.0, 1 + 0x1p-52, 1 - 0x1p-53, 3.0, 0x1p-53, 0x1p-54, 0x1p27 + 1, 0x1p-450, 0x1p-451,
                         0x1p450, 0x1p899, 0x1p900, 0x1p-1022, 0x1p-1074, 0x1.fffffffffffffp1023, infinity})
    ends.insert(ends.end(), {x, -x});
  ends.push_back(std::numeric_limits<double>::quiet_NaN());
  Triples given;
  for (const double a : ends)
    for (const double b : ends)
      for (const double c : ends) {
        given[0].push_back(a);
        given[1].push_back(b);
        given[2].push_back(c);
      }
  for (std::vector<double>& column : given) column.resize((column.size() + 7) / 8 * 8, 1.0);
  compare(given);
}

}  // namespace
#endif
