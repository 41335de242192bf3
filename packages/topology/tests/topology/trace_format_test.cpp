/// Parts of a trace that this test writes from flows of its own: what is read is what was written, each spoiled word is refused
/// with its line, and the matrix of all parts is the sum of their flows.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/topology/traffic.hpp"
#include "src/topology/words.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::topology;
using comm::Move;
using comm::TrafficFlow;

/// Returns the text of a part, by the format of topology-extract.md.
std::string written(const TracePart& part) {
  std::ostringstream out;
  out << "merganser-trace 1\nprogram " << part.program << "\nrank " << part.rank << " of " << part.ranks << "\nended "
      << part.ended << '\n';
  for (const auto& [level, phase] : part.phases) {
    out << "phase " << level << ' ' << phase.entered << '\n';
    for (const auto& flow : phase.flows) {
      out << "flow " << level << ' ' << (flow.move == Move::get ? flow.from : flow.to) << ' '
          << comm::move_name(flow.move) << ' ' << flow.operations << ' ' << flow.bytes << ' ' << flow.first_class;
      for (const auto n : flow.sizes) out << ' ' << n;
      out << '\n';
    }
  }
  out << "self " << part.self_operations << ' ' << part.self_bytes << "\noutside " << part.outside_operations << ' '
      << part.outside_bytes << '\n';
  for (const auto& one : part.collectives) out << "collective " << one.name << ' ' << one.calls << '\n';
  out << "end\n";
  return out.str();
}

/// Returns a part with random flows to and from the other ranks, in phases -2 to 3.
TracePart random_part(Random& random, int rank, int ranks) {
  TracePart part;
  part.rank = rank;
  part.ranks = ranks;
  part.program = "./a program with  blanks";
  part.ended = rank % 2 == 0 ? "finalize" : "abort";
  for (int level = -2; level <= 3; ++level) {
    if (level != 0 && random.below(3) == 0) continue;
    auto& phase = part.phases[level];
    phase.entered = static_cast<std::int64_t>(random.below(20));
    for (std::uint64_t f = random.below(5); f > 0 && ranks > 1; --f) {
      const int peer = (rank + 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(ranks - 1)))) % ranks;
      TrafficFlow flow;
      flow.move = static_cast<Move>(random.below(3));
      flow.from = flow.move == Move::get ? peer : rank;
      flow.to = flow.move == Move::get ? rank : peer;
      flow.first_class = random.below(5);
      for (std::uint64_t c = 1 + random.below(3); c > 0; --c) {
        flow.sizes.push_back(1 + static_cast<std::int64_t>(random.below(9)));
        flow.operations += flow.sizes.back();
      }
      flow.bytes = static_cast<std::int64_t>(random.below(1'000'000));
      phase.flows.push_back(flow);
    }
  }
  part.self_operations = static_cast<std::int64_t>(random.below(9));
  part.self_bytes = 8 * part.self_operations;
  part.outside_operations = static_cast<std::int64_t>(random.below(9));
  part.outside_bytes = 16 * part.outside_operations;
  part.collectives = {{"MPI_Barrier", 5}, {"MPI_Allreduce", static_cast<std::int64_t>(random.below(99))}};
  return part;
}

TEST(TraceFormat, what_is_read_is_what_was_written) {
  Random random(31, 0, 0);
  for (int trial = 0; trial < 50; ++trial) {
    const int ranks = 1 + trial % 6;
    const TracePart wanted = random_part(random, trial % ranks, ranks);
    const TracePart found = parse_trace_part(written(wanted), "t");
    EXPECT_EQ(found.rank, wanted.rank);
    EXPECT_EQ(found.ranks, wanted.ranks);
    EXPECT_EQ(found.program, wanted.program);
    EXPECT_EQ(found.ended, wanted.ended);
    EXPECT_EQ(found.self_operations, wanted.self_operations);
    EXPECT_EQ(found.self_bytes, wanted.self_bytes);
    EXPECT_EQ(found.outside_operations, wanted.outside_operations);
    EXPECT_EQ(found.outside_bytes, wanted.outside_bytes);
    ASSERT_EQ(found.phases.size(), wanted.phases.size());
    for (const auto& [level, phase] : wanted.phases) {
      EXPECT_EQ(found.phases.at(level).entered, phase.entered);
      EXPECT_EQ(found.phases.at(level).flows, phase.flows);
    }
    ASSERT_EQ(found.collectives.size(), wanted.collectives.size());
    for (std::size_t c = 0; c < wanted.collectives.size(); ++c) {
      EXPECT_EQ(found.collectives[c].name, wanted.collectives[c].name);
      EXPECT_EQ(found.collectives[c].calls, wanted.collectives[c].calls);
    }
  }
}

TEST(TraceFormat, the_matrix_is_the_sum_of_the_flows_of_all_parts) {
  Random random(32, 0, 0);
  for (const int ranks : {2, 3, 6}) {
    std::vector<TracePart> parts;
    for (int rank = ranks; rank-- > 0;) parts.push_back(random_part(random, rank, ranks));
    for (const std::optional<int> phase :
         {std::optional<int>(), std::optional(0), std::optional(3), std::optional(-2)}) {
      std::map<std::tuple<int, int, Move>, std::pair<std::int64_t, std::int64_t>> wanted, found;
      std::int64_t entered = 0;
      bool known = false;
      for (const auto& part : parts) {
        for (const auto& [level, content] : part.phases) {
          if (phase && level != *phase) continue;
          known = true;
          entered = std::max(entered, content.entered);
          for (const auto& flow : content.flows) {
            auto& at = wanted[{flow.from, flow.to, flow.move}];
            at.first += flow.operations;
            at.second += flow.bytes;
          }
        }
      }
      if (!known) continue;
      const auto matrix = join_trace_parts(parts, phase);
      for (const auto& flow : matrix.flows()) found[{flow.from, flow.to, flow.move}] = {flow.operations, flow.bytes};
      EXPECT_EQ(found, wanted);
      EXPECT_EQ(matrix.ranks(), ranks);
      const std::string source = "trace of ./a program with  blanks";
      EXPECT_EQ(matrix.source, phase ? source + ", phase " + std::to_string(*phase) : source);
      EXPECT_EQ(matrix.exchanges.has_value(), phase.has_value() && entered > 0);
      if (matrix.exchanges) {
        EXPECT_EQ(*matrix.exchanges, entered) << "the rank that began the phase most often counts";
      }
    }
  }
}

constexpr const char* kWhole =
    "merganser-trace 1\n"
    "program ./a\n"
    "rank 0 of 3\n"
    "ended finalize\n"
    "phase 4 2\n"
    "flow 4 2 put 3 24 4 1 2\n"
    "\n"
    "self 1 8\n"
    "outside 2 16\n"
    "collective MPI_Barrier 5\n"
    "end\n";

/// Returns the error of kWhole with a word replaced; "-" removes the word and all behind it in its line.
std::string error_of(std::size_t line, std::size_t word, const std::string& by) {
  std::istringstream in(kWhole);
  std::string changed, one;
  for (std::size_t l = 1; std::getline(in, one); ++l) {
    std::istringstream words(one);
    std::string w;
    for (std::size_t i = 0; words >> w; ++i) {
      if (l == line && i == word && by == "-") break;
      changed += (i == 0 ? "" : " ") + (l == line && i == word ? by : w);
    }
    changed += '\n';
  }
  return test::refusal<InputError>([&] { (void)parse_trace_part(changed, "part.7"); });
}

TEST(TraceFormat, each_spoiled_word_is_refused_with_its_line) {
  ASSERT_EQ(error_of(0, 0, ""), "nothing was thrown");
  struct Spoiled {
    std::size_t line, word;
    const char* by;
    const char* error;
  };
  const Spoiled all[]{
      {1, 0, "merganser-trac", "\"merganser-trac\" where \"merganser-trace\" is expected"},
      {1, 1, "2", "the version is \"2\"; allowed: whole numbers 1 to 1"},
      {2, 0, "programme", "\"programme\" where \"program\" is expected"},
      {3, 0, "ranks", "\"ranks\" where \"rank\" is expected"},
      {3, 1, "-1", "the rank is \"-1\"; allowed: whole numbers 0 to 268435455"},
      {3, 1, "3", "the number of ranks is \"3\"; allowed: whole numbers 4 to 268435456"},
      {3, 2, "on", "\"on\" where \"of\" is expected"},
      {3, 3, "0", "the number of ranks is \"0\"; allowed: whole numbers 1 to 268435456"},
      {4, 0, "end", "\"end\" where \"ended\" is expected"},
      {5, 0, "Phase", "unknown entry \"Phase\"; known: phase, flow, self, outside, collective, end"},
      {5, 1, "4.5", "the phase is \"4.5\"; allowed: whole numbers -2147483648 to 2147483647"},
      {5, 1, "2147483648", "the phase is \"2147483648\""},
      {5, 2, "-1", "the number of times a phase began is \"-1\""},
      {6, 1, "5", "a flow of phase 5, which has not been named"},
      {6, 2, "3", "the other rank is \"3\"; allowed: whole numbers 0 to 2"},
      {6, 3, "Put", "traffic: unknown kind of operation \"Put\"; known: message, put, get"},
      {6, 4, "0", "the number of operations is \"0\"; allowed: whole numbers 1 to 9223372036854775807"},
      {6, 5, "1e3", "the number of bytes is \"1e3\""},
      {6, 6, "48", "the first size class is \"48\"; allowed: whole numbers 0 to 47"},
      {6, 7, "x", "the number of operations of one size class is \"x\""},
      {6, 6, "-", "the first size class is \"\""},
      {8, 1, "", "the number of bytes is \"\""},
      {8, 2, "8 9", "\"9\" after the end of the entry"},
      {9, 2, "99999999999999999999", "the number of bytes is \"99999999999999999999\""},
      {10, 2, "-", "the number of calls is \"\""},
  };
  for (const auto& s : all) {
    const std::string error = error_of(s.line, s.word, s.by);
    EXPECT_EQ(error.find("part.7, line " + std::to_string(s.line) + ": " + s.error), 0U) << error;
  }
  EXPECT_NE(error_of(11, 0, "-").find("the line \"end\" is missing: the file was cut off"), std::string::npos);
}

TEST(TraceFormat, joining_parts_that_do_not_belong_together_is_refused) {
  const auto part = [](int rank, int ranks, std::vector<int> phases) {
    TracePart p;
    p.rank = rank;
    p.ranks = ranks;
    for (const int level : phases) p.phases[level].entered = 1;
    return p;
  };
  const auto error = [](const std::vector<TracePart>& parts, std::optional<int> phase = {}) {
    return test::refusal<InputError>([&] { (void)join_trace_parts(parts, phase); });
  };
  EXPECT_EQ(error({}), "trace: no part of any rank; allowed: one of each");
  EXPECT_EQ(error({part(1, 2, {}), part(0, 3, {})}),
            "trace: rank 0 ran as one of 3 ranks, rank 1 as one of 2; the parts are of different runs");
  EXPECT_EQ(error({part(2, 3, {}), part(0, 3, {})}), "trace of 3 ranks: the part of rank 1 is missing");
  EXPECT_EQ(error({part(0, 3, {}), part(1, 3, {})}), "trace of 3 ranks: the part of rank 2 is missing");
  EXPECT_EQ(error({part(1, 2, {}), part(1, 2, {}), part(0, 2, {})}),
            "trace of 2 ranks: the part of rank 1 is there twice");
  // Phases are looked up as numbers: 1 is none of 0, 10 and -1.
  EXPECT_EQ(error({part(0, 2, {0, 10}), part(1, 2, {-1, 0})}, 1), "trace: no rank was in phase 1; phases: 0 10 -1");
  EXPECT_EQ(error({part(0, 2, {0, 10}), part(1, 2, {-1, 0})}, 10), "nothing was thrown");
}

TEST(WrongRank, is_described_for_every_list) {
  EXPECT_EQ(describe_wrong_rank({}, 0), "");
  EXPECT_EQ(describe_wrong_rank({}, 1), "rank 0 is missing");
  EXPECT_EQ(describe_wrong_rank({2, 0, 1}, 3), "");
  EXPECT_EQ(describe_wrong_rank({2, 0, 1}, 4), "rank 3 is missing");
  EXPECT_EQ(describe_wrong_rank({2, 0}, 3), "rank 1 is missing");
  EXPECT_EQ(describe_wrong_rank({0, 1, 1}, 3), "rank 1 is there twice");
  EXPECT_EQ(describe_wrong_rank({0, 0, 2}, 3), "rank 0 is there twice");
  EXPECT_EQ(describe_wrong_rank({1, 2}, 3), "rank 0 is missing");
}

TEST(WordReader, counts_lines_that_are_empty_too) {
  WordReader in("\n \t\none two\r\n\n  three", "f");
  ASSERT_TRUE(in.next_line());
  EXPECT_EQ(in.rest_of_line(), "one two");
  EXPECT_EQ(in.next_word(), "one");
  EXPECT_FALSE(in.is_at_end());
  EXPECT_EQ(in.rest_of_line(), "two");
  EXPECT_EQ(test::refusal<InputError>([&] { in.fail("why"); }), "f, line 3: why");
  EXPECT_EQ(test::refusal<InputError>([&] { in.expect("to"); }), "f, line 3: \"two\" where \"to\" is expected");
  EXPECT_TRUE(in.is_at_end());
  EXPECT_EQ(in.next_word(), "");
  ASSERT_TRUE(in.next_line());
  EXPECT_EQ(test::refusal<InputError>([&] { (void)in.read_number("it"); }),
            "f, line 5: it is \"three\"; allowed: whole numbers 0 to 9223372036854775807");
  EXPECT_FALSE(in.next_line());
}

// Against the sums over a matrix of all pairs.
TEST(ProcessGraphOracle, arcs_are_the_bytes_of_all_kinds_by_exchange) {
  Random random(33, 0, 0);
  for (int trial = 0; trial < 30; ++trial) {
    constexpr int kRanks = 5;
    std::map<std::pair<int, int>, std::int64_t> bytes;
    std::vector<TrafficFlow> flows;
    for (int f = 0; f < 20; ++f) {
      const int from = static_cast<int>(random.below(kRanks));
      const int to = (from + 1 + static_cast<int>(random.below(kRanks - 1))) % kRanks;
      const auto moved = static_cast<std::int64_t>(random.below(10'000));
      flows.push_back({from, to, static_cast<Move>(random.below(3)), 3, moved, 0, {}});
      bytes[{from, to}] += moved;
    }
    comm::TrafficMatrix traffic(kRanks, flows);
    traffic.exchanges = 1 + trial % 7;
    const auto graph = process_graph_of(traffic);
    EXPECT_EQ(graph.ranks(), kRanks);
    EXPECT_EQ(graph.arcs(), static_cast<std::int64_t>(bytes.size()));
    for (const auto& [arc, sum] : bytes) {
      EXPECT_DOUBLE_EQ(graph.bytes(arc.first, arc.second), static_cast<double>(sum) / (1 + trial % 7));
    }
  }
  const TrafficFlow most{1, 0, Move::put, 1, INT64_MAX, 0, {}};
  const TrafficFlow more{1, 0, Move::message, 1, 1, 0, {}};
  EXPECT_EQ(test::refusal<InputError>([&] {
              (void)process_graph_of(comm::TrafficMatrix(2, {most, more}));
            }),
            "traffic: bytes from rank 1 to rank 0 are more than 64 bits can count");
}

}  // namespace
