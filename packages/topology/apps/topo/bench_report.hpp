#pragma once
/// Output of topo bench and topo replay: tables, warnings, and the files that the options name.
#include <string>

#include "apps/topo/bench.hpp"

namespace merganser::app {

/// Makes the report of topo bench: a table for each graph and completion class, since kernels are ranked within a class only.
[[nodiscard]] std::string report_text(const BenchResults& results);
/// Makes the warnings of topo bench: ranks that share cores, medians with wide intervals. Empty without a reason.
[[nodiscard]] std::string warnings_text(const BenchResults& results);

/// Writes the results of topo bench or topo replay to --json and --csv, and prints warnings and tables. On rank 0.
/// @throws InputError if a file cannot be written
void report(const TopoBenchOptions& o, const Invocation& in, const BenchResults& results);

}  // namespace merganser::app
