/// Tests that no result of a verb overwrites an input or another result, whatever the paths look like.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/apps/parcel_files.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
namespace fs = std::filesystem;

std::string bytes(const std::string& path) { return fs::is_regular_file(path) ? read_bytes(path) : ""; }

/// Fixture with a small input of every kind: a graph, a process graph, points, a record and a parcel file.
class Paths : public testing::Test {
 protected:
  Paths() {
    std::ofstream(at("g.txt")) << "0 1 5\n1 2 6\n2 3 7\n";
    std::ofstream(at("t.adj")) << "# ranks 3\n0,1\n1,2\n";
    std::ofstream(at("p.txt")) << "0 0\n1 0\n5 5\n6 5\n";
    if (has_package("graph")) run({"msf", at("g.txt"), "--json", at("r.json")});
    if (!io::netcdf_available()) return;
    write_blobs(at("in.nc"), hard_cases()[3].blobs);
  }
  void SetUp() override {
    MERGANSER_NEEDS_PACKAGE("graph");
    MERGANSER_NEEDS_PACKAGE("topology");
  }
  [[nodiscard]] std::string at(const std::string& name) const { return folder_.file(name); }

  /// Expects that a command ends with exit code 2 and a message that contains `why`, and that no file changes.
  void refuse(const Arguments& words, const std::string& why) {
    std::vector<std::pair<std::string, std::string>> before;
    for (const auto& name : folder_.list()) before.emplace_back(name, bytes(at(name)));
    const Outcome o = run(words);
    EXPECT_EQ(o.code, 2) << o.text();
    EXPECT_TRUE(says(o.err, why)) << why << " in: " << o.err;
    std::vector<std::pair<std::string, std::string>> after;
    for (const auto& name : folder_.list()) after.emplace_back(name, bytes(at(name)));
    EXPECT_TRUE(before == after) << o.text();
  }

  Folder folder_;
};

TEST_F(Paths, a_result_is_no_input) {
  refuse({"msf", at("g.txt"), "--labels", at("g.txt")}, "--labels: \"" + at("g.txt") + "\" is read as GRAPH; allowed");
  refuse({"msf", at("g.txt"), "-o", at("g.txt")}, "is read as GRAPH");
  refuse({"linkage", "--points", at("p.txt"), "--clusters", "2", "--labels", at("p.txt")}, "is read as --points");
  refuse({"compare", at("r.json"), at("r.json"), "--json", at("r.json")}, "is read as BEFORE");
  refuse({"graph", "convert", at("g.txt"), at("g.txt")}, "is read as GRAPH");
  refuse({"topo", "convert", at("t.adj"), at("t.adj")}, "is read as IN");
  refuse({"topo", "bench", "--graph", "ring," + at("t.adj"), "--csv", at("t.adj")}, "is read as --graph");
  refuse({"topo", "tail", "--aggressor", at("t.adj") + ":64K", "--json", at("t.adj")}, "is read as --aggressor");
  if (!io::netcdf_available()) return;
  for (const char* option : {"--output", "--json", "--csv", "--picture"})
    refuse({"cluster", at("in.nc"), option, at("in.nc")}, "is read as IN");
}

TEST_F(Paths, are_told_apart_by_the_files_that_they_lead_to) {
  fs::create_symlink("g.txt", at("soft"));
  fs::create_hard_link(at("g.txt"), at("hard"));
  fs::create_directory_symlink(".", at("way"));
  const std::string around = "way/../" + folder_.path().filename().string() + "/g.txt";
  for (const std::string& name : {std::string("soft"), std::string("hard"), std::string("way/g.txt"), around})
    refuse({"msf", at("g.txt"), "--labels", at(name)}, "is read as GRAPH");
  fs::create_symlink("new", at("later"));
  refuse({"msf", at("g.txt"), "--labels", at("new"), "--json", at("new")}, "is also written as --labels");
  refuse({"msf", at("g.txt"), "--labels", at("new"), "--json", at("later")}, "is also written as --labels");
  refuse({"msf", at("g.txt"), "--labels", at("new"), "--json", at("way/./new")}, "is also written as --labels");
  EXPECT_EQ(run({"msf", at("g.txt"), "--labels", "/dev/null", "--json", "/dev/null"}).code, 0);
}

TEST_F(Paths, parts_of_an_input_are_inputs_too) {
  std::ofstream(at("web.graph")) << "graph";
  std::ofstream(at("web.properties")) << "nodes=1\n";
  refuse({"msf", at("web"), "--labels", at("web.properties")}, "is read as GRAPH");
  refuse({"graph", "convert", at("web"), at("web.graph")}, "is read as GRAPH");
  refuse({"graph", "convert", at("web.graph"), at("web.properties")}, "is read as GRAPH");
}

TEST_F(Paths, a_result_that_cannot_be_written_is_refused_before_another_is) {
  refuse({"msf", at("g.txt"), "--labels", at("labels"), "-o", at("forest")}, "no extension that tells a format");
  refuse({"msf", at("g.txt"), "--labels", at("labels"), "-o", at("forest.properties")}, "");
}

TEST_F(Paths, a_result_has_a_name) {
  refuse({"msf", at("g.txt"), "--labels", ""}, "--labels: \"\"; allowed: the name of a file");
  refuse({"gen", "random", "-o", ""}, "--output: \"\"; allowed: the name of a file");
  refuse({"topo", "convert", at("t.adj"), ""}, "OUT: \"\"; allowed: the name of a file");
}

TEST_F(Paths, a_dash_is_standard_output_and_holds_the_result_alone) {
  Outcome o = run({"graph", "convert", at("g.txt"), "-", "--to", "edge-list", "--ranks", "2"});
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_EQ(o.out, "# Undirected graph\n# vertices: 4 edges: 3 weights: unsigned\n0 1 5\n1 2 6\n2 3 7\n");
  o = run({"msf", at("g.txt"), "-o", "-"});
  EXPECT_TRUE(o.code == 2 && says(o.err, "format")) << o.text();
  o = run({"topo", "gen", "ring", "--ranks", "3", "-o", "-", "--format", "pairs"});
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(o.out.ends_with("# ranks 3\n0,1\n0,2\n1,0\n1,2\n2,0\n2,1\n")) << o.out;
  o = run({"msf", at("g.txt"), "--labels", "-"});
  EXPECT_EQ(o.out, "0\n0\n0\n0\n") << o.text();
  refuse({"msf", at("g.txt"), "--labels", "-", "--json", "-"}, "--labels and --json both to standard output");
  for (const auto& name : fs::directory_iterator(fs::current_path())) EXPECT_NE(name.path().filename(), "-");
  if (!io::netcdf_available()) return;
  o = run({"cluster", at("in.nc"), "-o", "-"});
  EXPECT_EQ(o.code, 3) << o.text();
  EXPECT_TRUE(says(o.err, "it is not a plain file")) << o.err;
}

TEST_F(Paths, a_name_that_a_temporary_file_might_have_is_the_users) {
  ASSERT_EQ(run({"graph", "convert", at("g.txt"), at("web.mgr.part"), "--to", "binary"}).code, 0);
  const std::string old = bytes(at("web.mgr.part"));
  const Outcome o = run({"graph", "convert", at("web.mgr.part"), at("web.mgr")});
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_EQ(bytes(at("web.mgr.part")), old);
  EXPECT_EQ(bytes(at("web.mgr")), old);
}

TEST_F(Paths, a_result_is_no_input_whose_name_ends_like_a_format) {
  if (!io::netcdf_available()) GTEST_SKIP() << "this build is without NetCDF";
  fs::copy_file(at("in.nc"), at("q:epic"));
  refuse({"convert", at("q:epic"), at("o.vtu"), "--json", at("q:epic")},
         "--json: \"" + at("q:epic") + "\" is read as IN");
  refuse({"cluster", at("in.nc"), "-o", at("o.h5:epic"), "--json", at("o.h5:epic")}, "is also written as --output");
  EXPECT_EQ(run({"convert", at("q:epic"), at("o.xml:vtu"), "--json", at("o.json")}).code, 0);
}

TEST_F(Paths, links_are_written_through) {
  fs::create_symlink("real.txt", at("link.txt"));
  ASSERT_EQ(run({"graph", "convert", at("g.txt"), at("link.txt")}).code, 0);
  EXPECT_TRUE(fs::is_symlink(at("link.txt")));
  EXPECT_TRUE(says(bytes(at("real.txt")), "0 1 5"));
  fs::create_symlink("real.json", at("link.json"));
  ASSERT_EQ(run({"msf", at("g.txt"), "--json", at("link.json")}).code, 0);
  EXPECT_TRUE(fs::is_symlink(at("link.json")));
  EXPECT_TRUE(says(bytes(at("real.json")), "merganser-run-record"));
}

}  // namespace
