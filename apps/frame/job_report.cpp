// Reports of ranks to `run` over a file in memory: written by ranks, also from signal handlers, and read by the process that
// started the launcher.
#include "apps/frame/job_report.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "merganser/comm/runtime.hpp"

namespace merganser::app {
namespace {

/// Address of the report file of `run`: descriptor `file` of process `process`. The random `token` in its name
/// identifies it.
struct ReportFileAddress {
  int process = 0;
  int file = 0;
  unsigned token = 0;
};

/// Returns the name of the report file of a job in memory (memfd).
std::string file_name(unsigned token) { return fmt::format("merganser-job-{}", token); }

int g_file = -1;        // descriptor of the report file of `run`; -1: none
int g_rank = 0;         // this rank, for its reports
bool g_in_job = false;  // `run` has started the launcher of this rank

/// Appends a report of this rank to the report file of `run`. Async-signal-safe.
void append_report(RankReport::Kind kind, int value) noexcept {
  if (g_file < 0) return;
  const int saved = errno;  // called from signal handlers
  // A single append of a few bytes: reports of several ranks do not interleave.
  const RankReport report{kind, g_rank, value};
  [[maybe_unused]] const auto written = ::write(g_file, &report, sizeof report);
  errno = saved;
}

}  // namespace

// Report file of a job, in memory, so that nothing is left behind however a process ends.
JobReports::JobReports() {
  const unsigned token = std::random_device{}();
  file_ = ::memfd_create(file_name(token).c_str(), MFD_CLOEXEC);
  if (file_ < 0) return;
  variable_ = fmt::format("{} {} {}", ::getpid(), file_, token);
}

JobReports::~JobReports() {
  if (file_ >= 0) ::close(file_);
}

// Reports are read without moving the file's offset, at which ranks append.
std::vector<RankReport> JobReports::read() const {
  std::vector<RankReport> all;
  RankReport one{};
  while (file_ >= 0 && ::pread(file_, &one, sizeof one, static_cast<off_t>(all.size() * sizeof one)) == sizeof one)
    all.push_back(one);
  return all;
}

// A rank opens the report file under /proc of the process that runs the job; a name with a random token excludes a
// recycled number.
void join_job() {
  const char* text = std::getenv(JobReports::kVariable);
  if (text == nullptr) return;
  ReportFileAddress at;
  int end = 0;
  if (std::sscanf(text, "%9d %9d %10u%n", &at.process, &at.file, &at.token, &end) != 3 || text[end] != '\0') return;
  g_in_job = true;
  ::unsetenv(JobReports::kVariable);  // processes that this rank starts are no ranks of the job
  const std::string path = fmt::format("/proc/{}/fd/{}", at.process, at.file);
  // On another host or in another container this process number belongs to another process, so the token must match.
  std::array<char, PATH_MAX> target{};
  const auto n = ::readlink(path.c_str(), target.data(), target.size() - 1);
  if (n < 0 || std::string(target.data()) != "/memfd:" + file_name(at.token) + " (deleted)") return;
  g_rank = comm::launcher_world().rank;
  g_file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  // Open MPI names its shared memory after the number of the job; end_leftovers() finds the files of a killed launcher by it.
  unsigned job = 0;
  if (const char* name = std::getenv("PMIX_NAMESPACE"); name != nullptr && std::sscanf(name, "%10u%n", &job, &end) == 1)
    job = name[end] == '\0' ? job : 0;
  append_report(RankReport::Kind::began, static_cast<int>(job));
}

bool is_in_job() noexcept { return g_in_job; }
void report_working() noexcept { append_report(RankReport::Kind::working, 0); }
void report_failing(int exit_code) noexcept { append_report(RankReport::Kind::failing, exit_code); }
void report_end(int exit_code) noexcept { append_report(RankReport::Kind::ended, exit_code); }
void report_signal(int signal) noexcept { append_report(RankReport::Kind::stopped, signal); }

void end_job(int exit_code) {
  report_failing(exit_code);
  report_end(exit_code);
  comm::abort(exit_code);
}

}  // namespace merganser::app
