/// Layout of zones: each end of an arc knows where the other one's zone is, no two zones share a cache line, and specifications
/// that contradict each other are refused with both views.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/kernels/families/support/plan.hpp"
#include "tests/kernels/exchange_support.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::comm;
using namespace merganser::kernels;
using namespace merganser::test;

class ExchangePlanTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ExchangePlanTest, testing::ValuesIn(one_model_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Returns an entry of the table that only makes plans, with limits of its own.
kernels::detail::KernelEntry entry_of(std::string_view name, std::size_t most = SIZE_MAX,
                                      std::size_t together = SIZE_MAX) {
  return {kernel(name), nullptr, most, together};
}

std::size_t varied(int from, int to) { return static_cast<std::size_t>((from * 37 + to * 11) % 200); }

/// Returns where the zone of each arc begins if zones stand behind each other, each in whole cache lines.
std::vector<std::size_t> stacked(const std::vector<std::size_t>& bytes) {
  std::vector<std::size_t> at{0};
  for (const std::size_t size : bytes) {
    std::size_t next = at.back();
    while (next < at.back() + size) next += 64;
    at.push_back(next);
  }
  return at;
}

std::uint64_t index_of(const std::vector<int>& ranks, int rank) {
  return static_cast<std::uint64_t>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

TEST_P(ExchangePlanTest, zones_stand_in_whole_cache_lines_behind_each_other) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const Graph& graph : {Graph{}, complete(t), random_graph(t, 3)}) {
      const auto sizes = sizes_by_arc(t, graph, varied);
      const auto plan = make_plan(t, entry_of("threads.copy-flag"), {graph, sizes.out, sizes.in, 3});
      auto out = stacked(sizes.out);
      auto in = stacked(sizes.in);
      EXPECT_EQ(plan.sources.stride, out.back());
      EXPECT_EQ(plan.landings.stride, in.back());
      out.pop_back();
      in.pop_back();
      EXPECT_EQ(plan.sources.at, out);
      EXPECT_EQ(plan.landings.at, in);
      EXPECT_EQ(plan.source_bytes(), 3 * plan.sources.stride);
      EXPECT_EQ(plan.landing_bytes(), 3 * plan.landings.stride);
      EXPECT_EQ(plan.far_bytes(), plan.landing_bytes() + 64 * graph.in.size()) << "zones and a flag for each arc";
      const auto untold = make_plan(t, entry_of("threads.copy"), {graph, sizes.out, sizes.in, 3});
      EXPECT_EQ(untold.far_bytes(), untold.landing_bytes()) << "no flags without notification";
    }
  });
}

// The layout of every other rank is computed here from the whole graph, and compared with what its arcs were told.
TEST_P(ExchangePlanTest, both_ends_of_an_arc_know_the_zone_of_the_other) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = random_graph(t, 8);
    const auto sizes = sizes_by_arc(t, graph, varied);
    const auto plan = make_plan(t, entry_of("threads.copy-flag"), {graph, sizes.out, sizes.in, 5});
    const auto outs = all_gather(t, graph.out);
    const auto ins = all_gather(t, graph.in);
    const auto zones_of = [](std::span<const int> ranks, int rank, bool sends) {
      std::vector<std::size_t> bytes;
      for (const int other : ranks) bytes.push_back(sends ? varied(rank, other) : varied(other, rank));
      return stacked(bytes);
    };
    for (std::size_t arc = 0; arc < graph.out.size(); ++arc) {
      const int to = graph.out[arc];
      const std::vector<int> theirs(ins[static_cast<std::size_t>(to)].begin(), ins[static_cast<std::size_t>(to)].end());
      const auto zones = zones_of(theirs, to, false);
      const auto slot = index_of(theirs, t.rank());
      EXPECT_EQ(plan.targets[arc].slot, slot);
      EXPECT_EQ(plan.targets[arc].at, zones[slot]);
      EXPECT_EQ(plan.targets[arc].stride, zones.back());
      EXPECT_EQ(plan.target_flag(arc), zones.back() * 5 + slot * 64) << "behind five sets of zones";
    }
    for (std::size_t arc = 0; arc < graph.in.size(); ++arc) {
      const int from = graph.in[arc];
      const std::vector<int> theirs(outs[static_cast<std::size_t>(from)].begin(),
                                    outs[static_cast<std::size_t>(from)].end());
      const auto zones = zones_of(theirs, from, true);
      const auto slot = index_of(theirs, t.rank());
      EXPECT_EQ(plan.origins[arc].slot, slot);
      EXPECT_EQ(plan.origins[arc].at, zones[slot]);
      EXPECT_EQ(plan.origins[arc].stride, zones.back());
      EXPECT_EQ(plan.flag(arc), plan.landing_bytes() + arc * 64);
    }
  });
}

/// The next rank and the one before, in both directions; the rank itself where there is one.
Graph two_or_one(const Transport& t) {
  Graph graph = ring(t);
  if (graph.out != graph.in) graph.out.push_back(graph.in[0]), graph.in.push_back(graph.out[0]);
  return graph;
}

TEST_P(ExchangePlanTest, limits_of_a_kernel_hold_for_one_arc_and_for_all_together) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = two_or_one(t);
    const auto planned = [&](const kernels::detail::KernelEntry& entry, std::size_t bytes, std::size_t buffers) {
      const auto sizes = equal_sizes(graph, bytes);
      return refusal<UsageError>([&] { (void)make_plan(t, entry, {graph, sizes.out, sizes.in, buffers}); });
    };
    const std::string fine = "nothing was thrown";
    const std::size_t arcs = graph.out.size();
    EXPECT_EQ(planned(entry_of("threads.copy", 100), 100, 1), fine);
    EXPECT_NE(planned(entry_of("threads.copy", 100), 101, 1).find("threads.copy: 101 bytes on the out-arc of rank"),
              std::string::npos);
    EXPECT_NE(planned(entry_of("threads.copy", 100), 101, 1).find("; allowed: up to 100"), std::string::npos);
    // A cache line an arc is counted beside its bytes.
    EXPECT_EQ(planned(entry_of("threads.copy", 1000, arcs * 164), 100, 1), fine);
    EXPECT_EQ(planned(entry_of("threads.copy", 1000, arcs * 164 - 1), 100, 1),
              "threads.copy: the out-arcs of one rank carry more than " + std::to_string(arcs * 164 - 1) +
                  " bytes together, which this kernel cannot");
    EXPECT_EQ(planned(entry_of("threads.copy"), 1, std::size_t{1} << 20U), fine);
    EXPECT_EQ(planned(entry_of("threads.copy"), 1, (std::size_t{1} << 20U) + 1),
              "threads.copy: 1048577 buffers; allowed: 1 to 1048576");
    EXPECT_NE(
        planned(entry_of("threads.copy"), (std::size_t{1} << 62U) + 1, 1).find("allowed: up to 4611686018427387904"),
        std::string::npos);
    EXPECT_NE(planned(entry_of("threads.copy"), std::size_t{1} << 43U, std::size_t{1} << 20U).find("bytes together"),
              std::string::npos)
        << "all buffers together are beyond 2^62";
  });
}

TEST_P(ExchangePlanTest, every_contradiction_is_told_from_where_it_is_seen) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 2) return;
    const auto planned = [&](const Graph& graph, std::size_t out, std::size_t in) {
      return refusal<UsageError>([&] {
        (void)make_plan(t, entry_of("threads.copy"),
                        {graph, std::vector(graph.out.size(), out), std::vector(graph.in.size(), in), 1});
      });
    };
    const Graph sends{{1}, {}};
    const Graph receives{{}, {0}};
    const auto of = [&](const Graph& zero, const Graph& one) {
      return t.rank() == 0 ? zero : t.rank() == 1 ? one : Graph{};
    };
    EXPECT_EQ(planned(of(sends, receives), 8, 8), "nothing was thrown");
    EXPECT_EQ(planned(of(sends, {}), 8, 8),
              "threads.copy: on rank 0: rank 1 is an out-neighbour here, but has this rank not as an in-neighbour");
    EXPECT_EQ(planned(of({}, receives), 8, 8),
              "threads.copy: on rank 0: rank 1 has this rank as an in-neighbour, but is no out-neighbour here");
    EXPECT_EQ(planned(of({{}, {1}}, {}), 8, 8),
              "threads.copy: on rank 0: rank 1 is an in-neighbour here, but has this rank not as an out-neighbour");
    EXPECT_EQ(planned(of({}, {{0}, {}}), 8, 8),
              "threads.copy: on rank 0: rank 1 has this rank as an out-neighbour, but is no in-neighbour here");
    EXPECT_EQ(planned(of(sends, receives), 8, 9),
              "threads.copy: on rank 1: rank 0 sends 8 bytes, but 9 are expected here");
    const auto uneven = refusal<UsageError>([&] {
      (void)make_plan(t, entry_of("threads.copy"), {{}, {}, {}, t.rank() == 1 ? std::size_t{2} : std::size_t{1}});
    });
    EXPECT_EQ(uneven, "exchange: rank 1 makes threads.copy with 2 buffers, rank 0 threads.copy with 1 buffers");
  });
}

}  // namespace
