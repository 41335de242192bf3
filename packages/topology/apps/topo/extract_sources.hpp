#pragma once
/// Sources of traffic for topo extract, topo replay and topo advise. The kind of a file is recognised by its content, not its name.
/// All functions are local.
#include <optional>
#include <string>
#include <vector>

#include "merganser/topology/traffic.hpp"

namespace merganser::app {

/// Traffic of a program between its ranks, with notes for the user; filled by extract_traffic().
struct Extracted {
  comm::TrafficMatrix traffic;     ///< operations and bytes by sender, receiver and kind of operation
  std::vector<std::string> notes;  ///< one line each, on traffic that is in no arc
};

/// Reads the traffic of a program from one run record or traffic file, from parts of a trace or files of Open MPI's monitoring
/// (one of every rank), or from folders of those.
/// @param phase  level of MPI_Pcontrol in a trace whose traffic is taken; none: that of all levels
/// @throws InputError for files that are missing, broken, of different kinds or runs, or hold no traffic
/// @throws UsageError for a phase of something that has none
[[nodiscard]] Extracted extract_traffic(const std::vector<std::string>& paths, std::optional<int> phase);

/// Reads a process graph in any format, or makes that of the traffic in a file or folder as extract_traffic() reads it.
/// @throws InputError
[[nodiscard]] graphs::ProcessGraph read_pattern(const std::string& path);

}  // namespace merganser::app
