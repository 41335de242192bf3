#pragma once
/// What topo bench prints.
#include <string>

#include "apps/topo/bench_record.hpp"

namespace merganser::app {

/// One block per graph and completion class: kernels are ranked within a class only.
[[nodiscard]] std::string report_text(const BenchResults& results);
/// What to be careful about: ranks that share cores, medians that are not known well.
[[nodiscard]] std::string warnings_text(const BenchResults& results);

}  // namespace merganser::app
