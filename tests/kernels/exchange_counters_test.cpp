/// Operations of an iteration: for every kernel those that its description names, by a table that is written down here again.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "tests/kernels/exchange_support.hpp"

namespace {

using namespace merganser::comm;
using namespace merganser::kernels;
using namespace merganser::test;

class ExchangeCounterTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ExchangeCounterTest, testing::ValuesIn(one_model_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// What a rank has to do in one exchange; arcs to itself do not count.
struct Work {
  std::int64_t full = 0;     ///< out-arcs with bytes
  std::int64_t told = 0;     ///< out-arcs, with and without bytes
  std::int64_t fetched = 0;  ///< in-arcs with bytes
  std::int64_t bytes_out = 0;
  std::int64_t bytes_in = 0;
  std::int64_t sends = 0;     ///< 1 if there is any out-arc, to the rank itself too
  std::int64_t receives = 0;  ///< the same of in-arcs
  std::int64_t records = 0;   ///< of 4 bytes, at least one for each out-arc
  std::int64_t one_way = 0;   ///< 1 if an arc of any rank has none in the other direction
};

Work work_of(Transport& t, const Graph& graph, const ArcSizes& sizes) {
  Work work;
  for (std::size_t arc = 0; arc < graph.out.size(); ++arc) {
    work.sends = 1;
    if (graph.out[arc] == t.rank()) continue;
    ++work.told;
    work.full += sizes.out[arc] > 0 ? 1 : 0;
    work.bytes_out += static_cast<std::int64_t>(sizes.out[arc]);
    work.records += std::max<std::int64_t>((static_cast<std::int64_t>(sizes.out[arc]) + 3) / 4, 1);
  }
  for (std::size_t arc = 0; arc < graph.in.size(); ++arc) {
    work.receives = 1;
    if (graph.in[arc] == t.rank()) continue;
    work.fetched += sizes.in[arc] > 0 ? 1 : 0;
    work.bytes_in += static_cast<std::int64_t>(sizes.in[arc]);
  }
  const std::set<int> out(graph.out.begin(), graph.out.end());
  work.one_way = t.all_reduce(out == std::set<int>(graph.in.begin(), graph.in.end()) ? 0 : 1, Op::max);
  return work;
}

using Expected = Counters (*)(const Work&);
Counters messages(const Work& w) { return {.messages = w.full, .bytes = w.bytes_out}; }
Counters puts(const Work& w) { return {.bytes = w.bytes_out, .puts = w.full}; }
Counters puts_and_sync(const Work& w) { return {.bytes = w.bytes_out, .puts = w.full, .syncs = 1}; }
Counters gets_and_sync(const Work& w) { return {.bytes = w.bytes_in, .gets = w.fetched, .syncs = 1}; }

Counters mailbox(const Work& w) { return {.messages = w.full, .bytes = w.bytes_out, .waves = 1}; }
Counters stream(const Work& w) {
  return {.messages = w.full, .bytes = w.bytes_out, .waves = w.one_way, .records = w.records};
}
Counters stream_of_puts(const Work& w) { return {.bytes = w.bytes_out, .waves = w.one_way, .records = w.records}; }

const std::map<std::string_view, Expected> kExpected{
    {"threads.copy", puts},
    {"threads.copy-flag", [](const Work& w) { return Counters{.bytes = w.bytes_out, .puts = w.full + w.told}; }},
    {"threads.copy-barrier",
     [](const Work& w) { return Counters{.bytes = w.bytes_out, .puts = w.full, .collectives = 1}; }},
    {"threads.mailbox", mailbox},
    {"threads.stream", stream},
    {"p2p.mailbox", mailbox},
    {"p2p.stream", stream},
    {"neighborhood.mailbox", mailbox},
    {"neighborhood.stream", stream},
    {"rma.mailbox", mailbox},
    {"rma.stream", stream_of_puts},
    {"shmem.mailbox", mailbox},
    {"shmem.stream", stream_of_puts},
    {"p2p.isend-irecv", messages},
    {"p2p.issend-irecv", messages},
    {"p2p.persistent", messages},
    {"neighborhood.alltoallv", messages},
    {"neighborhood.ialltoallv", messages},
    {"rma.put-flush", puts_and_sync},
    {"rma.put-flush-local", puts_and_sync},
    {"rma.rput-flush", puts_and_sync},
    {"rma.lock",
     [](const Work& w) { return Counters{.bytes = w.bytes_out, .puts = w.full, .syncs = w.full, .epochs = w.full}; }},
    {"rma.fence",
     [](const Work& w) {
       return Counters{.bytes = w.bytes_out, .puts = w.full, .syncs = 2, .epochs = 1, .collectives = 2};
     }},
    {"rma.get", gets_and_sync},
    {"rma.put-notify",
     [](const Work& w) { return Counters{.bytes = w.bytes_out, .puts = w.full + w.told, .syncs = 2 * w.sends}; }},
    {"rma.put-send",
     [](const Work& w) {
       return Counters{.messages = w.told, .bytes = w.bytes_out, .puts = w.full, .syncs = w.sends};
     }},
    {"rma.pscw",
     [](const Work& w) {
       const std::int64_t epochs = w.sends + w.receives;  // of access and of exposure
       return Counters{.bytes = w.bytes_out, .puts = w.full, .syncs = 2 * epochs, .epochs = epochs};
     }},
    {"shmem.put-quiet", puts_and_sync},
    {"shmem.put-barrier",
     [](const Work& w) { return Counters{.bytes = w.bytes_out, .puts = w.full, .syncs = 1, .collectives = 1}; }},
    {"shmem.get", gets_and_sync},
    {"shmem.put-signal",
     [](const Work& w) { return Counters{.bytes = w.bytes_out, .puts = w.full + w.told, .syncs = w.sends}; }},
};

std::string text(const Counters& c) {
  return "messages " + std::to_string(c.messages) + " bytes " + std::to_string(c.bytes) + " puts " +
         std::to_string(c.puts) + " gets " + std::to_string(c.gets) + " bytes got " + std::to_string(c.bytes_got) +
         " waves " + std::to_string(c.waves) + " records " + std::to_string(c.records) + " syncs " +
         std::to_string(c.syncs) + " epochs " + std::to_string(c.epochs) + " collectives " +
         std::to_string(c.collectives);
}

TEST_P(ExchangeCounterTest, every_kernel_counts_what_its_description_says) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto varied = [](int from, int to) { return static_cast<std::size_t>((from + 2 * to) % 3) * 50; };
    const Graph graphs[] = {{}, self_arcs(t), ring(t), star(t), funnel(t), complete(t), random_graph(t, 33)};
    for (const Graph& graph : graphs) {
      const auto most = equal_sizes(graph, 100);
      for (const auto& info : usable_kernels(t)) {
        const auto expected = kExpected.find(info.name);
        ASSERT_NE(expected, kExpected.end()) << info.name << " is not in the table of this test";
        const auto exchange = make_exchange(t, info.name, {graph, most.out, most.in, 1});
        const auto expect = [&](const ArcSizes& sizes) {
          const Counters found = exchange->per_iteration();
          const Counters wanted = expected->second(work_of(t, graph, sizes));
          EXPECT_EQ(found, wanted) << info.name << " on rank " << t.rank() << "\nfound  " << text(found) << "\nwanted "
                                   << text(wanted);
        };
        expect(most);
        const auto some = sizes_by_arc(t, graph, varied);
        exchange->resize(some.out, some.in);
        expect(some);
        const auto none = equal_sizes(graph, 0);
        exchange->resize(none.out, none.in);
        expect(none);
      }
    }
  });
}

// Of all ranks together: what is sent is what is received.
TEST_P(ExchangeCounterTest, bytes_of_pulls_and_of_pushes_add_up_to_the_same) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = random_graph(t, 34);
    const auto sizes =
        sizes_by_arc(t, graph, [](int from, int to) { return static_cast<std::size_t>(from * 31 + to * 7); });
    std::int64_t mine = 0;
    for (std::size_t arc = 0; arc < graph.in.size(); ++arc) {
      if (graph.in[arc] != t.rank()) mine += static_cast<std::int64_t>(sizes.in[arc]);
    }
    const std::int64_t all = t.all_reduce(mine, Op::sum);
    for (const auto& info : usable_kernels(t)) {
      const auto exchange = make_exchange(t, info.name, {graph, sizes.out, sizes.in, 1});
      EXPECT_EQ(t.all_reduce(exchange->per_iteration().bytes, Op::sum), all) << info.name;
    }
  });
}

}  // namespace
