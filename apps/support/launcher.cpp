#include "support/launcher.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "merganser/base/error.hpp"
#include "merganser/base/timer.hpp"
#include "support/launch_room.hpp"

namespace merganser::app {
namespace {

bool is_set(const std::string& name) { return std::getenv(name.c_str()) != nullptr; }

std::string first_line_of(const std::string& program) {
  const std::string command = "'" + program + "' --version 2>/dev/null";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::array<char, 200> line{};
  if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) return "";
  std::string text(line.data());
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
  return text;
}

std::string family_of(const std::string& path, const std::string& version) {
  if (version.find("Open MPI") != std::string::npos || version.find("OpenRTE") != std::string::npos ||
      version.find("PRRTE") != std::string::npos)
    return "Open MPI";
  if (version.find("HYDRA") != std::string::npos || version.find("MPICH") != std::string::npos) return "MPICH";
  if (version.find("Intel") != std::string::npos) return "Intel MPI";
  if (version.starts_with("slurm") || path.ends_with("srun")) return "Slurm";
  return "unknown";
}

/// Family of the library this program is linked with.
std::string library_family() {
  const std::string library = comm::mpi_library();
  for (const char* family : {"Open MPI", "MPICH", "Intel MPI"})
    if (library.find(family) != std::string::npos) return family;
  return "unknown";
}

Launcher inspect(const std::string& path) {
  Launcher l{path, first_line_of(path), "", ""};
  l.family = family_of(path, l.version);
  const std::string library = library_family();
  if (l.family != "Slurm" && l.family != "unknown" && library != "unknown" && l.family != library)
    l.problem = path + " starts processes of " + l.family + ", but this program is linked with " + comm::mpi_library();
  return l;
}

std::string shell_word(const std::string& word) {
  if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                              "_-./=:,+@%^") == std::string::npos)
    return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

int usable_cores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

volatile std::sig_atomic_t g_child = 0;
volatile std::sig_atomic_t g_stop = 0;  // the signal that told to stop
/// A signal from the keyboard reaches the launcher by itself.
void pass_on(int signal, siginfo_t* info, void*) {
  if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) g_stop = signal;
  if (g_child > 0 && info->si_code != SI_KERNEL) ::kill(static_cast<pid_t>(g_child), signal);
}
constexpr std::array<int, 5> kPassed{SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

struct End {
  int status = 0;
  bool timed_out = false;
};

End wait_for(pid_t child, double timeout_s) {
  End end;
  const double start = now();
  bool told = false;
  while (true) {
    const pid_t got = ::waitpid(child, &end.status, timeout_s > 0 ? WNOHANG : 0);
    if (got == child || (got < 0 && errno != EINTR)) return end;
    if (timeout_s <= 0) continue;
    const double waited = now() - start;
    if (waited > timeout_s && !told) {
      ::kill(child, SIGTERM);
      told = end.timed_out = true;
    } else if (waited > timeout_s + 5) {
      ::kill(child, SIGKILL);
    }
    ::usleep(10000);
  }
}

}  // namespace

std::string which(const std::string& program) {
  if (program.find('/') != std::string::npos) return ::access(program.c_str(), X_OK) == 0 ? program : "";
  const char* path = std::getenv("PATH");
  const std::string all = path != nullptr ? path : "/usr/bin:/bin";
  for (std::size_t from = 0; from <= all.size();) {
    const std::size_t to = std::min(all.find(':', from), all.size());
    const std::string candidate = all.substr(from, to - from) + '/' + program;
    if (to > from && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    from = to + 1;
  }
  return "";
}

std::string self_path() {
  std::array<char, PATH_MAX> buffer{};
  const auto n = ::readlink("/proc/self/exe", buffer.data(), buffer.size() - 1);
  return n > 0 ? std::string(buffer.data(), static_cast<std::size_t>(n)) : "merganser";
}

std::string signal_text(int signal) {
  const char* name = ::strsignal(signal);
  return std::to_string(signal) + " (" + (name != nullptr ? name : "unknown") + ')';
}

Interrupted::Interrupted(int signal) : signal_(signal), what_("stopped by signal " + signal_text(signal)) {}

Launcher find_launcher() {
  if (const char* named = std::getenv("MERGANSER_LAUNCHER"); named != nullptr && *named != 0) {
    const std::string path = which(named);
    if (path.empty()) return {"", "", "", std::string("MERGANSER_LAUNCHER is ") + named + ", which is no program"};
    return inspect(path);
  }
  if (is_set("SLURM_JOB_ID"))
    if (const std::string srun = which("srun"); !srun.empty()) return inspect(srun);
  Launcher misfit;
  for (const char* name : {"mpirun", "mpiexec", "orterun", "mpiexec.hydra"}) {
    const std::string path = which(name);
    if (path.empty()) continue;
    Launcher l = inspect(path);
    if (l.problem.empty()) return l;
    if (misfit.problem.empty()) misfit = std::move(l);
  }
  if (misfit.problem.empty()) misfit.problem = "no mpirun, mpiexec or srun on PATH";
  return misfit;
}

std::vector<std::string> arguments_again(const Invocation& in, std::span<const std::string_view> except) {
  std::vector<std::string> out;
  const std::string verb(in.command);
  const auto space = verb.find(' ');
  out.push_back(verb.substr(0, space));
  if (space != std::string::npos) out.push_back(verb.substr(space + 1));
  std::vector<std::string> positional;
  for (const auto& o : in.table.options()) {
    if (!o.given || std::find(except.begin(), except.end(), o.name) != except.end()) continue;
    const OptionValue value = o.value();
    if (o.positional) {
      if (const auto* list = std::get_if<std::vector<std::string>>(&value)) positional = *list;
    } else if (o.flag) {
      out.push_back((std::get<bool>(value) ? "--" : "--no-") + o.name);
    } else {
      out.push_back("--" + o.name + '=' + value_text(value));
    }
  }
  out.insert(out.end(), positional.begin(), positional.end());
  return out;
}

LaunchPlan plan_launch(int ranks, const std::vector<std::string>& arguments, bool quiet) {
  const Launcher launcher = find_launcher();
  if (!launcher.problem.empty())
    throw CommError(launcher.problem + "; alone, use threads: merganser " + (arguments.empty() ? "..." : arguments[0]) +
                    " ... --ranks " + std::to_string(ranks));
  check_processes(ranks);
  LaunchPlan plan;
  for (auto& s : comm::launcher_settings())
    if (!is_set(s.name)) plan.exports.push_back(std::move(s));
  auto& c = plan.command;
  c = {launcher.path, "-n", std::to_string(ranks)};
  if (launcher.family == "Open MPI") {
    if (quiet) c.emplace_back("--quiet");
    if (ranks > usable_cores()) c.emplace_back("--oversubscribe");
    if (::geteuid() == 0) c.emplace_back("--allow-run-as-root");
    // Open MPI passes its own variables to other hosts; the rest must be named.
    for (const auto& s : plan.exports)
      if (!s.name.starts_with("OMPI_")) c.insert(c.end(), {"-x", s.name});
    for (const char* name : {"MERGANSER_COMM", "SHMEM_SYMMETRIC_HEAP_SIZE"})
      if (is_set(name)) c.insert(c.end(), {"-x", name});
  }
  c.push_back(self_path());
  c.insert(c.end(), arguments.begin(), arguments.end());
  return plan;
}

std::string LaunchPlan::text() const {
  std::string out;
  for (const auto& s : exports) out += s.name + '=' + shell_word(s.value) + ' ';
  for (std::size_t i = 0; i < command.size(); ++i) out += (i == 0 ? "" : " ") + shell_word(command[i]);
  return out;
}

int launch(const LaunchPlan& plan, double timeout_s) {
  std::vector<char*> argv;
  for (const auto& word : plan.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw CommError(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    for (const auto& s : plan.exports) ::setenv(s.name.c_str(), s.value.c_str(), 1);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(127);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  g_child = child;
  g_stop = 0;
  struct sigaction action {};
  action.sa_sigaction = pass_on;
  action.sa_flags = SA_SIGINFO;
  std::array<struct sigaction, kPassed.size()> old{};
  for (std::size_t i = 0; i < kPassed.size(); ++i) ::sigaction(kPassed[i], &action, &old[i]);
  const auto [status, timed_out] = wait_for(child, timeout_s);
  for (std::size_t i = 0; i < kPassed.size(); ++i) ::sigaction(kPassed[i], &old[i], nullptr);
  g_child = 0;
  if (g_stop != 0 && status != 0) throw Interrupted(g_stop);
  if (timed_out) return kTimedOut;
  if (WIFSIGNALED(status)) return 128 + WTERMSIG(status);
  const int code = WEXITSTATUS(status);
  if (code == 127) throw CommError("cannot run " + plan.command[0]);
  return code;
}

}  // namespace merganser::app
