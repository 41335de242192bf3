#pragma once
/// Running any program under the tracing library.
#include <string>
#include <vector>

namespace merganser::app {

/// Path of libmerganser-trace.so: the variable MERGANSER_TRACE_LIBRARY, else where it was built or installed.
/// @throws CommError if it is not there
[[nodiscard]] std::string trace_library();

/// A folder that vanishes with this object. @throws InputError if it cannot be made
class TemporaryFolder {
 public:
  /// @param beside  a file or nothing; ranks on other machines must see it too, so it is not in /tmp
  explicit TemporaryFolder(const std::string& beside);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Starts `ranks` processes of a program under the tracing library, which only they load, and waits.
/// @return its exit code @throws CommError if there is no launcher, UsageError if there is no such program
int run_traced(int ranks, const std::vector<std::string>& program, const std::string& folder);

}  // namespace merganser::app
