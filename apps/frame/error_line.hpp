#pragma once
/// Error reporting of the command: one line on standard error for each error, and the exit code that belongs to it.
#include <functional>
#include <string>
#include <string_view>
#include <system_error>

namespace merganser::app {

/// Prints one line on standard error for an error that other ranks may have met too: "input: no such file". In a launched job
/// rank 0 prints at once. Another rank sleeps 10 s, in which the launcher usually stops it because rank 0 has ended the job, and
/// prints after that; a usage error, which all ranks meet, only rank 0 prints.
void print_error(const std::string& message, int exit_code);
/// Prints one line on standard error for an error of this rank alone. The line is made by one_line() of base/log.hpp, with
/// secrets masked, and written by one call, so that lines of several ranks do not interleave. In a launched job it returns once
/// the launcher has read the line, or after a second.
void print_error_line(const std::string& message, int exit_code);
/// Returns the message of the error line for a failed system call, usually the start of a thread, with advice if a limit of the
/// user was reached.
[[nodiscard]] std::string refusal_text(const std::system_error& error);
/// Runs `work`, the body of the program, and prints any exception that leaves it as one error line. @return the exit code of
/// `work`, or that of the error
[[nodiscard]] int run_to_exit_code(const std::function<int()>& work);
/// Returns the kind of error that an exit code stands for, as "input" or "usage": the first word of an error line.
[[nodiscard]] std::string_view error_kind(int exit_code);

/// Exit code for errors that are a fault of this program.
inline constexpr int kInternalError = 70;

}  // namespace merganser::app
