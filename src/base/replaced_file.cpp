// Owner, mode and access control list of a file that an output replaces, and the permission to replace it.
#include "src/base/replaced_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "merganser/base/error.hpp"

namespace merganser::detail {
namespace {

constexpr const char* kAcl = "system.posix_acl_access";  // extended attribute of the access control list
constexpr mode_t kKept = 01777;  // without set-user-ID and set-group-ID, which writing to the old file would clear too

/// Throws InputError for a file that an output may not replace, with the reason.
[[noreturn]] void refuse(const OldFile& old, const std::string& why) {
  throw InputError("cannot write " + old.shown + ": " + why);
}

/// Formats the mode of a file in octal for messages: "0644".
std::string octal(mode_t mode) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

/// Reads the attributes of the file that an output replaces. @return false if there is none
bool stat_old_file(const OldFile& old, struct stat& s) {
  return !old.base.empty() && ::fstatat(old.folder, old.base.c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0;
}

/// Sets owner and group of a new output file to those of the file that it replaces. @throws InputError if this user may not
void copy_owner(const OldFile& old, const struct stat& s, int file) {
  struct stat mine {};
  if (::fstat(file, &mine) != 0 || (mine.st_uid == s.st_uid && mine.st_gid == s.st_gid)) return;
  const uid_t user = mine.st_uid == s.st_uid ? static_cast<uid_t>(-1) : s.st_uid;
  const gid_t group = mine.st_gid == s.st_gid ? static_cast<gid_t>(-1) : s.st_gid;
  if (::fchown(file, user, group) == 0) return;
  refuse(old, "it belongs to user " + std::to_string(s.st_uid) + ", group " + std::to_string(s.st_gid) +
                  ", which the file in its place cannot: " + std::strerror(errno) +
                  "; allowed: a file of your own, or a new one");
}

/// Copies the access control list of the file that an output replaces to the new file, an open descriptor. @throws InputError
void copy_acl(const OldFile& old, int file) {
  const std::string path = "/proc/self/fd/" + std::to_string(old.folder) + '/' + old.base;
  const ssize_t bytes = ::lgetxattr(path.c_str(), kAcl, nullptr, 0);
  if (bytes <= 0) return;  // no list, or a file system that has none
  std::vector<char> acl(static_cast<std::size_t>(bytes));
  if (::lgetxattr(path.c_str(), kAcl, acl.data(), acl.size()) != bytes ||
      ::fsetxattr(file, kAcl, acl.data(), acl.size(), 0) != 0)
    refuse(old, std::string("its access control list cannot be kept: ") + std::strerror(errno));
}

}  // namespace

// Checks the permission to replace the file at the destination of an output, although renaming would not need it.
bool check_replaceable(const OldFile& old) {
  struct stat s {};
  if (!stat_old_file(old, s)) return false;
  if (!S_ISREG(s.st_mode)) refuse(old, "it is a folder; allowed: a file");
  const bool for_nobody = (s.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0;
  // AT_EACCESS: by the effective user, which opens files. EINVAL: a system without this flag, where the mode alone decides.
  const bool not_for_us = ::faccessat(old.folder, old.base.c_str(), W_OK, AT_EACCESS) != 0 && errno != EINVAL;
  if (for_nobody || not_for_us)
    refuse(old, "it may not be written to (mode " + octal(s.st_mode) + ", user " + std::to_string(s.st_uid) +
                    "); allowed: a file that you may write to, or a new one");
  return true;
}

void keep_owner(const OldFile& old, int file) {
  struct stat s {};
  if (check_replaceable(old) && stat_old_file(old, s)) copy_owner(old, s, file);
}

// Gives a new output file the owner, mode and access control list of the old one: the last step before it replaces that.
void keep_owner_and_mode(const OldFile& old, int file) {
  struct stat s {};
  if (!check_replaceable(old) || !stat_old_file(old, s)) return;
  copy_owner(old, s, file);  // before the mode: a change of owner clears bits of it
  if (::fchmod(file, s.st_mode & kKept) != 0)
    refuse(old, std::string("its mode cannot be kept: ") + std::strerror(errno));
  copy_acl(old, file);
}

}  // namespace merganser::detail
