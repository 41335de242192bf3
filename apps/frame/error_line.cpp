// Error lines on standard error, one for each error of a job, and the exit codes of the kinds of errors.
#include "apps/frame/error_line.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iostream>
#include <new>
#include <thread>

#include "apps/frame/launcher.hpp"
#include "apps/frame/secrets.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::app {

namespace {

/// Blocks until the launcher that reads standard error has emptied it, if that is a pipe or a socket, for at most one second.
/// MPICH's Hydra discards output that it has not read when a rank ends the job, so the error line of that rank would be lost.
void wait_until_read() {
  constexpr auto kMax = std::chrono::seconds(1);
  constexpr auto kToHandOn =
      std::chrono::milliseconds(50);  // from the local proxy to the launcher, perhaps on another host
  struct stat s {};
  if (::fstat(STDERR_FILENO, &s) != 0 || !(S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode))) return;
  const unsigned long left_over = S_ISFIFO(s.st_mode) ? FIONREAD : TIOCOUTQ;
  const auto end = std::chrono::steady_clock::now() + kMax;
  int left = 0;
  while (::ioctl(STDERR_FILENO, left_over, &left) == 0 && left > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(kToHandOn);
}

}  // namespace

std::string_view error_kind(int exit_code) {
  switch (exit_code) {
    case 1:
      return "verification";
    case 2:
      return "usage";
    case 3:
      return "input";
    case 4:
      return "communication";
    case 5:
      return "regression";
    case kInternalError:
      return "internal error";
    default:
      return "interrupted";
  }
}

// Error that several ranks of a job may have met: rank 0 prints it at once, the others only if they are still there later.
void print_error(const std::string& message, int exit_code) {
  const int rank = comm::launcher_world().rank;
  if (rank == 0) return print_error_line(message, exit_code);
  // A launcher stops all ranks when one ends with an error: rank 0, which reports the same error, would be stopped before it has
  // written its line. Rank 0 ends the job, so ranks that only repeat its error are stopped while they sleep.
  constexpr auto kUntilEnded = std::chrono::seconds(10);
  if constexpr (!kSimulated)
    std::this_thread::sleep_for(kUntilEnded);  // simulated ranks run one after the other, so rank 0 has written already
  if (exit_code != UsageError("").exit_code()) print_error_line(fmt::format("rank {}: {}", rank, message), exit_code);
}

std::string refusal_text(const std::system_error& error) {
  const bool short_of = error.code() == std::errc::resource_unavailable_try_again;
  return std::string("the system refuses: ") + error.what() +
         (short_of ? "; allowed: as many threads and processes as limits of this user leave (ulimit -u)" : "");
}

// Outermost frame of the program: every exception becomes one line and an exit code.
int run_to_exit_code(const std::function<int()>& work) {
  const auto told = [](const std::string& message, int exit_code) {
    print_error(message, exit_code);
    return exit_code;
  };
  try {
    return work();
  } catch (const Error& e) {
    return told(e.what(), e.exit_code());
  } catch (const Interrupted& e) {
    return told(e.what(), e.exit_code());
  } catch (const std::filesystem::filesystem_error& e) {
    // The disk, the working directory or TMPDIR, not a fault of this program.
    return told(e.what(), InputError(e.what()).exit_code());
  } catch (const std::system_error& e) {
    return told(refusal_text(e), CommError(e.what()).exit_code());
  } catch (const std::bad_alloc&) {
    return told("out of memory; use more ranks or a smaller input", kInternalError);
  } catch (const std::exception& e) {
    return told(e.what(), kInternalError);
  }
}

// One write(), so that lines of several ranks do not interleave.
void print_error_line(const std::string& message, int exit_code) {
  const std::string line = std::string(error_kind(exit_code)) + ": " + one_line(without_secrets(message)) + '\n';
  std::cout.flush();
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  if (comm::launched()) wait_until_read();
}

}  // namespace merganser::app
