// Counter-based random numbers (base/random.hpp) against published answers and the moments of their distributions.
#include "merganser/base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

namespace {

using merganser::philox;
using merganser::Random;
using Block = std::array<std::uint32_t, 4>;

TEST(Philox, gives_the_published_known_answers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t f = 0xffffffff;
  EXPECT_EQ(philox({f, f, f, f}, {f, f}), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, is_a_function_of_seed_stream_and_index) {
  Random a(1, 2, 3);
  Random b(1, 2, 3);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(a.bits(), b.bits());
  std::set<std::uint64_t> first;
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    for (std::uint64_t stream : {0ULL, 1ULL, 1ULL << 32, 5ULL << 40})
      for (std::uint32_t index : {0U, 1U, 0xffffffffU}) first.insert(Random(seed, stream, index).bits());
  EXPECT_EQ(first.size(), 48U);
}

TEST(Random, uniform_numbers_have_the_moments_of_the_uniform_distribution) {
  Random random(42, 0, 0);
  constexpr int n = 200000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    const double u = random.uniform(-1, 1);
    ASSERT_GE(u, -1);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(3.0 * n));
  EXPECT_NEAR(squares / n, 1.0 / 3, 5 * 0.2981 / std::sqrt(n));
}

TEST(Random, whole_numbers_below_a_bound_are_all_met_equally_often) {
  Random random(7, 1, 1);
  std::array<int, 10> met{};
  for (int i = 0; i < 100000; ++i) ++met.at(random.below(10));
  for (const int count : met) EXPECT_NEAR(count, 10000, 5 * 95);
  EXPECT_EQ(random.below(1), 0U);
}

}  // namespace
