#pragma once
/// What a user reads of an error: one line.
#include <string>
#include <string_view>

namespace merganser::app {

/// Prints one line for an error: "input: no such file". In a launched job the first process speaks for all that meet the
/// same error; another waits for the end that this brings before it speaks for itself, of an error of usage never.
void print_error(const std::string& message, int exit_code);
/// The same from any process: what only this rank knows. In one write, so that lines of several processes do not mix, and
/// as base/log.hpp makes one_line() of whatever the message repeats.
void print_line(const std::string& message, int exit_code);
/// As "input:", "usage:" by exit code.
[[nodiscard]] std::string_view error_kind(int exit_code);

/// Exit code for errors that are a fault of this program.
inline constexpr int kInternalError = 70;

}  // namespace merganser::app
