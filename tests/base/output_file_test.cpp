/// Atomic output files: replacement, permissions, symbolic links, killed writers, streams; identity of files; private folders.
#include "merganser/base/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <functional>

#include "merganser/base/error.hpp"
#include "merganser/base/file_identity.hpp"
#include "merganser/base/private_folder.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
namespace fs = std::filesystem;

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string refusal(const std::string& path, std::int64_t bytes = 0) {
  try {
    const OutputFile file(path, bytes);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

constexpr auto kBothWays = {OutputFile::Opened::here, OutputFile::Opened::by_name};

TEST(OutputFile, replaces_the_old_file_when_committed_and_not_before) {
  for (const auto opened : kBothWays) {
    const Folder folder;
    const std::string path = folder.file("out.nc");
    put(path, "old");
    OutputFile file(path, 3, opened);
    put(file.name(), "new");
    EXPECT_EQ(read_bytes(path), "old");
    file.commit();
    EXPECT_EQ(read_bytes(path), "new");
    EXPECT_EQ(folder.list(), std::vector<std::string>{"out.nc"});
  }
}

TEST(OutputFile, leaves_nothing_behind_when_it_is_not_committed) {
  for (const auto opened : kBothWays) {
    const Folder folder;
    const std::string path = folder.file("out.nc");
    put(path, "old");
    {
      OutputFile file(path, 3, opened);
      put(file.name(), "half");
      file.write(4, "more", 4);
      EXPECT_EQ(read_bytes(file.name()), "halfmore");
    }
    EXPECT_EQ(read_bytes(path), "old");
    EXPECT_EQ(folder.list(), std::vector<std::string>{"out.nc"});
  }
}

/// Runs a child process that is killed while it writes a file.
void write_and_be_killed(const std::string& path, OutputFile::Opened opened) {
  const pid_t child = ::fork();
  if (child == 0) {
    OutputFile file(path, 3, opened);
    file.write(0, "half", 4);
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(OutputFile, has_no_name_that_a_killed_program_could_leave) {
  const Folder folder;
  write_and_be_killed(folder.file("out.nc"), OutputFile::Opened::here);
  EXPECT_EQ(folder.list(), std::vector<std::string>{});
}

TEST(OutputFile, removes_what_a_killed_program_left_of_the_same_file_and_nothing_else) {
  const Folder folder;
  const std::string path = folder.file("out.nc");
  write_and_be_killed(path, OutputFile::Opened::by_name);
  write_and_be_killed(folder.file("other.nc"), OutputFile::Opened::by_name);
  ASSERT_EQ(folder.list().size(), 2U);
  OutputFile alive(path, 0, OutputFile::Opened::by_name);
  alive.write(0, "first", 5);
  OutputFile last(path);
  last.write(0, "last", 4);
  last.commit();
  EXPECT_EQ(read_bytes(path), "last");
  alive.commit();
  EXPECT_EQ(read_bytes(path), "first") << "who is alive keeps its file";
  const auto names = folder.list();
  ASSERT_EQ(names.size(), 2U);
  EXPECT_TRUE(names[0].starts_with(".other.nc.merganser-")) << names[0];
}

TEST(OutputFile, has_the_usual_permissions_or_those_of_the_file_it_replaces) {
  const Folder folder;
  const mode_t mask = umask(027);
  OutputFile fresh(folder.file("a"), 0);
  fresh.commit();
  umask(mask);
  EXPECT_EQ(fs::status(folder.file("a")).permissions(), fs::perms(0640));
  put(folder.file("b"), "");
  fs::permissions(folder.file("b"), fs::perms(0604));
  OutputFile again(folder.file("b"), 0);
  again.commit();
  EXPECT_EQ(fs::status(folder.file("b")).permissions(), fs::perms(0604));
}

/// Runs `work` in a child process, as an unprivileged user if this one is root. @return the error that it returns; empty for
/// success
std::string as_plain_user(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    std::string wrong = ::geteuid() == 0 && (::setgid(12345) != 0 || ::setuid(12345) != 0) ? "still root" : work();
    if (::write(ends[1], wrong.data(), wrong.size()) < 0) ::_exit(1);
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string wrong;
  char c = 0;
  while (::read(ends[0], &c, 1) == 1) wrong += c;
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return status == 0 ? wrong : "ended badly";
}

TEST(OutputFile, replaces_no_file_that_may_not_be_written_to_not_even_for_root) {
  const Folder folder;
  put(folder.file("kept"), "old");
  fs::permissions(folder.file("kept"), fs::perms(0444));
  EXPECT_NE(refusal(folder.file("kept")).find("it may not be written to (mode 0444"), std::string::npos);
  for (const auto way : kBothWays) EXPECT_THROW(OutputFile(folder.file("kept"), 0, way), InputError);
  EXPECT_THROW(check_output(folder.file("kept")), InputError);
  EXPECT_THROW(write_file(folder.file("kept"), "new"), InputError);
  EXPECT_EQ(read_bytes(folder.file("kept")), "old");
  EXPECT_EQ(folder.list().size(), 1U);
  {  // protected while the new one is made
    put(folder.file("late"), "old");
    OutputFile file(folder.file("late"));
    fs::permissions(folder.file("late"), fs::perms(0444));
    EXPECT_THROW(file.commit(), InputError);
  }
  EXPECT_EQ(read_bytes(folder.file("late")), "old");
}

TEST(OutputFile, a_plain_user_replaces_files_of_others_neither_where_the_folder_allows_it_nor_by_their_mode) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  const Folder folder;
  fs::permissions(folder.path(), fs::perms(0777));
  for (const auto& [name, mode] : {std::pair{"closed", 0644}, {"open", 0666}}) {
    put(folder.file(name), "old");
    fs::permissions(folder.file(name), fs::perms(mode));
  }
  EXPECT_EQ(as_plain_user([&]() -> std::string {
              const std::string closed = refusal(folder.file("closed")), open = refusal(folder.file("open"));
              if (closed.find("it may not be written to (mode 0644, user 0)") == std::string::npos) return closed;
              if (open.find("it belongs to user 0, group 0") == std::string::npos) return open;
              for (const char* name : {"closed", "open"}) try {
                  check_output(folder.file(name));
                  return std::string("check_output accepts ") + name;
                } catch (const InputError&) {
                }
              write_file(folder.file("own"), "a");
              write_file(folder.file("own"), "b");
              return read_bytes(folder.file("own")) == "b" ? "" : "not replaced";
            }),
            "");
  EXPECT_EQ(read_bytes(folder.file("open")), "old");
}

TEST(OutputFile, what_root_replaces_stays_with_its_owner) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  const Folder folder;
  for (const auto way : kBothWays) {
    put(folder.file("out"), "old");
    fs::permissions(folder.file("out"), fs::perms(0620));
    ASSERT_EQ(::chown(folder.file("out").c_str(), 12345, 54321), 0);
    OutputFile file(folder.file("out"), 0, way);
    std::ofstream(file.name()) << "new";
    file.commit();
    struct stat s {};
    ASSERT_EQ(::stat(folder.file("out").c_str(), &s), 0);
    EXPECT_EQ(s.st_uid, 12345U);
    EXPECT_EQ(s.st_gid, 54321U);
    EXPECT_EQ(s.st_mode & 07777, 0620U);
    EXPECT_EQ(read_bytes(folder.file("out")), "new");
    fs::remove(folder.file("out"));
  }
}

TEST(OutputFile, an_access_control_list_stays) {
  const Folder folder;
  put(folder.file("out"), "old");
  // user::rw- user:12345:r-- group::r-- mask::r-- other::---
  const std::array<std::uint32_t, 11> acl{2,          0x60001, 0xffffffff, 0x40002, 12345,     0x40004,
                                          0xffffffff, 0x40010, 0xffffffff, 0x20,    0xffffffff};
  if (::setxattr(folder.file("out").c_str(), "system.posix_acl_access", acl.data(), sizeof acl, 0) != 0)
    GTEST_SKIP() << "the file system has no access control lists";
  write_file(folder.file("out"), "new");
  std::array<std::uint32_t, 11> now{};
  EXPECT_EQ(::getxattr(folder.file("out").c_str(), "system.posix_acl_access", now.data(), sizeof now), 44);
  EXPECT_EQ(now, acl);
}

TEST(OutputFile, writes_through_a_symbolic_link) {
  const Folder folder;
  fs::create_directory(folder.path() / "real");
  put(folder.file("real/data"), "old");
  fs::create_symlink("real/data", folder.path() / "link");
  fs::create_directory_symlink("real", folder.path() / "way");
  for (const char* name : {"link", "way/data", "way/../link", "way/./../real/data"}) {
    write_file(folder.file(name), name);
    EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
    EXPECT_EQ(read_bytes(folder.file("real/data")), name);
  }
  fs::create_symlink("round", folder.path() / "round");
  EXPECT_NE(refusal(folder.file("round")).find("Too many levels"), std::string::npos);
  fs::create_symlink("real/new", folder.path() / "dangling");
  write_file(folder.file("dangling"), "made");
  EXPECT_EQ(read_bytes(folder.file("real/new")), "made");
}

TEST(OutputFile, refuses_what_is_no_place_for_a_file) {
  const Folder folder;
  put(folder.file("plain"), "");
  EXPECT_NE(refusal(folder.path().string()).find("it is a folder; allowed: a file"), std::string::npos);
  EXPECT_NE(refusal(folder.file("plain/")).find("allowed: a file"), std::string::npos);
  EXPECT_NE(refusal(folder.file("new/..")).find("allowed: a file"), std::string::npos);
  EXPECT_THROW(check_output(folder.file(std::string(300, 'a'))), InputError);
  EXPECT_THROW(check_output(folder.file("plain/out.nc")), InputError);
  EXPECT_NO_THROW(check_output(folder.file(std::string(255, 'a'))));
  EXPECT_THROW(OutputFile(""), UsageError);
  EXPECT_THROW(check_output(folder.file("a.txt.gz")), UsageError);
  EXPECT_THROW(OutputFile(folder.file("a.txt.gz")), UsageError);
  for (const char* name : {"a.txt.bz2", "a.txt.xz", "a.txt.zst"})
    EXPECT_THROW(check_output(folder.file(name)), UsageError) << name;
  EXPECT_NO_THROW(check_output(folder.file("a.gzip.txt")));
  EXPECT_NE(refusal(folder.file("missing/out.nc")).find("No such file"), std::string::npos);
  EXPECT_NE(refusal(folder.file("plain/out.nc")).find("Not a directory"), std::string::npos);
}

TEST(OutputFile, refuses_more_bytes_than_the_file_system_has) {
  const Folder folder;
  const std::string why = refusal(folder.file("out.nc"), std::int64_t{1} << 62);
  EXPECT_NE(why.find("it needs 4611686018427387904 bytes"), std::string::npos) << why;
  EXPECT_NE(why.find("bytes are free"), std::string::npos) << why;
  EXPECT_TRUE(folder.list().empty());
}

TEST(OutputFile, follows_no_link_that_another_user_planted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  const Folder folder;
  const Folder mine;
  put(mine.file("precious"), "mine");
  fs::permissions(folder.path(), fs::perms(01777));
  const auto plant = [&](const std::string& to, const char* name) {
    fs::create_symlink(to, folder.path() / name);
    ASSERT_EQ(::lchown(folder.file(name).c_str(), 12345, 12345), 0);
  };
  plant(mine.file("precious"), "out.nc");
  plant(mine.path().string(), "way");
  for (const char* name : {"out.nc", "way/precious"}) {
    EXPECT_NE(refusal(folder.file(name)).find("belongs to another user"), std::string::npos) << name;
    EXPECT_THROW(check_output(folder.file(name)), InputError);
  }
  EXPECT_EQ(read_bytes(mine.file("precious")), "mine");
  // In a folder where only its owner may write, a link of the owner is what it looks like.
  fs::permissions(folder.path(), fs::perms(0755));
  ASSERT_EQ(::chown(folder.path().c_str(), 12345, 12345), 0);
  write_file(folder.file("out.nc"), "new");
  EXPECT_EQ(read_bytes(mine.file("precious")), "new");
}

TEST(OutputFile, touches_no_file_under_a_name_that_looks_like_its_own) {
  const Folder folder;
  const Folder mine;
  put(mine.file("data"), "mine");
  put(mine.file("lock"), "");
  fs::create_directory_symlink(mine.path(), folder.path() / ".out.nc.merganser-abcdefghijkl");
  put(folder.file(".out.nc.merganser-notes"), "notes");
  fs::create_directory(folder.path() / ".out.nc.merganser-mine");
  put(folder.file(".out.nc.merganser-mine/thesis"), "pages");
  put(folder.file(".out.nc.merganser-mine/lock"), "");
  write_file(folder.file("out.nc"), "new");
  EXPECT_EQ(read_bytes(mine.file("data")), "mine");
  EXPECT_EQ(read_bytes(folder.file(".out.nc.merganser-notes")), "notes");
  EXPECT_EQ(read_bytes(folder.file(".out.nc.merganser-mine/thesis")), "pages");
}

TEST(OutputFile, gives_a_pipe_a_device_and_an_open_file_their_bytes) {
  const Folder folder;
  write_file("/dev/null", "nothing");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_file("/dev/full", "something"), InputError);
  const int open_file = ::open(folder.file("log").c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  ASSERT_EQ(::write(open_file, "before ", 7), 7);
  write_file("/proc/self/fd/" + std::to_string(open_file), "after");
  ::close(open_file);
  EXPECT_EQ(read_bytes(folder.file("log")), "before after");
  EXPECT_THROW(OutputFile("/dev/null", 0, OutputFile::Opened::by_name), InputError);
}

TEST(FileIdentity, is_one_for_all_names_of_a_file_and_before_it_exists) {
  const Folder folder;
  put(folder.file("a"), "");
  fs::create_symlink("a", folder.path() / "soft");
  fs::create_hard_link(folder.file("a"), folder.file("hard"));
  fs::create_directory_symlink(".", folder.path() / "here");
  fs::create_symlink("new", folder.path() / "later");
  for (const std::string& name : std::vector<std::string>{"soft", "hard", "here/a", "./a",
                                                          "here/../" + folder.path().filename().string() + "/a"}) {
    EXPECT_TRUE(file_identity(folder.file(name)) == file_identity(folder.file("a"))) << name;
  }
  ASSERT_TRUE(file_identity(folder.file("new")));
  for (const char* name : {"later", "here/new", "here/later"})
    EXPECT_TRUE(file_identity(folder.file(name)) == file_identity(folder.file("new"))) << name;
  EXPECT_FALSE(file_identity(folder.file("new")) == file_identity(folder.file("newer")));
  EXPECT_FALSE(file_identity(folder.file("missing/new")));
  EXPECT_FALSE(file_identity("/dev/null")->plain);
}

TEST(PrivateFolder, is_for_this_user_alone_and_goes_with_what_is_in_it) {
  std::string path;
  {
    PrivateFolder folder;
    path = folder.path();
    write_file(folder.file("a"), "text");
    EXPECT_EQ(fs::status(path).permissions(), fs::perms(0700));
    EXPECT_NE(PrivateFolder().path(), path);
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateFolder, needs_a_folder_for_temporary_files) {
  const char* const old = std::getenv("TMPDIR");
  const std::string kept = old != nullptr ? old : "";
  ::setenv("TMPDIR", "/no/such/folder", 1);
  EXPECT_THROW(PrivateFolder(), InputError);
  old != nullptr ? ::setenv("TMPDIR", kept.c_str(), 1) : ::unsetenv("TMPDIR");
}

}  // namespace
