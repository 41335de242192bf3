#pragma once
/// Reader for files of Open MPI's monitoring component: PREFIX.RANK.prof, one per rank, written when a program runs under
/// mpirun --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename PREFIX
#include <string>
#include <string_view>
#include <vector>

#include "merganser/topology/traffic.hpp"

namespace merganser::topology {

/// Contents of one rank's file of Open MPI's monitoring: messages and puts that it sent, gets that it issued.
struct MonitoringPart {
  int rank = 0;   ///< rank of MPI_COMM_WORLD that wrote the file
  int ranks = 1;  ///< size of the world if the file has it, else one more than the highest rank that occurs
  std::vector<comm::TrafficFlow> flows;  ///< messages of the program itself ("E"), one-sided operations ("S", "R")
  std::int64_t internal_operations = 0,
               internal_bytes = 0;  ///< messages of the library itself, for collectives and windows
  bool filtered = false;  ///< true: messages of the library are listed apart; never where monitoring was enabled with 1
};
/// Returns true if a text begins like a file of Open MPI's monitoring. Local.
[[nodiscard]] bool is_monitoring(std::string_view text);
/// Parses the file of Open MPI's monitoring of one rank. Local.
/// @param name  of the file, for messages
/// @throws InputError naming file and line
[[nodiscard]] MonitoringPart parse_monitoring(std::string_view text, const std::string& name);
/// Joins the monitoring files of all ranks of a program, one of each, to its traffic matrix. The component counts every get also as
/// an empty put, so the operations (not the bytes) of puts are too many where a rank does both. Sizes are given only along arcs
/// where the library itself sent nothing, since its histogram counts both. Local.
/// @throws InputError if a rank is missing or occurs twice
[[nodiscard]] comm::TrafficMatrix join_monitoring(const std::vector<MonitoringPart>& parts);

}  // namespace merganser::topology
