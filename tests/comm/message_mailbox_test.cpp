/// Tests of the Mailbox over messages, with a test that plays its neighbours: order of arrival, messages of later
/// steps, buffers that are still being sent.
#include <gtest/gtest.h>

#include "tests/comm/fake_link.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Graph;
using comm::Move;
using comm::detail::Bytes;
using comm::detail::MessageMailbox;

using Marks = std::vector<std::uint8_t>;

/// Mailbox of rank 3 with two arcs out and three in, one of each to itself.
struct Box {
  std::shared_ptr<FakeWire> wire = std::make_shared<FakeWire>();
  FakePlace place;
  MessageMailbox box{place.place(3, "Mailbox 5"), Graph{{8, 3}, {3, 1, 8}}, std::make_unique<FakeLink>(wire)};

  [[nodiscard]] std::vector<int> inbox(std::size_t arc) const {
    const auto records = box.records<int>(arc);
    return {records.begin(), records.end()};
  }
};

using Values = std::vector<int>;

TEST(MessageMailboxTest, sends_each_outbox_along_its_arc_and_keeps_its_own_message_here) {
  Box b;
  b.box.post(0, 80);
  b.box.post(1, 33);
  b.wire->arrive(2, 83);
  b.wire->arrive(1, 13, 14);
  b.box.step();
  EXPECT_EQ(b.wire->sent, (std::vector<FakeWire::Message>{{0, comm::detail::to_bytes(80)}}));
  EXPECT_EQ(b.inbox(0), Values{33});
  EXPECT_EQ(b.inbox(1), (Values{13, 14}));
  EXPECT_EQ(b.inbox(2), Values{83});
  EXPECT_TRUE(b.box.outbox(0).empty() && b.box.outbox(1).empty());
}

TEST(MessageMailboxTest, messages_of_later_steps_are_kept_in_their_order) {
  Box b;
  for (const int value : {11, 12, 13}) b.wire->arrive(1, value);  // rank 1 is two steps ahead
  b.wire->arrive(2, 81);
  b.box.step();
  EXPECT_EQ(b.inbox(1), Values{11});
  EXPECT_EQ(b.inbox(2), Values{81});
  b.wire->arrive(1, 14);
  b.wire->arrive(2, 82);
  b.box.step();
  EXPECT_EQ(b.inbox(1), Values{12});
  EXPECT_EQ(b.inbox(2), Values{82});
  b.wire->arrive(2, 83);
  b.box.step();
  EXPECT_EQ(b.inbox(1), Values{13});
  b.wire->arrive(2, 84);
  b.box.step();
  EXPECT_EQ(b.inbox(1), Values{14});
  EXPECT_EQ(b.wire->idled, 0U);
}

TEST(MessageMailboxTest, a_message_on_an_arc_that_is_not_active_waits_for_the_step_in_which_it_is) {
  Box b;
  b.wire->arrive(1, 11);  // of a later step: this one has rank 8 alone
  b.wire->arrive(2, 81);
  b.box.step(Marks{1, 0}, Marks{0, 0, 1});
  EXPECT_EQ(b.inbox(2), Values{81});
  EXPECT_TRUE(b.inbox(1).empty());
  b.box.step(Marks{0, 0}, Marks{0, 1, 0});
  EXPECT_EQ(b.inbox(1), Values{11});
  EXPECT_TRUE(b.inbox(2).empty()) << "an inbox of an arc that is not active must become empty";
  ASSERT_EQ(b.wire->sent.size(), 1U) << "an empty message is sent too, where its arc is active";
  EXPECT_EQ(b.wire->sent[0], (FakeWire::Message{0, Bytes()}));
}

TEST(MessageMailboxTest, a_step_ends_only_when_its_own_messages_have_left) {
  Box b;
  b.wire->polls_until_sent = 5;
  b.wire->when_idle = [] {};
  b.wire->arrive(1, 11);
  b.wire->arrive(2, 81);
  b.wire->arrive(2, 82);  // of the next step, taken while this one waits for its sends
  b.box.post(0, 7);
  b.box.step();
  EXPECT_EQ(b.wire->polls_until_sent, 0);
  EXPECT_EQ(b.wire->sent, (std::vector<FakeWire::Message>{{0, comm::detail::to_bytes(7)}}));
  EXPECT_EQ(b.inbox(2), Values{81});
  b.wire->arrive(1, 12);
  b.box.step();
  EXPECT_EQ(b.inbox(2), Values{82});
}

TEST(MessageMailboxTest, waits_until_the_last_neighbour_has_sent) {
  Box b;
  int turn = 0;
  b.wire->when_idle = [&] {
    ++turn;
    if (turn == 2) b.wire->arrive(2, 81);
    if (turn == 5) b.wire->arrive(1, 11);
  };
  b.box.step();
  EXPECT_EQ(turn, 5);
  EXPECT_EQ(b.inbox(1), Values{11});
}

TEST(MessageMailboxTest, counts_waves_and_what_goes_to_others_and_is_not_empty) {
  Box b;
  for (const int value : {0, 0}) {
    b.wire->arrive(1, value);
    b.wire->arrive(2, value);
  }
  b.box.post(0, std::uint64_t{1});
  b.box.post(1, 33);
  b.box.step();
  b.box.step();  // says nothing
  comm::Counters expected;
  expected.waves = 2;
  expected.messages = 1;
  expected.bytes = 8;
  EXPECT_EQ(b.place.counters, expected);
  const auto peers = b.place.traffic.peers();
  ASSERT_EQ(peers.size(), 1U);
  EXPECT_EQ(peers[0].rank, 8);
  EXPECT_EQ(peers[0].traffic[Move::message].bytes, 8);
}

TEST(MessageMailboxTest, wrong_marks_are_refused_before_anything_leaves) {
  Box b;
  b.box.post(0, 1);
  const auto step = [&](const Marks& out, const Marks& in) { return refusal<CommError>([&] { b.box.step(out, in); }); };
  EXPECT_EQ(step({0, 1}, {1, 0, 0}), "Mailbox::step: the outbox to rank 8 holds 4 bytes, but its arc is not active");
  EXPECT_EQ(step({1}, {1, 0, 0}), "Mailbox::step: 1 out- and 3 in-arcs marked; the graph has 2 and 3");
  EXPECT_EQ(step({1, 1}, {1, 0, 0, 1}), "Mailbox::step: 2 out- and 4 in-arcs marked; the graph has 2 and 3");
  EXPECT_EQ(b.place.counters, comm::Counters());
  b.wire->arrive(1, 1);
  b.wire->arrive(2, 1);
  b.box.step();
  EXPECT_EQ(b.wire->sent.size(), 1U);
}

TEST(MessageMailboxTest, refuses_to_step_once_the_transport_has_ended) {
  Box b;
  b.place.liveness->end();
  EXPECT_EQ(refusal<CommError>([&] { b.box.step(); }),
            "Mailbox: the run that this was made in, or its transport, has ended; it may be destroyed, not used");
  EXPECT_EQ(b.place.counters, comm::Counters());
}

TEST(MessageMailboxTest, marked_ranks_names_those_that_are_marked) {
  const std::vector<int> ranks{4, 0, 9};
  EXPECT_EQ(comm::detail::marked_ranks(ranks, Marks{0, 1, 1}), "from ranks 0 9");
  EXPECT_EQ(comm::detail::marked_ranks(ranks, Marks{1, 0, 0}), "from ranks 4");
  EXPECT_EQ(comm::detail::marked_ranks(ranks, Marks{0, 0, 0}), "");
}

TEST(PlaceTest, counts_each_kind_of_operation_into_its_own_numbers) {
  FakePlace place;
  const auto here = place.place(2, "Segment 9");
  EXPECT_EQ(here.to_string(), "rank 2 in Segment 9");
  here.count(Move::message, 100, &place.traffic.peer(1));
  here.count(Move::put, 8, &place.traffic.peer(1));
  here.count(Move::get, 24, &place.traffic.peer(1), 3);
  here.count(Move::put, 4, nullptr);
  comm::Counters expected;
  expected.messages = 1;
  expected.puts = 2;
  expected.gets = 3;
  expected.bytes = 112;
  expected.bytes_got = 24;
  EXPECT_EQ(place.counters, expected);
  const auto& peer = place.traffic.peer(1);
  EXPECT_EQ(peer[Move::message].bytes, 100);
  EXPECT_EQ(peer[Move::put].operations, 1);
  EXPECT_EQ(peer[Move::get].operations, 1);
  EXPECT_EQ(peer[Move::get].bytes, 24);
}

TEST(PlaceTest, without_traffic_nothing_is_counted_by_peer) {
  FakePlace place;
  auto here = place.place(0, "Mailbox 1");
  const std::vector<int> ranks{3, 5};
  EXPECT_EQ(comm::detail::find_peers(here, ranks),
            (std::vector<comm::PeerTraffic*>{&place.traffic.peer(3), &place.traffic.peer(5)}));
  here.traffic = nullptr;
  EXPECT_EQ(comm::detail::find_peers(here, ranks), std::vector<comm::PeerTraffic*>(2, nullptr));
}

}  // namespace
