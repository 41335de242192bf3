#pragma once
/// What a program moved between its ranks: the source of weighted process graphs.
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/traffic.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::topology {

/// Operations of one kind from one rank to another. Bytes flow from `from` to `to`: a get by rank 2 of what rank 5 owns is
/// a flow from 5 to 2.
struct Flow {
  int from = 0;
  int to = 0;
  comm::Move move = comm::Move::message;
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
  /// Operations by size class (comm::size_class) from `first_class` on; neither begins nor ends with 0. Empty where sizes
  /// are not known.
  std::size_t first_class = 0;
  std::vector<std::int64_t> sizes;

  friend bool operator==(const Flow&, const Flow&) = default;
};
/// The name of a kind of operation: "message", "put", "get".
[[nodiscard]] std::string_view move_name(comm::Move move);
/// The kind of operation that a name stands for.
/// @throws InputError for an unknown name
[[nodiscard]] comm::Move move_of_name(std::string_view name);

/// Traffic between all ranks of one run.
class Traffic {
 public:
  Traffic() = default;
  /// Flows in any order; those with equal ends and move are added up, empty ones left out. @throws InputError for a rank
  /// outside 0 .. ranks - 1, a flow of a rank to itself, a negative count, sizes that contradict the operations
  Traffic(int ranks, std::vector<Flow> flows);

  /// Number of ranks.
  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  /// Ascending by (from, to, move), each once.
  [[nodiscard]] const std::vector<Flow>& flows() const noexcept { return flows_; }
  /// Operations of all flows.
  [[nodiscard]] std::int64_t operations() const;
  /// Bytes of all flows.
  [[nodiscard]] std::int64_t bytes() const;

  /// How often the pattern was repeated (steps, phases), where the source knows; at least 1.
  std::optional<std::int64_t> exchanges;
  std::string source;  ///< where the numbers come from, for people

  /// Known exchanges, else the most operations of one flow, at least 1.
  [[nodiscard]] std::int64_t exchange_count() const;
  /// An arc for every two ranks with a flow; weight: its bytes, of all moves, divided by exchange_count().
  [[nodiscard]] graphs::ProcessGraph graph() const;

  friend bool operator==(const Traffic&, const Traffic&) = default;

 private:
  int ranks_ = 1;
  std::vector<Flow> flows_;
};

/// The counts of every rank put together. Collective; every rank gets the result.
[[nodiscard]] Traffic gather_traffic(comm::Transport& transport, const comm::TrafficCount& mine);

/// Flows as text of letters, digits, "+" and "/": about 14 characters for a flow of one size class.
[[nodiscard]] std::string pack_flows(const std::vector<Flow>& flows);
/// The flows that pack_flows() made such a text of.
/// @throws InputError if the text was not made by pack_flows
[[nodiscard]] std::vector<Flow> unpack_flows(std::string_view text);

/// What the tracing library of one process wrote; docs/topology-extract.md tells the format.
struct TracePart {
  /// What happened at one level of MPI_Pcontrol.
  struct Phase {
    std::int64_t entered = 0;  ///< times MPI_Pcontrol(level) was called with its level
    std::vector<Flow> flows;   ///< those that this process started, from and to in ranks of the world
  };
  int rank = 0;
  int ranks = 1;
  std::string program;
  std::string ended;                                 ///< "finalize", "exit" or "abort"
  std::map<int, Phase> phases;                       ///< by level; 0 is what came before the first call
  std::int64_t self_operations = 0, self_bytes = 0;  ///< of the rank with itself, in no flow
  std::int64_t outside_operations = 0,
               outside_bytes = 0;  ///< with ranks of other worlds (spawned programs), in no flow
  /// How often a collective was called.
  struct Collective {
    std::string name;
    std::int64_t calls = 0;
  };
  std::vector<Collective> collectives;  ///< what they move is in no flow
};
/// True if a text begins as such a file does.
[[nodiscard]] bool is_trace_part(std::string_view text);
/// Reads what the tracing library of one process wrote. Local.
/// @param name  of the file, for messages
/// @throws InputError naming file and line, also if the end is missing
[[nodiscard]] TracePart parse_trace_part(std::string_view text, const std::string& name);
/// One part of every rank, in any order. @param phase  only this one
/// @throws InputError if a rank is missing or there twice, the parts are of different worlds, or no rank was in `phase`
[[nodiscard]] Traffic join_trace_parts(const std::vector<TracePart>& parts, std::optional<int> phase);

}  // namespace merganser::topology
