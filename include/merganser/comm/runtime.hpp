#pragma once
/// Starting the ranks of a program over a communication model. Only run() and the Session of open.hpp start and end MPI
/// and OpenSHMEM.
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::comm {

/// A communication model compiled into this library.
struct Backend {
  std::string_view name;         ///< "threads", "p2p", "neighborhood", "rma", "shmem"
  std::string_view description;  ///< one line for --help and doctor
  bool processes;                ///< needs a launcher for more than one rank
};

/// The models in this build, in fixed order, "threads" first.
[[nodiscard]] std::span<const Backend> backends();
/// Names of models this build lacks and why, for doctor: "shmem: OpenSHMEM not found at configure time".
[[nodiscard]] std::span<const std::string_view> missing_backends();

/// Refuses a name that is neither "auto" nor that of a model in this build. @throws UsageError with the list of names
void check_backend(std::string_view name);

/// True if a launcher (mpirun, srun, ...) started this process as one of several ranks.
[[nodiscard]] bool launched();

/// A model that "auto" has measured.
struct MeasuredModel {
  std::string_view name;
  /// Of a wave and a round of records, on the slowest rank, by pass; sample i of all models is from the same turn.
  std::vector<std::vector<double>> passes_ns;
  double time_ns = 0;  ///< median over passes of the median of each
};
/// What is decided about models that were measured.
struct ModelChoice {
  std::size_t chosen = 0;           ///< index of the model to run
  std::vector<std::size_t> equals;  ///< others that may be as good, for the line of Transport::choice()
};
/// Decides among at least one model, in the order of backends(). Called on every rank with the same times; must say the
/// same on each.
using ChooseModel = std::function<ModelChoice(std::span<const MeasuredModel>)>;

/// The first of the models whose time is within 5 % of the least; equals are the others of these. Local.
/// @throws UsageError for no model
[[nodiscard]] ModelChoice first_of_the_fastest(std::span<const MeasuredModel> models);

/// Which model runs on how many ranks.
struct RunOptions {
  std::string backend = "auto";  ///< a name of backends(), or "auto"; the variable MERGANSER_COMM overrides "auto"
  int ranks = 0;           ///< `threads`: number of ranks (0: one). Processes: checked against the launcher if not 0
  std::string decorators;  ///< comma list: "checked", "chaos:SEED"
  /// Process graph that "auto" measures on, from (rank, size); empty: eight neighbours in a near-square grid.
  std::function<Graph(int rank, int size)> pattern;
  ChooseModel choose = first_of_the_fastest;  ///< how "auto" decides on what it measured
  /// `threads` within this process, though a launcher may have started it as one of several: "auto" is then `threads`,
  /// models of processes are refused. For a program that is a rank of something else and calls the library by itself.
  bool within_process = false;
};

/// Thrown on threads that wait, when another rank has failed. Let it pass: run() throws that rank's error instead.
struct Released : CommError {
  Released() : CommError("another rank has failed") {}
};

/// Runs `body` once on every rank over the chosen model and returns when all have ended.
///
/// Without a launcher: `threads`, in this process. Under one: called by every process; `threads` is then refused
/// unless the world has one rank, or `within_process` says that the launcher's ranks are not meant. If `body` throws on one thread rank the others are released from their waits and the
/// error is rethrown: of several that failed by themselves that of the lowest rank, a CommError only if there is no other.
/// In processes the caller ends the job (see end_job()).
/// @throws UsageError for an unknown or missing model, with the list of names
/// @throws CommError if the launcher promised several ranks and the library sees one ("N singletons")
void run(const RunOptions& options, const std::function<void(Transport&)>& body);

/// Refuses a number of ranks that cannot be threads of this process: more than the system allows, or than fit into its
/// memory with what transports keep for each rank and each pair of ranks. run() asks before it makes anything; call it
/// before the first of several runs. Local. @throws UsageError with what is allowed
void check_thread_ranks(int ranks);

/// Which of how many processes.
struct World {
  int rank = 0;
  int size = 1;
};
/// Rank and size of this process as the launcher tells them, without starting anything (0 and 1 without one).
[[nodiscard]] World launcher_world();

/// Ends every process of the job with `exit_code`. For main() only.
[[noreturn]] void abort(int exit_code);

/// The same for a rank that has failed by itself: of several that fail at about the same time one alone calls `tell`, to
/// print its message, and gives the exit code. That is the first one, or among those within a fraction of a second the
/// lowest, one with a CommError (4) only if there is no other. Waits for so long, unless it can be no other.
[[noreturn]] void end_job(int exit_code, const std::function<void()>& tell);

/// A variable of the environment.
struct Setting {
  std::string name;   ///< of the variable
  std::string value;  ///< that it should have
  std::string why;    ///< what goes wrong without it
};
/// Settings that work around faults of the installed libraries; `merganser run` exports those not yet set.
[[nodiscard]] std::vector<Setting> launcher_settings();
/// The same for libraries that call themselves `mpi` and `shmem`; "none": there is none.
[[nodiscard]] std::vector<Setting> launcher_settings(const std::string& mpi, const std::string& shmem);
/// Faults that the installed libraries are known to have and that are avoided here, a sentence each, for doctor. Others show
/// in the test that every model has to pass when it is first opened over several ranks.
[[nodiscard]] std::vector<std::string> library_faults();
/// Version string of the MPI library, "none" where absent. Does not start it.
[[nodiscard]] std::string mpi_library();
/// The same of the OpenSHMEM library.
[[nodiscard]] std::string shmem_library();

}  // namespace merganser::comm
