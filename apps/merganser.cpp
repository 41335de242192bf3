// The command line program: finds the verb, runs it, turns errors into one line and an exit code.
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <string>
#include <vector>

#include "apps/frame/command.hpp"
#include "apps/frame/job_report.hpp"
#include "apps/frame/signals.hpp"
#include "merganser/base/error.hpp"

namespace {

using namespace merganser;

/// Returns whether standard output is a pipe whose reader has ended, as that of `merganser ... | head -1`.
bool has_reader_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int run(const std::vector<std::string>& arguments) {
  const int code = app::dispatch(arguments);
  std::cout.flush();
  if (code != 0 || std::cout) return code;
  // All work is done and files are written. A reader that ended early is no error, so there is no message.
  if (has_reader_gone()) return 128 + SIGPIPE;
  throw InputError("cannot write to standard output");
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  app::handle_signals();
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const int code = app::run_to_exit_code([&] { return run(arguments); });
  app::report_end(code);
  return code;
}
