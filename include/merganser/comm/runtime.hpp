#pragma once
/// Start and end of the ranks of a program over a communication model: threads, or processes of a launcher. Only run() and
/// the Session of open.hpp start and end MPI and OpenSHMEM.
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// Communication model (threads, MPI, OpenSHMEM) that this library or a plug-in in use contains; an element of backends().
struct Backend {
  std::string_view name;         ///< name of the model: "threads", "p2p", "neighborhood", "rma", "shmem"
  std::string_view description;  ///< one line on the model, for --help and doctor
  bool processes;                ///< true if the model's ranks are processes, so that more than one need a launcher
};

/// Returns the communication models of this build, and of a plug-in in use, in a fixed order with "threads" first.
/// Local.
[[nodiscard]] std::span<const Backend> backends();
/// Returns one line on each communication model that this build lacks, for `merganser doctor`: "shmem: OpenSHMEM not
/// found at configure time". Local.
[[nodiscard]] std::span<const std::string_view> missing_backends();

/// Validates the name of a communication model: "auto" or a name from backends(). Local. @throws UsageError for any other name,
/// with the list of names
void check_backend(std::string_view name);

/// Returns true if a launcher (mpirun, srun, ...) started this process as one of several ranks. Local.
[[nodiscard]] bool launched();

/// Measurement of one communication model by which the model "auto" chooses: its name and times.
struct MeasuredModel {
  std::string_view name;  ///< name of the measured model, one of backends()
  /// Times in ns by pass, each the maximum over ranks of the time of one wave and one round of records. Models are
  /// measured in turns; sample i of every model is from turn i.
  std::vector<std::vector<double>> passes_ns;
  double time_ns = 0;  ///< time of the model: median over passes of the median of each pass, in ns
};
/// Decision of the model "auto" among the models that were measured.
struct ModelChoice {
  std::size_t chosen = 0;           ///< index of the model to run, among the models measured
  std::vector<std::size_t> equals;  ///< indices of other models that may be as fast, for Transport::choice()
};
/// Function that chooses a communication model by the measurements, at least one, in the order of backends(). Called on
/// every rank with the same times; must return the same decision on each.
using ChooseModel = std::function<ModelChoice(std::span<const MeasuredModel>)>;

/// Chooses the first of the measured communication models whose time is within 5 % of the minimum; `equals` are the other models
/// within 5 %. Default decision of the model "auto". Local.
/// @throws UsageError for no model
[[nodiscard]] ModelChoice first_of_the_fastest(std::span<const MeasuredModel> models);

/// Options of run(): the model, the number of ranks, the decorators.
struct RunOptions {
  /// Communication model: a name of backends(), or "auto", which the variable MERGANSER_COMM overrides.
  std::string backend = "auto";
  int ranks = 0;           ///< `threads`: number of ranks (0: one). Processes: checked against the launcher if not 0
  std::string decorators;  ///< comma list of decorators around the transport: "checked", "chaos:SEED"
  /// Process graph that "auto" measures on, as a function of (rank, size); empty: eight neighbours in a near-square grid.
  std::function<Graph(int rank, int size)> pattern;
  ChooseModel choose = first_of_the_fastest;  ///< decision of "auto" from the measured times
  /// Run `threads` within this process, though a launcher may have started it as one of several: "auto" is then `threads`,
  /// models of processes are refused. For a rank of another parallel program that uses the library on its own.
  bool within_process = false;
};

/// Error that ends the waits of thread ranks when another rank has failed. Programs do not catch it: run() then throws the
/// error of the failed rank.
struct Released : CommError {
  Released() : CommError("another rank has failed") {}
};

/// Runs `body` once on every rank over the chosen model and returns when all have ended.
///
/// Without a launcher it starts threads in this process. Under one every process calls it; `threads` is then refused
/// unless the world has one rank or `within_process` is set. If `body` throws on a thread rank, the waits of the others
/// end with Released and the error is rethrown: of several errors that of the lowest rank, a CommError only if there is
/// no other. In processes the error passes through, and the caller ends the job (see end_job()).
/// @throws UsageError for an unknown or missing model, with the list of names
/// @throws CommError if the launcher promised several ranks and the library sees one ("N singletons")
void run(const RunOptions& options, const std::function<void(Transport&)>& body);

/// Validates a number of thread ranks for this process: within the system's limit of threads, and within available memory,
/// of which transports need some for each rank and each pair of ranks. run() calls it before it makes anything; call it
/// before the first of several runs. Local. @throws UsageError with the largest number allowed
void check_thread_ranks(int ranks);

/// Rank of a process in the job that a launcher (mpirun, srun) started, and the number of processes of the job.
struct World {
  int rank = 0;  ///< rank of this process in the job, 0 to size - 1
  int size = 1;  ///< number of processes of the job, at least 1
};
/// Returns rank and size of this process from the launcher's environment variables; 0 and 1 without a launcher. Local;
/// starts no library.
[[nodiscard]] World launcher_world();

/// Ends every process of the job with `exit_code`. Called by any rank, from main() only.
[[noreturn]] void abort(int exit_code);

/// Ends every process of the job after a failure of this rank. Of several ranks that fail at about the same time one alone
/// calls `report`, to print its message, and gives the exit code: the first one, or among those within 0.3 s the lowest
/// rank, one with a CommError (4) only if there is no other. Blocks for that time, unless no other rank can take precedence.
/// Called by any rank that failed, from main() only.
[[noreturn]] void end_job(int exit_code, const std::function<void()>& report);

/// Environment variable that should be set for the libraries of a job (MPI, OpenSHMEM, UCX) or for their launcher, with the reason.
struct Setting {
  std::string name;   ///< name of the environment variable
  std::string value;  ///< value that the environment variable should have
  std::string why;    ///< fault of the library or launcher that occurs without the variable
};
/// Returns the settings that work around faults of the installed libraries; `merganser run` exports those not yet set. Local.
[[nodiscard]] std::vector<Setting> launcher_settings();
/// Returns the settings that work around faults of the libraries whose version strings are `mpi` and `shmem`; "none" stands
/// for an absent library. Local.
[[nodiscard]] std::vector<Setting> launcher_settings(const std::string& mpi, const std::string& shmem);
/// Returns the known faults of the installed libraries that this library avoids, a sentence each, for doctor. Unknown ones
/// are detected by the self test that every model passes when it is first opened over several ranks. Local.
[[nodiscard]] std::vector<std::string> library_faults();
/// Returns the version string of the MPI library, "none" where absent. Local; does not start it.
[[nodiscard]] std::string mpi_library();
/// Returns the version string of the OpenSHMEM library, "none" where absent. Local; does not start it.
[[nodiscard]] std::string shmem_library();

}  // namespace merganser::comm
