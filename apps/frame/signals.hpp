#pragma once
/// What this program does when it is told to stop.
#include <string>

namespace merganser::app {

/// From here on SIGINT, SIGTERM and SIGHUP end the program with one line and the exit code 128 + number, after the
/// removal of temporary files (base/cleanup.hpp); those that were ignored before stay ignored. Of a launched job the first
/// process prints the line, and none of them where the process that started the launcher does (job_report.hpp).
/// Called once, by main(), before anything else. Also makes sure that descriptors 0 to 2 are open, so that no file of
/// the user can become standard output, and lets writes to closed pipes and beyond limits fail instead of ending the program.
void handle_signals();

/// "9 (Killed)"
[[nodiscard]] std::string signal_text(int signal);

}  // namespace merganser::app
