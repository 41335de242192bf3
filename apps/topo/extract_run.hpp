#pragma once
/// Running any program under the tracing library.
#include <string>
#include <vector>

#include "merganser/base/private_folder.hpp"

namespace merganser::app {

/// Path of libmerganser-trace.so: the variable MERGANSER_TRACE_LIBRARY, else where it was built or installed.
/// @throws CommError if it is not there
[[nodiscard]] std::string trace_library();

/// Where a trace is put that is to become `output`: beside it, since ranks on other hosts must see it too.
[[nodiscard]] std::string trace_place(const std::string& output);

/// Starts `ranks` processes of a program under the tracing library, which only they load, and waits.
/// @return its exit code @throws CommError if there is no launcher, UsageError if there is no such program
int run_traced(int ranks, const std::vector<std::string>& program, PrivateFolder& folder);

}  // namespace merganser::app
