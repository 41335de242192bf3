// run: starts a verb on several processes, with the launcher of the linked MPI and settings that avoid faults of the libraries.
#include <fmt/core.h>

#include <iostream>

#include "apps/frame/command.hpp"
#include "apps/frame/launcher.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

/// Values of the command line of `merganser run`.
struct RunCommand {
  int ranks = 2;                  ///< number of processes to start
  std::string launcher;           ///< name or path of the launcher; empty: search for one
  bool dry_run = false;           ///< true: print the launch command, start nothing
  bool verbose = false;           ///< true: keep the launcher's own messages
  std::vector<std::string> verb;  ///< verb to start, with its arguments
};

/// Passes name, value, meaning and range of every option of `merganser run` to option(...).
template <class V>
void describe(RunCommand& o, V&& option) {
  option.positional("VERB", o.verb, "the verb and its arguments, after -- or as they are", Required{}, Rest{});
  option("ranks", o.ranks, "processes to start", Letter{'n'}, at_least(1), Kind{"N"},
         Instead{"-np", "allowed: -n {value}"}, Instead{"--np", "allowed: -n {value}"});
  option("launcher", o.launcher, "this launcher instead of the one that is found: a name on PATH or a path",
         Kind{"NAME|PATH"});
  option("dry-run", o.dry_run, "print the command and why each setting, and start nothing");
  option("verbose", o.verbose,
         "print the whole command with its settings, and let the launcher add its own messages about failed ranks");
}

/// Returns the communication model that --comm names in the arguments of the verb to start; empty if it is not given.
std::string comm_option(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--comm" && i + 1 < arguments.size()) return arguments[i + 1];
    if (arguments[i].starts_with("--comm=")) return arguments[i].substr(7);
  }
  return "";
}

/// Body of the command run: plans the launch, prints the command, and runs the job. @return exit code of the job
int run(RunCommand& o, const Invocation&) {
  if (comm::launched())
    throw UsageError(fmt::format(
        "run starts processes itself, but this is rank {} of a launched job; call the verb directly: merganser {} ...",
        comm::launcher_world().rank, o.verb[0]));
  if (comm_option(o.verb) == "threads" && o.ranks > 1)
    throw UsageError(
        fmt::format("ranks of --comm threads are threads of one process, no launcher starts them; instead: merganser "
                    "{} ... --ranks {}",
                    o.verb[0], o.ranks));
  const LaunchPlan plan = plan_launch(o.ranks, o.verb, !o.verbose, o.launcher);
  if (o.dry_run) {
    const Launcher launcher = find_launcher(o.launcher);
    std::cout << "# launcher: " << launcher.path << ", " << launcher.version << "; library: " << library_text() << '\n';
    for (const auto& s : plan.exports) std::cout << "# " << s.name << ": " << s.why << '\n';
    std::cout << plan.to_shell_command() << '\n';
    return 0;
  }
  std::cerr << "+ " << (o.verbose ? plan.to_shell_command() : plan.to_summary()) << std::endl;
  return launch_and_report(plan);
}

constexpr std::string_view kRunText =
    "Finds the launcher of the MPI this program is linked with (srun inside a Slurm job, with the plug-in that this "
    "MPI\n"
    "needs), and refuses that of another one. Exports the settings that work around known faults of the installed\n"
    "libraries (see merganser doctor) where they are not set already, prints what it starts, and passes on signals\n"
    "and the exit code.\n"
    "--launcher, or the variable MERGANSER_LAUNCHER, names another launcher.\n\n"
    "  merganser run -n 4 -- cluster in.nc -o out.nc --comm shmem\n"
    "  merganser run -n 4 --dry-run -- bench random\n";

}  // namespace

extern const Command run_command;
const Command run_command = make_command<RunCommand, run>("run", "start a verb on several processes", kRunText);

}  // namespace merganser::app
