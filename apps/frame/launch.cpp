// Running a job: signals, time limit, and what the end of the launcher means.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>

#include "apps/frame/elsewhere.hpp"
#include "apps/frame/job_output.hpp"
#include "apps/frame/job_report.hpp"
#include "apps/frame/launcher.hpp"
#include "apps/frame/leftovers.hpp"
#include "apps/frame/process.hpp"
#include "apps/frame/signals.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/base/timer.hpp"

namespace merganser::app {
namespace {

constexpr double kSecondsToStop = 5;   // from being told to being killed
constexpr double kSecondsToReap = 10;  // from the death of all its processes to the end of a launcher
constexpr double kSecondsToRead = 1;   // from being told to the end of waiting for who reads standard output
constexpr double kSecondsToFail = 15;  // from the failure of a rank, which ends the job, to the end of a launcher
constexpr double kSameSignal = 0.5;    // some send a signal to a process and to its group
constexpr std::array kStops{SIGINT, SIGTERM, SIGHUP};
constexpr std::array kPassed{SIGUSR1, SIGUSR2};

/// Signals that are waited for instead of handled, for as long as the object lives. What was ignored stays so.
class BlockedSignals : Pinned {
 public:
  BlockedSignals() {
    sigemptyset(&set_);
    sigaddset(&set_, SIGCHLD);
    for (const auto& group : {std::vector<int>(kStops.begin(), kStops.end()), std::vector<int>{SIGTSTP},
                              std::vector<int>(kPassed.begin(), kPassed.end())})
      for (const int signal : group) {
        struct sigaction action {};
        if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&set_, signal);
      }
    ::sigprocmask(SIG_BLOCK, &set_, &before_);
  }
  ~BlockedSignals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  /// The next one; 0 after `seconds` without any.
  [[nodiscard]] int next(double seconds) const {
    const auto whole = static_cast<time_t>(seconds);
    const timespec limit{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
    const int signal = ::sigtimedwait(&set_, nullptr, &limit);
    return signal > 0 ? signal : 0;
  }

 private:
  sigset_t set_{};
  sigset_t before_{};
};

struct End {
  int status = 0;
  int stop = 0;  ///< the first signal that told to stop
  bool timed_out = false;
  bool stuck = false;   ///< the launcher did not end after its processes had, and was killed
  int failed = 0;       ///< the same after a rank had said that it fails: the exit code that it told
  int rank_signal = 0;  ///< if so: a signal that ended one of them
};

/// Whether a process has children, and all of them are dead and wait to be reaped. False where the system does not tell.
bool has_only_dead_children(pid_t pid) {
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid));
  bool any = false;
  for (pid_t child = 0; children >> child; any = true) {
    std::ifstream in(fmt::format("/proc/{}/stat", child));
    const std::string stat{std::istreambuf_iterator<char>(in), {}};
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos || stat.size() < name_end + 3 || stat[name_end + 2] != 'Z') return false;
  }
  return any;
}

/// Waits for the launcher; tells it to stop when this process is told or the time is over, and kills it if it does not.
class Waiting {
 public:
  Waiting(pid_t child, double timeout_s, const JobReports& reports, JobOutput& output)
      : child_(child), deadline_(timeout_s > 0 ? now() + timeout_s : 0), reports_(reports), output_(output) {}

  End wait(const BlockedSignals& signals) {
    wait_for_launcher(signals);
    child_ = 0;
    output_.finish();
    while (!output_.done()) {
      meet(signals.next(0.2));
      stop_in_time(now());
    }
    return end_;
  }

 private:
  void wait_for_launcher(const BlockedSignals& signals) {
    while (true) {
      const pid_t got = ::waitpid(child_, &end_.status, WNOHANG);
      if (got == child_) return;
      if (got < 0) throw CommError("cannot wait for the launcher: " + std::string(std::strerror(errno)));
      meet(signals.next(told_ == 0 && deadline_ == 0 ? 2 : 0.2));
      const double time = now();
      // Open MPI 4.1 may wait for a lock of its own for ever after a rank was killed while it started.
      if (output_.is_writing() || !has_only_dead_children(child_)) {  // a slow reader keeps the launcher from ending
        reaping_since_ = time;
      } else if (time > reaping_since_ + kSecondsToReap) {
        return give_up();
      }
      if (outlives_failure(time)) return give_up();
      stop_in_time(time);
    }
  }

  /// Once the time is over, or after a signal: first who runs is told, then who does not read is left, then all is killed.
  void stop_in_time(double time) {
    if (told_ == 0 && deadline_ > 0 && time > deadline_) {
      end_.timed_out = true;
      tell();
    }
    if (told_ == 0) return;
    if (time > told_ + kSecondsToRead) output_.give_up();
    if (time > told_ + kSecondsToStop) send(SIGKILL);
  }
  void send(int signal) const {
    if (child_ > 0) ::kill(child_, signal);
  }
  /// Kills the launcher, whose dead children come to this process then, with how they ended.
  void give_up() {
    end_.stuck = true;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, &end_.status, 0);
    for (int status = 0; ::waitpid(-1, &status, WNOHANG) > 0;)
      if (WIFSIGNALED(status) && (end_.rank_signal == 0 || WTERMSIG(status) != SIGTERM))
        end_.rank_signal = WTERMSIG(status);
  }
  /// Whether the launcher goes on long after a rank has failed. Open MPI 4.1 waits for hosts that are cut off, more than
  /// a minute, or crashes on the way out and stays.
  bool outlives_failure(double time) {
    if (failed_since_ == 0) {
      const auto reports = reports_.read();
      for (const auto kind : {RankReport::Kind::failing, RankReport::Kind::ended})
        for (const auto& r : reports)
          if (r.kind == kind && r.value != 0) end_.failed = r.value;
      if (end_.failed != 0) failed_since_ = time;
    }
    if (failed_since_ > 0 && output_.is_writing()) failed_since_ = time;  // it ends once that is read
    return failed_since_ > 0 && time > failed_since_ + kSecondsToFail;
  }
  void tell() {
    told_ = now();
    send(SIGTERM);  // of the three the one that every launcher takes for an end
  }
  void meet(int signal) {
    if (std::find(kPassed.begin(), kPassed.end(), signal) != kPassed.end()) send(signal);
    if (signal == SIGTSTP) {
      send(SIGTSTP);
      ::raise(SIGSTOP);
      send(SIGCONT);
    }
    if (std::find(kStops.begin(), kStops.end(), signal) == kStops.end()) return;
    if (end_.stop == 0) {
      end_.stop = signal;
      tell();
    } else if (now() > told_ + kSameSignal) {
      send(SIGKILL);
      output_.give_up();
    }
  }

  pid_t child_;  // 0: has ended
  double deadline_;
  double told_ = 0;
  double reaping_since_ = now();
  double failed_since_ = 0;
  const JobReports& reports_;
  JobOutput& output_;
  End end_;
};

/// Whether every rank that began has told that it ended without an error.
bool all_ended_well(const JobReports& job) {
  std::set<int> began;
  std::set<int> well;
  for (const auto& r : job.read()) {
    if (r.kind == RankReport::Kind::began) began.insert(r.rank);
    if (r.kind == RankReport::Kind::ended && r.value == 0) well.insert(r.rank);
  }
  return !began.empty() && began == well;
}

std::set<unsigned> jobs_of(const JobReports& reports) {
  std::set<unsigned> jobs;
  for (const auto& r : reports.read())
    if (r.kind == RankReport::Kind::began && r.value != 0) jobs.insert(static_cast<unsigned>(r.value));
  return jobs;
}

std::string rank_text(int rank) { return fmt::format("rank {}", rank); }

/// The first report of a kind for which `is` holds.
template <class F>
std::optional<RankReport> first_report(const std::vector<RankReport>& reports, RankReport::Kind kind, F&& is) {
  const auto at = std::find_if(reports.begin(), reports.end(), [&](const auto& r) { return r.kind == kind && is(r); });
  return at == reports.end() ? std::nullopt : std::optional(*at);
}

/// Exit codes beyond those of programs and signals: a negative number of the launcher's own.
constexpr int kLaunchersOwn = 193;
constexpr int kConnectionLost = 256 - 51;  // of Open MPI, when a daemon on another machine is out of reach

/// A rank that has begun and told nothing more, neither that its libraries have started nor how it ended.
std::optional<RankReport> vanished_rank(const std::vector<RankReport>& reports) {
  return first_report(reports, RankReport::Kind::began, [&](const RankReport& began) {
    return std::none_of(reports.begin(), reports.end(),
                        [&](const auto& r) { return r.kind != RankReport::Kind::began && r.rank == began.rank; });
  });
}

/// What an exit code of the launcher stands for that no rank has told, 1 above all: that is its own when it is stopped.
JobEnd untold_end(const LaunchPlan& plan, int code, const std::vector<RankReport>& reports) {
  if (code == 1)
    if (const auto r = first_report(reports, RankReport::Kind::ended, [](const auto& x) { return x.value != 0; }))
      return {r->value, r->value, ""};  // it has said why
  if (code == kConnectionLost)
    return {4, 4, plan.command[0] + " has lost the connection to another machine, and has ended the ranks it reaches"};
  if (const auto r = vanished_rank(reports))
    return {4, 4,
            fmt::format("{} ended with code {} before its MPI or OpenSHMEM had started", rank_text(r->rank), code)};
  if (code >= kLaunchersOwn) return {4, 4, fmt::format("{} has failed with code {}", plan.command[0], code)};
  if (code != 1) return {code, code, ""};
  if (const auto r = first_report(reports, RankReport::Kind::stopped, [](const auto&) { return true; }))
    return {128 + r->value, 128 + r->value, "the launcher stopped the ranks by signal " + signal_text(r->value)};
  const std::string ended = plan.command[0] + " ended with code 1, ";
  if (!reports.empty()) return {4, 4, ended + "but no rank says that it failed; was the launcher told to stop?"};
  if (other_machines()) return {1, 1, ""};
  return {4, 4, ended + "before a rank had begun"};
}

/// The end of a rank that was the first to end, where the launcher's code is the greatest of all: it stops the others by
/// SIGTERM, whose number is greater than that of most errors and of SIGKILL.
std::optional<JobEnd> first_end(const std::vector<RankReport>& reports) {
  if (const auto r = first_report(reports, RankReport::Kind::ended, [](const auto& x) { return x.value != 0; }))
    return JobEnd{r->value, r->value, ""};
  const auto silent = first_report(reports, RankReport::Kind::began, [&](const RankReport& began) {
    return std::none_of(reports.begin(), reports.end(), [&](const auto& r) {
      return r.rank == began.rank && (r.kind == RankReport::Kind::ended || r.kind == RankReport::Kind::stopped);
    });
  });
  if (!silent) return std::nullopt;
  return JobEnd{128 + SIGKILL, 4, rank_text(silent->rank) + " ended without a word; the launcher stopped the others"};
}

JobEnd end_by_signal(const LaunchPlan& plan, int signal, const std::vector<RankReport>& reports) {
  if (plan.tells_greatest && signal == SIGTERM)
    if (const auto end = first_end(reports)) return *end;
  if (const auto r = first_report(reports, RankReport::Kind::stopped, [&](const auto& x) { return x.value == signal; }))
    return {128 + signal, 128 + signal, rank_text(r->rank) + " was stopped by signal " + signal_text(signal)};
  return {128 + signal, 4, "a rank was ended by signal " + signal_text(signal) + "; the launcher stopped the others"};
}

bool all_stopped(const std::vector<RankReport>& reports, int signal) {
  return std::all_of(reports.begin(), reports.end(), [&](const RankReport& began) {
    return began.kind != RankReport::Kind::began || std::any_of(reports.begin(), reports.end(), [&](const auto& r) {
             return r.kind == RankReport::Kind::stopped && r.rank == began.rank && r.value == signal;
           });
  });
}

/// The end of a job whose launcher's code says little: that of the rank that was the first to tell of its own.
std::optional<JobEnd> told_end(const LaunchPlan& plan, int code, const std::vector<RankReport>& reports) {
  constexpr int kNoCodeOfOurs = 6;  // up to 5 they are exit codes too
  const auto r = std::find_if(reports.begin(), reports.end(), [](const RankReport& x) {
    return x.kind == RankReport::Kind::stopped || (x.kind == RankReport::Kind::ended && x.value != 0);
  });
  if (r == reports.end()) {
    // Another program may end with any code, and Hydra's is the same for code 7 and signal 7.
    if (!plan.of_this_program || code < kNoCodeOfOurs || code > 31) return std::nullopt;
    return JobEnd{128 + code, 4,
                  "a rank was ended by signal " + signal_text(code) + "; the launcher stopped the others"};
  }
  if (r->kind == RankReport::Kind::ended) return JobEnd{r->value, r->value, ""};
  const std::string by = " by signal " + signal_text(r->value);
  if (r->value == SIGTERM && all_stopped(reports, SIGTERM))
    return JobEnd{128 + SIGTERM, 128 + SIGTERM, "the launcher stopped the ranks" + by};
  if (r->value == SIGTERM)
    if (const auto end = first_end(reports)) return end;
  return JobEnd{128 + r->value, 128 + r->value, rank_text(r->rank) + " was stopped" + by};
}

JobEnd meaning_of(const LaunchPlan& plan, int status, const JobReports& job) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {128 + signal, 4,
            plan.command[0] + " was ended by signal " + signal_text(signal) + ", and the ranks with it"};
  }
  const int code = WEXITSTATUS(status);
  const auto reports = job.read();
  if (plan.code_says_little)
    if (const auto end = told_end(plan, code, reports)) return *end;
  if (code > 128 && code < 128 + 65) return end_by_signal(plan, code - 128, reports);
  const bool told =
      first_report(reports, RankReport::Kind::ended, [&](const auto& x) { return x.value == code; }).has_value();
  if (code == 0 || told || !plan.of_this_program || job.variable().empty()) return {code, code, ""};
  return untold_end(plan, code, reports);
}

/// How a job without an error ends: all it printed may not have been written.
JobEnd end_of_output(const JobOutput& output) {
  if (output.error() == 0) return {};
  if (output.error() == EPIPE) return {128 + SIGPIPE, 0, ""};  // as the rank itself: the work is done
  throw InputError(std::string("cannot write to standard output: ") + std::strerror(output.error()));
}

}  // namespace

JobEnd run_job(const LaunchPlan& plan, double timeout_s) {
  const JobReports reports;
  const BlockedSignals signals;
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // what a killed launcher leaves comes to this process
  JobOutput output;
  const pid_t child = start_process(plan.command, SIGTERM, [&] {
    output.take_standard_output();
    for (const auto& s : plan.exports) ::setenv(s.name.c_str(), s.value.c_str(), 1);
    if (!reports.variable().empty()) ::setenv(JobReports::kVariable, reports.variable().c_str(), 1);
    // Its group is not that of the keyboard, so reading there would stop it.
    if (::isatty(STDIN_FILENO) == 1)
      if (const int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  });
  output.close_input();
  const End end = Waiting(child, timeout_s, reports, output).wait(signals);
  const bool killed = WIFSIGNALED(end.status) || WEXITSTATUS(end.status) > 128;  // the launcher, or a rank
  if (killed || end.stop != 0 || end.timed_out) end_leftovers(jobs_of(reports));
  // Hydra ends with 0 when it has been told to stop.
  if (end.stop != 0 && (end.status != 0 || output.error() != 0 || !all_ended_well(reports)))
    throw Interrupted(end.stop);
  if (end.stuck && end.failed != 0) return {end.failed, end.failed, ""};  // the rank has said why
  if (end.stuck) {
    const std::string what = end.rank_signal != 0 ? "a rank was ended by signal " + signal_text(end.rank_signal) + ", "
                                                  : std::string("the ranks have ended, ");
    return {end.rank_signal != 0 ? 128 + end.rank_signal : 4, 4,
            fmt::format("{}but {} did not end within {:.0f} s and was killed", what, plan.command[0], kSecondsToReap)};
  }
  if (end.timed_out) return {kTimedOut, 4, "the job was stopped after its time"};
  const JobEnd ended = meaning_of(plan, end.status, reports);
  return ended.code == 0 ? end_of_output(output) : ended;
}

int launch(const LaunchPlan& plan, double timeout_s) { return run_job(plan, timeout_s).code; }

int launch_and_tell(const LaunchPlan& plan) {
  const JobEnd end = run_job(plan, 0);
  if (!end.why.empty()) print_error(end.why, end.kind);
  return end.code;
}

Interrupted::Interrupted(int signal) : signal_(signal), what_("stopped by signal " + signal_text(signal)) {}

}  // namespace merganser::app
