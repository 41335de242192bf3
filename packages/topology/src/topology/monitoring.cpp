// Parser for the files of Open MPI's monitoring component.
#include "merganser/topology/monitoring.hpp"

#include <algorithm>

#include "merganser/base/error.hpp"
#include "src/topology/words.hpp"

/// Lines of a file, after a heading of each part:
///   E|I  FROM TO BYTES bytes N msgs sent [COUNT,COUNT,...]   messages of the program, of the library
///   S|R  FROM TO BYTES bytes N msgs sent                     one-sided, to TO or from TO
///   C    FROM TO ...   messages of collectives                D NAME procs: RANK,...   and O2A, A2O, A2A below it
namespace merganser::topology {
namespace {

constexpr std::string_view kMagic = "# POINT TO POINT";
constexpr int kMaxRanks = 1 << 28;

/// Line of a file of Open MPI's monitoring about the operations between two ranks; filled by parse_line().
struct Line {
  int from;                         ///< rank of MPI_COMM_WORLD that wrote the file
  int to;                           ///< rank at the other end
  std::int64_t bytes;               ///< sum over all operations
  std::int64_t operations;          ///< number of messages, puts or gets
  std::vector<std::int64_t> sizes;  ///< number of messages by size class; empty where the line has none
};

/// Parses what follows the letter of a line about two ranks in a monitoring file. @throws InputError naming file and line
Line parse_line(WordReader& in) {
  Line line{};
  line.from = static_cast<int>(in.read_number("the sender", 0, kMaxRanks - 1));
  line.to = static_cast<int>(in.read_number("the receiver", 0, kMaxRanks - 1));
  line.bytes = in.read_number("the number of bytes");
  in.expect("bytes");
  line.operations = in.read_number("the number of messages");
  in.expect("msgs");
  in.expect("sent");
  std::string_view counts = in.next_word();
  while (!counts.empty()) {
    const auto comma = std::min(counts.find(','), counts.size());
    line.sizes.push_back(in.parse_number(counts.substr(0, comma), "a number of messages of one size", 0, INT64_MAX));
    counts.remove_prefix(std::min(comma + 1, counts.size()));
  }
  return line;
}

/// Assigns the histogram of message sizes in a monitoring file to a flow between two ranks. The component's histogram counts all
/// messages along an arc, so it is the program's only where it adds up to the program's own messages.
void assign_sizes(comm::TrafficFlow& flow, std::vector<std::int64_t> sizes) {
  std::int64_t counted = 0;
  for (const std::int64_t n : sizes) {
    if (n > flow.operations - counted) return;
    counted += n;
  }
  if (counted != flow.operations) return;
  for (std::size_t c = comm::kSizeClasses; c < sizes.size(); ++c) sizes[comm::kSizeClasses - 1] += sizes[c];
  sizes.resize(std::min(sizes.size(), comm::kSizeClasses));
  flow.sizes = std::move(sizes);
}

/// Adds to the sum of messages that Open MPI sent for itself. @throws InputError on overflow of 64 bits
void add_checked(const WordReader& in, std::int64_t& total, std::int64_t more) {
  if (more > INT64_MAX - total) in.fail("the messages of the library are more than 64 bits can count");
  total += more;
}

/// Takes the rank of a monitoring file from its first entry. @param named  true: an entry was read before
/// @throws InputError for an entry of another rank
void check_rank(const WordReader& in, MonitoringPart& part, int rank, bool& named) {
  if (named && rank != part.rank) {
    in.fail("an entry of rank " + std::to_string(rank) + " in the file of rank " + std::to_string(part.rank));
  }
  part.rank = rank;
  named = true;
}

/// Parses the line "D MPI_COMM_WORLD procs: 0,1,2" of a monitoring file, which gives the number of ranks; other communicators are
/// skipped.
void parse_communicator(WordReader& in, MonitoringPart& part) {
  if (in.next_word() != "MPI_COMM_WORLD") return;
  in.expect("procs:");
  std::string_view list = in.next_word();
  const auto count = std::count(list.begin(), list.end(), ',') + 1;
  if (!list.empty()) part.ranks = std::max(part.ranks, static_cast<int>(count));
}

}  // namespace

bool is_monitoring(std::string_view text) { return text.starts_with(kMagic); }

// Parser of the monitoring file of one rank.
MonitoringPart parse_monitoring(std::string_view text, const std::string& name) {
  WordReader in(text, name);
  if (!is_monitoring(text)) {
    throw InputError(name + ": a file of Open MPI's monitoring begins with \"" + std::string(kMagic) + "\"");
  }
  MonitoringPart part;
  bool named = false;
  while (in.next_line()) {
    const auto kind = in.next_word();
    if (kind.starts_with("#") || kind == "C") continue;
    if (kind == "D") {
      parse_communicator(in, part);
    } else if (kind == "O2A" || kind == "A2O" || kind == "A2A") {
      check_rank(in, part, static_cast<int>(in.read_number("the rank", 0, kMaxRanks - 1)), named);
    } else if (kind == "E" || kind == "I" || kind == "S" || kind == "R") {
      Line line = parse_line(in);
      check_rank(in, part, line.from, named);
      part.ranks = std::max({part.ranks, line.from + 1, line.to + 1});
      if (kind == "I") {
        add_checked(in, part.internal_operations, line.operations);
        add_checked(in, part.internal_bytes, line.bytes);
      } else if (line.from != line.to && line.operations > 0) {
        comm::TrafficFlow flow{line.from, line.to, comm::Move::message, line.operations, line.bytes, 0, {}};
        if (kind == "S") flow.move = comm::Move::put;
        if (kind == "R") flow.move = comm::Move::get;
        if (kind == "R") std::swap(flow.from, flow.to);
        if (kind == "E") assign_sizes(flow, std::move(line.sizes));
        // The component counts every get as an empty put too.
        if (kind != "S" || flow.bytes > 0) part.flows.push_back(std::move(flow));
      }
    } else {
      in.fail("unknown entry \"" + std::string(kind) + "\"; known: E I S R C D O2A A2O A2A");
    }
  }
  if (!named) throw InputError(name + ": tells no rank, there is no entry in it; allowed: files with entries");
  part.ranks = std::max(part.ranks, part.rank + 1);
  part.filtered = part.internal_operations > 0;
  return part;
}

// Traffic matrix of a program from the monitoring files of all its ranks.
comm::TrafficMatrix join_monitoring(const std::vector<MonitoringPart>& parts) {
  if (parts.empty()) throw InputError("monitoring: no file of any rank; allowed: one of each");
  int ranks = 1;
  std::vector<int> listed;
  std::vector<comm::TrafficFlow> flows;
  for (const auto& part : parts) {
    ranks = std::max(ranks, part.ranks);
    listed.push_back(part.rank);
    flows.insert(flows.end(), part.flows.begin(), part.flows.end());
  }
  if (const std::string wrong = describe_wrong_rank(listed, ranks); !wrong.empty()) {
    throw InputError("monitoring of " + std::to_string(ranks) + " ranks: the file of " + wrong);
  }
  comm::TrafficMatrix traffic(ranks, std::move(flows));
  traffic.source = "monitoring of Open MPI";
  return traffic;
}

}  // namespace merganser::topology
