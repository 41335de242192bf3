/// Tests of the collective calls for records (collectives.hpp, questions.hpp), over every model.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <new>

#include "merganser/base/error.hpp"
#include "merganser/comm/distinct_numbers.hpp"
#include "merganser/comm/questions.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using comm::Op;
using comm::Transport;
using namespace merganser::test;

class CollectivesTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, CollectivesTest,
                         testing::ValuesIn(with_parts(setups({"", "checked,chaos:2"}, {"chaos:1", "checked"}))),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(CollectivesTest, the_model_asked_for_is_the_one_that_runs) {
  const auto setup = GetParam();
  on_ranks(setup, [&](Transport& t) {
    EXPECT_EQ(t.name(), setup.backend);
    if (setup.parts.empty()) {
      EXPECT_EQ(t.size(), setup.ranks);
    } else {
      EXPECT_LT(t.size(), setup.ranks);
    }
    EXPECT_GE(t.rank(), 0);
    EXPECT_LT(t.rank(), t.size());
    EXPECT_EQ(t.capabilities().processes, setup.backend != "threads");
  });
}

TEST_P(CollectivesTest, reductions_give_every_rank_the_same) {
  on_ranks(GetParam(), [](Transport& t) {
    const std::int64_t n = t.size();
    EXPECT_EQ(t.all_reduce(std::int64_t{t.rank() + 1}, Op::sum), n * (n + 1) / 2);
    EXPECT_EQ(t.all_reduce(std::int64_t{t.rank()}, Op::min), 0);
    EXPECT_EQ(t.all_reduce(std::int64_t{t.rank()}, Op::max), n - 1);
    std::vector<double> values{0.1 * t.rank(), -1.0 * t.rank()};
    double expected = 0;
    for (int r = 0; r < t.size(); ++r) expected = r == 0 ? 0.1 * r : expected + 0.1 * r;
    t.all_reduce(std::span(values), Op::sum);
    EXPECT_EQ(values[0], expected);  // in rank order, so equal bits
    EXPECT_EQ(t.all_reduce(0.1 * t.rank(), Op::sum), expected);
    EXPECT_EQ(t.all_reduce(0.5F - static_cast<float>(t.rank()), Op::min), 1.5 - t.size());
    EXPECT_EQ(t.all_reduce(t.rank() == 0, Op::sum), 1);
    EXPECT_EQ(t.all_reduce(t.rank(), Op::max), n - 1);
    EXPECT_EQ(t.counters().collectives, 8);
    t.barrier();
    EXPECT_EQ(t.counters().collectives, 9);
  });
}

TEST_P(CollectivesTest, questions_are_answered_by_those_who_know_in_the_order_in_which_they_were_asked) {
  struct Known {
    std::uint64_t value;
    std::int64_t by;
    bool operator==(const Known&) const = default;
  };
  on_ranks(GetParam(), [](Transport& t) {
    const auto owner = [&](std::uint64_t q) { return static_cast<int>(q % static_cast<std::uint64_t>(t.size())); };
    const auto answer = [&](std::uint64_t q) { return Known{3 * q, t.rank()}; };
    std::vector<std::uint64_t> questions;  // a rank asks one more than the one before, some twice; rank 0 none
    for (int i = 0; i < 40 * t.rank(); ++i) questions.push_back(static_cast<std::uint64_t>(i * 7 % 100));
    const auto before = t.counters();
    const auto answers = comm::query_owners<std::uint64_t>(t, questions, owner, answer);
    EXPECT_EQ((t.counters() - before).collectives, 2);
    ASSERT_EQ(answers.size(), questions.size());
    for (std::size_t i = 0; i < answers.size(); ++i)
      ASSERT_EQ(answers[i], (Known{3 * questions[i], owner(questions[i])})) << i;
  });
}

TEST(RankOfId, shares_any_ids_about_evenly) {
  for (const std::uint64_t step : {1U, 2U, 4096U, 3U << 20}) {
    std::array<int, 7> count{};
    for (std::uint64_t i = 0; i < 70000; ++i) ++count.at(comm::hash_to_rank(i * step, 7));
    for (const int n : count) EXPECT_NEAR(n, 10000, 300) << step;
  }
}

TEST_P(CollectivesTest, gathers_and_exchanges_carry_any_length) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const std::size_t unit : {std::size_t{0}, std::size_t{1}, std::size_t{100'003}}) {
      const auto me = static_cast<std::size_t>(t.rank());
      const std::vector<std::byte> mine(unit * me, static_cast<std::byte>(me));
      const auto all = t.all_gather(mine);
      ASSERT_EQ(all.size(), static_cast<std::size_t>(t.size()));
      for (std::size_t r = 0; r < all.size(); ++r) {
        ASSERT_EQ(all[r], std::vector<std::byte>(unit * r, static_cast<std::byte>(r)));
      }
      std::vector<std::vector<std::byte>> to;
      for (std::size_t r = 0; r < all.size(); ++r)
        to.emplace_back(unit * (r + 2 * me), static_cast<std::byte>(7 * me + r));
      const auto came = t.all_to_all(to);
      for (std::size_t r = 0; r < came.size(); ++r) {
        ASSERT_EQ(came[r], std::vector<std::byte>(unit * (me + 2 * r), static_cast<std::byte>(7 * r + me)));
      }
    }
    EXPECT_THROW((void)t.all_to_all(std::vector<std::vector<std::byte>>()), CommError);
  });
}

/// 12 bytes, so that messages differ in length from those of words.
struct Record {
  int from = 0;
  int to = 0;
  int number = 0;

  friend bool operator==(const Record&, const Record&) = default;
};

TEST_P(CollectivesTest, gathered_records_lie_by_rank) {
  on_ranks(GetParam(), [](Transport& t) {
    const std::vector<Record> mine(static_cast<std::size_t>(2 * t.rank()), Record{t.rank(), -1, 7});
    auto all = comm::all_gather(t, mine);
    ASSERT_EQ(all.size(), static_cast<std::size_t>(t.size()));
    EXPECT_EQ(all.records(), static_cast<std::size_t>(t.size() * (t.size() - 1)));
    for (int r = 0; r < t.size(); ++r) {
      const auto theirs = all[static_cast<std::size_t>(r)];
      EXPECT_EQ(std::vector<Record>(theirs.begin(), theirs.end()),
                std::vector<Record>(static_cast<std::size_t>(2 * r), Record{r, -1, 7}));
    }
    all.drop(0);
    EXPECT_TRUE(all[0].empty());
    std::vector<Record> flat{{99, 0, 0}};
    std::move(all).append_to(flat);
    EXPECT_EQ(flat.size(), static_cast<std::size_t>(1 + t.size() * (t.size() - 1)));
    EXPECT_EQ(flat[0].from, 99);
    EXPECT_TRUE(std::is_sorted(flat.begin() + 1, flat.end(), [](auto& a, auto& b) { return a.from < b.from; }));
    EXPECT_EQ(t.counters().collectives, 1);

    std::vector<double> squares;
    for (int r = 0; r < t.size(); ++r) squares.push_back(r * r);
    EXPECT_EQ(comm::all_gather_value(t, 1.0 * t.rank() * t.rank()), squares);
    const auto share = comm::compute_share(t, static_cast<std::uint64_t>(2 * t.rank()));
    EXPECT_EQ(share.before, static_cast<std::uint64_t>(t.rank() * (t.rank() - 1)));
    EXPECT_EQ(share.all, static_cast<std::uint64_t>(t.size() * (t.size() - 1)));
    const std::string said = "rank " + std::to_string(t.rank());
    const auto heard = comm::broadcast_from_first(t, said);
    EXPECT_EQ(std::string(heard.begin(), heard.end()), "rank 0");
    EXPECT_EQ(t.counters().collectives, 4);
  });
}

TEST_P(CollectivesTest, rank_0_alone_gets_what_is_gathered_there) {
  on_ranks(GetParam(), [](Transport& t) {
    const std::array<int, 2> mine{t.rank(), -t.rank()};
    auto all = comm::gather_to_first(t, mine);
    EXPECT_EQ(all.size(), t.rank() == 0 ? static_cast<std::size_t>(t.size()) : 0U);
    std::vector<int> expected;
    for (int r = 0; r < t.size() && t.rank() == 0; ++r) expected.insert(expected.end(), {r, -r});
    EXPECT_EQ(std::move(all).flat(), expected);
    EXPECT_EQ(t.counters().collectives, 1);
  });
}

TEST_P(CollectivesTest, lists_go_to_the_ranks_they_are_for) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto lists = [&] {
      std::vector<std::vector<Record>> to(static_cast<std::size_t>(t.size()));
      for (int r = 0; r < t.size(); ++r)
        for (int i = 0; i < r + 2 * t.rank(); ++i) to[static_cast<std::size_t>(r)].push_back({t.rank(), r, i});
      return to;
    };
    const auto kept = lists();
    auto moved = lists();
    const auto first = comm::all_to_all(t, kept);
    const auto second = comm::all_to_all(t, std::move(moved));
    EXPECT_EQ(kept, lists());
    for (int r = 0; r < t.size(); ++r) {
      std::vector<Record> expected;
      for (int i = 0; i < t.rank() + 2 * r; ++i) expected.push_back({r, t.rank(), i});
      for (const auto* came : {&first, &second}) {
        const auto theirs = (*came)[static_cast<std::size_t>(r)];
        EXPECT_EQ(std::vector<Record>(theirs.begin(), theirs.end()), expected);
      }
    }
    EXPECT_EQ(t.counters().collectives, 2);
  });
}

TEST_P(CollectivesTest, dealt_records_come_to_their_owners_in_order) {
  on_ranks(GetParam(), [](Transport& t) {
    constexpr int kEach = 50;
    std::vector<Record> mine;  // rank r has r * kEach of them
    for (int i = 0; i < t.rank() * kEach; ++i) mine.push_back({t.rank(), (i * i + t.rank()) % t.size(), i});
    const auto owner = [](const Record& r) { return r.to; };
    std::vector<Record> expected;  // by rank, then as that rank had them
    for (int r = 0; r < t.size(); ++r)
      for (int i = 0; i < r * kEach; ++i)
        if ((i * i + r) % t.size() == t.rank()) expected.push_back({r, t.rank(), i});
    EXPECT_EQ(comm::send_to_owners(t, std::span<const Record>(mine), owner).flat(), expected);
    EXPECT_EQ(t.counters().collectives, 1);

    // In rounds of 7 the order is the same for the records of each rank.
    auto dealt = comm::send_to_owners_in_rounds(t, mine, owner, 7);
    std::stable_sort(dealt.begin(), dealt.end(), [](auto& a, auto& b) { return a.from < b.from; });
    EXPECT_EQ(dealt, expected);
    const int rounds = ((t.size() - 1) * kEach + 6) / 7;
    EXPECT_EQ(t.counters().collectives, t.size() == 1 ? 1 : 2 + rounds);
    if (t.size() > 1) {
      EXPECT_EQ(comm::count_rounds(t, mine.size(), 7), static_cast<std::size_t>(rounds));
    }
    EXPECT_THROW(
        (void)comm::send_to_owners(t, std::span<const Record>(std::array{Record{}}), [&](const Record&) { return -1; }),
        CommError);
  });
}

TEST_P(CollectivesTest, records_of_another_version_are_refused) {
  on_ranks(GetParam(), [](Transport& t) {
    // Rank 0 has longer records than the others. Those who take a message for records of theirs see it.
    const auto gather = [&](auto record) { return comm::all_gather(t, std::vector{record}).size(); };
    if (t.rank() == 0) {
      (void)t.all_gather(std::vector<std::byte>(sizeof(Record)));
    } else {
      EXPECT_THROW(gather(std::int64_t{1}), CommError);
    }
    try {
      (void)comm::Received<Record>({{}, std::vector<std::byte>(sizeof(Record)), std::vector<std::byte>(13)});
      ADD_FAILURE() << "nothing thrown";
    } catch (const CommError& e) {
      EXPECT_EQ(
          std::string(e.what()),
          "message of 13 bytes from rank 2 does not hold whole records of 12; every rank must run the same version "
          "of the program");
    }
    // Two values where one is expected.
    if (t.size() > 1 && t.rank() == 0) {
      (void)t.all_gather(std::vector<std::byte>(2 * sizeof(std::int64_t)));
    } else if (t.size() > 1) {
      EXPECT_THROW((void)comm::all_gather_value(t, std::int64_t{1}), CommError);
    }
  });
}

TEST_P(CollectivesTest, a_subset_is_a_transport_of_its_own) {
  on_ranks(GetParam(), [](Transport& t) {
    const bool odd = t.rank() % 2 == 1;
    ASSERT_TRUE(t.capabilities().sub_transports);
    for (int i = 0; i < 3; ++i) {
      const auto part = t.subset(odd);
      ASSERT_EQ(part != nullptr, odd);
      if (!part) continue;
      EXPECT_EQ(part->size(), t.size() / 2);
      EXPECT_EQ(part->rank(), t.rank() / 2);
      EXPECT_EQ(part->name(), t.name());
      const auto box = part->mailbox(ring(*part));
      box->post(0, t.rank());
      box->step();
      const int left = (part->rank() + part->size() - 1) % part->size();
      EXPECT_EQ(box->records<int>(0)[0], 2 * left + 1);
      auto words = part->segment<std::uint32_t>(complete(*part), 1);
      EXPECT_TRUE(words.sync_any(part->rank() == 0));
    }
    EXPECT_EQ(t.subset(false), nullptr);
  });
}

template <class E>
void agreed(Transport& t, int who, const E& error, int exit_code) {
  try {
    comm::agree(t, [&] {
      if (t.rank() == who || t.rank() == t.size() - 1) throw error;
    });
    ADD_FAILURE() << "nothing thrown";
  } catch (const E& e) {
    EXPECT_STREQ(e.what(), error.what());
    if (const auto* ours = dynamic_cast<const Error*>(&e)) {
      EXPECT_EQ(ours->exit_code(), exit_code);
    }
  }
}

TEST_P(CollectivesTest, an_error_on_one_rank_is_thrown_alike_on_all) {
  on_ranks(GetParam(), [](Transport& t) {
    const int who = t.size() / 2;
    comm::agree(t, [] {});
    agreed(t, who, InputError("volume of parcel 7 is -1"), 3);
    agreed(t, who, UsageError("u"), 2);
    agreed(t, who, VerificationError("v"), 1);
    agreed(t, who, CommError("c"), 4);
    agreed(t, who, Error("e", 70), 70);
    agreed(t, who, std::runtime_error("r"), 0);
    agreed(t, who, std::bad_alloc(), 0);
    t.barrier();
  });
}

TEST_P(CollectivesTest, an_agreed_error_leaves_the_library_usable) {
  const auto setup = GetParam();
  comm::RunOptions options{.backend = setup.backend, .ranks = setup.ranks, .decorators = setup.decorators};
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(comm::run(options,
                           [](Transport& t) {
                             const auto box = t.mailbox(complete(t));
                             comm::agree(t, [&] {
                               if (t.rank() == 0) throw InputError("bad file");
                             });
                           }),
                 InputError);
    on_ranks(setup, [](Transport& t) { t.barrier(); });
  }
}

TEST_P(CollectivesTest, numbers_that_are_there_twice_are_found_in_whatever_rounds_they_are_sent) {
  on_ranks(GetParam(), [](Transport& t) {
    // Rank r has 5 r + 7 numbers, so that ranks have unequal numbers of rounds.
    const auto mine = static_cast<std::size_t>(5 * t.rank() + 7);
    std::int64_t before = 0;
    for (int r = 0; r < t.rank(); ++r) before += 5 * r + 7;
    const std::int64_t all = t.all_reduce(static_cast<std::int64_t>(mine), Op::sum);
    // A permutation of 0 .. all - 1: the factor is a prime above their number.
    const auto number_at = [&](std::int64_t place) { return 100 + place * 1009 % all; };
    ASSERT_LT(all, 1009);
    const auto says = [&](std::size_t round, std::int64_t from, std::int64_t to) {
      // The number at place `to` is that at place `from` again.
      return comm::are_surely_distinct(
          t, mine,
          [&](std::size_t i) {
            const std::int64_t place = before + static_cast<std::int64_t>(i);
            return number_at(place == to ? from : place);
          },
          round);
    };
    for (const std::size_t round : {1, 3, 1000}) {
      EXPECT_TRUE(says(round, 0, 0)) << round;
      for (const std::int64_t to : {all / 2, all - 1}) {
        EXPECT_FALSE(says(round, 0, to)) << round << " place " << to;
        EXPECT_FALSE(says(round, to - 1, to)) << round << " place " << to;
      }
    }
  });
}

}  // namespace
