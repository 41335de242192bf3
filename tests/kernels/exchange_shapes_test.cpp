/// Exchange kernels over graphs of every shape and messages of every kind of size: each byte that is to come comes, and no other
/// byte of any landing zone changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/kernels/exchange_support.hpp"

namespace {

using namespace merganser::comm;
using namespace merganser::kernels;
using namespace merganser::test;

class ExchangeShapeTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ExchangeShapeTest, testing::ValuesIn(one_model_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

constexpr std::byte kUntouched{0xFF};  // no value of test_byte()

/// Returns the rest of dividing an index by the number of ranks, of -1 too.
int wrap(const Transport& t, int rank) { return (rank + t.size()) % t.size(); }

Graph turned(Graph graph) {
  std::swap(graph.out, graph.in);
  return graph;
}

/// Every rank and its two neighbours in a ring: one neighbour where there are two ranks, itself where there is one.
Graph two_way_ring(const Transport& t) {
  const std::set<int> both{wrap(t, t.rank() + 1), wrap(t, t.rank() - 1)};
  return Graph::symmetric({both.begin(), both.end()});
}

/// Only the last rank sends, to the one before it.
Graph last_arc(const Transport& t) {
  Graph graph;
  if (t.size() < 2) return graph;
  if (t.rank() == t.size() - 1) graph.out = {t.rank() - 1};
  if (t.rank() == t.size() - 2) graph.in = {t.rank() + 1};
  return graph;
}

std::vector<std::pair<std::string, Graph>> shapes(const Transport& t) {
  std::vector<std::pair<std::string, Graph>> all{
      {"no arcs", {}},           {"self arcs", self_arcs(t)},       {"ring", ring(t)},
      {"star", star(t)},         {"all to one", funnel(t)},         {"one to all", turned(funnel(t))},
      {"complete", complete(t)}, {"random", random_graph(t, 21)},   {"two-way ring", two_way_ring(t)},
      {"one arc", last_arc(t)},  {"ring, turned", turned(ring(t))},
  };
  // Of many processes on few cores an exchange takes long: some of the shapes.
  if (!t.capabilities().processes || t.size() < 5) return all;
  return {all[0], all[3], all[6], all[7], all[9]};
}

/// Capacity and size of an arc in a round. The capacities of the arcs of a rank differ, so that zones lie at odd places.
std::size_t capacity_of(int from, int to) { return 130 + static_cast<std::size_t>((from * 7 + to * 13) % 5) * 33; }
using SizeOf = std::size_t (*)(int from, int to, unsigned round);
std::size_t unequal(int from, int to, unsigned round) {
  std::minstd_rand numbers(static_cast<unsigned>(from) * 1000U + static_cast<unsigned>(to) * 10U + round + 1);
  (void)numbers();
  return numbers() % 4 == 0 ? 0 : numbers() % (capacity_of(from, to) + 1);
}
struct SizeRule {
  const char* name;
  SizeOf of;
};
constexpr SizeRule kRules[] = {
    {"0", [](int, int, unsigned) { return std::size_t{0}; }},
    {"1", [](int, int, unsigned) { return std::size_t{1}; }},
    {"7", [](int, int, unsigned) { return std::size_t{7}; }},
    {"64", [](int, int, unsigned) { return std::size_t{64}; }},
    {"unequal", unequal},
    {"unequal again", unequal},
    {"the capacity", [](int from, int to, unsigned) { return capacity_of(from, to); }},
};

void mark_landings(Exchange& exchange, std::size_t buffers) {
  for (std::size_t buffer = 0; buffer < buffers; ++buffer) {
    for (std::size_t arc = 0; arc < exchange.graph().in.size(); ++arc) {
      const auto landing = exchange.landing(arc, buffer);
      std::fill(landing.begin(), landing.end(), kUntouched);
    }
  }
}

/// Returns the number of bytes of all landing zones that are not as they must be after a round of `buffer`: `size` bytes of the
/// sender in each zone of this buffer, what was there before behind them and in all other buffers.
std::size_t count_wrong(const Transport& t, Exchange& exchange, std::size_t buffers, std::size_t buffer, SizeOf size,
                        unsigned round) {
  std::size_t wrong = 0;
  for (std::size_t b = 0; b < buffers; ++b) {
    for (std::size_t arc = 0; arc < exchange.graph().in.size(); ++arc) {
      const int from = exchange.graph().in[arc];
      const std::size_t came = b == buffer ? size(from, t.rank(), round) : 0;
      const auto landing = exchange.landing(arc, b);
      for (std::size_t at = 0; at < landing.size(); ++at) {
        wrong += landing[at] != (at < came ? test_byte(from, t.rank(), round, at) : kUntouched);
      }
    }
  }
  return wrong;
}

TEST_P(ExchangeShapeTest, nothing_but_the_bytes_of_the_senders_changes_on_any_shape) {
  on_ranks(GetParam(), [](Transport& t) {
    constexpr std::size_t kBuffers = 2;
    for (const auto& [name, graph] : shapes(t)) {
      const auto most = sizes_by_arc(t, graph, capacity_of);
      for (const auto& info : usable_kernels(t)) {
        const auto exchange = make_exchange(t, info.name, {graph, most.out, most.in, kBuffers});
        EXPECT_EQ(exchange->graph().out, graph.out);
        EXPECT_EQ(exchange->graph().in, graph.in);
        unsigned round = 0;
        for (const auto& rule : kRules) {
          fill_zones(t, *exchange, round % kBuffers, round);
          mark_landings(*exchange, kBuffers);
          const auto now = sizes_by_arc(t, graph, [&](int from, int to) { return rule.of(from, to, round); });
          exchange->resize(now.out, now.in);
          exchange->quiesce();
          exchange->iterate(round % kBuffers);
          exchange->quiesce();
          exchange->resize(most.out, most.in);
          EXPECT_EQ(count_wrong(t, *exchange, kBuffers, round % kBuffers, rule.of, round), 0U)
              << info.name << " on " << name << ", size " << rule.name << ", rank " << t.rank();
          ++round;
        }
      }
    }
  });
}

TEST_P(ExchangeShapeTest, zones_are_zero_at_first_disjoint_and_aligned) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = complete(t);
    const auto most = sizes_by_arc(t, graph, [](int from, int to) { return static_cast<std::size_t>(from + 2 * to); });
    for (const auto& info : usable_kernels(t)) {
      const auto exchange = make_exchange(t, info.name, {graph, most.out, most.in, 3});
      std::vector<std::pair<const std::byte*, const std::byte*>> zones;
      const auto look = [&](std::span<const std::byte> zone, std::size_t bytes) {
        EXPECT_EQ(zone.size(), bytes) << info.name;
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(zone.data()) % 64, 0U) << info.name;
        EXPECT_TRUE(std::all_of(zone.begin(), zone.end(), [](std::byte b) { return b == std::byte{0}; })) << info.name;
        if (!zone.empty()) zones.emplace_back(zone.data(), zone.data() + zone.size());
      };
      for (std::size_t buffer = 0; buffer < 3; ++buffer) {
        for (std::size_t arc = 0; arc < graph.out.size(); ++arc) {
          look(exchange->source(arc, buffer), most.out[arc]);
          look(exchange->landing(arc, buffer), most.in[arc]);
        }
      }
      std::sort(zones.begin(), zones.end());
      for (std::size_t i = 1; i < zones.size(); ++i) EXPECT_LE(zones[i - 1].second, zones[i].first) << info.name;
    }
  });
}

// Around the bounds of topo bench's classes of sizes, and around those where libraries send otherwise (4 KiB and 64 KiB in Open
// MPI).
TEST_P(ExchangeShapeTest, sizes_around_the_limits_of_protocols_come_whole) {
  on_ranks(GetParam(), [](Transport& t) {
    constexpr std::size_t kLimits[] = {8, 1024, 4096, 65536};
    const Graph graph = ring(t);
    const auto most = equal_sizes(graph, 65537);
    for (const auto& info : usable_kernels(t)) {
      const auto exchange = make_exchange(t, info.name, {graph, most.out, most.in, 1});
      unsigned round = 0;
      for (const std::size_t limit : kLimits) {
        for (const std::size_t bytes : {limit - 1, limit, limit + 1}) {
          const auto now = equal_sizes(graph, bytes);
          exchange->resize(now.out, now.in);
          expect_round(t, *exchange, 0, ++round);
        }
      }
    }
  });
}

// In a longer message than libraries send eagerly, too.
TEST_P(ExchangeShapeTest, what_is_stored_into_a_source_after_an_iteration_is_not_sent_by_it) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = complete(t);
    const auto most = sizes_by_arc(t, graph, [](int from, int) { return from == 0 ? 70'000U : 9'000U; });
    for (const auto& info : usable_kernels(t)) {
      if (info.pulls) continue;  // the receivers read the sources, when it pleases them
      const auto exchange = make_exchange(t, info.name, {graph, most.out, most.in, 1});
      for (unsigned round = 0; round < 3; ++round) {
        fill_zones(t, *exchange, 0, round);
        exchange->quiesce();
        exchange->iterate(0);
        fill_zones(t, *exchange, 0, round + 50);
        exchange->quiesce();
        EXPECT_EQ(wrong_bytes(t, *exchange, 0, round), 0U) << info.name << ", round " << round;
      }
    }
  });
}

}  // namespace
