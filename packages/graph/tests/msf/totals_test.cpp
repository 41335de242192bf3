// Tests of the totals of forests: exact weights of all kinds, digests, and reports of phases and facts.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "tests/msf/oracle.hpp"
#include "tests/msf/thread_setups.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using graphs::WeightKind;

class TotalsTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, TotalsTest, testing::ValuesIn(thread_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Totals of edges that ranks hold in turn, the last rank first.
msf::ForestTotals totals_of(const Edges& edges, WeightKind kind, comm::Transport& t, std::uint64_t vertices = 100) {
  msf::Forest forest{vertices, kind, {}};
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (static_cast<int>(i % static_cast<std::size_t>(t.size())) == t.size() - 1 - t.rank())
      forest.edges.push_back(edges[i]);
  return msf::totals(forest, t);
}

Edges with_weights(const std::vector<std::uint64_t>& bits) {
  Edges edges;
  for (std::size_t i = 0; i < bits.size(); ++i) edges.push_back({i, i + 1, bits[i]});
  return edges;
}

TEST_P(TotalsTest, unsigned_weights_are_summed_beyond_64_bits) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto sum = [&](const std::vector<std::uint64_t>& weights) {
      const auto found = totals_of(with_weights(weights), WeightKind::unsigned_integer, t);
      EXPECT_EQ(found.edges, static_cast<std::int64_t>(weights.size()));
      EXPECT_EQ(found.components, 100 - static_cast<std::int64_t>(weights.size()));
      return std::pair(found.weight, found.weight_value);
    };
    constexpr std::uint64_t kMax = ~std::uint64_t{0};
    EXPECT_EQ(sum({}), std::pair(std::string("0"), 0.0));
    EXPECT_EQ(sum({7}), std::pair(std::string("7"), 7.0));
    EXPECT_EQ(sum({10, 200, 3000}), std::pair(std::string("3210"), 3210.0));
    EXPECT_EQ(sum({kMax, 1}), std::pair(std::string("18446744073709551616"), 0x1p64));
    EXPECT_EQ(sum({kMax, kMax, kMax}), std::pair(std::string("55340232221128654845"), 3 * 0x1p64));
    EXPECT_EQ(sum({0xffffffff, 0xffffffff, 0xffffffff}).first, "12884901885");
    EXPECT_EQ(sum({std::uint64_t{1} << 63, std::uint64_t{1} << 32, 5}).first, "9223372041149743109");
    EXPECT_EQ(sum(std::vector<std::uint64_t>(99, kMax)).first, "1826227663297245609885");
  });
}

TEST_P(TotalsTest, signed_weights_are_summed_with_their_signs) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto sum = [&](const std::vector<std::int64_t>& weights) {
      std::vector<std::uint64_t> bits;
      for (const auto w : weights) bits.push_back(graphs::ordered_bits(w));
      const auto found = totals_of(with_weights(bits), WeightKind::signed_integer, t);
      return std::pair(found.weight, found.weight_value);
    };
    constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(sum({0}), std::pair(std::string("0"), 0.0));
    EXPECT_EQ(sum({-1}), std::pair(std::string("-1"), -1.0));
    EXPECT_EQ(sum({-10, 3}), std::pair(std::string("-7"), -7.0));
    EXPECT_EQ(sum({5, -5, 12}), std::pair(std::string("12"), 12.0));
    EXPECT_EQ(sum({kMin, kMin, kMin}), std::pair(std::string("-27670116110564327424"), -3 * 0x1p63));
    EXPECT_EQ(sum({kMax, kMax, kMax}).first, "27670116110564327421");
    EXPECT_EQ(sum({kMin, kMax}).first, "-1");
    EXPECT_EQ(sum({-(std::int64_t{1} << 32), -1, -(std::int64_t{1} << 32)}).first, "-8589934593");
  });
}

TEST_P(TotalsTest, floats_are_summed_exactly_and_rounded_once) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto sum = [&](const std::vector<double>& weights) {
      std::vector<std::uint64_t> bits;
      for (const auto w : weights) bits.push_back(graphs::ordered_bits(w));
      const auto found = totals_of(with_weights(bits), WeightKind::float64, t);
      return std::pair(found.weight, found.weight_value);
    };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    EXPECT_EQ(sum({}), std::pair(std::string("0"), 0.0));
    EXPECT_EQ(sum({1e300, 1, -1e300}), std::pair(std::string("1"), 1.0));
    EXPECT_EQ(sum({1e300, 1, 0x1p-1000, -1e300, -1}).second, 0x1p-1000);
    EXPECT_EQ(sum(std::vector<double>(10, 0.1)).second,
              1.0);  // nearest to ten times the double 0.1; not 0.9999999999999999
    EXPECT_EQ(sum({0x1p53, 1, 1}).second, 0x1p53 + 2);
    EXPECT_EQ(sum({kInfinity, 1}), std::pair(std::string("inf"), kInfinity));
    EXPECT_EQ(sum({-kInfinity, 1, -kInfinity, 1e308}).second, -kInfinity);
    EXPECT_TRUE(std::isnan(sum({-kInfinity, 1, kInfinity}).second));
    std::vector<std::uint64_t> narrow;
    for (const float w : {0.1F, 0.2F, -3.5F}) narrow.push_back(graphs::ordered_bits(w));
    const auto found = totals_of(with_weights(narrow), WeightKind::float32, t);
    EXPECT_EQ(found.weight_value, static_cast<double>(0.1F) + static_cast<double>(0.2F) - 3.5);
  });
}

TEST_P(TotalsTest, a_digest_does_not_depend_on_order_or_ranks) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Edges edges = plain_kruskal(random_shape(4, 90, 400, 1U << 30).edges, 90);
    const std::string digest = totals_of(edges, WeightKind::unsigned_integer, t).digest;
    std::reverse(edges.begin(), edges.end());
    EXPECT_EQ(totals_of(edges, WeightKind::unsigned_integer, t).digest, digest);
    msf::Forest at_last{90, WeightKind::unsigned_integer, {}};
    if (t.rank() == t.size() - 1) at_last.edges = edges;
    EXPECT_EQ(msf::totals(at_last, t).digest, digest);
    at_last.kind = WeightKind::float64;  // of bits, not of what they stand for
    at_last.vertices = 1000;
    EXPECT_EQ(msf::totals(at_last, t).digest, digest);
    EXPECT_EQ(msf::totals(at_last, t).components, 1000 - static_cast<std::int64_t>(edges.size()));
  });
}

/// Records of results hold digests: they must not change from version to version.
TEST_P(TotalsTest, digests_of_known_forests_stay_what_they_are) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto digest = [&](const Edges& edges) { return totals_of(edges, WeightKind::unsigned_integer, t).digest; };
    EXPECT_EQ(digest({}), "00000000000000000000000000000000");
    EXPECT_EQ(digest({{0, 1, 0}}), "8b0fc25bd3e935e13e8bd9c3e03ec936");
    EXPECT_EQ(digest({{0, 1, 4}, {0, 2, 7}, {2, 3, 4}}), "7698b489578dc3f9d26a29d3880c29c8");
  });
}

TEST_P(TotalsTest, digests_of_different_forests_differ) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    std::set<std::string> seen;
    std::set<std::string> halves;
    std::size_t forests = 0;
    const auto add = [&](const Edges& edges) {
      const std::string digest = totals_of(edges, WeightKind::unsigned_integer, t).digest;
      EXPECT_EQ(digest.size(), 32U);
      EXPECT_EQ(digest.find_first_not_of("0123456789abcdef"), std::string::npos);
      EXPECT_TRUE(seen.insert(digest).second) << digest;
      EXPECT_TRUE(halves.insert(digest.substr(0, 16)).second);
      EXPECT_TRUE(halves.insert(digest.substr(16)).second);
      ++forests;
    };
    for (std::uint64_t low = 0; low < 4; ++low)
      for (std::uint64_t high = 0; high < 4; ++high)
        for (std::uint64_t weight = 0; weight < 4; ++weight) add({{low, high, weight}});
    for (const unsigned bit : {31U, 32U, 63U}) {
      const std::uint64_t far = std::uint64_t{1} << bit;
      add({{far, 0, 0}});
      add({{0, far, 0}});
      add({{0, 0, far}});
    }
    add({{0, 1, 2}, {3, 4, 5}});
    add({{0, 1, 5}, {3, 4, 2}});  // weights exchanged
    add({{0, 4, 2}, {3, 1, 5}});  // ends exchanged
    add({{0, 1, 2}, {0, 1, 2}});  // the same twice
    EXPECT_EQ(seen.size(), forests);
  });
}

TEST_P(TotalsTest, a_report_adds_up_phases_by_name_in_the_order_of_first_use) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    msf::Report report;
    {
      const msf::Report::Scope outer(report, "outer", t);
      { const msf::Report::Scope inner(report, "inner", t); }
      (void)t.all_reduce(std::int64_t{1}, comm::Op::sum);
      const msf::Report::Scope inner(report, "inner", t);
    }
    {
      const msf::Report::Scope outer(report, "outer", t);
      (void)t.all_reduce(std::int64_t{1}, comm::Op::sum);
    }
    ASSERT_EQ(report.phases().size(), 2U);
    const auto& outer = report.phases()[0];
    const auto& inner = report.phases()[1];
    EXPECT_EQ(outer.name, "outer");
    EXPECT_EQ(inner.name, "inner");
    EXPECT_EQ(outer.calls, 2);
    EXPECT_EQ(inner.calls, 2);
    EXPECT_EQ(inner.counts, comm::Counters{});
    const auto before = t.counters();
    (void)t.all_reduce(std::int64_t{1}, comm::Op::sum);
    (void)t.all_reduce(std::int64_t{1}, comm::Op::sum);
    EXPECT_EQ(outer.counts, t.counters() - before);
    EXPECT_GE(outer.seconds, inner.seconds);
    EXPECT_GE(inner.seconds, 0);
  });
}

TEST(ReportTest, facts_are_set_or_added_to) {
  msf::Report report;
  report.add("rounds", 3);
  report.fact("edges", 7);
  report.add("rounds", 4);
  report.fact("edges", -1);
  report.add("edges", 2);
  const std::vector<std::pair<std::string, std::int64_t>> expected = {{"rounds", 7}, {"edges", 1}};
  EXPECT_EQ(report.facts(), expected);
  EXPECT_TRUE(report.phases().empty());
}

}  // namespace
