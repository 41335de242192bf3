#pragma once
#include <map>
#include <string>

#include "merganser/base/cleanup.hpp"

namespace merganser::app {

/// A private folder that vanishes with this object, and with the files that it was told of if a signal ends the program.
class TemporaryFolder {
 public:
  /// @param stem  path to which six characters are added. @throws InputError if it cannot be made
  explicit TemporaryFolder(const std::string& stem);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  /// Path of a file in it, by this process or one that it starts.
  std::string file(const std::string& name);

 private:
  std::string path_;
  CleanupName itself_;
  std::map<std::string, CleanupName> files_;
};

}  // namespace merganser::app
