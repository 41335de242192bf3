// Launch plan of a job: command line of the launcher, and environment variables to export.
#include "apps/frame/launcher.hpp"

#include <fmt/core.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>

#include "apps/frame/elsewhere.hpp"
#include "apps/frame/launch_room.hpp"
#include "apps/frame/one_host.hpp"
#include "apps/frame/secrets.hpp"
#include "apps/frame/shell.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"

namespace merganser::app {
namespace {

/// Returns true if an environment variable is set in this process.
bool is_set(const std::string& name) { return std::getenv(name.c_str()) != nullptr; }

constexpr std::int64_t kMaxArgumentBytes = 100'000;  // Linux: 128 KiB for a variable
constexpr double kHostLimit =
    300;  // seconds without progress: far above a stage of a step, far below a job's time limit

/// Returns the number of cores in the affinity mask of this process.
int count_usable_cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

std::string self_path() {
  std::array<char, PATH_MAX> buffer{};
  const auto n = ::readlink("/proc/self/exe", buffer.data(), buffer.size() - 1);
  return n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : "merganser";
}

std::string option_argument(const Option& option) {
  const OptionValue value = option.value();
  if (option.flag) return (std::get<bool>(value) ? "--" : "--no-") + option.name;
  return "--" + option.name + '=' + value_text(value);
}

// Command line of a launched part of the work: the options as given, so that the part parses the same values.
std::vector<std::string> repeat_arguments(const Invocation& in, std::span<const std::string_view> except) {
  std::vector<std::string> out;
  const std::string verb(in.command);
  const auto space = verb.find(' ');
  out.push_back(verb.substr(0, space));
  if (space != std::string::npos) out.push_back(verb.substr(space + 1));
  std::vector<std::string> positional;
  for (const auto& o : in.table.options()) {
    if (!o.given || std::find(except.begin(), except.end(), o.name) != except.end()) continue;
    const OptionValue value = o.value();
    if (!o.positional) {
      out.push_back(option_argument(o));
    } else if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
      positional = *list;
    }
  }
  out.insert(out.end(), positional.begin(), positional.end());
  return out;
}

// Refusal of arguments that a launcher cannot hand on to the ranks.
void check_launchable(std::span<const std::string> arguments) {
  std::int64_t bytes = 0;
  for (const std::string& a : arguments) {
    if (a == ":") throw UsageError("an argument \":\" begins another program for launchers; allowed: any other");
    bytes += static_cast<std::int64_t>(a.size()) + 1;
  }
  if (bytes > kMaxArgumentBytes)
    throw UsageError("arguments of " + count_text(bytes) + " bytes in all; allowed with a launcher: up to " +
                     count_text(kMaxArgumentBytes));
}

// Exports of `merganser run`: workarounds, loopback, and a wait limit where a host may be lost.
std::vector<comm::Setting> launch_settings(const Launcher& launcher) {
  std::vector<comm::Setting> settings = comm::launcher_settings();
  for (auto& s : loopback_settings(launcher)) settings.push_back(std::move(s));
  if (!has_other_hosts()) return settings;
  settings.push_back({"MERGANSER_WAIT_LIMIT", fmt::format("{:.0f}", kHostLimit),
                      "a host that is cut off says nothing: who waits for it gives up after so many seconds"});
  // Without keepalive, mpirun of Open MPI 4 takes hours to notice that a host is out of reach.
  if (comm::mpi_library().find("Open MPI v4") == std::string::npos) return settings;
  constexpr const char* kWhy =
      "mpirun asks its daemons on other hosts after 20 s of silence, every 5 s, four times: 40 s";
  settings.push_back({"OMPI_MCA_oob_tcp_keepalive_time", "20", kWhy});
  settings.push_back({"OMPI_MCA_oob_tcp_keepalive_intvl", "5", kWhy});
  settings.push_back({"OMPI_MCA_oob_tcp_keepalive_probes", "4", kWhy});
  return settings;
}

bool is_within_job() { return comm::launched() || is_set("OMPI_COMM_WORLD_RANK"); }

// Command line of a job: launcher, options of its family, exports, and this program with its arguments.
LaunchPlan plan_launch(int ranks, const std::vector<std::string>& arguments, bool quiet, const std::string& with) {
  const Launcher launcher = find_launcher(with);
  if (!launcher.problem.empty())
    throw CommError(fmt::format("{}; alone, use threads: merganser {} ... --ranks {}", launcher.problem,
                                arguments.empty() ? "..." : arguments[0], ranks));
  if (launcher.family == "Open MPI" && is_within_job())
    throw UsageError(
        fmt::format("an mpirun has started this process as rank {} of {}, and no other starts from there; allowed: the "
                    "same without mpirun",
                    comm::launcher_world().rank, comm::launcher_world().size));
  check_processes(ranks);
  check_launchable(arguments);
  LaunchPlan plan;
  for (auto& s : launch_settings(launcher))
    if (!is_set(s.name)) plan.exports.push_back(std::move(s));
  auto& c = plan.command;
  c = {launcher.path, "-n", std::to_string(ranks)};
  c.insert(c.end(), launcher.options.begin(), launcher.options.end());
  if (launcher.family == "Slurm") {
    plan.exit_code_is_largest = true;
    c.emplace_back("--kill-on-bad-exit=1");  // by default srun lets the others wait for a rank that was killed
  }
  plan.exit_code_is_unreliable = launcher.family == "MPICH" || launcher.family == "Intel MPI";  // both are Hydra
  if (launcher.family == "Open MPI") {
    if (quiet) c.emplace_back("--quiet");
    if (ranks > count_usable_cores()) c.emplace_back("--oversubscribe");  // mpirun refuses more ranks than slots
    if (::geteuid() == 0) c.emplace_back("--allow-run-as-root");          // mpirun refuses root
    // Open MPI passes its own variables to other hosts; the rest must be named.
    for (const auto& s : plan.exports)
      if (!s.name.starts_with("OMPI_")) c.insert(c.end(), {"-x", s.name});
    for (const char* name :
         {"MERGANSER_COMM", "MERGANSER_WAIT_LIMIT", "SHMEM_SYMMETRIC_HEAP_SIZE", "SHMEM_SYMMETRIC_SIZE"})
      if (is_set(name)) c.insert(c.end(), {"-x", name});
  }
  for (auto& s : loopback_preload(launcher)) plan.exports.push_back(std::move(s));
  plan.program_at = c.size();
  c.push_back(self_path());
  c.insert(c.end(), arguments.begin(), arguments.end());
  return plan;
}

std::string LaunchPlan::to_shell_command() const {
  std::string out;
  for (const auto& s : exports) out += s.name + '=' + quote_for_shell(s.value) + ' ';
  const auto words = words_without_secrets(command);  // it may be kept in a log
  for (std::size_t i = 0; i < words.size(); ++i) out += (i == 0 ? "" : " ") + quote_for_shell(words[i]);
  return out;
}

std::string LaunchPlan::to_summary() const {
  const auto words = words_without_secrets(command);
  std::string out = quote_for_shell(words[0]) + ' ' + words[1] + ' ' + words[2];  // the launcher, -n RANKS
  if (of_this_program) out += " merganser";
  for (std::size_t i = program_at + (of_this_program ? 1 : 0); i < words.size(); ++i)
    out += ' ' + quote_for_shell(words[i]);
  if (!exports.empty())
    out += fmt::format("  ({} settings of libraries: merganser run --verbose shows them)", exports.size());
  return out;
}

}  // namespace merganser::app
