#pragma once
/// Starting of other programs by argument vectors, never through a shell.
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace merganser::app {

/// Returns the path of an executable program: found on PATH, or the argument itself if it has a '/'; empty if there is no such
/// program.
[[nodiscard]] std::string which(const std::string& program);

/// Starts a program in a process group of its own, so that signals for the group of this process reach it only if they are passed
/// on.
/// @param command           path and arguments
/// @param when_parent_dies  signal that the kernel sends to the program if this process ends first
/// @param prepare           called in the child before exec, to set up descriptors and variables
/// @return its process number; the caller must wait for its end
/// @throws CommError if it cannot be started
pid_t start_process(const std::vector<std::string>& command, int when_parent_dies,
                    const std::function<void()>& prepare);

/// Runs a program and returns what it prints on standard output, up to `most` bytes and within `limit_s` seconds; then its process
/// group is killed. Empty if it cannot be started.
/// @param errors_too  capture standard error as well
[[nodiscard]] std::string capture_output(const std::vector<std::string>& command, double limit_s, std::size_t most,
                                         bool errors_too = false);

}  // namespace merganser::app
