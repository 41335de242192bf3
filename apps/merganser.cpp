// The command line program: finds the verb, runs it, turns errors into one line and an exit code.
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "apps/frame/command.hpp"
#include "apps/frame/job_report.hpp"
#include "apps/frame/launcher.hpp"
#include "apps/frame/ranks.hpp"
#include "apps/frame/signals.hpp"
#include "merganser/base/error.hpp"

namespace {

using namespace merganser;

/// True if standard output is a pipe whose reader has gone, as that of `merganser ... | head -1`.
bool reader_has_gone() {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int run(const std::vector<std::string>& arguments) {
  try {
    const int code = app::dispatch(arguments);
    std::cout.flush();
    if (code != 0 || std::cout) return code;
    // All work is done and files are written; who has stopped reading wants no message.
    if (reader_has_gone()) return 128 + SIGPIPE;
    throw InputError("cannot write to standard output");
  } catch (const Error& e) {
    app::print_error(e.what(), e.exit_code());
    return e.exit_code();
  } catch (const app::Interrupted& e) {
    app::print_error(e.what(), e.exit_code());
    return e.exit_code();
  } catch (const std::filesystem::filesystem_error& e) {
    const InputError error(e.what());  // the disk, the working directory or TMPDIR, not a fault of this program
    app::print_error(error.what(), error.exit_code());
    return error.exit_code();
  } catch (const std::system_error& e) {
    const CommError error(app::refusal_text(e));
    app::print_error(error.what(), error.exit_code());
    return error.exit_code();
  } catch (const std::bad_alloc&) {
    app::print_error("out of memory; use more ranks or a smaller input", app::kInternalError);
  } catch (const std::exception& e) {
    app::print_error(e.what(), app::kInternalError);
  }
  return app::kInternalError;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  app::handle_signals();
  const int code = run(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
  app::report_end(code);
  return code;
}
