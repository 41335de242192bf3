#pragma once
/// Output of topo bench and topo replay: tables, warnings, and the files that the options name.
#include <string>

#include "apps/topo/bench.hpp"

namespace merganser::app {

/// Makes the tables: a block for each graph and completion class, since kernels are ranked within a class only.
[[nodiscard]] std::string report_text(const BenchResults& results);
/// Makes lines of warning: ranks that share cores, medians that are not known well. Empty without a reason.
[[nodiscard]] std::string warnings_text(const BenchResults& results);

/// Writes record and table and prints, as the options say. On rank 0. @throws InputError if a file cannot be written
void report(const TopoBenchOptions& o, const Invocation& in, const BenchResults& results);

}  // namespace merganser::app
