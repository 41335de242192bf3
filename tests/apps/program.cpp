#include "tests/apps/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "merganser/comm/runtime.hpp"
#include "tests/support/patience.hpp"

namespace merganser::test {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;
constexpr std::chrono::seconds kLimit{60};  // far above the time of any of these runs: a run that reaches it hangs

/// Removes the line in which `run` repeats its command, and messages of gcov in tests that limit the size of files.
std::string remove_echo(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);)
    if (!line.starts_with("+ ") && !line.starts_with("libgcov ")) out += line + '\n';
  return out;
}

void open_as(int descriptor, const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
  ::close(file);
}

std::vector<std::string> variables(const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> out;
  for (const char* name :
       {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
        "MERGANSER_MUTANT", "MERGANSER_MUTANT_REACHED"})  // the last two of ./x mutants
    if (const char* value = std::getenv(name); value != nullptr) out.push_back(std::string(name) + '=' + value);
  for (const auto& [name, value] : more) out.push_back(name + '=' + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (auto& w : words) out.push_back(w.data());
  out.push_back(nullptr);
  return out;
}

/// Returns the parent of every process on this host.
std::map<pid_t, pid_t> parents() {
  std::map<pid_t, pid_t> out;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid <= 0) continue;
    const std::string stat = read_bytes(entry.path() / "stat");
    const auto name_end = stat.rfind(')');
    if (name_end != std::string::npos) out[pid] = std::atoi(stat.c_str() + name_end + 4);
  }
  return out;
}

}  // namespace

std::string Outcome::digest() const {
  const auto at = out.find("digest ");
  return at == std::string::npos ? "" : out.substr(at + 7, out.find('\n', at) - at - 7);
}

std::string Outcome::text() const { return "code " + std::to_string(code) + "\n" + out + err; }

Program::Program(Arguments command, const std::vector<std::pair<std::string, std::string>>& environment) {
  auto environ_words = variables(environment);
  const auto argv = pointers(command);
  const auto envp = pointers(environ_words);
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("cannot start " + command[0]);
  if (pid_ == 0) {
    ::setpgid(0, 0);
    open_as(STDOUT_FILENO, folder_.file("out"));
    open_as(STDERR_FILENO, folder_.file("err"));
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
}

Program::~Program() {
  if (pid_ > 0) {
    for (const pid_t rank : ranks()) ::kill(rank, SIGKILL);
    ::kill(-pid_, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

Outcome Program::wait(std::chrono::milliseconds limit) {
  const auto end = steady_clock::now() + limit * patience();
  Outcome outcome;
  int status = 0;
  pid_t got = 0;
  while ((got = ::waitpid(pid_, &status, WNOHANG)) == 0 && steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  if (got == pid_) {
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    pid_ = -1;
  } else {
    outcome.code = kOverdue;
  }
  outcome.out = read_bytes(folder_.file("out"));
  outcome.err = remove_echo(read_bytes(folder_.file("err")));
  return outcome;
}

std::vector<pid_t> Program::ranks() const {
  const auto all = parents();
  std::vector<pid_t> out;
  std::error_code gone;
  for (const auto& [pid, parent] : all) {
    bool below = false;
    for (auto at = all.find(pid); at != all.end() && !below; at = all.find(at->second)) below = at->second == pid_;
    if (!below || fs::read_symlink("/proc/" + std::to_string(pid) + "/exe", gone) != fs::path(command_path())) continue;
    if (parent == pid_) continue;  // the process by which `run` copies the job's output
    bool starts_others = false;
    for (const auto& [child, its_parent] : all) starts_others = starts_others || its_parent == pid;
    if (!starts_others) out.push_back(pid);
  }
  return out;
}

std::string command_path() { return fs::canonical(MERGANSER_COMMAND).string(); }

Outcome run(const Arguments& arguments, const std::vector<std::pair<std::string, std::string>>& environment) {
  Arguments command{command_path()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Program(command, environment).wait(kLimit);
}

Outcome run_on(int ranks, const Arguments& arguments) {
  Arguments all{"run", "-n", std::to_string(ranks), "--"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run(all);
}

bool has_verb(const Arguments& command) {
  static const std::string all = run({"list-options"}).out;
  const std::string one = command.at(0), two = command.size() > 1 ? one + ' ' + command[1] : one;
  return says(all, "\n \"" + one + "\":") || says(all, "\n \"" + two + "\":");
}

bool has_package(const std::string& package) {
  static const std::string overview = run({"--help"}).out;
  return says(overview, "\n" + package + ": ");
}

Arguments process_models() {
  Arguments out;
  for (const auto& b : comm::backends())
    if (b.processes) out.emplace_back(b.name);
  return out;
}

Arguments one_model_per_library() {
  Arguments models = process_models();
  if (std::find(models.begin(), models.end(), "rma") != models.end())
    std::erase_if(models, [](const std::string& model) { return model == "p2p" || model == "neighborhood"; });
  return models;
}

bool comes_true(const std::function<bool()>& what) {
  for (int i = 0; i < 4000; ++i) {
    if (what()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

}  // namespace merganser::test
