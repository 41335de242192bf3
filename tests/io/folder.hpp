#pragma once
/// Temporary folder of a test, removed with its contents at the end.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "merganser/comm/collectives.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::test {

/// Removed with what is in it when the object dies.
class Folder {
 public:
  Folder() : owner_(true) {
    std::string name = (std::filesystem::temp_directory_path() / "merganser-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", name, {});
    path_ = name;
  }
  /// One folder for all ranks, made and removed by rank 0; keep a barrier before its end. Collective.
  explicit Folder(comm::Transport& t) : owner_(t.rank() == 0) {
    std::string name;
    if (owner_) {
      Folder made;
      made.owner_ = false;
      name = made.path_.string();
    }
    const auto told = comm::broadcast_from_first(t, name);
    path_ = std::string(told.begin(), told.end());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    if (!owner_) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Returns the names of the entries of the folder, sorted.
  [[nodiscard]] std::vector<std::string> list() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  bool owner_;
  std::filesystem::path path_;
};

/// Returns the contents of a file; empty if it does not exist, or disappears meanwhile, as files of /proc do.
inline std::string read_bytes(const std::filesystem::path& path) {
  std::ostringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

}  // namespace merganser::test
