#pragma once
/// Where topo extract and topo replay get traffic from. What a file is is seen in its content.
#include <optional>
#include <string>
#include <vector>

#include "merganser/topology/traffic.hpp"

namespace merganser::app {

struct Extracted {
  comm::TrafficMatrix traffic;
  std::vector<std::string> notes;  ///< what the numbers leave out, for people
};

/// Run records and traffic files (one), parts of a trace and files of Open MPI's monitoring (one of every rank), or
/// folders of those.
/// @param phase  of a trace: only this one
/// @throws InputError for files that are missing, broken, of different kinds or runs, or hold no traffic
/// @throws UsageError for a phase of something that has none
[[nodiscard]] Extracted extract_traffic(const std::vector<std::string>& paths, std::optional<int> phase);

/// A process graph in any format, or that of traffic in any of the forms above.
[[nodiscard]] graphs::ProcessGraph read_pattern(const std::string& path);

}  // namespace merganser::app
