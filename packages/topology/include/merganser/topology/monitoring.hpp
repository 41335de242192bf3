#pragma once
/// Files of Open MPI's monitoring component: PREFIX.RANK.prof, one per rank, written when
/// mpirun --mca pml_monitoring_enable 2 --mca pml_monitoring_enable_output 3 --mca pml_monitoring_filename PREFIX
#include <string>
#include <string_view>
#include <vector>

#include "merganser/topology/traffic.hpp"

namespace merganser::topology {

/// What one rank wrote: messages and puts that it sent, gets that it made.
struct MonitoringPart {
  int rank = 0;
  int ranks = 1;  ///< of the whole world where the file says so, else one more than the highest rank named
  std::vector<comm::TrafficFlow> flows;  ///< messages of the program itself ("E"), one-sided operations ("S", "R")
  std::int64_t internal_operations = 0, internal_bytes = 0;  ///< messages of the library, for collectives and windows
  bool filtered = false;  ///< messages of the library are listed apart; never where monitoring was enabled with 1
};
/// True if a text begins as such a file does.
[[nodiscard]] bool is_monitoring(std::string_view text);
/// Reads what one rank wrote. Local.
/// @param name  of the file, for messages
/// @throws InputError naming file and line
[[nodiscard]] MonitoringPart parse_monitoring(std::string_view text, const std::string& name);
/// One part of every rank. The component counts every get as a put of nothing too, so the operations (not the bytes) of
/// puts are too many where a rank does both. Sizes are known only where the library sent nothing along an arc: its
/// histogram counts both.
/// @throws InputError if a rank is missing or there twice
[[nodiscard]] comm::TrafficMatrix join_monitoring(const std::vector<MonitoringPart>& parts);

}  // namespace merganser::topology
