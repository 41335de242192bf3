// Search for the Python program of reports, and its start: in place of this process, or beside it.
#include "apps/frame/python_report.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string_view>

#include "apps/frame/launcher.hpp"
#include "apps/frame/one_host.hpp"
#include "apps/frame/process.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInstall = "pip install 'altair>=5' 'vl-convert-python>=1.6' brings it";

/// Returns the path of the Python to use: beside this program, as in an environment of Python, else on PATH.
/// @throws UsageError if there is none, or if it was found through a relative folder of PATH
std::string find_python() {
  const std::string beside = (fs::path(self_path()).parent_path() / "python3").string();
  if (::access(beside.c_str(), X_OK) == 0) return beside;
  const std::string found = which("python3");
  if (found.empty() || found.front() != '/')
    throw UsageError("no python3 in an absolute folder of PATH, which reports need; " + std::string(kInstall));
  return found;
}

/// Returns true if a Python has the module merganser.report, installed with it.
bool has_module(const std::string& python) {
  constexpr const char* kTest = "import importlib.util as u; print(u.find_spec('merganser') is not None)";
  return capture_output({python, "-I", "-c", kTest}, 60, 100).starts_with("True");
}

/// Returns the words that start the Python program of reports, to which its arguments are appended. @throws UsageError if it is not
/// there
std::vector<std::string> program_words() {
  const std::string python = find_python();
  std::vector<std::string> words{python, "-I"};  // isolated: nothing of the working folder or of PYTHONPATH is imported
  if (const std::string program = library_beside("report/__main__.py"); !program.empty())
    words.push_back(program);
  else if (has_module(python))
    words.insert(words.end(), {"-m", "merganser.report"});
  else
    throw UsageError("the Python package of reports is neither beside this program nor known to " + python + "; " +
                     std::string(kInstall));
  return words;
}

/// Runs the Python program of reports for pictures and returns what it prints, without the line break at the end.
std::string print_of_picture(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = program_words();
  command.emplace_back("picture");
  command.insert(command.end(), arguments.begin(), arguments.end());
  std::string printed = capture_output(command, 300, 4000, true);
  while (!printed.empty() && printed.back() == '\n') printed.pop_back();
  return printed;
}

}  // namespace

void check_python_report(const std::string& what) {
  std::string printed;
  try {
    printed = print_of_picture({});
  } catch (const UsageError& e) {
    throw UsageError(what + ": " + e.what());
  }
  if (printed.ends_with("ready")) return;
  constexpr std::string_view kUsage = "usage: ";  // of the program, which says what is missing and how to get it
  if (printed.starts_with(kUsage)) throw UsageError(what + ": " + printed.substr(kUsage.size()));
  throw UsageError(what + ": the Python program of reports does not start" + (printed.empty() ? "" : ": " + printed));
}

void draw_by_python(const std::string& source, const std::string& output) {
  const std::string printed = print_of_picture({"--output=" + output, "--", source});
  if (!printed.ends_with(": drawn"))
    throw InputError(output + " is not drawn: " +
                     (printed.empty() ? "the Python program of reports has ended without a word" : printed));
}

void run_python_report(const std::string& verb, const std::vector<std::string>& records, const std::string& output,
                       const std::string& by) {
  if (!by.empty() && by != "commit" && by != "time") throw UsageError("--by: \"" + by + "\"; allowed: commit, time");
  std::vector<std::string> command = program_words();
  command.insert(command.end(), {verb, "--output=" + output});
  if (!by.empty()) command.push_back("--by=" + by);
  command.emplace_back("--");
  command.insert(command.end(), records.begin(), records.end());
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  std::cout << std::flush;
  ::execv(words[0], words.data());
  throw UsageError("cannot start " + command[0] + ": " + std::strerror(errno) + "; " + std::string(kInstall));
}

}  // namespace merganser::app
