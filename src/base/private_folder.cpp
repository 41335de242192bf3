// Temporary folders of mode 0700 with random names, removed by the destructor or by a signal handler.
#include "merganser/base/private_folder.hpp"

#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "merganser/base/error.hpp"

namespace merganser {

// Returns the folder of temporary files, TMPDIR, else /tmp; tested here, since a later failure would name an unknown file.
std::string temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  const bool is_named = named != nullptr && *named != '\0';
  const std::string folder = is_named ? named : "/tmp";
  if (::access((folder + "/.").c_str(), W_OK | X_OK) != 0)
    throw InputError("cannot make temporary files in " + folder + (is_named ? ", which TMPDIR names: " : ": ") +
                     std::strerror(errno) + "; allowed: a folder that can be written to");
  return folder;
}

// Returns a name that no other user can predict: twelve letters and digits from random bytes of the system.
std::string random_letters() {
  std::array<unsigned char, 12> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw InputError("cannot make a temporary file: the system gives no random bytes");
  std::string out;
  for (const unsigned char b : bytes) out += "abcdefghijklmnopqrstuvwxyz012345"[b % 32];
  return out;
}

// Creates a temporary folder that no other user can read, removed also by a signal.
PrivateFolder::PrivateFolder(const std::string& parent) : path_(parent + "/.merganser-" + random_letters()) {
  const MakingFiles making;  // registered and created in one scope: a signal handler on another thread waits for both
  itself_ = CleanupName(path_, true);
  if (::mkdir(path_.c_str(), 0700) != 0)
    throw InputError("cannot make a temporary folder in " + parent + ": " + std::strerror(errno));
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
