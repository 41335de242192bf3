#pragma once
/// What doctor tells of measurements of topo bench.
#include "apps/doctor/hints.hpp"
#include "apps/topo/known_cells.hpp"

namespace merganser::app {

/// From what topo bench measured: one-sided kernels far slower than two-sided ones of the same class, kernels that do not
/// work. @param source  what was read, for people
[[nodiscard]] std::vector<Hint> measured_hints(const Known& known, const std::string& source);

}  // namespace merganser::app
