#pragma once
/// Reports of how each rank of a job ended, written by ranks and read by `run`, which started the launcher. Forced by the
/// launchers' exit codes: Open MPI's mpirun ends with 1 when it is stopped by a signal, as when a rank failed with 1; MPICH's Hydra
/// ends with 0 or with the number of a signal although a rank has failed; srun ends with the largest code of all ranks.
///
/// `run` creates an anonymous file in memory (memfd) and passes its place under /proc in the variable MERGANSER_JOB. Nothing has to
/// be removed, however a process ends. Ranks on other hosts cannot open the file and report nothing.
#include <string>
#include <vector>

#include "merganser/base/pinned.hpp"

namespace merganser::app {

/// Report of a rank to `run`: an event in the life of the rank, and its value.
struct RankReport {
  /// Event that a rank of a job reports: its begin, its end by exit code or signal, the start of MPI or OpenSHMEM, its failure.
  enum class Kind : int { began = 1, ended = 2, stopped = 3, working = 4, failing = 5 };
  Kind kind;
  int rank;
  int value;  ///< exit code or number of the signal; of `began` the job number of Open MPI (PMIX_NAMESPACE), 0 if there is none
};

/// File in memory with the reports of the ranks of a job, owned by the process that starts the launcher.
class JobReports : Pinned {
 public:
  JobReports();  ///< if the system has no memfd, variable() is empty and there are no reports
  ~JobReports();

  static constexpr const char* kVariable =
      "MERGANSER_JOB";  ///< environment variable by which ranks find the report file
  /// Returns the value of kVariable to export to the ranks; empty if there will be no reports.
  [[nodiscard]] const std::string& variable() const noexcept { return variable_; }
  /// Returns all reports of the job's ranks so far, in the order in which they were written.
  [[nodiscard]] std::vector<RankReport> read() const;

 private:
  int file_ = -1;
  std::string variable_;
};

// ---- the ranks' side ----

/// Opens the report file of `run`, if this process is a rank of its job, and reports that this rank has begun. Called once, by
/// main().
void join_job();
/// Returns true if `run` has started the launcher of this rank, on whatever host: it then prints the messages about signals.
[[nodiscard]] bool is_in_job() noexcept;
/// Reports to `run` that MPI or OpenSHMEM has started on this rank. A rank that ends before was ended by its library, not by a
/// signal.
void report_working() noexcept;
/// Reports to `run` that this rank has failed and leaves the job, whichever rank prints the error. `run` kills a launcher that
/// is still there some time later.
void report_failing(int exit_code) noexcept;
/// Reports to `run` the exit code with which this rank is about to end. Async-signal-safe; without effect outside a job of `run`.
void report_end(int exit_code) noexcept;
/// Reports to `run` the signal by which this rank is about to end. Async-signal-safe; without effect outside a job of `run`.
void report_signal(int signal) noexcept;
/// Reports the exit code of this rank to `run` and ends the job by comm::abort(), for a rank that fails while others may go on.
/// Does not return.
[[noreturn]] void end_job(int exit_code);

}  // namespace merganser::app
