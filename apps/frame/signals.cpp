// Signal handlers of the program: stop signals end it in order, crashes of file libraries become input errors. Handlers are
// async-signal-safe.
#include "apps/frame/signals.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "apps/frame/job_report.hpp"
#include "merganser/base/cleanup.hpp"
#include "merganser/base/library_call.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::app {
namespace {

/// Signal that stops the program (SIGINT, SIGTERM, SIGHUP), with the line that this process prints for it.
struct StopSignal {
  int signal;
  std::string line;  // formatted beforehand, since a handler must not allocate
};

constexpr std::array kStops{SIGINT, SIGTERM, SIGHUP};
std::array<bool, kStops.size()> g_ignored{};  // when the process began

/// Records which of the stop signals were ignored when the process began (nohup). Runs before the constructors of libraries, since
/// UCX's installs a handler of SIGHUP even if it is ignored. It makes the system call directly, because sanitizers have not
/// started.
[[gnu::no_sanitize_address, gnu::no_sanitize_thread, gnu::no_sanitize_undefined]] void record_ignored_signals() {
  for (std::size_t i = 0; i < kStops.size(); ++i) {
    struct {
      void (*handler)(int);
      unsigned long rest[8];
    } now{};
    g_ignored[i] = ::syscall(SYS_rt_sigaction, kStops[i], nullptr, &now, sizeof(long)) == 0 && now.handler == SIG_IGN;
  }
}
#ifdef MERGANSER_SIMULATED  // a shared object, which has no such array
[[gnu::constructor]] void record_when_loaded() { record_ignored_signals(); }
#else
[[gnu::section(".preinit_array"), gnu::used]] void (*const g_note_ignored)() = record_ignored_signals;
#endif

/// Returns the stop signals with the lines that handle_signals() has formatted for them.
std::array<StopSignal, 3>& stop_lines() {
  static std::array<StopSignal, 3> all{{{kStops[0], ""}, {kStops[1], ""}, {kStops[2], ""}}};
  return all;
}

const std::array<StopSignal, 3>* g_stops = nullptr;
bool g_speaks = false;
std::atomic_flag g_stopping = ATOMIC_FLAG_INIT;

constexpr int kInputCode = 3;

/// Handler of SIGINT, SIGTERM and SIGHUP: removes temporary files, prints one line, and ends the process.
/// Async-signal-safe.
void handle_stop(int signal) {
  if (g_stopping.test_and_set()) {  // another thread handles another stop signal, and ends the process
    close_making_files();
    while (true) ::pause();
  }
  remove_cleanup_names();
  report_signal(signal);
  for (const auto& s : *g_stops) {
    if (!g_speaks || s.signal != signal) continue;
    pollfd out{STDERR_FILENO, POLLOUT, 0};  // a full pipe without a reader would block the handler for ever
    if (::poll(&out, 1, 1000) == 1) [[maybe_unused]]
      const auto written = ::write(STDERR_FILENO, s.line.data(), s.line.size());
  }
  remove_cleanup_names();  // files that another thread made meanwhile
  ::_exit(128 + signal);
}

/// Writes the error line for a file on which the NetCDF library crashes. Async-signal-safe: no heap, no formatting. Control
/// characters of the name become '?'.
void write_crash(const char* file) {
  std::array<char, 600> line{};
  std::size_t n = 0;
  const auto add = [&](const char* text, std::size_t most) {
    for (; *text != '\0' && most > 0 && n < line.size(); ++text, --most)
      line[n++] = static_cast<unsigned char>(*text) < 0x20 || *text == 0x7f ? '?' : *text;
  };
  add("input: ", 10);
  add(file, 400);
  add(": the NetCDF library crashes on it; allowed: files that are not damaged", 100);
  line[n++] = '\n';
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), n);
}

/// Handler of SIGSEGV, SIGBUS, SIGFPE and SIGABRT. A crash inside a library call that reads a file is reported as an input error,
/// because damaged files crash HDF5; any other crash ends the process as without a handler.
void handle_crash(int signal) {
  if (const char* file = library_call_file(); file != nullptr) {
    remove_cleanup_names();
    write_crash(file);
    report_end(kInputCode);
    ::_exit(kInputCode);
  }
  std::signal(signal, SIG_DFL);
  ::raise(signal);
}

/// Opens descriptors 0 to 2 on /dev/null where they are closed: the next file to be opened would else become standard output.
void open_standard_descriptors() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (::fcntl(number, F_GETFD) < 0 && errno == EBADF) [[maybe_unused]]
      const int opened = ::open("/dev/null", O_RDONLY);  // the lowest that is free; writing fails
}

}  // namespace

std::string signal_text(int signal) {
  const char* name = ::strsignal(signal);
  return fmt::format("{} ({})", signal, name != nullptr ? name : "unknown");
}

// Installation of all handlers, at the start of main().
void handle_signals() {
  open_standard_descriptors();
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // if it is ignored, the kernel discards the exit statuses of children
  join_job();
  g_speaks = comm::launcher_world().rank == 0 && !is_in_job();
  g_stops = &stop_lines();
  struct sigaction action {};
  action.sa_handler = handle_stop;
  sigemptyset(&action.sa_mask);
  for (const auto& s : stop_lines()) sigaddset(&action.sa_mask, s.signal);
  for (std::size_t i = 0; i < stop_lines().size(); ++i) {
    StopSignal& s = stop_lines()[i];
    s.line = "interrupted: stopped by signal " + signal_text(s.signal) + '\n';
    if (g_ignored[i]) std::signal(s.signal, SIG_IGN);
    if (!g_ignored[i]) ::sigaction(s.signal, &action, nullptr);
  }
  ::sigprocmask(SIG_UNBLOCK, &action.sa_mask, nullptr);
  struct sigaction fault {};
  fault.sa_handler = handle_crash;
  sigemptyset(&fault.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT}) {
    struct sigaction before {};  // handlers of a sanitizer stay
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_DFL)
      ::sigaction(signal, &fault, nullptr);
  }
}

}  // namespace merganser::app
