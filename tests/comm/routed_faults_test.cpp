/// Tests of RoutedMailbox and of send_to_owners() where something is wrong or at a border: bundles that end too early,
/// pieces, ranks that are no owners, rounds.
#include <gtest/gtest.h>

#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/routed_mailbox.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::RankGrid;
using comm::RoutedMailbox;
using comm::Transport;

struct Heading {
  std::uint32_t rank;
  std::uint32_t bytes;
};

/// What rank 0 of four is told when rank 1, in its row, sends `bundle` in the first hop in place of a RoutedMailbox of
/// its own; the inbox from rank 1 if it is not refused.
std::string told(const std::vector<std::byte>& bundle) {
  std::string inbox;
  comm::RunOptions options;
  options.backend = "threads";
  options.ranks = 4;
  const std::string refused = refusal<CommError>([&] {
    comm::run(options, [&](Transport& t) {
      if (t.rank() == 1) {
        const auto first = t.mailbox(comm::Graph::symmetric({0}));   // its row
        const auto second = t.mailbox(comm::Graph::symmetric({3}));  // its column
        first->outbox(0) = bundle;
        first->step();
        second->step();
        return;
      }
      RoutedMailbox box(t);
      box.step();
      if (t.rank() == 0) inbox.assign(reinterpret_cast<const char*>(box.inbox(0).data()), box.inbox(0).size());
    });
  });
  return refused == "nothing was thrown" ? inbox : refused;
}

std::vector<std::byte> bundle_of(const std::vector<Heading>& headings, const std::string& bytes) {
  std::vector<std::byte> bundle;
  std::size_t at = 0;
  for (const Heading& heading : headings) {
    const auto head = std::as_bytes(std::span(&heading, 1));
    bundle.insert(bundle.end(), head.begin(), head.end());
    for (std::uint32_t i = 0; i < heading.bytes && at < bytes.size(); ++i)
      bundle.push_back(static_cast<std::byte>(bytes[at++]));
  }
  return bundle;
}

TEST(RoutedFaultsTest, a_bundle_that_ends_within_a_message_is_refused_with_its_sender) {
  EXPECT_EQ(told(bundle_of({{0, 3}, {0, 2}}, "abcde")), "abcde");
  EXPECT_EQ(told({}), "");
  EXPECT_EQ(told(bundle_of({{0, 3}, {0, 0}, {0, 1}}, "abcd")), "abcd");
  EXPECT_EQ(told(bundle_of({{0, 3}, {0, 4}}, "abcde")),
            "a bundle from rank 1 ends within a message, 10 bytes before its end; allowed: whole ones");
  auto cut = bundle_of({{0, 3}}, "abc");
  cut.resize(7);
  EXPECT_EQ(told(cut), "a bundle from rank 1 ends within a message, 7 bytes before its end; allowed: whole ones");
  cut = bundle_of({{0, 3}, {0, 3}}, "abcdef");
  cut.resize(cut.size() - 1);
  EXPECT_EQ(told(cut), "a bundle from rank 1 ends within a message, 10 bytes before its end; allowed: whole ones");
}

TEST(RoutedFaultsTest, a_message_travels_behind_headings_in_pieces) {
  on_ranks({"threads", 2, ""}, [](Transport& t) {
    if (t.rank() == 0) {
      RoutedMailbox box(t, 2);
      box.post_all<char>(0, std::string("abcde"));
      return box.step();
    }
    const auto first = t.mailbox(comm::Graph::symmetric({0}));  // both ranks are one row
    const auto second = t.mailbox({});
    first->step();
    second->step();
    EXPECT_TRUE(std::ranges::equal(first->inbox(0), bundle_of({{1, 2}, {1, 2}, {1, 1}}, "abcde")));
  });
}

TEST(RoutedFaultsTest, messages_at_the_border_of_a_piece_arrive_whole) {
  on_ranks({"threads", 5, ""}, [](Transport& t) {
    for (const std::uint32_t piece : {1U, 8U}) {
      RoutedMailbox box(t, piece);
      for (std::size_t length = 0; length <= 25; ++length) {
        const auto message = [&](int from, int to) {
          std::vector<std::uint8_t> bytes(length);
          for (std::size_t i = 0; i < length; ++i)
            bytes[i] = static_cast<std::uint8_t>(static_cast<std::size_t>(31 * from + 7 * to) + i);
          return bytes;
        };
        for (std::size_t arc = 0; arc < 4; ++arc)
          box.post_all<std::uint8_t>(arc, message(t.rank(), box.graph().out[arc]));
        box.step();
        for (std::size_t arc = 0; arc < 4; ++arc)
          ASSERT_TRUE(std::ranges::equal(box.records<std::uint8_t>(arc), message(box.graph().in[arc], t.rank())))
              << length << " bytes in pieces of " << piece;
      }
    }
  });
}

TEST(RoutedFaultsTest, a_mailbox_that_outlives_its_transport_is_refused) {
  std::unique_ptr<RoutedMailbox> kept;
  on_ranks({"threads", 1, ""}, [&](Transport& t) {
    kept = std::make_unique<RoutedMailbox>(t);
    kept->step();
  });
  EXPECT_THROW(kept->step(), CommError);
  EXPECT_THROW(kept->check_usable(), CommError);
}

TEST(RankGridHopsTest, of_known_numbers_has_known_hops) {
  const RankGrid seven(7);  // 0 1 2 / 3 4 5 / 6
  EXPECT_EQ(seven.columns(), 3);
  EXPECT_EQ(seven.rows(), 3);
  EXPECT_EQ(seven.first_hop(1, 2), 2);
  EXPECT_EQ(seven.first_hop(6, 0), 6);
  EXPECT_EQ(seven.first_hop(6, 1), 1);
  EXPECT_EQ(seven.first_hop_senders(1), (std::vector<int>{0, 2, 6}));
  EXPECT_EQ(seven.first_hop_senders(4), (std::vector<int>{3, 5}));
  EXPECT_EQ(seven.column_mates(3), (std::vector<int>{0, 6}));
  EXPECT_EQ(seven.column_mates(5), std::vector<int>{2});
  const RankGrid eight(8);  // 0 1 2 / 3 4 5 / 6 7
  EXPECT_EQ(eight.first_hop(6, 2), 2) << "ranks of the last row use rows by their own column";
  EXPECT_EQ(eight.first_hop(7, 2), 5);
  EXPECT_EQ(eight.first_hop_senders(5), (std::vector<int>{3, 4, 7}));
  for (const int ranks : {1, 4, 9, 100}) EXPECT_EQ(RankGrid(ranks).columns() * RankGrid(ranks).columns(), ranks);
  EXPECT_EQ(RankGrid(10).columns(), 4);
  EXPECT_EQ(RankGrid(2).rows(), 1);
  EXPECT_EQ(RoutedMailbox::complete(2, 4).out, (std::vector<int>{3, 0, 1}));
  EXPECT_TRUE(RoutedMailbox::complete(0, 1).in.empty());
}

TEST(SendToOwnersTest, a_record_for_no_rank_is_refused_before_anything_is_sent) {
  on_ranks({"threads", 3, ""}, [](Transport& t) {
    const std::vector<int> records{0, 1, 2};
    const auto refused = [&](std::int64_t owner) {
      return refusal<CommError>(
          [&] { (void)comm::send_to_owners(t, std::span<const int>(records), [&](int) { return owner; }); });
    };
    const std::int64_t before = t.counters().collectives;
    EXPECT_EQ(refused(3), "send_to_owners: a record for rank 3; allowed: 0 to 2");
    EXPECT_EQ(refused(-1), "send_to_owners: a record for rank -1; allowed: 0 to 2");
    EXPECT_EQ(refused(std::int64_t{1} << 32), "send_to_owners: a record for rank 4294967296; allowed: 0 to 2");
    EXPECT_EQ(t.counters().collectives, before);
    EXPECT_EQ(refused(2), "nothing was thrown");
  });
}

TEST(SendToOwnersTest, each_record_is_asked_for_its_owner_once) {
  on_ranks({"threads", 2, ""}, [](Transport& t) {
    const std::vector<int> records{5, 6, 7, 8, 9};
    int asked = 0;
    const auto came = comm::send_to_owners(t, std::span<const int>(records), [&](int) { return asked++ % 2; });
    EXPECT_EQ(asked, 5);
    for (const auto theirs : came) {
      const std::vector<int> expected = t.rank() == 0 ? std::vector<int>{5, 7, 9} : std::vector<int>{6, 8};
      EXPECT_EQ(std::vector<int>(theirs.begin(), theirs.end()), expected);
    }
  });
}

TEST(SendToOwnersTest, rounds_are_as_many_as_the_rank_with_most_records_needs) {
  on_ranks({"threads", 3, ""}, [](Transport& t) {
    const auto rounds = [&](std::size_t records, std::size_t round) { return comm::count_rounds(t, records, round); };
    EXPECT_EQ(rounds(t.rank() == 1 ? 10 : 0, 5), 2U);
    EXPECT_EQ(rounds(t.rank() == 1 ? 11 : 10, 5), 3U);
    EXPECT_EQ(rounds(0, 5), 0U);
    EXPECT_EQ(rounds(1, 5), 1U);
    std::vector<int> sizes;
    const std::vector<int> records(t.rank() == 0 ? 7 : 2, t.rank());
    comm::send_to_owners_in_rounds(
        t, std::span<const int>(records), [](int) { return 1; },
        [&](std::span<const int> theirs) { sizes.push_back(static_cast<int>(theirs.size())); }, 3);
    // Three rounds, in each of which every rank is a sender.
    const std::vector<int> expected =
        t.rank() == 1 ? std::vector<int>{3, 2, 2, 3, 0, 0, 1, 0, 0} : std::vector<int>(9, 0);
    EXPECT_EQ(sizes, expected);
  });
}

TEST(ReceivedTest, records_of_one_sender_can_be_freed_and_the_rest_appended) {
  std::vector<std::vector<std::byte>> messages(3);
  messages[0].resize(8);
  messages[2].resize(12);
  comm::Received<std::uint32_t> all(std::move(messages));
  EXPECT_EQ(all.size(), 3U);
  EXPECT_EQ(all.records(), 5U);
  all.drop(0);
  EXPECT_EQ(all.records(), 3U);
  EXPECT_EQ(std::distance(all.begin(), all.end()), 3);
  std::vector<std::uint32_t> flat{7};
  std::move(all).append_to(flat);
  EXPECT_EQ(flat, (std::vector<std::uint32_t>{7, 0, 0, 0}));
  EXPECT_EQ(refusal<CommError>([] { comm::detail::throw_not_one(2, 5); }),
            "2 values from rank 5; expected: 1; every rank must make the same collective calls");
}

}  // namespace
