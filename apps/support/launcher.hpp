#pragma once
/// Starting this program on several processes: which launcher, with which arguments and environment.
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "merganser/comm/runtime.hpp"
#include "support/command.hpp"

namespace merganser::app {

/// A program that starts ranks.
struct Launcher {
  std::string path;     ///< empty: none found
  std::string version;  ///< first line of --version
  std::string family;   ///< "Open MPI", "MPICH", "Slurm"
  std::string problem;  ///< why it will not do; empty if it will
};
/// The launcher of the MPI this program is linked with: the variable MERGANSER_LAUNCHER, srun inside a Slurm job, then
/// mpirun or mpiexec. Never starts MPI.
[[nodiscard]] Launcher find_launcher();

/// A command line and what to set before it.
struct LaunchPlan {
  std::vector<std::string> command;
  std::vector<comm::Setting> exports;      ///< only those not set already
  [[nodiscard]] std::string text() const;  ///< as typed in a shell
};
/// The command again, with the options that were given but those of `except`: for a process that does part of the work.
[[nodiscard]] std::vector<std::string> arguments_again(const Invocation& in, std::span<const std::string_view> except);

/// @param quiet  the launcher's own messages about failed ranks are left out
/// @throws CommError if there is no launcher that fits
[[nodiscard]] LaunchPlan plan_launch(int ranks, const std::vector<std::string>& arguments, bool quiet);

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

/// Runs the plan, passes on SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2, and waits.
/// @param timeout_s  seconds after which the launcher is told to stop, and killed 5 s later; 0: never
/// @return the exit code, 128 + number for a signal, kTimedOut
/// @throws Interrupted if SIGINT, SIGTERM or SIGHUP came and the job has failed
int launch(const LaunchPlan& plan, double timeout_s = 0);
inline constexpr int kTimedOut = 124;

/// Path of this program.
[[nodiscard]] std::string self_path();
/// Full path of a program on PATH; empty if there is none.
[[nodiscard]] std::string which(const std::string& program);
/// "9 (Killed)"
[[nodiscard]] std::string signal_text(int signal);

}  // namespace merganser::app
