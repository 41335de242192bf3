#pragma once
/// Words that shells propose for options of the topo commands. The commands check the values themselves.
#include "merganser/base/options.hpp"

namespace merganser::app {

/// Returns the words of a list of exchange kernels: "default", "all", and the names of the kernels in this build.
[[nodiscard]] Proposes known_kernels();
/// Returns the kinds of process graphs that are made, as "torus2d". Files are allowed beside them where an option reads one.
[[nodiscard]] Proposes known_process_graphs();
/// Returns the formats of process graph files, as "matrix-market".
[[nodiscard]] Proposes known_process_formats();

}  // namespace merganser::app
