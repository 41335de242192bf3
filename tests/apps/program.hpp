#pragma once
/// The command line program as a user sees it: started in a bare environment, watched from outside.
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/io/folder.hpp"

namespace merganser::test {

struct Outcome {
  int code = 0;     ///< 128 + number for a signal; kOverdue if it had to be stopped
  std::string out;  ///< standard output
  std::string err;  ///< standard error, without the line in which `run` repeats its command

  /// What follows the word "digest" in the output; empty if nothing does.
  [[nodiscard]] std::string digest() const;
  [[nodiscard]] std::string text() const;
};
inline constexpr int kOverdue = -1;

using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
inline bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
/// On either stream.
inline bool says(const Outcome& o, const std::string& part) { return says(o.text(), part); }

/// A running program. Its process group is killed when the object dies.
class Program {
 public:
  /// @param environment  variables beside PATH, HOME, TMPDIR and those of sanitizers
  explicit Program(Arguments command, const std::vector<std::pair<std::string, std::string>>& environment = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Waits for the end; after `limit`, times patience(), all of it is killed.
  Outcome wait(std::chrono::milliseconds limit);
  /// Processes below this one that run the program under test, without those that start others.
  [[nodiscard]] std::vector<pid_t> ranks() const;

 private:
  pid_t pid_ = -1;
  Folder folder_;
};

/// Path of the command under test.
std::string command_path();
/// `merganser ARGUMENTS...`, to its end.
Outcome run(const Arguments& arguments, const std::vector<std::pair<std::string, std::string>>& environment = {});
/// `merganser run -n RANKS -- ARGUMENTS...`, to its end.
Outcome run_on(int ranks, const Arguments& arguments);
/// Whether the command under test has a verb: the first words of these.
bool has_verb(const Arguments& command);
/// Whether the command under test has verbs of a package.
bool has_package(const std::string& package);
/// The communication models of this build that need a launcher.
Arguments process_models();

/// Waits until `what` is true, for at most 20 s. @return whether it became true
bool comes_true(const std::function<bool()>& what);

}  // namespace merganser::test

/// Skips the rest of a test, and says so, where the command is built without a package.
#define MERGANSER_NEEDS_PACKAGE(name) \
  if (!merganser::test::has_package(name)) GTEST_SKIP() << "this build is without the package " name
