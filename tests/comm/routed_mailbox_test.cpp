/// Tests of RoutedMailbox, the all-to-all Mailbox in two hops, and of its grid of ranks.
#include "merganser/comm/routed_mailbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::RankGrid;
using comm::RoutedMailbox;

/// With numbers of ranks of which the last row of the grid is full, short or a single rank, where ranks cost little.
std::vector<Setup> few_and_many() {
  auto all = setups({"", "checked,chaos:2"}, {"chaos:1"});
  if (!all.empty() && all.front().backend == "threads")
    for (const int ranks : {33, 37, 40, 64}) all.push_back({"threads", ranks, ""});
  return all;
}

class RoutedMailboxTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, RoutedMailboxTest, testing::ValuesIn(few_and_many()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// The same in both: about half of the messages are there, of up to 40 bytes, in some steps one of many more.
void post_at_random(comm::Mailbox& box, int rank, std::uint64_t step) {
  Random random(step, static_cast<std::uint64_t>(rank), 0);
  for (std::size_t arc = 0; arc < box.graph().out.size(); ++arc) {
    const auto bytes = random.below(2) == 0 ? 0 : random.below(41);
    for (std::uint64_t i = 0; i < bytes; ++i) box.post(arc, static_cast<std::uint8_t>(random.below(256)));
    if (step % 3 == 0 && arc == step % box.graph().out.size())
      box.post_all<std::uint64_t>(arc, std::vector<std::uint64_t>(3000, random.below(1000)));
  }
}

TEST_P(RoutedMailboxTest, delivers_what_direct_messages_deliver) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const auto direct = t.mailbox(RoutedMailbox::complete(t.rank(), t.size()));
    RoutedMailbox whole(t);
    RoutedMailbox cut(t, 7);
    EXPECT_EQ(whole.graph().out, direct->graph().out);
    EXPECT_EQ(whole.graph().in, direct->graph().in);
    for (std::uint64_t step = 0; step < 8; ++step) {
      for (comm::Mailbox* box :
           {direct.get(), static_cast<comm::Mailbox*>(&whole), static_cast<comm::Mailbox*>(&cut)}) {
        if (step != 5) post_at_random(*box, t.rank(), step);  // in one step nobody says anything
        box->step();
      }
      for (std::size_t arc = 0; arc < direct->graph().in.size(); ++arc) {
        ASSERT_TRUE(std::ranges::equal(direct->inbox(arc), whole.inbox(arc))) << "step " << step << ", arc " << arc;
        ASSERT_TRUE(std::ranges::equal(direct->inbox(arc), cut.inbox(arc))) << "step " << step << ", arc " << arc;
        ASSERT_TRUE(whole.outbox(arc).empty());
      }
    }
  });
}

TEST_P(RoutedMailboxTest, sends_a_message_to_each_of_a_row_and_a_column) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    RoutedMailbox box(t);
    const RankGrid grid(t.size());
    const auto before = t.counters();
    for (std::size_t arc = 0; arc < box.graph().out.size(); ++arc) box.post(arc, t.rank());
    box.step();
    const auto done = t.counters() - before;
    const auto mates = static_cast<std::int64_t>(grid.column_mates(t.rank()).size());
    EXPECT_EQ(done.messages, grid.columns() - 1 + mates);
    EXPECT_EQ(done.waves, 2);
    EXPECT_EQ(done.collectives, 0);
    for (std::size_t arc = 0; arc < box.graph().in.size(); ++arc) {
      ASSERT_EQ(box.records<int>(arc).size(), 1U);
      ASSERT_EQ(box.records<int>(arc)[0], box.graph().in[arc]);
    }
  });
}

TEST_P(RoutedMailboxTest, refuses_a_step_along_some_arcs) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    RoutedMailbox box(t);
    const std::vector<std::uint8_t> none(box.graph().out.size(), 0);
    EXPECT_THROW(box.step(none, none), CommError);
  });
}

TEST(RankGridTest, leads_from_each_rank_to_each_in_two_hops_of_which_both_ends_know) {
  for (int ranks = 1; ranks <= 150; ++ranks) {
    const RankGrid grid(ranks);
    EXPECT_LT((grid.columns() - 1) * (grid.columns() - 1), ranks);
    EXPECT_LE(grid.rows(), grid.columns());
    for (int from = 0; from < ranks; ++from) {
      for (int column = 0; column < std::min(grid.columns(), ranks); ++column) {
        const int hop = grid.first_hop(from, column);
        ASSERT_TRUE(hop >= 0 && hop < ranks && grid.column(hop) == column) << ranks << ": " << from;
        const auto senders = grid.first_hop_senders(hop);
        ASSERT_EQ(std::count(senders.begin(), senders.end(), from), hop == from ? 0 : 1) << ranks << ": " << from;
      }
      const auto mates = grid.column_mates(from);
      ASSERT_EQ(static_cast<int>(mates.size()), (ranks - grid.column(from) + grid.columns() - 1) / grid.columns() - 1);
      ASSERT_EQ(std::count(mates.begin(), mates.end(), from), 0);
      ASSERT_LE(static_cast<int>(grid.first_hop_senders(from).size()), grid.columns() + 1) << ranks;
    }
  }
}

}  // namespace
