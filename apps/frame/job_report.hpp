#pragma once
/// How the ranks of a job ended, told to the process that started the launcher: the launcher's exit code alone cannot say
/// whether a rank failed or the launcher was stopped, and by which signal.
///
/// The starter makes a file in memory that has no name, and tells the ranks in the variable MERGANSER_JOB how to find it
/// under /proc; nothing is left behind, however a process ends. Ranks on other hosts find nothing and tell nothing.
#include <string>
#include <vector>

#include "merganser/base/pinned.hpp"

namespace merganser::app {

/// What one rank has told.
struct RankReport {
  enum class Kind : int { began = 1, ended = 2, stopped = 3, working = 4, failing = 5 };
  Kind kind;
  int rank;
  int value;  ///< exit code, number of the signal; of one that began what Open MPI calls the job, 0 if nothing does
};

/// The starter's side.
class JobReports : Pinned {
 public:
  JobReports();  ///< without memory files of the system there will be no reports
  ~JobReports();

  static constexpr const char* kVariable = "MERGANSER_JOB";
  [[nodiscard]] const std::string& variable() const noexcept { return variable_; }  ///< empty: no reports
  /// In the order in which they came.
  [[nodiscard]] std::vector<RankReport> read() const;

 private:
  int file_ = -1;
  std::string variable_;
};

// ---- the ranks' side ----

/// Looks for the starter's file and tells that this rank has begun. Called once, by main().
void join_job();
/// True if another process of this program has started the launcher; it tells the user of signals, wherever it runs.
[[nodiscard]] bool in_job() noexcept;
/// Tells that MPI or OpenSHMEM has started: what they do to a rank before is no signal to the launcher.
void report_working() noexcept;
/// Tells that this rank has met an error and leaves the job, whoever prints it: the launcher must end soon.
void report_failing(int exit_code) noexcept;
/// Tells how this process is about to end: async-signal-safe, and nothing where nobody is told.
void report_end(int exit_code) noexcept;
void report_signal(int signal) noexcept;
/// Tells, then comm::abort(): for a rank that fails alone.
[[noreturn]] void end_job(int exit_code);

}  // namespace merganser::app
