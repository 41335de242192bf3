// Resolution of output paths link by link, with a check of who owns each link, and identity of files by device and inode.
#include "merganser/base/file_identity.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <deque>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"

namespace merganser {
namespace {

constexpr int kMaxLinks = 40;  // symbolic links followed in one path, as by Linux

/// Returns the components of a path, without empty ones.
std::deque<std::string> path_components(const std::string& path) {
  std::deque<std::string> out;
  for (const auto piece : split_at(path, '/'))
    if (!piece.empty()) out.emplace_back(piece);
  return out;
}

/// Returns the target of a symbolic link; empty if the path is none.
std::string read_link(const std::string& path) {
  std::array<char, PATH_MAX> text{};
  const auto n = ::readlink(path.c_str(), text.data(), text.size());
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
}

/// Returns true if a folder lies in /proc, where links stand for open files of a process and need not lead to a path.
bool is_in_proc(const std::string& path) {
  struct statfs s {};
  return ::statfs(path.c_str(), &s) == 0 && s.f_type == PROC_SUPER_MAGIC;
}

/// Returns true if a link may be followed when this user writes: it belongs to the user, to root, or to the owner of a folder in
/// which nobody else may write. Stricter than the protected_symlinks of Linux, which may be off.
bool is_trusted_link(const struct stat& link, const std::string& folder) {
  if (link.st_uid == ::geteuid() || link.st_uid == 0) return true;
  struct stat f {};
  return ::stat(folder.c_str(), &f) == 0 && link.st_uid == f.st_uid && (f.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// Returns the path of a file from its folder, absolute and without links, and its name there.
std::string path_below(const std::string& folder, const std::string& name) {
  return folder == "/" ? folder + name : folder + '/' + name;
}

/// Returns the path of the folder that contains a folder; the root contains itself.
std::string parent_folder(const std::string& folder) {
  const auto slash = folder.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : folder.substr(0, slash);
}

/// Returns the path of the working folder of the process; "." if it cannot be read.
std::string working_folder() {
  std::array<char, PATH_MAX> text{};
  return ::getcwd(text.data(), text.size()) != nullptr ? text.data() : ".";
}

}  // namespace

// Resolves the path of an output. Walks the components one by one, as the kernel does, so that every link on the way is checked
// before it is followed: `at` is resolved, `rest` is not, and a link puts its target in front of `rest`.
OutputLocation resolve_output(const std::string& path) {
  const auto refuse = [&](const std::string& why) { throw InputError("cannot write " + path + ": " + why); };
  std::string at = path.starts_with('/') ? "/" : working_folder();
  std::deque<std::string> rest = path_components(path);
  if (rest.empty() || path.ends_with('/')) refuse("it is the name of a folder; allowed: a file");
  for (int links = 0; !rest.empty();) {
    const std::string name = rest.front();
    rest.pop_front();
    if (name == "." || name == "..") {
      if (name == "..") at = parent_folder(at);  // right without lstat(), since `at` has no links
      if (rest.empty()) refuse("it is the name of a folder; allowed: a file");
      continue;
    }
    const std::string here = path_below(at, name);
    struct stat s {};
    const bool exists = ::lstat(here.c_str(), &s) == 0;
    if (exists && S_ISLNK(s.st_mode)) {
      if (rest.empty() && is_in_proc(at)) return {at, name, true};
      if (!is_trusted_link(s, at))
        refuse("the link " + here +
               " belongs to another user; allowed: links of your own, of root, or in a folder "
               "where only their owner may write");
      if (++links > kMaxLinks) refuse(std::strerror(ELOOP));
      const std::string to = read_link(here);
      if (to.starts_with('/')) at = "/";
      const auto pieces = path_components(to);
      rest.insert(rest.begin(), pieces.begin(), pieces.end());
    } else if (rest.empty()) {
      return {at, name, exists && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode)};
    } else {
      at = here;
    }
  }
  refuse("a link leads to a folder; allowed: a file");
  return {};
}

// Returns the identity of a file for the comparison of paths: device and inode, or folder and name of a file that does not exist
// yet.
std::optional<FileIdentity> file_identity(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) == 0) return FileIdentity{s.st_dev, s.st_ino, "", S_ISREG(s.st_mode)};
  try {
    const OutputLocation place = resolve_output(path);
    if (::stat(place.folder.c_str(), &s) != 0) return std::nullopt;
    return FileIdentity{s.st_dev, s.st_ino, place.name, true};
  } catch (const InputError&) {
    return std::nullopt;  // the error is thrown when the file is opened
  }
}

}  // namespace merganser
