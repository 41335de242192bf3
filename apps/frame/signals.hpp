#pragma once
/// Signal handling of the command: orderly ends on stop signals, and crashes of libraries as input errors.
#include <string>

namespace merganser::app {

/// Installs the signal handlers of the program. Called once, by main(), before anything else.
///
/// SIGINT, SIGTERM and SIGHUP then end the program with one line and the exit code 128 + number, after the removal of temporary
/// files (base/cleanup.hpp); those that were ignored stay ignored. In a launched job only rank 0 prints the line, and no rank does
/// if `merganser run` has started the job, which prints it itself (job_report.hpp). Also ensures that descriptors 0 to 2 are open,
/// so that no file of the user becomes standard output, and makes writes to closed pipes and beyond file size limits fail with an
/// error instead of a signal.
void handle_signals();

/// Formats the number and the name of a signal: "9 (Killed)".
[[nodiscard]] std::string signal_text(int signal);

}  // namespace merganser::app
