/// Configurations of the benchmark: sizes along arcs, classes that share an exchange, memory, contradictions.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/graphs/process_graph_kinds.hpp"
#include "src/topology/measure_cells.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;
using topology::detail::arc_bytes;
using topology::detail::Cells;
using topology::detail::make_cells;
using topology::detail::total_bytes;

MeasureOptions options_of(const std::string& kind, int ranks, std::vector<MessageSize> sizes) {
  MeasureOptions o;
  o.graphs = {{kind, graphs::make_process_graph(kind, ranks, 1)}};
  o.kernels = {"threads.copy"};
  o.sizes = std::move(sizes);
  return o;
}

TEST(MessageSizeOf, an_arc_is_constant_or_its_weight_times_a_factor) {
  const graphs::ProcessGraph::Arc arc{1, 10.4};
  EXPECT_EQ((MessageSize{8, false}.on(arc)), 8U);
  EXPECT_EQ((MessageSize{7.5, false}.on(arc)), 8U) << "rounded";
  EXPECT_EQ((MessageSize{1, true}.on(arc)), 10U);
  EXPECT_EQ((MessageSize{2.5, true}.on(arc)), 26U);
  EXPECT_EQ((MessageSize{0.04, true}.on(arc)), 0U);
  EXPECT_EQ((MessageSize{0, true}.on(arc)), 0U);
  EXPECT_EQ(size_text({65536, false}), "65536");
  EXPECT_EQ(size_text({1, true}), "weights");
  EXPECT_EQ(size_text({0.5, true}), "weights*0.5");
  EXPECT_EQ(size_text({2, true}), "weights*2");
}

TEST(ArcBytesOf, every_rank_are_those_of_its_rows_and_columns) {
  const graphs::ProcessGraph graph({{{1, 10}, {2, 20.6}}, {{2, 30}}, {{0, 40}}, {}});
  const MessageSize size{2, true};
  std::int64_t sum = 0;
  for (int rank = 0; rank < graph.ranks(); ++rank) {
    const comm::Graph local = graph.local(rank);
    const auto bytes = arc_bytes(graph, local, rank, size);
    ASSERT_EQ(bytes.out.size(), local.out.size());
    ASSERT_EQ(bytes.in.size(), local.in.size());
    for (std::size_t a = 0; a < local.out.size(); ++a) {
      EXPECT_EQ(bytes.out[a], static_cast<std::size_t>(std::lround(2 * graph.bytes(rank, local.out[a]))));
      sum += static_cast<std::int64_t>(bytes.out[a]);
    }
    for (std::size_t a = 0; a < local.in.size(); ++a) {
      EXPECT_EQ(bytes.in[a], static_cast<std::size_t>(std::lround(2 * graph.bytes(local.in[a], rank))));
    }
  }
  EXPECT_EQ(sum, 20 + 41 + 60 + 80);
  EXPECT_EQ(total_bytes(graph, size), sum);
  EXPECT_EQ(total_bytes(graph, {8, false}), 32);
}

/// Returns, by configuration, the number of its slot and of that slot's sets of buffers: "0:1 0:1 1:1".
std::string slots_of(const Cells& cells) {
  std::string all;
  for (const auto& cell : cells.cells) {
    all += (all.empty() ? "" : " ") + std::to_string(cell.slot) + ":" + std::to_string(cells.slots[cell.slot].buffers);
  }
  return all;
}

TEST(CellsOf, sizes_up_to_64_KiB_share_an_exchange) {
  auto o = options_of("chain", 2, {{1, false}, {1024, false}, {1025, false}, {65536, false}, {65537, false}});
  for (const auto buffers : {Buffers::warm, Buffers::flush}) {
    o.buffers = buffers;
    EXPECT_EQ(slots_of(make_cells(o, o.kernels)), "0:1 0:1 0:1 0:1 1:1");
  }
  o.buffers = Buffers::rotate;
  const Cells rotated = make_cells(o, o.kernels);
  EXPECT_EQ(slots_of(rotated), "0:256 0:256 1:16 1:16 2:4");
  EXPECT_TRUE(rotated.slots[0].kept);
  EXPECT_TRUE(rotated.slots[1].kept);
  EXPECT_FALSE(rotated.slots[2].kept) << "long messages have an exchange for their turn only";
}

TEST(CellsOf, a_graph_are_in_ascending_order_of_the_longest_message) {
  MeasureOptions o;
  o.graphs = {{"w", graphs::ProcessGraph({{{1, 500}}, {{0, 5000}}})}};
  o.kernels = {"threads.copy", "threads.copy-flag"};
  o.sizes = {{9000, false}, {1, true}, {8, false}, {2, true}};
  const Cells cells = make_cells(o, o.kernels);
  ASSERT_EQ(cells.cells.size(), 8U);
  const std::vector<std::string> wanted{"8", "weights", "9000", "weights*2"};
  for (std::size_t c = 0; c < 8; ++c) {
    EXPECT_EQ(size_text(cells.cells[c].size), wanted[c % 4]);
    EXPECT_EQ(cells.cells[c].kernel, c / 4);
    EXPECT_EQ(cells.cells[c].slot, c / 4);
  }
  EXPECT_EQ(cells.slots[1].cells, (std::vector<std::size_t>{4, 5, 6, 7}));
  // A kernel that cannot be used here has no configuration; the others keep their numbers.
  const Cells one = make_cells(o, {"threads.copy-flag"});
  ASSERT_EQ(one.cells.size(), 4U);
  for (const auto& cell : one.cells) EXPECT_EQ(cell.kernel, 1U);
}

// The middle rank of a chain of three has two arcs out and two in: 4 times the size.
TEST(CellsOf, memory_is_that_of_the_rank_with_most_arcs) {
  auto o = options_of("chain", 3, {{1 << 20, false}});
  o.memory_bytes = 4.0 * (1 << 20);
  EXPECT_TRUE(make_cells(o, o.kernels).unusable.empty());
  o.memory_bytes -= 1;
  const Cells less = make_cells(o, o.kernels);
  ASSERT_EQ(less.unusable.size(), 1U);
  EXPECT_EQ(less.unusable[0].reason, "needs 4 MiB of buffers on one rank; allowed: 3 MiB");
  EXPECT_EQ(less.unusable[0].kernel, "threads.copy");
  EXPECT_EQ(less.unusable[0].graph, "chain");
  EXPECT_EQ(less.unusable[0].size, "1048576");
  EXPECT_FALSE(less.cells[0].usable);
  EXPECT_TRUE(less.slots[0].cells.empty());
  o.memory_bytes = 0;
  EXPECT_TRUE(make_cells(o, o.kernels).unusable.empty()) << "0 is no limit";
  // Rotation needs its four sets.
  o.buffers = Buffers::rotate;
  o.memory_bytes = 16.0 * (1 << 20) - 1;
  EXPECT_EQ(make_cells(o, o.kernels).unusable.size(), 1U);
}

// Two ranks, one arc out and one in: 128 KiB for messages of 64 KiB, so 128 exchanges fit into 16 MiB.
TEST(CellsOf, exchanges_are_kept_up_to_16_MiB_together) {
  auto o = options_of("chain", 2, {{65536, false}});
  o.graphs.assign(130, o.graphs[0]);
  const Cells cells = make_cells(o, o.kernels);
  ASSERT_EQ(cells.slots.size(), 130U);
  for (std::size_t s = 0; s < 130; ++s) EXPECT_EQ(cells.slots[s].kept, s < 128) << s;
}

TEST(CellsOf, what_is_unusable_is_said_once) {
  const auto o = options_of("chain", 2, {{8, false}, {64, false}});
  Cells cells = make_cells(o, o.kernels);
  cells.mark_unusable(1, o, "no room");
  cells.mark_unusable(1, o, "no room at all");
  ASSERT_EQ(cells.unusable.size(), 1U);
  EXPECT_EQ(cells.unusable[0].reason, "no room");
  EXPECT_EQ(cells.unusable[0].size, "64");
  EXPECT_EQ(cells.slots[0].cells, std::vector<std::size_t>{0});
  EXPECT_TRUE(cells.cells[0].usable);
}

TEST(CellsOf, contradictions_are_refused_with_what_is_allowed) {
  const auto refused = [](const MeasureOptions& o) {
    return test::refusal<UsageError>([&] { (void)make_cells(o, o.kernels); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refused(options_of("chain", 2, {{-1, false}})), "size of messages: -1; allowed: 0 to 2^40");
  EXPECT_NE(refused(options_of("chain", 2, {{nan, false}})).find("allowed: 0 to 2^40"), std::string::npos);
  EXPECT_EQ(refused(options_of("chain", 2, {{0x1p40, false}})), "nothing was thrown");
  EXPECT_EQ(refused(options_of("chain", 2, {{0x1p40 + 1, false}})),
            "size of messages: 1099511627777; allowed: 0 to 2^40");
  EXPECT_EQ(refused(options_of("chain", 2, {{1, true}})),
            "size of messages: weights, but the arcs of graph chain have no weights; allowed: numbers of bytes");
  EXPECT_EQ(refused(options_of("chain", 2, {})),
            "nothing to measure: no graph or no size; allowed: at least one of each");
  auto none = options_of("chain", 2, {{8, false}});
  none.graphs.clear();
  EXPECT_EQ(refused(none), "nothing to measure: no graph or no size; allowed: at least one of each");
}

}  // namespace
