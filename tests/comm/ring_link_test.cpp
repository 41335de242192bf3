/// Tests of messages through rings in one-sided memory, over a memory that is as late and as disordered as its contract
/// allows, against queues.
#include <gtest/gtest.h>

#include <deque>
#include <list>
#include <map>

#include "src/comm/detail/one_sided.hpp"
#include "tests/comm/fake_memory.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Graph;
using comm::detail::Bytes;
using comm::detail::Link;
using comm::detail::RemoteDescriptors;
using comm::detail::RingLayout;

struct RingCase {
  const char* name;
  std::size_t ring_bytes;
  std::vector<Graph> graphs;  // by rank
};

/// Every rank of a job in one thread, with the rings of its arcs.
class Job {
 public:
  Job(const RingCase& job, std::uint64_t seed) : graphs_(job.graphs), random_(seed, 7, 0) {
    std::vector<std::size_t> bytes;
    for (const Graph& graph : graphs_) {
      layouts_.push_back({16, graph.in.size(), graph.out.size(), job.ring_bytes});
      bytes.push_back(layouts_.back().end());
    }
    blocks_ = std::make_shared<FakeBlocks>(bytes, seed);
    sent_.resize(graphs_.size());
    for (std::size_t rank = 0; rank < graphs_.size(); ++rank) {
      const auto memory = std::make_shared<FakeMemory>(blocks_, static_cast<int>(rank));
      links_.push_back(comm::detail::ring_link(memory, graphs_[rank], layouts_[rank], remote(rank)));
    }
  }

  /// Lets a random rank send, receive or look whether its messages have left, as long as `turns` lasts; then until all
  /// is there.
  void run(int turns) {
    for (int idle = 0; turns > 0 || idle < 3000; --turns) {
      const std::size_t rank = random_.below(links_.size());
      if (turns > 0 && random_.below(3) == 0) send(rank);
      if (random_.below(4) == 0) look(rank);
      idle = receive(rank) ? 0 : idle + 1;
      blocks_->deliver();
    }
    for (const auto& [arc, queue] : on_the_way_)
      ASSERT_TRUE(queue.empty()) << "lost from " << arc.first << " to " << arc.second;
    for (std::size_t rank = 0; rank < links_.size(); ++rank) EXPECT_TRUE(links_[rank]->sent()) << rank;
  }
  [[nodiscard]] std::size_t received() const { return received_; }
  /// The in-arcs from which rank 0 receives, when ranks 1 and 2 have each sent it so many short messages before.
  [[nodiscard]] std::string turns_of_two(int messages) {
    const Bytes message(8);
    for (const std::size_t rank : {1U, 2U}) {
      for (int i = 0; i < messages; ++i) {
        links_[rank]->send(0, message);
        EXPECT_TRUE(links_[rank]->sent());
      }
    }
    while (!blocks_->is_idle()) blocks_->deliver();
    std::string arcs;
    Bytes came;
    while (const auto arc = links_[0]->receive(came)) arcs += std::to_string(*arc);
    return arcs;
  }

 private:
  [[nodiscard]] RemoteDescriptors remote(std::size_t rank) const {
    const auto position = [](const std::vector<int>& list, std::size_t of) {
      return static_cast<std::size_t>(std::find(list.begin(), list.end(), static_cast<int>(of)) - list.begin());
    };
    RemoteDescriptors all;
    for (const int from : graphs_[rank].in) {
      const auto sender = static_cast<std::size_t>(from);
      all.from_in.push_back(comm::detail::sender_descriptors(layouts_[sender])[position(graphs_[sender].out, rank)]);
    }
    for (const int to : graphs_[rank].out) {
      const auto target = static_cast<std::size_t>(to);
      all.from_out.push_back(comm::detail::receiver_descriptors(layouts_[target])[position(graphs_[target].in, rank)]);
    }
    return all;
  }
  void send(std::size_t rank) {
    const Graph& graph = graphs_[rank];
    if (graph.out.empty()) return;
    const std::size_t arc = random_.below(graph.out.size());
    const std::size_t ring = layouts_[static_cast<std::size_t>(graph.out[arc])].ring_bytes;
    // Empty, short, of whole words and not, as long as the ring and longer than several.
    const std::size_t lengths[] = {0,         1,         7,        8,    9,        ring - 17,
                                   ring - 16, ring - 15, ring - 8, ring, ring + 1, 3 * ring + 5};
    Bytes message(random_.below(2) == 0 ? random_.below(30) : lengths[random_.below(std::size(lengths))]);
    for (auto& byte : message) byte = static_cast<std::byte>(random_.below(256));
    on_the_way_[{static_cast<int>(rank), graph.out[arc]}].push_back(message);
    sent_[rank].push_back(std::move(message));
    links_[rank]->send(arc, sent_[rank].back());
  }
  /// What has left may be changed: it is, so that a link which still reads it sends nonsense.
  void look(std::size_t rank) {
    if (!links_[rank]->sent()) return;
    for (Bytes& message : sent_[rank]) std::fill(message.begin(), message.end(), std::byte{0xEE});
    garbage_.splice(garbage_.end(), sent_[rank]);
  }
  bool receive(std::size_t rank) {
    Bytes message(3, std::byte{0xDD});  // a buffer that had another message
    const auto arc = links_[rank]->receive(message);
    if (!arc) return false;
    ++received_;
    auto& queue = on_the_way_[{graphs_[rank].in.at(*arc), static_cast<int>(rank)}];
    if (queue.empty()) {
      ADD_FAILURE() << "a message that nobody has sent";
      return true;
    }
    EXPECT_EQ(message, queue.front()) << "from " << graphs_[rank].in[*arc] << " to " << rank;
    queue.pop_front();
    return true;
  }

  std::vector<Graph> graphs_;
  Random random_;
  std::vector<RingLayout> layouts_;
  std::shared_ptr<FakeBlocks> blocks_;
  std::vector<std::list<Bytes>> sent_;  // by rank: messages that the link may still read
  std::list<Bytes> garbage_;
  std::vector<std::unique_ptr<Link>> links_;
  std::map<std::pair<int, int>, std::deque<Bytes>> on_the_way_;
  std::size_t received_ = 0;
};

class RingLinkTest : public testing::TestWithParam<RingCase> {};
INSTANTIATE_TEST_SUITE_P(Jobs, RingLinkTest,
                         testing::Values(RingCase{"one_way", 64, {{{1}, {}}, {{}, {0}}}},
                                         RingCase{"both_ways", 64, {{{1}, {1}}, {{0}, {0}}}},
                                         RingCase{"a_longer_ring", 1024, {{{1}, {1}}, {{0}, {0}}}},
                                         RingCase{"a_funnel", 64, {{{}, {1, 2, 3}}, {{0}, {}}, {{0}, {}}, {{0}, {}}}},
                                         RingCase{"three_with_arcs_in_different_orders",
                                                  128,
                                                  {{{2, 1}, {1, 2}}, {{0, 2}, {2, 0}}, {{1, 0}, {0, 1}}}}),
                         [](const auto& info) { return info.param.name; });

TEST_P(RingLinkTest, random_messages_arrive_whole_and_in_order_whatever_the_memory_does) {
  for (std::uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
    Job job(GetParam(), seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    job.run(400);
    EXPECT_GT(job.received(), 20U);
  }
}

TEST(RingLinkTurnsTest, of_several_arcs_none_starves) {
  const RingCase job{"", 256, {{{}, {1, 2}}, {{0}, {}}, {{0}, {}}}};
  Job ranks(job, 1);
  EXPECT_EQ(ranks.turns_of_two(6), "010101010101");
}

TEST(RingLayoutTest, words_and_rings_follow_each_other) {
  const RingLayout layout{24, 3, 2, 128};
  EXPECT_EQ(layout.head(0), 24U);
  EXPECT_EQ(layout.head(2), 40U);
  EXPECT_EQ(layout.credit(0), 48U);
  EXPECT_EQ(layout.credit(1), 56U);
  EXPECT_EQ(layout.ring(0), 64U);
  EXPECT_EQ(layout.ring(2), 320U);
  EXPECT_EQ(layout.end(), 448U);
  const auto receivers = comm::detail::receiver_descriptors(layout);
  const auto senders = comm::detail::sender_descriptors(layout);
  ASSERT_EQ(receivers.size(), 3U);
  ASSERT_EQ(senders.size(), 2U);
  const auto receiver = comm::detail::read<comm::detail::RingAddress>(receivers[2]);
  EXPECT_EQ(receiver.head, 40U);
  EXPECT_EQ(receiver.ring, 320U);
  EXPECT_EQ(receiver.ring_bytes, 128U);
  EXPECT_EQ(comm::detail::read<comm::detail::RingAddress>(senders[1]).credit, 56U);
}

TEST(RingLayoutTest, rings_of_many_arcs_share_a_budget) {
  using comm::detail::ring_bytes_for;
  EXPECT_EQ(ring_bytes_for(0), 262144U);
  EXPECT_EQ(ring_bytes_for(1), 262144U);
  EXPECT_EQ(ring_bytes_for(16), 262144U);
  EXPECT_EQ(ring_bytes_for(17), 246720U);  // 4 MiB / 17, of whole lines of 64 bytes
  EXPECT_EQ(ring_bytes_for(1000), 4160U);
  EXPECT_EQ(ring_bytes_for(1024), 4096U);
  EXPECT_EQ(ring_bytes_for(100000), 4096U);
  for (std::size_t arcs = 1; arcs < 1024; ++arcs) ASSERT_LE(arcs * ring_bytes_for(arcs), 4U << 20) << arcs;
}

}  // namespace
