#pragma once
/// Starting other programs: argument vectors, never a shell.
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace merganser::app {

/// Full path of a program on PATH, or the path itself if there is a '/' in it; empty if there is no such program.
[[nodiscard]] std::string which(const std::string& program);

/// Starts a program in a process group of its own, so that signals for this group reach it only as this process passes
/// them on. It is told to end by `when_parent_dies` should this process be killed.
/// @param command  a path and its arguments
/// @param prepare  called in the new process before the program: descriptors, variables
/// @return its process number; the caller waits for its end
/// @throws CommError if it cannot be started
pid_t start_process(const std::vector<std::string>& command, int when_parent_dies,
                    const std::function<void()>& prepare);

/// What a program prints on standard output, at most `most` bytes of it and what comes within `limit_s`; then it is killed.
/// Empty if it cannot be started.
/// @param errors_too  what it prints on standard error is part of it
[[nodiscard]] std::string output_of(const std::vector<std::string>& command, double limit_s, std::size_t most,
                                    bool errors_too = false);

}  // namespace merganser::app
