#pragma once
/// Hints of doctor that follow from measured exchanges (cells: kernel, process graph, message size).
#include "apps/doctor/hints.hpp"
#include "apps/topo/known_cells.hpp"

namespace merganser::app {

/// Returns the hints of doctor on measured exchanges: one-sided kernels far slower than two-sided ones of the same completion
/// class, kernels that do not work, ranks that shared cores. Local.
/// @param source  name of the record or measurement in the hints
[[nodiscard]] std::vector<Hint> measured_hints(const Known& known, const std::string& source);

}  // namespace merganser::app
