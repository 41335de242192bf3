/// Tests of graphs and points from standard input: the same as from a file, from a pipe and a plain file, on threads and processes.
#include <gtest/gtest.h>

#include <fstream>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

class StandardInput : public testing::Test {
 protected:
  StandardInput() {
    std::ofstream graph(folder_.file("g.txt")), points(folder_.file("p.csv"));
    for (int i = 0; i < 3000; ++i) graph << i << ' ' << i * 7 % 3001 << ' ' << i * 31 % 97 << '\n';
    points << "x,y\n";
    for (int i = 0; i < 500; ++i) points << i * 7 % 501 << ',' << i * i % 613 << '\n';
  }
  /// Runs the command by a shell, with what `before` and `after` say of its standard input.
  static Outcome run_with(const std::string& before, const std::string& arguments, const std::string& after,
                          const std::vector<std::pair<std::string, std::string>>& environment = {}) {
    Program program({"/bin/sh", "-c", before + "'" + command_path() + "' " + arguments + after}, environment);
    return program.wait(std::chrono::minutes(1));
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  Folder folder_;
};

TEST_F(StandardInput, holds_a_graph_from_a_pipe_or_a_file_on_any_number_of_ranks) {
  ASSERT_EQ(run({"graph", "convert", file("g.txt"), file("wanted.mgr")}).code, 0);
  const std::string pipe = "cat '" + file("g.txt") + "' | ", from = " <'" + file("g.txt") + "'";
  for (const int ranks : {1, 2, 3, 4, 7}) {
    const std::string arguments = "graph convert - '" + file("a.mgr") + "' --ranks " + std::to_string(ranks);
    const Outcome piped = run_with(pipe, arguments, "");
    EXPECT_EQ(piped.code, 0) << piped.text();
    EXPECT_TRUE(says(piped.out, "standard input: 3,001 vertices")) << piped.text();
    EXPECT_EQ(read_bytes(file("a.mgr")), read_bytes(file("wanted.mgr"))) << ranks;
    EXPECT_EQ(run_with("", arguments, from).code, 0);
    EXPECT_EQ(read_bytes(file("a.mgr")), read_bytes(file("wanted.mgr"))) << ranks;
  }
  // A file that something has read from is read from there on.
  std::ofstream(file("more.txt")) << "a line of its own\n0 1 5\n";
  const Outcome rest =
      run_with("{ read -r line; ", "graph convert - '" + file("b.txt") + "'; }", " <'" + file("more.txt") + "'");
  EXPECT_EQ(rest.code, 0) << rest.text();
  EXPECT_TRUE(says(read_bytes(file("b.txt")), "0 1 5")) << rest.text();
}

TEST_F(StandardInput, holds_binary_graphs_and_formats_that_are_named) {
  ASSERT_EQ(run({"graph", "convert", file("g.txt"), file("g.mgr")}).code, 0);
  ASSERT_EQ(run({"graph", "convert", file("g.txt"), file("g.metis")}).code, 0);
  EXPECT_EQ(run_with("cat '" + file("g.mgr") + "' | ", "graph convert - '" + file("a.mgr") + "' --ranks 3", "").code,
            0);
  EXPECT_EQ(read_bytes(file("a.mgr")), read_bytes(file("g.mgr")));
  EXPECT_EQ(run_with("cat '" + file("g.metis") + "' | ",
                     "graph convert - --format metis '" + file("b.mgr") + "' --ranks 2", "")
                .code,
            0);
  EXPECT_EQ(read_bytes(file("b.mgr")), read_bytes(file("g.mgr")));
}

TEST_F(StandardInput, holds_points_and_the_record_names_it) {
  const Outcome wanted =
      run({"msf", "--points", file("p.csv"), "-o", file("tree.tsv"), "--labels", file("labels.txt")});
  ASSERT_EQ(wanted.code, 0) << wanted.text();
  for (const std::string ranks : {"1", "3"}) {
    const Outcome o = run_with("cat '" + file("p.csv") + "' | ",
                               "msf --points - --ranks " + ranks + " --json '" + file("r.json") + "'", "");
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_EQ(o.digest(), wanted.digest()) << o.text();
    EXPECT_FALSE(wanted.digest().empty());
    EXPECT_TRUE(says(read_bytes(file("r.json")), "\"standard input\"")) << read_bytes(file("r.json"));
  }
}

TEST_F(StandardInput, of_processes_is_that_of_the_first) {
  if (process_models().empty()) GTEST_SKIP() << "no model with processes";
  ASSERT_EQ(run({"graph", "convert", file("g.txt"), file("wanted.mgr")}).code, 0);
  const Outcome o =
      run_with("cat '" + file("g.txt") + "' | ", "run -n 3 -- graph convert - '" + file("a.mgr") + "'", "");
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_EQ(read_bytes(file("a.mgr")), read_bytes(file("wanted.mgr")));
  const Outcome again =
      run_with("", "run -n 2 -- graph convert - '" + file("b.mgr") + "'", " <'" + file("g.txt") + "'");
  EXPECT_EQ(again.code, 0) << again.text();
  EXPECT_EQ(read_bytes(file("b.mgr")), read_bytes(file("wanted.mgr")));
}

TEST_F(StandardInput, that_cannot_be_read_is_one_line) {
  const auto refused = [](const Outcome& o, const std::string& part) {
    EXPECT_EQ(o.code, 3) << o.text();
    EXPECT_TRUE(says(o.err, part)) << o.text();
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  };
  refused(run_with("", "graph convert -", " <&-"), "/dev/stdin: the file is empty");  // closed: replaced by /dev/null
  refused(run_with("", "graph convert -", " </"), "standard input (-): it is a folder");
  refused(run_with("printf '' | ", "graph convert - --ranks 2", ""), "/dev/stdin: the file is empty");
  refused(run_with("printf '0 1\\n1 x\\n' | ", "graph convert - --ranks 2", ""),
          "/dev/stdin: line 2: column 2: vertex \"x\"");
  refused(run_with("printf '0 1\\n' | ", "graph convert -", "", {{"TMPDIR", "/no/such/folder"}}), "TMPDIR");
  refused(run_with("printf '1 2\\n3 x\\n' | ", "msf --points - --ranks 2", ""), "/dev/stdin: row 2 (line 2), column 2");
  refused(run_with("printf '' | ", "msf --points -", ""), "/dev/stdin: no points");
}

}  // namespace
