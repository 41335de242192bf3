/// What loads measurements tell of: each limit exactly, and the texts that say what to measure.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "merganser/base/random.hpp"
#include "merganser/topology/predict.hpp"

namespace {

using namespace merganser::topology;
using merganser::Random;

Load ranged(int ranks, int cores, double degree, double size) {
  Load l{ranks, cores};
  l.degree = degree;
  l.arcs = degree * ranks;
  l.rank_bytes = degree * size;
  l.bytes = l.arcs * size;
  return l;
}

MeasuredRange range_of(const std::vector<Load>& loads) {
  MeasuredRange range;
  for (const Load& l : loads) range.add(l);
  return range;
}

/// Returns the only reason; "none", or "several".
std::string only(const std::vector<std::string>& reasons) {
  return reasons.empty() ? "none" : reasons.size() == 1 ? reasons[0] : "several";
}

const std::vector<Load> kMeasured{ranged(4, 64, 2, 64), ranged(8, 64, 6, 4096)};

TEST(MeasuredRange, ranks_reach_from_half_the_fewest_to_twice_the_most) {
  const MeasuredRange range = range_of(kMeasured);
  EXPECT_EQ(only(range.misses(ranged(2, 64, 3, 256))), "none");
  EXPECT_EQ(only(range.misses(ranged(16, 64, 3, 256))), "none");
  EXPECT_EQ(
      only(range.misses(ranged(17, 64, 3, 256))),
      "17 ranks, measured were 4 to 8, which tells of twice as many at most and half as many at least; measure it "
      "on 17 ranks");
  EXPECT_EQ(only(range.misses(ranged(1, 64, 3, 256))),
            "1 rank, measured were 4 to 8, which tells of twice as many at most and half as many at least; measure it "
            "on 1 rank");
}

TEST(MeasuredRange, arcs_of_the_busiest_rank_reach_from_half_to_twice) {
  const MeasuredRange range = range_of(kMeasured);
  EXPECT_EQ(only(range.misses(ranged(8, 64, 1, 256))), "none");
  EXPECT_EQ(only(range.misses(ranged(8, 64, 12, 256))), "none");
  EXPECT_EQ(
      only(range.misses(ranged(8, 64, 13, 256))),
      "the busiest rank has 13 arcs, measured were 2 to 6, and a factor of 2 is allowed; measure a graph of such a "
      "degree");
  EXPECT_NE(only(range.misses(ranged(8, 64, 0.5, 256))), "none");
}

TEST(MeasuredRange, sizes_reach_from_a_quarter_to_four_times) {
  const MeasuredRange range = range_of(kMeasured);
  EXPECT_EQ(only(range.misses(ranged(8, 64, 3, 16))), "none");
  EXPECT_EQ(only(range.misses(ranged(8, 64, 3, 16384))), "none");
  EXPECT_EQ(only(range.misses(ranged(8, 64, 3, 15))),
            "15 bytes an arc, measured were 64 to 4096, and a factor of 4 is allowed; measure such sizes (--sizes)");
  EXPECT_EQ(only(range.misses(ranged(8, 64, 3, 16385))),
            "16385 bytes an arc, measured were 64 to 4096, and a factor of 4 is allowed; measure such sizes (--sizes)");
}

TEST(MeasuredRange, below_8_bytes_all_is_alike) {
  const MeasuredRange shortest = range_of({ranged(8, 64, 3, 32)});
  EXPECT_EQ(only(shortest.misses(ranged(8, 64, 3, 0))), "none") << "as 8 bytes, a quarter of 32";
  EXPECT_NE(only(range_of({ranged(8, 64, 3, 33)}).misses(ranged(8, 64, 3, 0))), "none");
  const MeasuredRange empty = range_of({ranged(8, 64, 3, 0)});
  EXPECT_EQ(only(empty.misses(ranged(8, 64, 3, 32))), "none");
  EXPECT_EQ(only(empty.misses(ranged(8, 64, 3, 33))),
            "33 bytes an arc, measured were 8, and a factor of 4 is allowed; measure such sizes (--sizes)");
}

TEST(MeasuredRange, ranks_that_share_cores_tell_only_of_such) {
  const MeasuredRange own = range_of({ranged(4, 4, 2, 64)});
  EXPECT_EQ(only(own.misses(ranged(4, 3, 2, 64))),
            "4 ranks share 3 cores, and of what was measured each rank had its own; measure it on 4 ranks");
  const MeasuredRange shared = range_of({ranged(4, 2, 2, 64)});
  EXPECT_EQ(only(shared.misses(ranged(4, 4, 2, 64))),
            "4 ranks have a core each, and of what was measured ranks shared cores; measure it on 4 ranks");
  EXPECT_EQ(only(range_of({}).misses(ranged(1, 4, 2, 64))),
            "1 rank have a core each, and of what was measured ranks shared cores; measure it on 1 rank");
}

TEST(MeasuredRange, ranks_of_a_core_reach_by_half_as_many_again) {
  const MeasuredRange range = range_of({ranged(8, 4, 2, 64)});
  EXPECT_EQ(only(range.misses(ranged(12, 4, 2, 64))), "none");
  EXPECT_EQ(only(range.misses(ranged(13, 4, 2, 64))),
            "3.25 ranks share a core, measured were 2, and a factor of 1.5 is allowed; measure it on 13 ranks");
  EXPECT_EQ(only(range.misses(ranged(8, 6, 2, 64))), "none");
  EXPECT_NE(only(range.misses(ranged(8, 7, 2, 64))).find("ranks share a core"), std::string::npos);
  // Too many ranks anyway: their number per core is not told besides.
  EXPECT_EQ(only(range.misses(ranged(17, 4, 2, 64))).find("17 ranks, measured were 8, "), 0U);
}

TEST(MeasuredRange, every_reason_is_told) {
  const auto reasons = range_of(kMeasured).misses(ranged(40, 64, 30, 65536));
  ASSERT_EQ(reasons.size(), 3U);
  EXPECT_EQ(reasons[0].find("40 ranks"), 0U);
  EXPECT_EQ(reasons[1].find("the busiest rank has 30 arcs"), 0U);
  EXPECT_EQ(reasons[2].find("65536 bytes an arc"), 0U);
}

/// Returns the number of reasons, by the words of the documentation: kinds of ranks apart, each quantity compared with the
/// least and the most of its kind.
std::size_t count_reasons(const std::vector<Load>& measured, const Load& l) {
  double ranks[2]{1e300, 0}, crowd[2]{1e300, 0}, degree[2]{1e300, 0}, size[2]{1e300, 0};
  const auto widen = [](double(&ends)[2], double x) {
    ends[0] = std::min(ends[0], x);
    ends[1] = std::max(ends[1], x);
  };
  for (const Load& m : measured) {
    if ((m.ranks > m.cores) != (l.ranks > l.cores)) continue;
    widen(ranks, m.ranks);
    widen(crowd, 1.0 * m.ranks / m.cores);
    widen(degree, m.degree);
    widen(size, std::max(8.0, m.bytes / m.arcs));
  }
  if (ranks[1] == 0) return 1;
  const auto outside = [](const double(&ends)[2], double x, double factor) {
    return x > factor * ends[1] || factor * x < ends[0];
  };
  const bool too_many = outside(ranks, l.ranks, 2);
  const bool crowded = !too_many && l.ranks > l.cores && outside(crowd, 1.0 * l.ranks / l.cores, 1.5);
  return (too_many ? 1U : 0U) + (crowded ? 1U : 0U) + (outside(degree, l.degree, 2) ? 1U : 0U) +
         (outside(size, std::max(8.0, l.bytes / l.arcs), 4) ? 1U : 0U);
}

TEST(MeasuredRange, random_loads_are_judged_as_the_documentation_says) {
  Random random(17, 0, 0);
  const auto any = [&] {
    return ranged(1 + static_cast<int>(random.below(20)), 1 + static_cast<int>(random.below(12)),
                  1 + std::floor(random.uniform(0, 12)), std::exp2(std::floor(random.uniform(0, 16))));
  };
  std::size_t counts[5]{};
  for (int trial = 0; trial < 400; ++trial) {
    std::vector<Load> measured;
    for (std::uint64_t m = 0; m < 1 + random.below(4); ++m) measured.push_back(any());
    const MeasuredRange range = range_of(measured);
    for (int again = 0; again < 5; ++again) {
      const Load l = any();
      const std::size_t wanted = count_reasons(measured, l);
      EXPECT_EQ(range.misses(l).size(), wanted);
      ++counts[wanted];
    }
    for (const Load& m : measured) EXPECT_TRUE(range.misses(m).empty()) << "what was measured itself";
  }
  EXPECT_GT(counts[0], 50U);
  EXPECT_GT(counts[1], 50U);
  EXPECT_GT(counts[2], 50U);
}

}  // namespace
