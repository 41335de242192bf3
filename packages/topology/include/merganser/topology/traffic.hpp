#pragma once
/// Process graphs from the traffic that a program was counted to send, and reader for the files of the tracing library.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/traffic_matrix.hpp"
#include "merganser/graphs/process_graph.hpp"

namespace merganser::topology {

/// Computes the process graph of traffic: an arc for every two ranks with a flow; its weight is the bytes of all moves divided
/// by TrafficMatrix::exchange_count(). Local.
/// @throws InputError if the bytes of an arc are more than 64 bits can count
[[nodiscard]] graphs::ProcessGraph process_graph_of(const comm::TrafficMatrix& traffic);

/// Contents of the file rank-N.trace that the tracing library wrote for one process of a program; format:
/// packages/topology/docs/topology-extract.md.
struct TracePart {
  /// Traffic of one process in one phase of a program, a level of MPI_Pcontrol.
  struct Phase {
    std::int64_t entered = 0;              ///< number of calls of MPI_Pcontrol with this level
    std::vector<comm::TrafficFlow> flows;  ///< operations that this process started, between ranks of MPI_COMM_WORLD
  };
  int rank = 0;                                      ///< rank of the process in MPI_COMM_WORLD
  int ranks = 1;                                     ///< number of ranks of the program
  std::string program;                               ///< path of the executable
  std::string ended;                                 ///< "finalize", "exit" or "abort"
  std::map<int, Phase> phases;                       ///< by level; 0 is the time before the first call
  std::int64_t self_operations = 0, self_bytes = 0;  ///< sums of the rank to itself, in no flow
  std::int64_t outside_operations = 0,
               outside_bytes = 0;  ///< to ranks of other worlds (spawned programs), in no flow
  /// Number of calls of one collective of MPI in this process.
  struct Collective {
    std::string name;
    std::int64_t calls = 0;
  };
  std::vector<Collective> collectives;  ///< their traffic is in no flow
};
/// Returns true if a text begins like a file of the tracing library. Local.
[[nodiscard]] bool is_trace_part(std::string_view text);
/// Parses the file of the tracing library for one process. Local.
/// @param name  of the file, for messages
/// @throws InputError naming file and line, also if the end is missing
[[nodiscard]] TracePart parse_trace_part(std::string_view text, const std::string& name);
/// Joins the trace files of all ranks of a program, in any order, to its traffic matrix. Local.
/// @param phase  level of MPI_Pcontrol whose flows are taken; none: flows of all
/// @throws InputError if a rank is missing or occurs twice, the parts are of different worlds, or no rank was in `phase`
[[nodiscard]] comm::TrafficMatrix join_trace_parts(const std::vector<TracePart>& parts, std::optional<int> phase);

}  // namespace merganser::topology
