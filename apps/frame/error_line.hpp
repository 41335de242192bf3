#pragma once
/// What a user reads of an error: one line.
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

namespace merganser::app {

/// Prints one line for an error: "input: no such file". In a launched job the first process speaks for all that meet the
/// same error; another waits for the end that this brings before it speaks for itself, of an error of usage never.
void print_error(const std::string& message, int exit_code);
/// The same from any process: what only this rank knows. In one write, so that lines of several processes do not mix, and
/// as base/log.hpp makes one_line() of whatever the message repeats. In a launched job it returns when the launcher has read it,
/// or after a second.
void print_line(const std::string& message, int exit_code);
/// What to say of a call that the system refused, mostly a thread that could not be started.
[[nodiscard]] std::string refusal_text(const std::system_error& error);
/// Runs `work`, and prints any exception that leaves it as one line. @return its exit code, or that of the error
[[nodiscard]] int exit_code_of(const std::function<int()>& work);
/// As "input:", "usage:" by exit code.
[[nodiscard]] std::string_view error_kind(int exit_code);

/// Exit code for errors that are a fault of this program.
inline constexpr int kInternalError = 70;

}  // namespace merganser::app
