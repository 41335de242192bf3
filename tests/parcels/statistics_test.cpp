// Exact sums, digests and moments of parcels: the same bits for any order and distribution.
#include "merganser/parcels/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "merganser/base/error.hpp"

namespace {

using namespace merganser;

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

double exact_sum(const std::vector<double>& values) {
  ExactSum sum;
  for (const double x : values) sum.add(x);
  return sum.value();
}

/// Returns doubles of all signs and sizes between 2^-e and 2^e.
std::vector<double> random_values(std::size_t n, int e, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> values(n);
  for (double& x : values) {
    const double m = 1 + static_cast<double>(random() >> 12) * 0x1p-52;
    x = std::ldexp(random() % 2 ? m : -m, static_cast<int>(random() % static_cast<unsigned>(2 * e + 1)) - e);
  }
  return values;
}

TEST(ExactSum, of_nothing_is_zero) { EXPECT_EQ(bits(ExactSum().value()), bits(0.0)); }

TEST(ExactSum, has_the_same_bits_for_every_order_and_split) {
  std::vector<double> values = random_values(500, 900, 1);
  const double expected = exact_sum(values);
  std::mt19937 random(2);
  for (int i = 0; i < 50; ++i) {
    std::shuffle(values.begin(), values.end(), random);
    std::array<ExactSum, 4> ranks;
    for (const double x : values) ranks[random() % 4].add(x);
    ExactSum all;
    for (const ExactSum& rank : ranks) all.add(ExactSum::from_words(rank.words().data()));
    ASSERT_EQ(bits(exact_sum(values)), bits(expected));
    ASSERT_EQ(bits(all.value()), bits(expected));
  }
}

TEST(ExactSum, of_values_whose_sum_long_double_holds_exactly_is_that_sum_rounded) {
  std::mt19937_64 random(3);
  for (int sample = 0; sample < 2000; ++sample) {
    ExactSum sum;
    long double reference = 0;
    for (int i = 0; i < 200; ++i) {  // multiples of 2^-40 below 2^13: 200 of them fit into 64 bits
      const double x = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random()) >> 11), -40);
      sum.add(x);
      reference += x;
    }
    ASSERT_EQ(bits(sum.value()), bits(static_cast<double>(reference)));
  }
}

TEST(ExactSum, cancels_to_the_last_bit) {
  std::vector<double> values = random_values(1000, 1000, 4);
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) values.push_back(-values[i]);
  values.push_back(0x1p-1074);
  std::shuffle(values.begin(), values.end(), std::mt19937(5));
  EXPECT_EQ(exact_sum(values), 0x1p-1074);
  EXPECT_EQ(exact_sum({1e300, 1, -1e300}), 1);
  EXPECT_EQ(exact_sum({-1e300, -1, 1e300}), -1);
}

TEST(ExactSum, rounds_to_nearest_with_ties_to_even) {
  EXPECT_EQ(exact_sum({1, 0x1p-53}), 1);
  EXPECT_EQ(exact_sum({1, 0x1p-53, 0x1p-1074}), 1 + 0x1p-52);
  EXPECT_EQ(exact_sum({1 + 0x1p-52, 0x1p-53}), 1 + 0x1p-51);
  EXPECT_EQ(exact_sum({-1, -0x1p-53, -0x1p-1074}), -1 - 0x1p-52);
  EXPECT_EQ(exact_sum({0x1p53, 1}), 0x1p53);
}

TEST(ExactSum, of_several_numbers_has_the_words_of_one_addition_each) {
  const double max = std::numeric_limits<double>::max();
  const double tiny = std::numeric_limits<double>::denorm_min();
  const std::vector<double> special{max, -max, tiny, -tiny, 0.0, -0.0, 0x1p-1022, 0x1.fffffffffffffp-1023, -0x1p1023};
  std::mt19937_64 random(6);
  for (const std::size_t n : {0U, 1U, 63U, 64U, 65U, 511U, 512U, 513U, 1024U, 5000U}) {
    for (const int kind : {0, 1, 2}) {
      // Few exponents, all of them, and runs of one number whose mantissa is all ones: the sums by exponent are at their largest.
      std::vector<double> values = random_values(n, kind == 0 ? 3 : 1000, random());
      for (double& x : values) {
        if (kind == 1 && random() % 5 == 0) x = special[random() % special.size()];
        if (kind == 2) x = -0x1.fffffffffffffp1;
      }
      ExactSum one_by_one, together;
      for (const double x : values) one_by_one.add(x);
      together.add(values);
      ASSERT_EQ(together.words(), one_by_one.words()) << n << " numbers of kind " << kind;
    }
  }
}

TEST(ExactSum, of_several_numbers_refuses_any_that_is_not_finite) {
  for (const double bad : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    for (const std::size_t at : {0U, 70U, 599U}) {
      std::vector<double> values(600, 1.5);
      values[at] = bad;
      ExactSum sum;
      EXPECT_THROW(sum.add(values), InputError);
    }
  }
}

TEST(ExactSum, holds_the_smallest_and_largest_doubles) {
  const double max = std::numeric_limits<double>::max();
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const double x : {max, -max, tiny, -tiny, 3 * tiny, 0x1p-1022, 0x1.fffffffffffffp-1023}) {
    EXPECT_EQ(bits(exact_sum({x})), bits(x));
  }
  EXPECT_EQ(exact_sum({max, max, -max}), max);
  EXPECT_EQ(exact_sum({max, max}), std::numeric_limits<double>::infinity());
  EXPECT_EQ(exact_sum({-max, -max}), -std::numeric_limits<double>::infinity());
}

TEST(ExactSum, words_of_equal_sums_are_equal) {
  ExactSum a;
  ExactSum b;
  for (int i = 0; i < 1000; ++i) a.add(0.1);
  std::vector<double> parts(1000, 0.1);
  parts.insert(parts.end(), {7e200, -7e200, -3, 3});
  for (const double x : parts) b.add(x);
  EXPECT_EQ(a.words(), b.words());
  EXPECT_EQ(a.words().size(), static_cast<std::size_t>(ExactSum::kWords));
}

TEST(ExactSum, refuses_what_is_not_finite) {
  ExactSum sum;
  EXPECT_THROW(sum.add(std::numeric_limits<double>::quiet_NaN()), InputError);
  EXPECT_THROW(sum.add(-std::numeric_limits<double>::infinity()), InputError);
}

Parcels random_parcels(std::size_t n, const Schema& schema = Schema::epic()) {
  Parcels parcels(schema);
  std::mt19937_64 random(11);
  const auto u = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  parcels.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    parcels.site(i) = {u(), u(), u(), u()};
    for (std::size_t c = 0; c < schema.width(); ++c) parcels.row(i)[c] = u();
    parcels.set_id(i, static_cast<std::int64_t>(3 * i));
  }
  return parcels;
}

TEST(Digest, does_not_depend_on_order_or_split) {
  const Parcels parcels = random_parcels(200);
  const Digest expected = digest(parcels);
  std::vector<std::size_t> order(parcels.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  Parcels first;
  Parcels second;
  for (const std::size_t i : order) (i % 3 == 0 ? first : second).append(parcels.site(i), parcels.row(i));
  Digest sum = digest(first);
  sum += digest(second);
  EXPECT_EQ(sum, expected);
  EXPECT_EQ(sum.to_string().size(), 32U);
  EXPECT_EQ(sum.to_string(), expected.to_string());
}

TEST(Digest, sees_every_bit_of_every_value) {
  const Parcels parcels = random_parcels(5);
  const Digest expected = digest(parcels);
  for (std::size_t word = 0; word < 4 + Schema::epic().width(); ++word) {
    Parcels other = parcels;
    double* value = word < 4 ? reinterpret_cast<double*>(other.sites() + 2) + word : other.row(2) + (word - 4);
    *value = std::bit_cast<double>(bits(*value) ^ 1);
    EXPECT_NE(digest(other), expected) << word;
    EXPECT_NE(digest(other).a, expected.a) << word;
    EXPECT_NE(digest(other).b, expected.b) << word;
  }
}

TEST(Digest, tells_swapped_attributes_of_two_parcels) {
  Parcels parcels = random_parcels(2);
  const Digest expected = digest(parcels);
  std::swap(parcels.row(0)[4], parcels.row(1)[4]);
  EXPECT_NE(digest(parcels), expected);
}

TEST(Digest, ignores_the_padding_of_a_row) {
  const Schema schema({{"mass", 2, Rule::sum, {"m1", "m2"}, "kg"}});  // id and two components: one double of padding
  ASSERT_EQ(schema.width(), 4U);
  Parcels parcels = random_parcels(3, schema);
  const Digest expected = digest(parcels);
  parcels.row(1)[3] += 1;
  EXPECT_EQ(digest(parcels), expected);
}

TEST(Moments, hold_volume_positions_on_wall_axes_and_attributes) {
  const Schema schema({{"heat", 1, Rule::mean, {"heat"}, "K"},
                       {"mass", 1, Rule::sum, {"mass"}, "kg"},
                       {"tag", 1, Rule::centre, {"tag"}, ""}});
  Parcels parcels(schema);
  const double rows[2][4] = {{0, 2, 5, 9}, {0, 4, 7, 9}};
  parcels.append({1, 2, 3, 0.5}, rows[0]);
  parcels.append({4, 5, 6, 0.25}, rows[1]);
  const Moments m = moments(parcels, Box{{0, 0, 0}, {9, 9, 9}, {true, false, false}});
  EXPECT_EQ(m.parcels, 2);
  EXPECT_EQ(m.volume.value(), 0.75);
  EXPECT_EQ(m.volume_position[0].value(), 0);
  EXPECT_EQ(m.volume_position[1].value(), 2.25);
  EXPECT_EQ(m.volume_position[2].value(), 3);
  ASSERT_EQ(m.volume_attribute.size(), 2U);
  EXPECT_EQ(m.volume_attribute[0].value(), 2);
  EXPECT_EQ(m.volume_attribute[1].value(), 12);
  Moments twice = m;
  twice.add(m);
  EXPECT_EQ(twice.volume.value(), 1.5);
  EXPECT_EQ(twice.volume_attribute[1].value(), 24);
}

}  // namespace
