// Start of other programs by fork and exec without a shell, and capture of their output with limits on time and size.
#include "apps/frame/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "apps/frame/pipe.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/timer.hpp"

namespace merganser::app {
namespace {

/// Returns true if a path is a regular file that this process may execute.
bool is_program(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode) && ::access(path.c_str(), X_OK) == 0;
}

/// Resets signal dispositions and mask of a forked child to those of a new program. Signals that were ignored when this program
/// started (nohup) stay ignored. Called in the child between fork and exec.
void reset_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN) std::signal(signal, SIG_DFL);
  }
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);  // ignored by handle_signals()
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace

std::string which(const std::string& program) {
  if (program.find('/') != std::string::npos) return is_program(program) ? program : "";
  const char* path = std::getenv("PATH");
  const std::string all = path != nullptr ? path : "/usr/bin:/bin";
  for (const auto folder : split_at(all, ':')) {
    const std::string candidate = std::string(folder) + '/' + program;
    if (!folder.empty() && is_program(candidate)) return candidate;
  }
  return "";
}

// Fork and exec without a shell; a failure of exec comes back over a pipe that is closed on success.
pid_t start_process(const std::vector<std::string>& command, int when_parent_dies,
                    const std::function<void()>& prepare) {
  std::vector<char*> argv;
  for (const auto& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::fflush(nullptr);
  Pipe failure;
  const pid_t parent = ::getpid();
  // A signal between fork and exec must not run a handler of this program in the new process.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setpgid(0, 0);
    reset_signals();
    ::prctl(PR_SET_PDEATHSIG, when_parent_dies);
    if (::getppid() != parent) ::_exit(127);  // the parent died before the parent-death signal was set
    if (prepare) prepare();
    ::execv(argv[0], argv.data());
    const int error = errno;
    [[maybe_unused]] const auto told = ::write(failure.to.number, &error, sizeof error);
    ::_exit(127);
  }
  const int fork_error = errno;
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) throw CommError(std::string("cannot start a process: ") + std::strerror(fork_error));
  failure.to.close();
  int error = 0;
  ssize_t n = 0;
  while ((n = ::read(failure.from.number, &error, sizeof error)) < 0 && errno == EINTR) continue;
  if (n <= 0) return child;  // end of file: exec closed the write end, so the program has started
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  throw CommError("cannot run " + command[0] + ": " + std::strerror(error));
}

// Run of a small program, as `srun --mpi=list`, with limits on time and output.
std::string capture_output(const std::vector<std::string>& command, double limit_s, std::size_t most, bool errors_too) {
  Pipe pipe;
  pid_t child = -1;
  try {
    child = start_process(command, SIGKILL, [&pipe, errors_too] {
      const int nothing = ::open("/dev/null", O_RDWR);
      ::dup2(nothing, STDIN_FILENO);
      ::dup2(pipe.to.number, STDOUT_FILENO);
      ::dup2(errors_too ? pipe.to.number : nothing, STDERR_FILENO);
    });
  } catch (const CommError&) {
    return "";
  }
  pipe.to.close();
  std::string text;
  for (const double end = now() + limit_s; text.size() < most && now() < end;) {
    pollfd ready{pipe.from.number, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>((end - now()) * 1000) + 1) <= 0) continue;
    std::array<char, 4096> part{};
    const auto n = ::read(pipe.from.number, part.data(), std::min(part.size(), most - text.size()));
    if (n == 0 || (n < 0 && errno != EINTR)) break;
    if (n > 0) text.append(part.data(), static_cast<std::size_t>(n));
  }
  ::kill(-child, SIGKILL);  // the group: children of the program may hold the pipe
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  return text;
}

}  // namespace merganser::app
