#pragma once
/// Running of the command under test as a user does: in a bare environment, with exit code and output captured.
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "tests/io/folder.hpp"

namespace merganser::test {

/// Exit code and output of a command.
struct Outcome {
  int code = 0;     ///< exit code; 128 + number for a signal; kOverdue if it exceeded its time
  std::string out;  ///< standard output
  std::string err;  ///< standard error, without the line in which `run` repeats its command

  /// Returns the rest of the line after the word "digest" in standard output; empty if there is none.
  [[nodiscard]] std::string digest() const;
  /// Returns exit code and both streams as one text, for messages of failed expectations.
  [[nodiscard]] std::string text() const;
};
inline constexpr int kOverdue = -1;

using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments a, const Arguments& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
/// Returns whether a text contains a part.
inline bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
/// Returns whether a part is in the text of an outcome, on either stream.
inline bool says(const Outcome& o, const std::string& part) { return says(o.text(), part); }

/// Running program in a process group of its own, which is killed at the end of the object's lifetime.
class Program {
 public:
  /// Starts a program. @param environment  variables beside PATH, HOME, TMPDIR and those of sanitizers
  explicit Program(Arguments command, const std::vector<std::pair<std::string, std::string>>& environment = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Waits for the end of the program, at most `limit` times patience(). @return its outcome; code kOverdue if it has not ended,
  /// and the destructor will kill it
  Outcome wait(std::chrono::milliseconds limit);
  /// Returns the descendants of the program that run the command under test and have no children themselves: the ranks of a job.
  [[nodiscard]] std::vector<pid_t> ranks() const;

 private:
  pid_t pid_ = -1;
  Folder folder_;
};

/// Returns the path of the command under test.
std::string command_path();
/// Runs `merganser ARGUMENTS...` to its end, for at most a minute.
Outcome run(const Arguments& arguments, const std::vector<std::pair<std::string, std::string>>& environment = {});
/// Runs `merganser run -n RANKS -- ARGUMENTS...` to its end, for at most a minute.
Outcome run_on(int ranks, const Arguments& arguments);
/// Returns whether the command under test has the verb that these words begin with.
bool has_verb(const Arguments& command);
/// Returns whether the command under test is built with a package.
bool has_package(const std::string& package);
/// Returns the communication models of this build whose ranks are processes, hence need a launcher.
Arguments process_models();
/// Returns one model of processes for each library: what becomes of a job that is stopped depends on its library and launcher.
Arguments one_model_per_library();

/// Waits until `what` is true, for at most 20 s. @return whether it became true
bool comes_true(const std::function<bool()>& what);

}  // namespace merganser::test

/// Skips a test with a message if the command under test is built without a package.
#define MERGANSER_NEEDS_PACKAGE(name) \
  if (!merganser::test::has_package(name)) GTEST_SKIP() << "this build is without the package " name
