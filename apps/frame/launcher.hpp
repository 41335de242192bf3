#pragma once
/// Starting this program as a job of several processes: the choice of the launcher, its command line and environment, and the
/// supervision of the job (launch.cpp).
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/frame/command.hpp"
#include "apps/frame/process.hpp"
#include "apps/frame/signals.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::app {

/// Launcher of MPI or OpenSHMEM jobs (mpirun, srun) as found on this host; filled by find_launcher().
struct Launcher {
  std::string path;                  ///< path of the launcher; empty: none found
  std::string version;               ///< first line that the launcher prints for --version
  std::string family;                ///< "Open MPI", "MPICH", "Intel MPI", "Slurm", "PALS", "ALPS", "unknown"
  std::vector<std::string> options;  ///< options that the launcher needs for ranks of this program: --mpi=pmix
  std::string problem;               ///< why the launcher cannot start ranks of this program; empty if it can
};
/// Finds the launcher of the MPI this program is linked with: the one named by `with`, else by the variable MERGANSER_LAUNCHER,
/// else srun inside a Slurm job, else mpirun, mpiexec, aprun and their other names on PATH, else those installed beside the
/// library. Local; runs candidates with --version, and never starts MPI.
/// @param with  a name or path; empty: search for one
/// @return the first that fits; if none does, the first candidate with its problem set
[[nodiscard]] Launcher find_launcher(const std::string& with = "");

/// Returns the version of the MPI or OpenSHMEM that this program is linked with and, if it is known, the path of the library.
[[nodiscard]] std::string library_text();
/// Returns the family whose launchers start ranks of a library, from its version text: "Open MPI", "MPICH", "Intel MPI", "unknown".
[[nodiscard]] std::string mpi_family(const std::string& library);
/// Returns the family of a launcher, as "Open MPI" or "Slurm", from its path and the first line of its --version.
[[nodiscard]] std::string launcher_family(const std::string& path, const std::string& version);
/// Returns the option with which srun starts ranks of a library: pmix for Open MPI, pmi2 for MPICH and Intel MPI, cray_shasta for
/// Cray's MPICH if there is that plug-in. Empty if srun has no plug-in for it. @param list  output of `srun --mpi=list`
[[nodiscard]] std::string srun_option(const std::string& library, const std::string& list);

/// Returns the environment variables that `merganser run` exports unless they are set: comm::launcher_settings(), those that keep
/// a job on one host to the loopback interface, and those that bound the wait for a lost host where there are several.
[[nodiscard]] std::vector<comm::Setting> launch_settings(const Launcher& launcher);

/// Command line of a launcher, the variables to set before it, and what its exit code means.
struct LaunchPlan {
  std::vector<std::string> command;      ///< path of the launcher, its options, this program and its arguments
  std::vector<comm::Setting> exports;    ///< environment variables to set, only those not set already
  bool of_this_program = true;           ///< true: the ranks are this program, and report how they end
  bool exit_code_is_largest = false;     ///< the launcher's exit code is the largest of those of the ranks, as srun's
  bool exit_code_is_unreliable = false;  ///< the code may be 0 or a signal's number though a rank failed, as Hydra's
  bool output_to_errors = false;         ///< the job's standard output goes to standard error: ours is a result's
  std::size_t program_at = 0;            ///< position in `command` of the program that the launcher starts
  [[nodiscard]] std::string to_shell_command() const;  ///< formats the plan as typed in a shell, with secrets masked
  /// Formats what is started where, and how many settings go with it, as one short line: launcher, ranks, program, its arguments.
  [[nodiscard]] std::string to_summary() const;
};
/// Returns the command-line argument that gives an option its present value: "--NAME=VALUE", of a flag "--NAME" or "--no-NAME".
[[nodiscard]] std::string option_argument(const Option& option);
/// Returns the arguments of the current command, verb first, without the options named in `except`: to start the same verb for part
/// of the work.
[[nodiscard]] std::vector<std::string> repeat_arguments(const Invocation& in, std::span<const std::string_view> except);

/// Refuses arguments of a job that a launcher would take for its own (":"), or that are too long to hand on in a variable of the
/// environment, as Open MPI does. @throws UsageError
void check_launchable(std::span<const std::string> arguments);

/// Returns true if a launcher has started this process, be it as the only rank. From within a job, Open MPI's mpirun starts no
/// other.
[[nodiscard]] bool is_within_job();

/// Plans the start of `ranks` processes of this program with the given arguments: launcher, options and exports. Starts nothing.
/// @param quiet  suppress the launcher's own messages about failed ranks
/// @param with   name or path of the launcher; empty: search for one
/// @throws CommError if no launcher fits; UsageError within a job of Open MPI, if this host cannot hold so many processes, or if
/// check_launchable() refuses the arguments
[[nodiscard]] LaunchPlan plan_launch(int ranks, const std::vector<std::string>& arguments, bool quiet,
                                     const std::string& with = "");

/// Thrown when SIGINT, SIGTERM or SIGHUP stopped this program while it ran a job. Not derived from Error, so that loops which go on
/// after an Error end.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(int signal);
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }
  [[nodiscard]] int exit_code() const noexcept { return 128 + signal_; }

 private:
  int signal_;
  std::string what_;
};

/// Outcome of a job of several processes under a launcher; filled by run_job().
struct JobEnd {
  int code = 0;     ///< exit code of the job's ranks, 128 + number for a signal, kTimedOut
  int kind = 0;     ///< exit code whose error_kind() heads the message about the end of the job
  std::string why;  ///< reason of the failure, if no rank has printed one; else empty
};

/// Runs the planned job in a process group of its own and waits for its end. On SIGINT, SIGTERM or SIGHUP it sends SIGTERM to the
/// launcher, and SIGKILL 5 s later or on a second signal; SIGUSR1, SIGUSR2 and SIGTSTP are passed on. Processes and shared memory
/// that a killed launcher leaves on this host are ended and removed. The job's output is written to standard output of this
/// process, and checked.
/// @param timeout_s  seconds after which the launcher is stopped in the same way; 0: never
/// @throws Interrupted if a stop signal came, unless every rank reported success
/// @throws CommError if the launcher cannot be started; InputError if the job succeeded but standard output is full or closed.
/// If the reader of standard output has gone, the code is 128 + SIGPIPE.
JobEnd run_job(const LaunchPlan& plan, double timeout_s);
inline constexpr int kTimedOut = 124;  ///< code of a job that was stopped after its time, as that of timeout(1)

/// Runs the planned job as run_job() does, with the same errors, and prints nothing about its end. @return the exit code
int launch(const LaunchPlan& plan, double timeout_s = 0);
/// Runs the planned job as run_job() does, without a time limit, and prints the reason of a failure that no rank has printed.
/// @return the exit code, for callers that end with it
int launch_and_report(const LaunchPlan& plan);

/// Returns the path of the running program merganser, for launchers to start it again as ranks.
[[nodiscard]] std::string self_path();

}  // namespace merganser::app
