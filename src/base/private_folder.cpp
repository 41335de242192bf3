#include "merganser/base/private_folder.hpp"

#include <stdlib.h>  // mkdtemp
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "merganser/base/error.hpp"

namespace merganser {

std::string temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  const bool is_named = named != nullptr && *named != '\0';
  const std::string folder = is_named ? named : "/tmp";
  if (::access((folder + "/.").c_str(), W_OK | X_OK) != 0)
    throw InputError("cannot make temporary files in " + folder + (is_named ? ", which TMPDIR names: " : ": ") +
                     std::strerror(errno) + "; allowed: a folder that can be written to");
  return folder;
}

PrivateFolder::PrivateFolder(const std::string& parent) : path_(parent + "/.merganser-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr)
    throw InputError("cannot make a temporary folder in " + parent + ": " + std::strerror(errno));
  itself_ = CleanupName(path_, true);
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string PrivateFolder::file(const std::string& name) {
  std::string path = path_ + '/' + name;
  files_.try_emplace(name, path, false);
  return path;
}

}  // namespace merganser
