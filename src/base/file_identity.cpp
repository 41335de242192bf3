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

constexpr int kMaxLinks = 40;  // as Linux

std::deque<std::string> pieces_of(const std::string& path) {
  std::deque<std::string> out;
  for (const auto piece : split_at(path, '/'))
    if (!piece.empty()) out.emplace_back(piece);
  return out;
}

std::string text_of_link(const std::string& path) {
  std::array<char, PATH_MAX> text{};
  const auto n = ::readlink(path.c_str(), text.data(), text.size());
  return n > 0 ? std::string(text.data(), static_cast<std::size_t>(n)) : std::string();
}

/// True for what stands in /proc: links there are open files of a process.
bool of_a_process(const std::string& path) {
  struct statfs s {};
  return ::statfs(path.c_str(), &s) == 0 && s.f_type == PROC_SUPER_MAGIC;
}

/// Whether a link may decide where this user's files go. Stricter than the protected_symlinks of Linux, which may be off.
bool trusted(const struct stat& link, const std::string& folder) {
  if (link.st_uid == ::geteuid() || link.st_uid == 0) return true;
  struct stat f {};
  return ::stat(folder.c_str(), &f) == 0 && link.st_uid == f.st_uid && (f.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::string path_below(const std::string& folder, const std::string& name) {
  return folder == "/" ? folder + name : folder + '/' + name;
}

std::string parent_of(const std::string& folder) {
  const auto slash = folder.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : folder.substr(0, slash);
}

std::string working_folder() {
  std::array<char, PATH_MAX> text{};
  return ::getcwd(text.data(), text.size()) != nullptr ? text.data() : ".";
}

}  // namespace

Place place_of_output(const std::string& path) {
  const auto refuse = [&](const std::string& why) { throw InputError("cannot write " + path + ": " + why); };
  std::string at = path.starts_with('/') ? "/" : working_folder();
  std::deque<std::string> rest = pieces_of(path);
  if (rest.empty() || path.ends_with('/')) refuse("it is the name of a folder; allowed: a file");
  for (int links = 0; !rest.empty();) {
    const std::string name = rest.front();
    rest.pop_front();
    if (name == "." || name == "..") {
      if (name == "..") at = parent_of(at);
      if (rest.empty()) refuse("it is the name of a folder; allowed: a file");
      continue;
    }
    const std::string here = path_below(at, name);
    struct stat s {};
    const bool exists = ::lstat(here.c_str(), &s) == 0;
    if (exists && S_ISLNK(s.st_mode)) {
      if (rest.empty() && of_a_process(at)) return {at, name, true};
      if (!trusted(s, at))
        refuse("the link " + here +
               " belongs to another user; allowed: links of your own, of root, or in a folder "
               "where only their owner may write");
      if (++links > kMaxLinks) refuse(std::strerror(ELOOP));
      const std::string to = text_of_link(here);
      if (to.starts_with('/')) at = "/";
      const auto pieces = pieces_of(to);
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

std::optional<FileIdentity> identity(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) == 0) return FileIdentity{s.st_dev, s.st_ino, "", S_ISREG(s.st_mode)};
  try {
    const Place place = place_of_output(path);
    if (::stat(place.folder.c_str(), &s) != 0) return std::nullopt;
    return FileIdentity{s.st_dev, s.st_ino, place.name, true};
  } catch (const InputError&) {
    return std::nullopt;  // whoever opens it tells why it will not do
  }
}

}  // namespace merganser
