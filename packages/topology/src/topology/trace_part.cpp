// Parser for the files rank-N.trace of the tracing library, and their joining to a traffic matrix.
#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/topology/traffic.hpp"
#include "src/topology/words.hpp"

namespace merganser::topology {
namespace {

constexpr std::string_view kTraceMagic = "merganser-trace ";
constexpr int kVersion = 1;
constexpr int kMaxTraceRanks = 1 << 28;

/// Parses the rest of a line "flow" of a trace file: operations of the file's rank with one other rank. @throws InputError naming
/// file and line
comm::TrafficFlow parse_flow(WordReader& in, TracePart& part) {
  comm::TrafficFlow flow;
  const auto peer = static_cast<int>(in.read_number("the other rank", 0, part.ranks - 1));
  try {
    flow.move = comm::parse_move(in.next_word());
  } catch (const InputError& e) {
    in.fail(e.what());
  }
  flow.from = flow.move == comm::Move::get ? peer : part.rank;
  flow.to = flow.move == comm::Move::get ? part.rank : peer;
  flow.operations = in.read_number("the number of operations", 1);
  flow.bytes = in.read_number("the number of bytes");
  flow.first_class = static_cast<std::size_t>(in.read_number("the first size class", 0, comm::kSizeClasses - 1));
  while (!in.is_at_end()) flow.sizes.push_back(in.read_number("the number of operations of one size class"));
  return flow;
}

/// Parses one line of a trace file by its first word: phase, flow, self, outside or collective. @throws InputError naming file and
/// line
void parse_line(WordReader& in, TracePart& part) {
  const auto kind = in.next_word();
  if (kind == "phase") {
    const auto level = static_cast<int>(in.read_number("the phase", INT32_MIN, INT32_MAX));
    part.phases[level].entered = in.read_number("the number of times a phase began");
  } else if (kind == "flow") {
    const auto level = static_cast<int>(in.read_number("the phase", INT32_MIN, INT32_MAX));
    const auto phase = part.phases.find(level);
    if (phase == part.phases.end()) in.fail("a flow of phase " + std::to_string(level) + ", which has not been named");
    phase->second.flows.push_back(parse_flow(in, part));
  } else if (kind == "self") {
    part.self_operations = in.read_number("the number of operations");
    part.self_bytes = in.read_number("the number of bytes");
  } else if (kind == "outside") {
    part.outside_operations = in.read_number("the number of operations");
    part.outside_bytes = in.read_number("the number of bytes");
  } else if (kind == "collective") {
    auto& one = part.collectives.emplace_back();
    one.name = in.next_word();
    one.calls = in.read_number("the number of calls");
  } else {
    in.fail("unknown entry \"" + std::string(kind) + "\"; known: phase, flow, self, outside, collective, end");
  }
}

}  // namespace

// Completeness of the trace or monitoring files of a program, before they are joined.
std::string describe_wrong_rank(const std::vector<int>& listed, int ranks) {
  std::vector<int> sorted = listed;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && sorted[i] == sorted[i - 1]) return "rank " + std::to_string(sorted[i]) + " is there twice";
    if (sorted[i] != static_cast<int>(i)) return "rank " + std::to_string(i) + " is missing";
  }
  if (static_cast<int>(sorted.size()) < ranks) return "rank " + std::to_string(sorted.size()) + " is missing";
  return {};
}

bool is_trace_part(std::string_view text) { return text.starts_with(kTraceMagic); }

// Parser of the trace of one rank.
TracePart parse_trace_part(std::string_view text, const std::string& name) {
  WordReader in(text, name);
  if (!in.next_line()) throw InputError(name + ": empty; a part of a trace begins with \"merganser-trace 1\"");
  in.expect("merganser-trace");
  (void)in.read_number("the version", kVersion, kVersion);
  TracePart part;
  const auto header = [&](std::string_view what) {
    if (!in.next_line()) in.fail("the file ends before \"" + std::string(what) + "\"");
    in.expect(what);
  };
  header("program");
  part.program = in.rest_of_line();
  header("rank");
  part.rank = static_cast<int>(in.read_number("the rank", 0, kMaxTraceRanks - 1));
  in.expect("of");
  part.ranks = static_cast<int>(in.read_number("the number of ranks", part.rank + 1, kMaxTraceRanks));
  header("ended");
  part.ended = in.next_word();
  while (in.next_line()) {
    if (in.rest_of_line() == "end") return part;
    parse_line(in, part);
    if (!in.is_at_end()) in.fail("\"" + std::string(in.next_word()) + "\" after the end of the entry");
  }
  in.fail("the line \"end\" is missing: the file was cut off");
}

// Traffic matrix of a program, or of one phase of it, from the traces of all its ranks.
comm::TrafficMatrix join_trace_parts(const std::vector<TracePart>& parts, std::optional<int> phase) {
  if (parts.empty()) throw InputError("trace: no part of any rank; allowed: one of each");
  const TracePart& first = parts.front();
  std::vector<int> ranks;
  std::vector<comm::TrafficFlow> flows;
  std::int64_t entered = 0;
  std::string known;
  for (const TracePart& part : parts) {
    if (part.ranks != first.ranks) {
      throw InputError("trace: rank " + std::to_string(part.rank) + " ran as one of " + std::to_string(part.ranks) +
                       " ranks, rank " + std::to_string(first.rank) + " as one of " + std::to_string(first.ranks) +
                       "; the parts are of different runs");
    }
    ranks.push_back(part.rank);
    for (const auto& [level, content] : part.phases) {
      const std::string name = std::to_string(level);
      if ((" " + known + " ").find(" " + name + " ") == std::string::npos) known += (known.empty() ? "" : " ") + name;
      if (phase && level != *phase) continue;
      entered = std::max(entered, content.entered);
      flows.insert(flows.end(), content.flows.begin(), content.flows.end());
    }
  }
  if (const std::string wrong = describe_wrong_rank(ranks, first.ranks); !wrong.empty()) {
    throw InputError("trace of " + std::to_string(first.ranks) + " ranks: the part of " + wrong);
  }
  if (phase && (" " + known + " ").find(" " + std::to_string(*phase) + " ") == std::string::npos) {
    throw InputError("trace: no rank was in phase " + std::to_string(*phase) + "; phases: " + known);
  }
  comm::TrafficMatrix traffic(first.ranks, std::move(flows));
  traffic.source = "trace of " + first.program;
  if (phase) {
    traffic.source += ", phase " + std::to_string(*phase);
    if (entered > 0) traffic.exchanges = entered;
  }
  return traffic;
}

}  // namespace merganser::topology
