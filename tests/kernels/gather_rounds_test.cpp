/// All-gathers round after round: sizes around words and protocols, lifetime of what was gathered, ranks that run ahead, the
/// texts of errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/kernels/gather.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;
using kernels::GatherKind;

class GatherRoundTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, GatherRoundTest, testing::ValuesIn(setups({""}, {"checked,chaos:5"})),
                         setup_name<testing::TestParamInfo<Setup>>);

std::vector<GatherKind> kinds_of(const Transport& t) {
  std::vector<GatherKind> kinds;
  for (const auto& info : kernels::gathers()) {
    if (info.model == t.name()) kinds.push_back(info.kind);
  }
  return kinds;
}

/// The part of a rank in a round, from a generator of its own.
std::vector<std::byte> random_part(int rank, int round, std::size_t bytes) {
  std::minstd_rand numbers(static_cast<unsigned>(1 + rank + 100 * round));
  std::vector<std::byte> part(bytes);
  for (auto& byte : part) byte = static_cast<std::byte>(numbers() >> 8U);
  return part;
}

/// What every rank must have after a round: all parts in the order of ranks.
std::vector<std::byte> all_parts(const Transport& t, int round, std::size_t bytes) {
  std::vector<std::byte> all;
  for (int rank = 0; rank < t.size(); ++rank) {
    const auto part = random_part(rank, round, bytes);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

bool is_equal(std::span<const std::byte> found, const std::vector<std::byte>& wanted) {
  return std::equal(found.begin(), found.end(), wanted.begin(), wanted.end());
}

TEST_P(GatherRoundTest, parts_of_any_size_stand_in_the_order_of_ranks) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const GatherKind kind : kinds_of(t)) {
      int round = 0;
      for (const std::size_t bytes : {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U, 63U, 64U, 65U, 4095U, 4097U}) {
        const auto gather = kernels::make_gather(t, kind, bytes);
        for (int again = 0; again < 3; ++again, ++round) {
          gather->start(random_part(t.rank(), round, bytes));
          EXPECT_TRUE(is_equal(gather->complete(), all_parts(t, round, bytes)))
              << kernels::gather_name(kind) << ", " << bytes << " bytes, time " << again;
        }
      }
    }
  });
}

TEST_P(GatherRoundTest, a_part_may_be_overwritten_as_soon_as_it_is_started) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const GatherKind kind : kinds_of(t)) {
      const auto gather = kernels::make_gather(t, kind, 5000);
      for (int round = 0; round < 4; ++round) {
        auto part = random_part(t.rank(), round, 5000);
        gather->start(part);
        std::fill(part.begin(), part.end(), std::byte{0xEE});
        EXPECT_TRUE(is_equal(gather->complete(), all_parts(t, round, 5000))) << kernels::gather_name(kind);
      }
    }
  });
}

// The other ranks go one round ahead, as far as their call lets them, while this one still reads.
TEST_P(GatherRoundTest, what_was_gathered_stays_until_the_next_start_here) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const GatherKind kind : kinds_of(t)) {
      const auto gather = kernels::make_gather(t, kind, 33);
      for (int round = 0; round < 2 * t.size(); ++round) {
        gather->start(random_part(t.rank(), round, 33));
        const auto all = gather->complete();
        const bool reads = t.rank() == round % t.size();
        if (!reads) gather->start(random_part(t.rank(), round + 500, 33));
        t.barrier();
        if (reads) {
          EXPECT_TRUE(is_equal(all, all_parts(t, round, 33))) << kernels::gather_name(kind) << ", round " << round;
          gather->start(random_part(t.rank(), round + 500, 33));
        }
        EXPECT_TRUE(is_equal(gather->complete(), all_parts(t, round + 500, 33))) << kernels::gather_name(kind);
      }
    }
  });
}

TEST_P(GatherRoundTest, all_kinds_of_a_model_may_be_under_way_together) {
  on_ranks(GetParam(), [](Transport& t) {
    std::vector<std::unique_ptr<kernels::Gather>> gathers;
    for (const GatherKind kind : kinds_of(t)) {
      for (const std::size_t bytes : {3U, 900U}) gathers.push_back(kernels::make_gather(t, kind, bytes));
    }
    for (int round = 0; round < 5; ++round) {
      for (std::size_t g = 0; g < gathers.size(); ++g) {
        gathers[g]->start(random_part(t.rank(), round + 100 * static_cast<int>(g), gathers[g]->part_bytes()));
      }
      for (std::size_t g = 0; g < gathers.size(); ++g) {
        const auto wanted = all_parts(t, round + 100 * static_cast<int>(g), gathers[g]->part_bytes());
        EXPECT_TRUE(is_equal(gathers[g]->complete(), wanted)) << "gather " << g << ", round " << round;
      }
    }
  });
}

TEST_P(GatherRoundTest, refusals_tell_what_is_wrong_and_count_nothing) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const GatherKind kind : kinds_of(t)) {
      const auto made = [&](std::size_t bytes) {
        return refusal<UsageError>([&] { (void)kernels::make_gather(t, kind, bytes); });
      };
      EXPECT_EQ(made((std::size_t{1} << 31U)), "make_gather: parts of more than 2147483647 bytes; allowed: 0 to that");
      EXPECT_EQ(made(std::numeric_limits<std::size_t>::max()),
                "make_gather: parts of more than 2147483647 bytes; allowed: 0 to that");
      if (t.size() > 1) {
        EXPECT_EQ(made(t.rank() == t.size() - 1 ? 9 : 4),
                  "make_gather: parts of 4 and of 9 bytes; they must be equal on all ranks");
        EXPECT_EQ(made(t.rank() == 1 ? std::size_t{1} << 40U : 4),
                  "make_gather: parts of more than 2147483647 bytes; allowed: 0 to that")
            << "one rank alone asks for too much";
      }
      const auto gather = kernels::make_gather(t, kind, 4);
      const auto refused = [](const std::function<void()>& use) { return refusal<UsageError>(use); };
      const auto before = t.counters();
      EXPECT_EQ(refused([&] { (void)gather->complete(); }), "Gather::complete: nothing was started");
      EXPECT_EQ(refused([&] { gather->start(random_part(0, 0, 5)); }), "Gather::start: 5 bytes; allowed: 4");
      EXPECT_EQ(t.counters() - before, comm::Counters{});
      gather->start(random_part(t.rank(), 1, 4));
      EXPECT_EQ(refused([&] { gather->start(random_part(0, 0, 4)); }),
                "Gather::start: what was started before is not completed");
      EXPECT_TRUE(is_equal(gather->complete(), all_parts(t, 1, 4)));
      EXPECT_EQ((t.counters() - before).collectives, 1);
      EXPECT_EQ(refused([&] { (void)gather->complete(); }), "Gather::complete: nothing was started");
    }
  });
}

TEST(GatherTableTest, is_in_the_order_of_models_and_kinds_each_once) {
  const auto all = kernels::gathers();
  const auto backends = comm::backends();
  std::vector<std::pair<std::ptrdiff_t, GatherKind>> keys;
  for (const auto& info : all) {
    const auto at = std::find_if(backends.begin(), backends.end(), [&](const auto& b) { return b.name == info.model; });
    ASSERT_NE(at, backends.end()) << info.model;
    keys.emplace_back(at - backends.begin(), info.kind);
    EXPECT_FALSE(info.description.empty());
  }
  EXPECT_TRUE(std::is_sorted(keys.begin(), keys.end()));
  EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
}

TEST(GatherTableTest, kinds_have_names_and_other_values_are_refused) {
  EXPECT_EQ(kernels::gather_name(GatherKind::blocking), "blocking");
  EXPECT_EQ(kernels::gather_name(GatherKind::non_blocking), "non-blocking");
  EXPECT_EQ(kernels::gather_name(GatherKind::neighborhood), "neighborhood");
  EXPECT_EQ(refusal<UsageError>([] { (void)kernels::gather_name(static_cast<GatherKind>(3)); }),
            "GatherKind is 3; allowed: 0 to 2");
}

}  // namespace
