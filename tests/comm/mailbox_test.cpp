/// Contract tests of Mailbox, over every model.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "merganser/base/error.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"

namespace {

using merganser::CommError;
using merganser::comm::Counters;
using merganser::comm::Graph;
using merganser::comm::Transport;
using namespace merganser::test;

class MailboxTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, MailboxTest,
                         testing::ValuesIn(with_parts(setups({"", "checked,chaos:2"}, {"chaos:1", "checked"}))),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(MailboxTest, an_empty_graph_steps_alone) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto box = t.mailbox({});
    for (int i = 0; i < 3; ++i) box->step();
    EXPECT_EQ(t.counters().waves, 3);
    EXPECT_EQ(t.counters().messages, 0);
  });
}

TEST_P(MailboxTest, a_message_goes_round_the_ring) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto box = t.mailbox(ring(t));
    int token = t.rank();
    for (int hop = 0; hop < t.size(); ++hop) {
      box->post(0, token);
      box->step();
      ASSERT_EQ(box->records<int>(0).size(), 1U);
      token = box->records<int>(0)[0];
      EXPECT_TRUE(box->outbox(0).empty());
    }
    EXPECT_EQ(token, t.rank());
  });
}

TEST_P(MailboxTest, many_rounds_do_not_mix) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto box = t.mailbox(funnel(t));
    for (int round = 0; round < 200; ++round) {
      if (t.rank() != 0) {
        for (int i = 0; i < round % 5; ++i) box->post(0, round);
      }
      box->step();
      for (std::size_t arc = 0; arc < box->graph().in.size(); ++arc) {
        const auto got = box->records<int>(arc);
        ASSERT_EQ(got.size(), static_cast<std::size_t>(round % 5));
        for (const int value : got) ASSERT_EQ(value, round);
      }
    }
  });
}

TEST_P(MailboxTest, random_graphs_deliver_what_was_posted) {
  on_ranks(GetParam(), [](Transport& t) {
    for (unsigned seed = 0; seed < 5; ++seed) {
      const auto box = t.mailbox(random_graph(t, seed));
      for (int round = 0; round < 10; ++round) {
        for (std::size_t arc = 0; arc < box->graph().out.size(); ++arc) {
          const int to = box->graph().out[arc];
          for (int i = 0; i < (t.rank() * 3 + to + round) % 7; ++i) box->post(arc, t.rank() * 1000 + to * 10 + round);
        }
        box->step();
        for (std::size_t arc = 0; arc < box->graph().in.size(); ++arc) {
          const int from = box->graph().in[arc];
          const auto got = box->records<int>(arc);
          ASSERT_EQ(got.size(), static_cast<std::size_t>((from * 3 + t.rank() + round) % 7));
          for (const int value : got) ASSERT_EQ(value, from * 1000 + t.rank() * 10 + round);
        }
      }
    }
  });
}

TEST_P(MailboxTest, lopsided_and_big_messages_arrive_whole) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto box = t.mailbox(complete(t));
    constexpr std::size_t kBig = 300'001;  // 1.2 MB, beyond the memory that any model sets aside for an arc
    std::vector<std::uint32_t> expected(kBig);
    for (int round = 0; round < 2; ++round) {
      for (std::size_t arc = 0; arc < box->graph().out.size(); ++arc) {
        const int to = box->graph().out[arc];
        if (to != 0 && t.rank() != 0) continue;  // only rank 0 gets and sends much
        for (std::size_t i = 0; i < kBig; ++i)
          box->post(arc, static_cast<std::uint32_t>(i * 7 + t.rank() + to + round));
      }
      box->step();
      for (std::size_t arc = 0; arc < box->graph().in.size(); ++arc) {
        const int from = box->graph().in[arc];
        const auto got = box->records<std::uint32_t>(arc);
        if (from != 0 && t.rank() != 0) {
          ASSERT_TRUE(got.empty());
          continue;
        }
        for (std::size_t i = 0; i < kBig; ++i)
          expected[i] = static_cast<std::uint32_t>(i * 7 + from + t.rank() + round);
        ASSERT_TRUE(std::ranges::equal(got, expected));
      }
    }
  });
}

/// Arcs between two ranks are active every so often; both ends can tell when.
bool active(int from, int to, int round) { return (from * 5 + to * 3 + round) % 3 == 0; }

TEST_P(MailboxTest, waves_on_a_subset_of_arcs_do_not_need_the_others) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto box = t.mailbox(complete(t));
    const auto& graph = box->graph();
    std::int64_t sent = 0;
    std::int64_t waves = 0;
    for (int round = 0; round < 30; ++round) {
      std::vector<std::uint8_t> out;
      std::vector<std::uint8_t> in;
      bool any = false;
      for (const int to : graph.out) {
        out.push_back(active(t.rank(), to, round));
        any |= out.back() != 0;
      }
      for (const int from : graph.in) {
        in.push_back(active(from, t.rank(), round));
        any |= in.back() != 0;
      }
      if (!any) continue;  // a rank without active arcs stays away
      for (std::size_t arc = 0; arc < out.size(); ++arc) {
        if (out[arc] == 0) continue;
        box->post(arc, round);
        sent += graph.out[arc] != t.rank() ? 1 : 0;
      }
      box->step(out, in);
      ++waves;
      for (std::size_t arc = 0; arc < in.size(); ++arc) {
        const auto got = box->records<int>(arc);
        ASSERT_EQ(got.size(), in[arc] != 0 ? 1U : 0U);
        if (in[arc] != 0) {
          ASSERT_EQ(got[0], round);
        }
      }
      if (round % 10 == 0) continue;
    }
    for (std::size_t arc = 0; arc < graph.out.size(); ++arc) box->post(arc, -1);
    box->step();  // full and partial waves mix
    for (std::size_t arc = 0; arc < graph.in.size(); ++arc) {
      ASSERT_EQ(box->records<int>(arc).size(), 1U);
      EXPECT_EQ(box->records<int>(arc)[0], -1);
    }
    const std::int64_t others = t.size() - 1;
    EXPECT_EQ(t.counters().waves, waves + 1);
    EXPECT_EQ(t.counters().messages, sent + others);
    EXPECT_EQ(t.counters().bytes, 4 * (sent + others));
  });
}

TEST_P(MailboxTest, two_mailboxes_do_not_mix) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto a = t.mailbox(ring(t));
    const auto b = t.mailbox(ring(t));
    for (int round = 0; round < 20; ++round) {
      a->post(0, 2 * round);
      b->post(0, 2 * round + 1);
      a->step();
      b->step();
      EXPECT_EQ(a->records<int>(0)[0], 2 * round);
      EXPECT_EQ(b->records<int>(0)[0], 2 * round + 1);
    }
  });
}

TEST_P(MailboxTest, mailboxes_come_and_go_in_any_order) {
  on_ranks(GetParam(), [](Transport& t) {
    std::vector<std::unique_ptr<merganser::comm::Mailbox>> boxes(3);
    for (int round = 0; round < 20; ++round) {
      // Which one is thrown away differs between ranks.
      auto& box = boxes[static_cast<std::size_t>(round + t.rank()) % boxes.size()];
      box = t.mailbox(ring(t));
      box->post(0, round);
      box->step();
      ASSERT_EQ(box->records<int>(0)[0], round);
    }
  });
}

TEST_P(MailboxTest, a_wave_makes_no_collective_call_and_counts_exactly) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto box = t.mailbox(complete(t));
    const Counters before = t.counters();
    for (std::size_t arc = 0; arc < box->graph().out.size(); ++arc) {
      if (arc % 2 == 0) box->post(arc, std::int64_t{1});
    }
    box->step();
    std::int64_t messages = 0;
    for (std::size_t arc = 0; arc < box->graph().out.size(); arc += 2) messages += box->graph().out[arc] != t.rank();
    Counters expected;
    expected.waves = 1;
    expected.messages = messages;
    expected.bytes = 8 * messages;
    EXPECT_EQ(t.counters() - before, expected);
  });
}

TEST_P(MailboxTest, wrong_graphs_are_refused_on_every_rank) {
  on_ranks(GetParam(), [](Transport& t) {
    EXPECT_THROW((void)t.mailbox(Graph::symmetric({t.size()})), CommError);
    EXPECT_THROW((void)t.mailbox(Graph::symmetric({0, 0})), CommError);
    if (t.size() > 1) {
      // Rank 0 sends to rank 1, which does not know.
      const Graph graph = t.rank() == 0 ? Graph{{1}, {}} : Graph{};
      EXPECT_THROW((void)t.mailbox(graph), CommError);
      const Graph other = t.rank() == 1 ? Graph{{}, {0}} : Graph{};
      EXPECT_THROW((void)t.mailbox(other), CommError);
    }
  });
}

TEST_P(MailboxTest, misuse_is_refused_before_anything_is_sent) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto box = t.mailbox(ring(t));
    const std::vector<std::uint8_t> none(1, 0);
    box->post(0, 1);
    EXPECT_THROW(box->step(none, none), CommError);
    EXPECT_THROW(box->step({}, none), CommError);
    box->step();
    EXPECT_THROW((void)box->records<double>(0), CommError);
  });
}

}  // namespace
