#pragma once
/// Running any program under the tracing library.
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace merganser::app {

/// Path of libmerganser-trace.so: the variable MERGANSER_TRACE_LIBRARY, else where it was built or installed.
/// @throws CommError if it is not there
[[nodiscard]] std::string trace_library();

/// Where a folder for the trace goes: beside a file, or here; ranks on other machines must see it too, so not in /tmp.
[[nodiscard]] std::string trace_folder_stem(const std::string& beside);

/// Starts `ranks` processes of a program under the tracing library, which only they load, and waits.
/// @return its exit code @throws CommError if there is no launcher, UsageError if there is no such program
int run_traced(int ranks, const std::vector<std::string>& program, TemporaryFolder& folder);

}  // namespace merganser::app
