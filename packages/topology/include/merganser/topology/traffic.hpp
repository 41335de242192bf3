#pragma once
/// Process graphs of what a program moved between its ranks, and the files of the tracing library.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/traffic_matrix.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::topology {

/// The process graph of some traffic: an arc for every two ranks with a flow; its weight is the bytes of all moves divided by
/// TrafficMatrix::exchange_count(). Local.
/// @throws InputError if the bytes of an arc are more than 64 bits can count
[[nodiscard]] graphs::ProcessGraph process_graph_of(const comm::TrafficMatrix& traffic);

/// What the tracing library of one process wrote; packages/topology/docs/topology-extract.md tells the format.
struct TracePart {
  /// What happened at one level of MPI_Pcontrol.
  struct Phase {
    std::int64_t entered = 0;              ///< times MPI_Pcontrol(level) was called with its level
    std::vector<comm::TrafficFlow> flows;  ///< those that this process started, from and to in ranks of the world
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
[[nodiscard]] comm::TrafficMatrix join_trace_parts(const std::vector<TracePart>& parts, std::optional<int> phase);

}  // namespace merganser::topology
