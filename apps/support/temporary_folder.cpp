#include "support/temporary_folder.hpp"

#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): mkdtemp

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "merganser/base/error.hpp"

namespace merganser::app {

TemporaryFolder::TemporaryFolder(const std::string& stem) : path_(stem + "XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr)
    throw InputError("cannot make a folder " + stem + "XXXXXX: " + std::strerror(errno));
  itself_ = CleanupName(path_, true);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string TemporaryFolder::file(const std::string& name) {
  std::string path = path_ + '/' + name;
  files_.try_emplace(name, path, false);
  return path;
}

}  // namespace merganser::app
