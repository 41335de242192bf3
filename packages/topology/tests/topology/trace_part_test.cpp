/// Parser for the files of the tracing library, and their union to a traffic matrix.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/topology/traffic.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;
using comm::Move;
using comm::TrafficFlow;
using comm::TrafficMatrix;
using test::refusal;

TEST(ProcessGraphOf, holds_bytes_per_exchange_of_all_moves) {
  TrafficMatrix traffic(
      4,
      {{0, 1, Move::message, 10, 1000, 7, {10}}, {0, 1, Move::get, 5, 40, 4, {5}}, {3, 2, Move::put, 2, 16, 4, {2}}});
  EXPECT_EQ(traffic.exchange_count(), 10);  // the most operations of a flow
  EXPECT_EQ(process_graph_of(traffic).bytes(0, 1), 104);
  EXPECT_EQ(process_graph_of(traffic).bytes(3, 2), 1.6);
  EXPECT_EQ(process_graph_of(traffic).arcs(), 2);
  traffic.exchanges = 2;
  EXPECT_EQ(process_graph_of(traffic).bytes(0, 1), 520);
  EXPECT_EQ(process_graph_of(TrafficMatrix(1, {})).ranks(), 1);
}

std::string part(int rank, const std::string& lines, int ranks = 2) {
  return "merganser-trace 1\nprogram ./a out\nrank " + std::to_string(rank) + " of " + std::to_string(ranks) +
         "\nended finalize\nphase 0 0\n" + lines + "self 1 8\noutside 0 0\nend\n";
}

TEST(TracePart, is_read_with_gets_turned_round) {
  const TracePart p = parse_trace_part(
      part(0, "phase 3 2\nflow 3 1 get 2 16 4 2\nflow 0 1 put 1 8 4 1\ncollective MPI_Barrier 5\n"), "p");
  EXPECT_EQ(p.program, "./a out");
  EXPECT_EQ(p.phases.at(3).entered, 2);
  EXPECT_EQ(p.phases.at(3).flows.at(0), (TrafficFlow{1, 0, Move::get, 2, 16, 4, {2}}));
  EXPECT_EQ(p.self_bytes, 8);
  EXPECT_EQ(p.collectives.at(0).calls, 5);
  const TrafficMatrix joined = join_trace_parts({parse_trace_part(part(1, ""), "q"), p}, {});
  EXPECT_EQ(joined.flows().size(), 2U);
  EXPECT_EQ(join_trace_parts({parse_trace_part(part(1, ""), "q"), p}, 3).exchanges, 2);
}

TEST(TracePart, malformed_ones_are_refused_with_their_line) {
  const auto of = [](const std::string& text) { return refusal([&] { (void)parse_trace_part(text, "p"); }); };
  EXPECT_NE(of("").find("empty"), std::string::npos);
  EXPECT_NE(of("merganser-trace 2\n").find("the version is \"2\""), std::string::npos);
  EXPECT_NE(of("merganser-trace 1\n").find("ends before \"program\""), std::string::npos);
  EXPECT_NE(of(part(2, "")).find("the number of ranks is \"2\""), std::string::npos);
  EXPECT_NE(of(part(0, "flow 0 2 put 1 8 4 1\n")).find("line 6: the other rank is \"2\""), std::string::npos);
  EXPECT_NE(of(part(0, "flow 0 1 push 1 8 4 1\n")).find("unknown kind"), std::string::npos);
  EXPECT_NE(of(part(0, "flow 9 1 put 1 8 4 1\n")).find("phase 9"), std::string::npos);
  EXPECT_NE(of(part(0, "wave 1\n")).find("unknown entry \"wave\""), std::string::npos);
  EXPECT_NE(of(part(0, "phase 1 2 3\n")).find("after the end"), std::string::npos);
  const std::string whole = part(0, "flow 0 1 put 1 8 4 1\n");
  for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
    EXPECT_NE(of(whole.substr(0, length)), "nothing was thrown") << length;
  }
}

TEST(TracePart, missing_doubled_and_foreign_ranks_are_named) {
  const auto p = [](int rank, int ranks = 2) { return parse_trace_part(part(rank, "", ranks), "p"); };
  EXPECT_NE(refusal([&] { (void)join_trace_parts({p(1)}, {}); }).find("rank 0 is missing"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)join_trace_parts({p(0)}, {}); }).find("rank 1 is missing"), std::string::npos);
  EXPECT_NE(refusal([&] {
              (void)join_trace_parts({p(0), p(0)}, {});
            }).find("rank 0 is there twice"),
            std::string::npos);
  EXPECT_NE(refusal([&] { (void)join_trace_parts({p(0), p(1, 3)}, {}); }).find("different runs"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)join_trace_parts({p(0), p(1)}, 5); }).find("phases: 0"), std::string::npos);
  EXPECT_NE(refusal([&] { (void)join_trace_parts({}, {}); }).find("no part"), std::string::npos);
}

}  // namespace
