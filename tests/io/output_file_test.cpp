#include "io/output_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "io/folder.hpp"
#include "merganser/base/error.hpp"

namespace {

using namespace merganser;
using namespace merganser::io;
using namespace merganser::test;
namespace fs = std::filesystem;

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string get(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string refusal(const std::string& path, std::int64_t bytes = 0) {
  try {
    const OutputFile file(path, bytes);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(OutputFile, replaces_the_old_file_when_committed_and_not_before) {
  const Folder folder;
  const std::string path = folder.file("out.nc");
  put(path, "old");
  OutputFile file(path, 3);
  put(file.temporary(), "new");
  EXPECT_EQ(get(path), "old");
  file.commit();
  EXPECT_EQ(get(path), "new");
  EXPECT_EQ(folder.list(), std::vector<std::string>{"out.nc"});
}

TEST(OutputFile, leaves_nothing_behind_when_it_is_not_committed) {
  const Folder folder;
  const std::string path = folder.file("out.nc");
  put(path, "old");
  {
    const OutputFile file(path, 3);
    put(file.temporary(), "half");
    EXPECT_EQ(fs::path(file.temporary()).parent_path(), folder.path());
  }
  EXPECT_EQ(get(path), "old");
  EXPECT_EQ(folder.list(), std::vector<std::string>{"out.nc"});
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

TEST(OutputFile, writes_through_a_symbolic_link) {
  const Folder folder;
  fs::create_directory(folder.path() / "real");
  put(folder.file("real/data"), "old");
  fs::create_symlink("real/data", folder.path() / "link");
  OutputFile file(folder.file("link"), 0);
  put(file.temporary(), "new");
  file.commit();
  EXPECT_TRUE(fs::is_symlink(folder.path() / "link"));
  EXPECT_EQ(get(folder.file("real/data")), "new");
}

TEST(OutputFile, refuses_what_is_no_place_for_a_file) {
  const Folder folder;
  put(folder.file("plain"), "");
  EXPECT_NE(refusal(folder.path().string()).find("not a plain file"), std::string::npos);
  EXPECT_NE(refusal("/dev/null").find("not a plain file"), std::string::npos);
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

}  // namespace
