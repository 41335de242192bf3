/// All-gathers of equal parts by the calls of every model: contents, overlap, counters, errors.
#include "merganser/kernels/gather.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using comm::Transport;
using kernels::GatherKind;
using namespace merganser::test;

constexpr GatherKind kKinds[] = {GatherKind::blocking, GatherKind::non_blocking, GatherKind::neighborhood};

std::vector<GatherKind> available_kinds(const Transport& t) {
  std::vector<GatherKind> kinds;
  for (const GatherKind kind : kKinds) {
    if (kernels::missing_gather(t, kind).empty()) kinds.push_back(kind);
  }
  return kinds;
}

std::vector<std::byte> part(int rank, int round, std::size_t bytes) {
  std::vector<std::byte> mine(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    mine[i] = static_cast<std::byte>(static_cast<std::size_t>(37 * rank + 101 * round) + i);
  }
  return mine;
}

void expect_all(std::span<const std::byte> all, int ranks, int round, std::size_t bytes) {
  ASSERT_EQ(all.size(), static_cast<std::size_t>(ranks) * bytes);
  for (int r = 0; r < ranks; ++r) {
    const auto theirs = all.subspan(static_cast<std::size_t>(r) * bytes, bytes);
    const auto want = part(r, round, bytes);
    ASSERT_TRUE(std::equal(theirs.begin(), theirs.end(), want.begin(), want.end()))
        << "rank " << r << " round " << round;
  }
}

class GatherTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, GatherTest, testing::ValuesIn(setups({""}, {"checked,chaos:3"})),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(GatherTest, every_part_comes_to_every_rank_round_after_round) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const GatherKind kind : available_kinds(t)) {
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{40'001}}) {
        const auto gather = kernels::make_gather(t, kind, bytes);
        EXPECT_EQ(gather->part_bytes(), bytes);
        EXPECT_EQ(gather->info().kind, kind);
        EXPECT_EQ(gather->info().model, t.name());
        for (int round = 0; round < 5; ++round) {
          gather->start(part(t.rank(), round, bytes));
          expect_all(gather->complete(), t.size(), round, bytes);
        }
      }
    }
  });
}

TEST_P(GatherTest, gathers_that_overlap_do_not_mix) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const GatherKind kind : available_kinds(t)) {
      const auto one = kernels::make_gather(t, kind, 12);
      const auto other = kernels::make_gather(t, kind, 300);
      for (int round = 0; round < 4; ++round) {
        one->start(part(t.rank(), round, 12));
        other->start(part(t.rank(), round + 50, 300));
        expect_all(one->complete(), t.size(), round, 12);
        expect_all(other->complete(), t.size(), round + 50, 300);
      }
    }
  });
}

TEST_P(GatherTest, a_non_blocking_gather_starts_without_waiting) {
  on_ranks(GetParam(), [](Transport& t) {
    if (!kernels::missing_gather(t, GatherKind::non_blocking).empty()) return;
    const auto gather = kernels::make_gather(t, GatherKind::non_blocking, 64);
    if (t.rank() == 0) gather->start(part(0, 0, 64));
    t.barrier();  // a start that waited for the others would never get here
    if (t.rank() != 0) gather->start(part(t.rank(), 0, 64));
    expect_all(gather->complete(), t.size(), 0, 64);
  });
}

TEST_P(GatherTest, calls_are_counted_and_messages_where_the_call_tells) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const GatherKind kind : available_kinds(t)) {
      const auto gather = kernels::make_gather(t, kind, 10);
      const auto before = t.counters();
      for (int round = 0; round < 3; ++round) {
        gather->start(part(t.rank(), round, 10));
        (void)gather->complete();
      }
      comm::Counters want;
      want.collectives = 3;
      if (kind == GatherKind::neighborhood) {
        want.messages = 3 * (t.size() - 1);
        want.bytes = 10 * want.messages;
      }
      EXPECT_EQ(t.counters() - before, want) << kernels::gather_name(kind);
    }
  });
}

TEST_P(GatherTest, a_gather_that_the_model_does_not_have_is_refused_by_name) {
  on_ranks(GetParam(), [](Transport& t) {
    const bool is_shmem = t.name() == "shmem";
    const bool is_threads = t.name() == "threads";
    EXPECT_EQ(kernels::missing_gather(t, GatherKind::blocking), "");
    EXPECT_EQ(kernels::missing_gather(t, GatherKind::non_blocking).empty(), !is_shmem);
    EXPECT_EQ(kernels::missing_gather(t, GatherKind::neighborhood).empty(), !is_shmem && !is_threads);
    for (const GatherKind kind : kKinds) {
      if (kernels::missing_gather(t, kind).empty()) continue;
      EXPECT_EQ(kernels::missing_gather(t, kind),
                std::string(t.name()) + " has no " + std::string(kernels::gather_name(kind)) + " all-gather");
      EXPECT_THROW((void)kernels::make_gather(t, kind, 8), UsageError);
    }
  });
}

TEST_P(GatherTest, wrong_use_is_refused_and_leaves_the_gather_usable) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const GatherKind kind : available_kinds(t)) {
      EXPECT_THROW((void)kernels::make_gather(t, kind, std::size_t{1} << 31), UsageError);
      if (t.size() > 1) {
        EXPECT_THROW((void)kernels::make_gather(t, kind, static_cast<std::size_t>(t.rank())), UsageError);
      }
      const auto gather = kernels::make_gather(t, kind, 16);
      EXPECT_THROW((void)gather->complete(), UsageError);
      EXPECT_THROW(gather->start(part(0, 0, 15)), UsageError);
      gather->start(part(t.rank(), 1, 16));
      EXPECT_THROW(gather->start(part(t.rank(), 2, 16)), UsageError);
      expect_all(gather->complete(), t.size(), 1, 16);
    }
  });
}

TEST(GatherListTest, every_model_of_the_build_has_a_blocking_gather) {
  for (const auto& backend : comm::backends()) {
    const auto all = kernels::gathers();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const auto& info) {
      return info.model == backend.name && info.kind == GatherKind::blocking && !info.description.empty();
    })) << backend.name;
  }
}

TEST(GatherErrorTest, a_rank_that_fails_releases_those_that_wait_for_its_part) {
  if (comm::launched()) GTEST_SKIP() << "ranks are processes here";
  EXPECT_THROW(comm::run({.backend = "threads", .ranks = 3},
                         [](Transport& t) {
                           const auto gather = kernels::make_gather(t, GatherKind::blocking, 8);
                           if (t.rank() == 1) throw InputError("bad file");
                           gather->start(part(t.rank(), 0, 8));
                           (void)gather->complete();
                         }),
               InputError);
}

}  // namespace
