#pragma once
/// Words that shells propose for options of the topo commands. The commands check the values themselves.
#include <string>
#include <vector>

#include "merganser/base/options.hpp"

namespace merganser::app {

/// Returns the words of an option that takes exchange kernels: those of `before`, then the names of the kernels in this build.
[[nodiscard]] Proposes known_kernels(std::vector<std::string> before = {"default", "all"});
/// Returns the kinds of process graphs that are made, as "torus2d". Files are allowed beside them where an option reads one.
[[nodiscard]] Proposes known_process_graphs();
/// Returns the formats of process graph files, as "matrix-market".
[[nodiscard]] Proposes known_process_formats();

}  // namespace merganser::app
