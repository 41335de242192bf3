/// Redistribution of merged parcels over so many ranks that not all are candidates of each other.
#include "merganser/cluster/redistribution.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "merganser/base/error.hpp"
#include "merganser/cluster/reference.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/parcels/statistics.hpp"
#include "tests/cluster/share.hpp"
#include "tests/support/total_digest.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

constexpr int kRanks = 40;
constexpr double kRatio = 20;

void run_decorated(const std::string& decorators, const std::function<void(comm::Transport&)>& body) {
  comm::run({"threads", kRanks, decorators}, body);
}

/// A bar of 40 blocks in a row, periodic along it.
Grid bar() { return {{{-1, 0, 0}, {40, 1, 1}, {true, false, false}}, {80, 2, 2}}; }
Decomposition blocks() { return Decomposition(bar(), kRanks, "40x1x1"); }

/// Returns parcels, as many in every block. With few, candidates lie beyond touching blocks.
Parcels parcels_in_bar(std::size_t per_block, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> u(0, 1);
  const std::size_t n = per_block * kRanks;
  Parcels p;
  p.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double volume = (0.3 + u(random)) * bar().cell_volume() / kRatio;
    p.site(i) = {static_cast<double>(i % kRanks) + u(random) - 1, u(random), u(random), volume};
    std::fill_n(p.row(i), p.schema().width(), 0.0);
    p.set_id(i, static_cast<std::int64_t>(i));
    p.row(i)[5] = p.row(i)[8] = std::cbrt(volume * volume);
  }
  return p;
}

bool is_all_at_owners(const comm::Transport& t, const Parcels& mine, const Decomposition& d) {
  for (std::size_t i = 0; i < mine.size(); ++i)
    if (d.owner({mine.site(i).x, mine.site(i).y, mine.site(i).z}) != t.rank()) return false;
  return true;
}

ClusterOptions options() {
  ClusterOptions o;
  o.min_volume_ratio = kRatio;
  return o;
}

Digest merged_serially(const Parcels& all, int steps) {
  Parcels p = all;
  for (int i = 0; i < steps; ++i) cluster_reference(p, bar(), options());
  return digest(p);
}

TEST(Redistribution, makes_the_same_number_of_waves_on_every_rank_however_far_one_parcel_has_to_go) {
  const Parcels all = parcels_in_bar(2, 1);
  for (const char* decorators : {"", "chaos:3"}) {
    run_decorated(decorators, [&](comm::Transport& t) {
      const Decomposition d = blocks();
      Parcels mine = owned_parcels(t, all, d);
      Clusterer clusterer(t, d, all.schema(), options(), &mine);
      Redistribution redistribute(t, clusterer);
      ASSERT_TRUE(redistribute.announces());
      const Digest before = total_digest(t, mine);
      for (const int who : {kRanks, 7}) {  // nobody, one
        if (t.rank() == who) {
          ASSERT_GT(mine.size(), 0U);
          mine.site(0).x += 19.5;
        }
        const auto counted = t.counters();
        const int waves = redistribute(mine);
        EXPECT_EQ((t.counters() - counted).collectives, 0);
        EXPECT_TRUE(is_all_at_owners(t, mine, d));
        EXPECT_EQ(t.all_reduce(std::int64_t{waves}, comm::Op::min), waves);
        EXPECT_EQ(t.all_reduce(std::int64_t{waves}, comm::Op::max), waves);
        if (who == kRanks) {
          EXPECT_EQ(waves, 1);
          EXPECT_EQ(total_digest(t, mine), before);
        } else {
          EXPECT_GT(waves, 2);
        }
      }
      EXPECT_EQ(t.all_reduce(static_cast<std::int64_t>(mine.size()), comm::Op::sum), 2 * kRanks);
    });
  }
}

TEST(Redistribution, of_merged_parcels_keeps_runs_equal_to_the_reference_where_few_and_where_many_are_there) {
  constexpr int kSteps = 3;
  for (const std::size_t per_block : {2U, 4U, 100U}) {
    const Parcels all = parcels_in_bar(per_block, 5);
    const Digest want = merged_serially(all, kSteps);
    run_decorated("", [&](comm::Transport& t) {
      const Decomposition d = blocks();
      Parcels mine = owned_parcels(t, all, d);
      Clusterer clusterer(t, d, all.schema(), options(), &mine);
      Redistribution redistribute(t, clusterer);
      EXPECT_EQ(redistribute.announces(), per_block < 100);
      const auto counted = t.counters();
      for (int i = 0; i < kSteps; ++i) {
        clusterer.step(mine);
        redistribute(mine);
        EXPECT_TRUE(is_all_at_owners(t, mine, d));
      }
      EXPECT_EQ((t.counters() - counted).collectives, 0);
      EXPECT_EQ(redistribute.waves(), kSteps);
      const Digest got = total_digest(t, mine);
      if (t.rank() == 0) {
        EXPECT_EQ(got, want) << per_block;
      }
    });
  }
}

TEST(Redistribution, refuses_a_parcel_that_no_merging_can_have_brought_so_far) {
  const Parcels all = parcels_in_bar(100, 5);
  try {
    run_decorated("", [&](comm::Transport& t) {
      const Decomposition d = blocks();
      Parcels mine = owned_parcels(t, all, d);
      Clusterer clusterer(t, d, all.schema(), options(), &mine);
      Redistribution redistribute(t, clusterer);
      if (t.rank() == 7) mine.site(0).x += 19.5;
      redistribute(mine);
    });
    FAIL() << "no error";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("rank 7"), std::string::npos) << e.what();
  }
}

}  // namespace
