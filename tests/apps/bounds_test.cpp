/// Tests of commands that need more than any machine has: refused at once by one line, with the amount needed and the amount free.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

/// Expects exit code 2, and exactly one line on standard error that contains all of `says`.
void expect_refused(const Arguments& command, const Arguments& says) {
  const Outcome o = run(command);
  EXPECT_EQ(o.code, 2) << o.text();
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  for (const auto& text : says) EXPECT_NE(o.err.find(text), std::string::npos) << "\"" << text << "\" in: " << o.err;
}

class Bounds : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({"gen", "random", "--cells", "2,2,2", "--per-cell", "2", "-o", in_}).code, 0);
    if (has_package("topology")) {
      ASSERT_EQ(run({"topo", "gen", "ring", "--ranks", "4", "-o", graph_}).code, 0);
    }
  }
  Folder folder_;
  std::string in_ = folder_.file("in.nc"), out_ = folder_.file("out.nc"), graph_ = folder_.file("g.bin");
};

TEST_F(Bounds, more_threads_than_there_can_be_are_refused_by_every_verb) {
  for (const char* ranks : {"1000000", "2147483647"}) {
    for (const Arguments& command : {Arguments{"gen", "random", "-o", out_},
                                     {"cluster", in_},
                                     {"bench", "random"},
                                     {"bench", "files", in_},
                                     {"verify", "--comm", "threads"},
                                     {"graph", "convert", "--gen", "path:9"},
                                     {"msf", "--gen", "path:9"},
                                     {"linkage", "--gen", "path:9"},
                                     {"topo", "bench", "--models", "threads"},
                                     {"topo", "tail", "--kernels", "threads.copy-flag"},
                                     {"announce", "bench"},
                                     {"announce", "demo", "droplet"}}) {
      if (!has_verb(command)) continue;  // of a package that is not built
      Arguments all = command;
      all.insert(all.end(), {"--ranks", ranks});
      expect_refused(all, {std::string("ranks: ") + ranks + " threads", "need about ", "allowed here: up to "});
    }
  }
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(Bounds, more_processes_than_there_can_be_are_refused_before_a_launcher_starts_them) {
  if (process_models().empty()) GTEST_SKIP() << "no model of processes in this build";
  const std::string model = process_models()[0];
  for (const Arguments& command : {Arguments{"bench", "random", "--comm", model, "--ranks", "2147483647"},
                                   {"verify", "--comm", model, "--ranks", "2147483647"},
                                   {"topo", "bench", "--models", model, "--ranks", "2147483647"}})
    if (has_verb(command)) expect_refused(command, {"ranks: 2147483647 processes", "allowed here: up to "});
}

TEST_F(Bounds, configurations_that_no_machine_holds_are_refused_with_what_they_need) {
  for (const char* verb : {"gen", "bench"})
    for (const Arguments& size : {Arguments{"--cells", "20000,2000,2000"},
                                  {"--cells", "16777216,4,4"},
                                  {"--per-cell", "2147483647"},
                                  {"--cells", "1048576,524288,1", "--variable"}}) {
      Arguments command{verb, "random"};
      command.insert(command.end(), size.begin(), size.end());
      if (command[0] == "gen") command.insert(command.end(), {"-o", out_});
      expect_refused(command, {" parcels in ", ": needs about ", "there is ", "fewer --cells", "--force"});
    }
  expect_refused({"gen", "random", "--cells", "2147483647,2147483647,2147483647", "-o", out_},
                 {"2147483647 cells; allowed: 1 to 16777216"});
}

TEST_F(Bounds, times_and_tables_that_grow_with_a_count_are_refused_where_they_do_not_fit) {
  expect_refused({"bench", "random", "--repeats", "2147483647", "--steps", "2147483647"},
                 {"raw times of ", "needs about "});
  expect_refused({"bench", "files", in_, "--repeats", "2147483647", "--steps", "2147483647"}, {"raw times of "});
  expect_refused({"cluster", in_, "--steps", "2147483647", "--csv", folder_.file("c.csv")},
                 {"--csv of 2,147,483,647 steps"});
  expect_refused({"announce", "bench", "--work-ms", "0", "--ranks", "8", "--steps", "2147483647"},
                 {"2,147,483,647 steps"});
}

TEST_F(Bounds, graphs_and_points_that_no_machine_holds_are_refused_with_what_they_need) {
  MERGANSER_NEEDS_PACKAGE("graph");
  MERGANSER_NEEDS_PACKAGE("topology");
  for (const char* verb : {"msf", "linkage"}) {
    for (const char* gen : {"rmat:40:16", "path:100000000000000", "grid:100000000x1000000"})
      expect_refused({verb, "--gen", gen}, {gen, "needs about ", "there is "});
    for (const char* points : {"uniform:3:1000000000000", "clusters:2:100000000000:3", "lattice:3:10000"})
      expect_refused({verb, "--points", points}, {points, " points): needs about ", "there is "});
  }
  expect_refused({"topo", "gen", "rgg", "--ranks", "2", "--vertices", "9223372036854775807"},
                 {"allowed: at most 4294967295"});
  expect_refused(
      {"topo", "tail", "--kernels", "threads.copy-flag", "--aggressor-kernel", "threads.copy-flag", "--sizes", "1024G"},
      {"topo tail", "needs about "});
}

TEST_F(Bounds, force_goes_on) {
  if (has_package("graph")) {
    const Outcome o = run({"msf", "--points", "line:0", "--force"});
    EXPECT_EQ(o.code, 0) << o.text();
  }
  for (const Arguments& verb : {Arguments{"gen", "random"},
                                {"cluster"},
                                {"bench", "random"},
                                {"verify"},
                                {"msf"},
                                {"linkage"},
                                {"graph", "convert"},
                                {"topo", "bench"},
                                {"topo", "tail"},
                                {"announce", "bench"},
                                {"announce", "demo"}}) {
    if (!has_verb(verb)) continue;
    Arguments help = verb;
    help.emplace_back("--help");
    EXPECT_NE(run(help).out.find("--force"), std::string::npos) << verb.back();
  }
}

TEST_F(Bounds, no_compressed_name_gets_a_plain_file) {
  MERGANSER_NEEDS_PACKAGE("graph");
  MERGANSER_NEEDS_PACKAGE("topology");
  expect_refused({"graph", "convert", "--gen", "path:9", folder_.file("x.txt.gz")}, {"names without .gz"});
  expect_refused({"topo", "convert", graph_, folder_.file("x.adj.gz"), "--format", "pairs"}, {"names without .gz"});
  expect_refused({"cluster", in_, "--json", folder_.file("x.json.gz")}, {"names without .gz"});
  expect_refused({"cluster", in_, "--csv", folder_.file("x.csv.gz")}, {"names without .gz"});
  EXPECT_EQ(folder_.list(), (Arguments{"g.bin", "in.nc"}));
}

/// Runs a command and returns its highest resident memory in KiB; -1 if it fails.
long measure_peak_memory(Arguments arguments) {
  arguments.insert(arguments.begin(), command_path());
  std::vector<char*> argv;
  for (auto& word : arguments) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  struct rusage usage {};
  if (::wait4(child, &status, 0, &usage) != child || status != 0) return -1;
  return usage.ru_maxrss;
}

TEST_F(Bounds, memory_of_cluster_does_not_grow_with_the_number_of_steps) {
  const auto peak = [&](const char* steps) {
    return measure_peak_memory({"cluster", in_, "--ranks", "2", "--json", folder_.file("r.json"), "--steps", steps});
  };
  const long few = peak("100"), many = peak("20000");
  ASSERT_GT(few, 0);
  ASSERT_GT(many, 0);
  EXPECT_LT(many - few, 8 * 1024);
}

}  // namespace
