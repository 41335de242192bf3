// Supervision of a job by `run`: signals, time limit, launchers that do not end, and the meaning of the launcher's exit code.
//
// A launcher forwards signals and stops ranks by itself. Each part here that goes beyond it names the launcher's behaviour that
// forces it; docs/architecture.md lists what ends a job, and how.
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

constexpr double kSecondsToStop = 5;   // from SIGTERM to SIGKILL of a launcher
constexpr double kSecondsToReap = 10;  // from the death of all children of a launcher to its SIGKILL
constexpr double kSecondsToRead = 1;   // from SIGTERM to the end of waiting for a slow reader of standard output
constexpr double kSecondsToFail =
    15;  // from the reported failure of a rank, which ends the job, to SIGKILL of a launcher
constexpr double kSameSignal =
    0.5;  // senders such as timeout(1) signal a process and its group: both count as one signal
constexpr std::array kStops{SIGINT, SIGTERM, SIGHUP};
constexpr std::array kPassed{SIGUSR1, SIGUSR2};

/// Set of signals that are blocked and taken by sigtimedwait() instead of handlers while the object lives, so that no signal is
/// lost between the tests of the supervision loop. Signals that were ignored (nohup) stay ignored.
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

  /// Waits for the next of the blocked signals of the supervision. @return its number; 0 after `seconds` without one
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

/// Outcome of the supervision of a job's launcher; filled by LauncherSupervision::wait().
struct LauncherOutcome {
  int status = 0;          ///< wait status of the launcher, as from waitpid()
  int stop = 0;            ///< first of SIGINT, SIGTERM, SIGHUP that this process received; 0: none
  bool timed_out = false;  ///< the launcher was stopped after the time limit of the job
  bool stuck = false;      ///< the launcher outlived its ranks, or the failure of one, and was killed
  int failed = 0;          ///< exit code of a rank that reported its failure; 0: none
  int rank_signal = 0;  ///< signal that ended a child of a killed launcher, SIGTERM only if there is no other; 0: none
};

/// Returns true if a launcher has children (its ranks and daemons) and all of them are zombies. False if /proc does not give its
/// children.
bool has_only_dead_children(pid_t pid) {
  std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", pid));
  bool any = false;
  for (pid_t child = 0; children >> child; any = true) {
    const std::string stat = read_process_status(child);
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos || stat.size() < name_end + 3 || stat[name_end + 2] != 'Z') return false;
  }
  return any;
}

/// Supervision loop of a job's launcher: passes on signals, stops the launcher on a stop signal or after the time
/// limit, and kills it if it does not end.
class LauncherSupervision {
 public:
  LauncherSupervision(pid_t child, double timeout_s, const JobReports& reports, JobOutput& output)
      : child_(child), deadline_(timeout_s > 0 ? now() + timeout_s : 0), reports_(reports), output_(output) {}

  /// Waits until the launcher and the copier of the job's output have ended. @return the outcome
  LauncherOutcome wait(const BlockedSignals& signals) {
    wait_for_launcher(signals);
    child_ = 0;
    output_.finish();
    while (!output_.done()) {
      handle_signal(signals.next(0.2));
      stop_in_time(now());
    }
    return end_;
  }

 private:
  /// Supervises the launcher until it has ended or has been killed: signals, time limit, ranks that have ended or failed.
  void wait_for_launcher(const BlockedSignals& signals) {
    while (true) {
      const pid_t got = ::waitpid(child_, &end_.status, WNOHANG);
      if (got == child_) return;
      if (got < 0) throw CommError("cannot wait for the launcher: " + std::string(std::strerror(errno)));
      handle_signal(signals.next(told_ == 0 && deadline_ == 0 ? 2 : 0.2));
      const double time = now();
      // mpirun of Open MPI 4.1.4 may wait for ever for a lock of its PMIx server after a rank was killed while it started: all its
      // children are zombies then. A slow reader keeps a launcher from ending too, and does not count.
      if (output_.is_writing() || !has_only_dead_children(child_)) {
        reaping_since_ = time;
      } else if (time > reaping_since_ + kSecondsToReap) {
        return kill_launcher();
      }
      if (has_outlived_failure(time)) return kill_launcher();
      stop_in_time(time);
    }
  }

  /// Escalates the stop of the job after the time limit or a stop signal: SIGTERM to the launcher, after 1 s the output of a slow
  /// reader is discarded, after 5 s SIGKILL to the launcher.
  void stop_in_time(double time) {
    if (told_ == 0 && deadline_ > 0 && time > deadline_) {
      end_.timed_out = true;
      request_stop();
    }
    if (told_ == 0) return;
    if (time > told_ + kSecondsToRead) output_.discard();
    if (time > told_ + kSecondsToStop) send(SIGKILL);
  }
  /// Sends a signal to the launcher, if it still runs.
  void send(int signal) const {
    if (child_ > 0) ::kill(child_, signal);
  }
  /// Kills the launcher. Its zombies become children of this process, a subreaper, which reads the signals that ended them.
  void kill_launcher() {
    end_.stuck = true;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, &end_.status, 0);
    for (int status = 0; ::waitpid(-1, &status, WNOHANG) > 0;)
      if (WIFSIGNALED(status) && (end_.rank_signal == 0 || WTERMSIG(status) != SIGTERM))
        end_.rank_signal = WTERMSIG(status);
  }
  /// Returns true if the launcher still runs 15 s after a rank reported its failure. mpirun of Open MPI 4.1 may wait more than a
  /// minute for hosts that are cut off, or crash on the way out and stay.
  bool has_outlived_failure(double time) {
    if (failed_since_ == 0) {
      const auto reports = reports_.read();
      for (const auto kind : {RankReport::Kind::failing, RankReport::Kind::ended})
        for (const auto& r : reports)
          if (r.kind == kind && r.value != 0) end_.failed = r.value;
      if (end_.failed != 0) failed_since_ = time;
    }
    if (failed_since_ > 0 && output_.is_writing()) failed_since_ = time;  // a slow reader delays its end
    return failed_since_ > 0 && time > failed_since_ + kSecondsToFail;
  }
  /// Begins to stop the job after its time limit or a stop signal: SIGTERM to the launcher.
  void request_stop() {
    told_ = now();
    send(SIGTERM);  // the one of the three signals on which every launcher stops its ranks
  }
  /// Acts on a signal that this process, `run`, received: passes it on to the launcher, suspends, or begins to stop the job.
  void handle_signal(int signal) {
    if (std::find(kPassed.begin(), kPassed.end(), signal) != kPassed.end()) send(signal);
    if (signal == SIGTSTP) {
      send(SIGTSTP);  // the launcher's process group is not that of the terminal, so Ctrl-Z reaches this process alone
      ::raise(SIGSTOP);
      send(SIGCONT);
    }
    if (std::find(kStops.begin(), kStops.end(), signal) == kStops.end()) return;
    if (end_.stop == 0) {
      end_.stop = signal;
      request_stop();
    } else if (now() > told_ + kSameSignal) {
      send(SIGKILL);
      output_.discard();
    }
  }

  pid_t child_;  // the launcher; 0: it has ended, and its number may belong to another process
  double deadline_;
  double told_ = 0;
  double reaping_since_ = now();
  double failed_since_ = 0;
  const JobReports& reports_;
  JobOutput& output_;
  LauncherOutcome end_;
};

/// Returns true if at least one rank of the job has begun and every rank that has begun reported the exit code 0.
bool have_all_succeeded(const JobReports& job) {
  std::set<int> began;
  std::set<int> well;
  for (const auto& r : job.read()) {
    if (r.kind == RankReport::Kind::began) began.insert(r.rank);
    if (r.kind == RankReport::Kind::ended && r.value == 0) well.insert(r.rank);
  }
  return !began.empty() && began == well;
}

/// Returns the job numbers of Open MPI that ranks reported, for the removal of its shared memory.
std::set<unsigned> job_numbers(const JobReports& reports) {
  std::set<unsigned> jobs;
  for (const auto& r : reports.read())
    if (r.kind == RankReport::Kind::began && r.value != 0) jobs.insert(static_cast<unsigned>(r.value));
  return jobs;
}

std::string rank_text(int rank) { return fmt::format("rank {}", rank); }

/// Returns the first report of the job's ranks of a kind for which `is` holds, in the order of their arrival; nothing if none does.
template <class F>
std::optional<RankReport> first_report(const std::vector<RankReport>& reports, RankReport::Kind kind, F&& is) {
  const auto at = std::find_if(reports.begin(), reports.end(), [&](const auto& r) { return r.kind == kind && is(r); });
  return at == reports.end() ? std::nullopt : std::optional(*at);
}

/// Smallest exit code that neither a rank nor 128 + signal gives: a launcher's own negative error code, modulo 256.
constexpr int kLaunchersOwn = 193;
constexpr int kConnectionLost = 256 - 51;  // of Open MPI's mpirun, when its daemon on another host is out of reach

/// Returns the report of the first rank that has begun and reported neither that MPI or OpenSHMEM has started nor how it ended.
std::optional<RankReport> find_vanished_rank(const std::vector<RankReport>& reports) {
  return first_report(reports, RankReport::Kind::began, [&](const RankReport& began) {
    return std::none_of(reports.begin(), reports.end(),
                        [&](const auto& r) { return r.kind != RankReport::Kind::began && r.rank == began.rank; });
  });
}

/// Infers the outcome of a job from a launcher's exit code that no rank has reported. Code 1 is ambiguous: Open MPI's mpirun ends
/// with it when a signal stops it, and if a rank ended with 1.
JobEnd infer_end(const LaunchPlan& plan, int code, const std::vector<RankReport>& reports) {
  if (code == 1)
    if (const auto r = first_report(reports, RankReport::Kind::ended, [](const auto& x) { return x.value != 0; }))
      return {r->value, r->value, ""};  // the rank has printed the reason
  if (code == kConnectionLost)
    return {4, 4, plan.command[0] + " has lost the connection to another machine, and has ended the ranks it reaches"};
  if (const auto r = find_vanished_rank(reports))
    return {4, 4,
            fmt::format("{} ended with code {} before its MPI or OpenSHMEM had started", rank_text(r->rank), code)};
  if (code >= kLaunchersOwn) return {4, 4, fmt::format("{} has failed with code {}", plan.command[0], code)};
  if (code != 1) return {code, code, ""};
  if (const auto r = first_report(reports, RankReport::Kind::stopped, [](const auto&) { return true; }))
    return {128 + r->value, 128 + r->value, "the launcher stopped the ranks by signal " + signal_text(r->value)};
  const std::string ended = plan.command[0] + " ended with code 1, ";
  if (!reports.empty()) return {4, 4, ended + "but no rank says that it failed; was the launcher told to stop?"};
  if (has_other_hosts()) return {1, 1, ""};
  return {4, 4, ended + "before a rank had begun"};
}

/// Returns, for the command `run`, the outcome of a job under srun: that of the rank that ended first. srun returns the largest
/// exit code of all ranks, but stops the others by SIGTERM, and 128 + SIGTERM is larger than the code of most errors and than
/// 128 + SIGKILL. Nothing if all ranks were stopped.
std::optional<JobEnd> find_first_end(const std::vector<RankReport>& reports) {
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

/// Interprets the exit code 128 + signal of a launcher. A rank that handles the signal has reported it; one that has not was
/// killed.
JobEnd interpret_signal(const LaunchPlan& plan, int signal, const std::vector<RankReport>& reports) {
  if (plan.exit_code_is_largest && signal == SIGTERM)
    if (const auto end = find_first_end(reports)) return *end;
  if (const auto r = first_report(reports, RankReport::Kind::stopped, [&](const auto& x) { return x.value == signal; }))
    return {128 + signal, 128 + signal, rank_text(r->rank) + " was stopped by signal " + signal_text(signal)};
  return {128 + signal, 4, "a rank was ended by signal " + signal_text(signal) + "; the launcher stopped the others"};
}

/// Returns true if every rank of the job that has begun reported this signal: then the launcher was stopped, not a single rank.
bool are_all_stopped(const std::vector<RankReport>& reports, int signal) {
  return std::all_of(reports.begin(), reports.end(), [&](const RankReport& began) {
    return began.kind != RankReport::Kind::began || std::any_of(reports.begin(), reports.end(), [&](const auto& r) {
             return r.kind == RankReport::Kind::stopped && r.rank == began.rank && r.value == signal;
           });
  });
}

/// Returns the outcome of a job under Hydra from the first report of an error or a signal, since Hydra's exit code may be 0, or the
/// number of a signal it sent, although a rank has failed. Nothing if no rank reported one and the code needs no other meaning.
std::optional<JobEnd> find_reported_end(const LaunchPlan& plan, int code, const std::vector<RankReport>& reports) {
  constexpr int kNoCodeOfOurs = 6;  // up to 5 the numbers of signals are exit codes of this program too
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
  if (r->value == SIGTERM && are_all_stopped(reports, SIGTERM))
    return JobEnd{128 + SIGTERM, 128 + SIGTERM, "the launcher stopped the ranks" + by};
  if (r->value == SIGTERM)
    if (const auto end = find_first_end(reports)) return end;
  return JobEnd{128 + r->value, 128 + r->value, rank_text(r->rank) + " was stopped" + by};
}

/// Interprets the wait status of the launcher, with the ranks' reports taking precedence over its exit code.
JobEnd interpret_status(const LaunchPlan& plan, int status, const JobReports& job) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {128 + signal, 4,
            plan.command[0] + " was ended by signal " + signal_text(signal) + ", and the ranks with it"};
  }
  const int code = WEXITSTATUS(status);
  const auto reports = job.read();
  if (plan.exit_code_is_unreliable)
    if (const auto end = find_reported_end(plan, code, reports)) return *end;
  if (code > 128 && code < 128 + 65) return interpret_signal(plan, code - 128, reports);
  const bool told =
      first_report(reports, RankReport::Kind::ended, [&](const auto& x) { return x.value == code; }).has_value();
  if (code == 0 || told || !plan.of_this_program || job.variable().empty()) return {code, code, ""};
  return infer_end(plan, code, reports);
}

/// Returns the outcome of a job that succeeded: its output may still have failed to be written.
/// @throws InputError if standard output is full or closed
JobEnd output_end(const JobOutput& output) {
  if (output.error() == 0) return {};
  if (output.error() == EPIPE)
    return {128 + SIGPIPE, 0, ""};  // as without a launcher: the work is done, the reader has gone
  throw InputError(std::string("cannot write to standard output: ") + std::strerror(output.error()));
}

}  // namespace

// Run of a job: start, supervision, removal of leftovers, and the outcome from the launcher's exit code and the ranks'
// reports.
JobEnd run_job(const LaunchPlan& plan, double timeout_s) {
  const JobReports reports;
  const BlockedSignals signals;
  // Orphans of a launcher that is killed become children of this process, which ends them (leftovers.cpp). A launcher cannot do
  // this for itself.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  JobOutput output(plan.output_to_errors ? STDERR_FILENO : STDOUT_FILENO);
  // A process group of its own: a signal for the group of the terminal reached Open MPI's mpirun twice, from the terminal and from
  // this process, and it then left its ranks and their shared memory. SIGTERM on the death of this process: a killed `run` must not
  // leave the job behind.
  const pid_t child = start_process(plan.command, SIGTERM, [&] {
    output.redirect_standard_output();
    for (const auto& s : plan.exports) ::setenv(s.name.c_str(), s.value.c_str(), 1);
    if (!reports.variable().empty()) ::setenv(JobReports::kVariable, reports.variable().c_str(), 1);
    // A process outside the foreground group of a terminal is stopped (SIGTTIN) when it reads from it.
    if (::isatty(STDIN_FILENO) == 1)
      if (const int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  });
  output.close_input();
  const LauncherOutcome end = LauncherSupervision(child, timeout_s, reports, output).wait(signals);
  // After a signal to the launcher or to a rank, a launcher may have left processes and shared memory.
  const bool killed = WIFSIGNALED(end.status) || WEXITSTATUS(end.status) > 128;
  if (killed || end.stop != 0 || end.timed_out) end_leftovers(job_numbers(reports));
  // Hydra ends with 0 when a signal has stopped it, so the status alone does not show success.
  if (end.stop != 0 && (end.status != 0 || output.error() != 0 || !have_all_succeeded(reports)))
    throw Interrupted(end.stop);
  if (end.stuck && end.failed != 0) return {end.failed, end.failed, ""};  // the rank has printed the reason
  if (end.stuck) {
    const std::string what = end.rank_signal != 0 ? "a rank was ended by signal " + signal_text(end.rank_signal) + ", "
                                                  : std::string("the ranks have ended, ");
    return {end.rank_signal != 0 ? 128 + end.rank_signal : 4, 4,
            fmt::format("{}but {} did not end within {:.0f} s and was killed", what, plan.command[0], kSecondsToReap)};
  }
  if (end.timed_out) return {kTimedOut, 4, "the job was stopped after its time"};
  const JobEnd ended = interpret_status(plan, end.status, reports);
  return ended.code == 0 ? output_end(output) : ended;
}

int launch(const LaunchPlan& plan, double timeout_s) { return run_job(plan, timeout_s).code; }

// Run of a job whose failure is the failure of this command.
int launch_and_report(const LaunchPlan& plan) {
  const JobEnd end = run_job(plan, 0);
  if (!end.why.empty()) print_error(end.why, end.kind);
  return end.code;
}

Interrupted::Interrupted(int signal) : signal_(signal), what_("stopped by signal " + signal_text(signal)) {}

}  // namespace merganser::app
