#pragma once
/// Starting this program on several processes: which launcher, with which arguments and environment.
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

/// A program that starts ranks.
struct Launcher {
  std::string path;                  ///< empty: none found
  std::string version;               ///< first line of --version
  std::string family;                ///< "Open MPI", "MPICH", "Intel MPI", "Slurm", "PALS", "ALPS", "unknown"
  std::vector<std::string> options;  ///< that it needs for this program: srun's --mpi=pmix
  std::string problem;               ///< why it will not do; empty if it will
};
/// The launcher of the MPI this program is linked with: the one that is named, else what the variable MERGANSER_LAUNCHER
/// names, srun inside a Slurm job, then mpirun, mpiexec, aprun and their other names on PATH, and those installed beside
/// the library. Never starts MPI.
/// @param with  a name or path; empty: look for one. @return the first that fits; if none does, the first with its problem
[[nodiscard]] Launcher find_launcher(const std::string& with = "");

/// The version of the library that this program is linked with and, where the system tells it, the path of it.
[[nodiscard]] std::string library_text();
/// Whose launchers can start ranks of a library: "Open MPI", "MPICH", "Intel MPI"; "unknown". From its version.
[[nodiscard]] std::string mpi_family(const std::string& library);
/// Which kind of launcher this is, from where it lies and the first line of what it says of its version.
[[nodiscard]] std::string launcher_family(const std::string& path, const std::string& version);
/// The option with which srun starts ranks of a library, from what `srun --mpi=list` says; empty if it has no plug-in that
/// does: pmix for Open MPI, pmi2 for MPICH and Intel MPI, cray_shasta for Cray's MPICH where it is there.
[[nodiscard]] std::string srun_option(const std::string& library, const std::string& list);

/// What `merganser run` exports where it is not set: launcher_settings(), and what runs with a launcher on several machines, or
/// on this one alone, need.
[[nodiscard]] std::vector<comm::Setting> settings_of_runs(const Launcher& launcher);

/// A command line and what to set before it.
struct LaunchPlan {
  std::vector<std::string> command;
  std::vector<comm::Setting> exports;      ///< only those not set already
  bool of_this_program = true;             ///< the ranks are this program, and report how they end
  bool tells_greatest = false;             ///< the launcher's exit code is the greatest of those of the ranks
  bool code_says_little = false;           ///< it is 0 or a signal's number where ranks have told otherwise, as Hydra's
  [[nodiscard]] std::string text() const;  ///< as typed in a shell
};
/// Makes one argument of an option and its value: "--NAME=VALUE", of a flag "--NAME" or "--no-NAME".
[[nodiscard]] std::string option_argument(const Option& option);
/// The command again, with the options that were given but those of `except`: for a process that does part of the work.
[[nodiscard]] std::vector<std::string> arguments_again(const Invocation& in, std::span<const std::string_view> except);

/// Refuses arguments that a launcher would take for its own (":"), or that are too long to hand on in a variable of the
/// environment, as Open MPI does. @throws UsageError
void check_launchable(std::span<const std::string> arguments);

/// A launcher has started this process, as one of several ranks or as the only one: Open MPI's starts no other then.
[[nodiscard]] bool within_job();

/// @param quiet  the launcher's own messages about failed ranks are left out
/// @param with   as of find_launcher()
/// @throws CommError if there is no launcher that fits; UsageError as check_launchable(), or within a job of Open MPI
[[nodiscard]] LaunchPlan plan_launch(int ranks, const std::vector<std::string>& arguments, bool quiet,
                                     const std::string& with = "");

/// This program was told by a signal to stop while a job of its ran. No Error: what goes on after errors must end.
class Interrupted : public std::exception {
 public:
  explicit Interrupted(int signal);
  [[nodiscard]] const char* what() const noexcept override { return what_.c_str(); }
  [[nodiscard]] int exit_code() const noexcept { return 128 + signal_; }

 private:
  int signal_;
  std::string what_;
};

/// How a job ended.
struct JobEnd {
  int code = 0;     ///< exit code of the ranks, 128 + number for a signal, kTimedOut
  int kind = 0;     ///< exit code that names the kind of the message: of print_error()
  std::string why;  ///< what the ranks could not say themselves; empty if they have
};

/// Runs the plan in a process group of its own and waits. SIGINT, SIGTERM and SIGHUP tell the launcher to stop, and kill it
/// 5 s later or when a second one comes; SIGUSR1, SIGUSR2 and SIGTSTP are passed on. What a killed launcher leaves behind
/// on this host is ended and removed. What the job prints is written to standard output of this process, and checked.
/// @param timeout_s  seconds after which the launcher is told to stop in the same way; 0: never
/// @throws Interrupted if SIGINT, SIGTERM or SIGHUP came and the job has failed, or not all of its ranks say that they have not
/// @throws CommError if the launcher cannot be started; InputError if all went well but standard output is full or closed.
/// If who read it has gone the code is 128 + SIGPIPE.
JobEnd run_job(const LaunchPlan& plan, double timeout_s);
inline constexpr int kTimedOut = 124;

/// run_job() for callers that deal with the code themselves. @return the exit code
int launch(const LaunchPlan& plan, double timeout_s = 0);
/// run_job() for callers that end as the job did: prints why, if the ranks could not. @return the exit code
int launch_and_tell(const LaunchPlan& plan);

/// Path of this program.
[[nodiscard]] std::string self_path();

}  // namespace merganser::app
