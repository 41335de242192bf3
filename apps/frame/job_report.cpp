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

/// Where a starter's file is: descriptor `file` of process `process`, named after `token`.
struct Address {
  int process = 0;
  int file = 0;
  unsigned token = 0;
};

std::string file_name(unsigned token) { return fmt::format("merganser-job-{}", token); }

int g_file = -1;
int g_rank = 0;
bool g_in_job = false;

void tell(RankReport::Kind kind, int value) noexcept {
  if (g_file < 0) return;
  const int saved = errno;
  const RankReport report{kind, g_rank, value};
  [[maybe_unused]] const auto written = ::write(g_file, &report, sizeof report);
  errno = saved;
}

}  // namespace

JobReports::JobReports() {
  const unsigned token = std::random_device{}();
  file_ = ::memfd_create(file_name(token).c_str(), MFD_CLOEXEC);
  if (file_ < 0) return;
  variable_ = fmt::format("{} {} {}", ::getpid(), file_, token);
}

JobReports::~JobReports() {
  if (file_ >= 0) ::close(file_);
}

std::vector<RankReport> JobReports::read() const {
  std::vector<RankReport> all;
  RankReport one{};
  while (file_ >= 0 && ::pread(file_, &one, sizeof one, static_cast<off_t>(all.size() * sizeof one)) == sizeof one)
    all.push_back(one);
  return all;
}

void join_job() {
  const char* text = std::getenv(JobReports::kVariable);
  if (text == nullptr) return;
  Address at;
  int end = 0;
  if (std::sscanf(text, "%9d %9d %10u%n", &at.process, &at.file, &at.token, &end) != 3 || text[end] != '\0') return;
  g_in_job = true;
  ::unsetenv(JobReports::kVariable);  // what this process starts is not of the job
  const std::string path = fmt::format("/proc/{}/fd/{}", at.process, at.file);
  // On another host, or in another container, the same number is another process.
  std::array<char, PATH_MAX> target{};
  const auto n = ::readlink(path.c_str(), target.data(), target.size() - 1);
  if (n < 0 || std::string(target.data()) != "/memfd:" + file_name(at.token) + " (deleted)") return;
  g_rank = comm::launcher_world().rank;
  g_file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  unsigned job = 0;
  if (const char* name = std::getenv("PMIX_NAMESPACE"); name != nullptr && std::sscanf(name, "%10u%n", &job, &end) == 1)
    job = name[end] == '\0' ? job : 0;
  tell(RankReport::Kind::began, static_cast<int>(job));
}

bool in_job() noexcept { return g_in_job; }
void report_working() noexcept { tell(RankReport::Kind::working, 0); }
void report_failing(int exit_code) noexcept { tell(RankReport::Kind::failing, exit_code); }
void report_end(int exit_code) noexcept { tell(RankReport::Kind::ended, exit_code); }
void report_signal(int signal) noexcept { tell(RankReport::Kind::stopped, signal); }

void end_job(int exit_code) {
  report_failing(exit_code);
  report_end(exit_code);
  comm::abort(exit_code);
}

}  // namespace merganser::app
