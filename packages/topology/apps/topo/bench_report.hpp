#pragma once
/// What topo bench prints.
#include <string>

#include "apps/topo/bench.hpp"

namespace merganser::app {

/// One block per graph and completion class: kernels are ranked within a class only.
[[nodiscard]] std::string report_text(const BenchResults& results);
/// What to be careful about: ranks that share cores, medians that are not known well.
[[nodiscard]] std::string warnings_text(const BenchResults& results);

/// Writes record and table and prints what the options ask for.
void report(const TopoBenchOptions& o, const Invocation& in, const BenchResults& results);

}  // namespace merganser::app
