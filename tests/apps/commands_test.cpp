/// Tests of every verb from outside: help, options, records.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "merganser/base/vectors.hpp"
#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

const std::vector<Arguments> kVerbs{{"cluster"},
                                    {"gen", "random"},
                                    {"verify"},
                                    {"bench", "random"},
                                    {"bench", "files"},
                                    {"bench", "msf"},
                                    {"doctor"},
                                    {"run"},
                                    {"compare"},
                                    {"report"},
                                    {"figures"},
                                    {"msf"},
                                    {"topo", "gen"},
                                    {"topo", "convert"},
                                    {"graph", "convert"},
                                    {"topo", "table2"},
                                    {"topo", "bench"},
                                    {"topo", "tail"},
                                    {"topo", "extract"},
                                    {"topo", "replay"},
                                    {"topo", "advise"},
                                    {"announce", "bench"},
                                    {"announce", "table2"},
                                    {"announce", "table3"},
                                    {"announce", "demo"}};

TEST(Commands, every_verb_explains_itself) {
  const Outcome all = run({"--help"});
  EXPECT_EQ(all.code, 0);
  for (const auto& verb : kVerbs) {
    if (!has_verb(verb)) continue;  // of a package that is not built
    const Outcome o = run(verb + Arguments{"--help"});
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_TRUE(says(o.out, "usage: merganser " + verb[0])) << o.out;
    EXPECT_TRUE(o.err.empty()) << o.err;
    EXPECT_TRUE(says(all.out, verb.back())) << verb.back();
    for (std::size_t at = 0; at < o.out.size(); ++at) {
      const std::size_t end = std::min(o.out.find('\n', at), o.out.size());
      EXPECT_LE(end - at, 121U) << o.out.substr(at, end - at);
      at = end;
    }
  }
  const Outcome version = run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(says(version.out, "merganser ")) << version.out;
}

TEST(Commands, misuse_is_one_line_and_exit_code_2) {
  const std::vector<std::pair<Arguments, std::string>> cases{
      {{"clutser", "in.nc"}, "cluster"},
      {{"cluster"}, "IN is missing"},
      {{"cluster", "in.nc", "--max-round", "3"}, "unknown option --max-round"},
      {{"cluster", "in.nc", "--comm", "telepathy"}, "telepathy"},
      {{"cluster", "in.nc", "--min-volume-ratio", "-1"}, "greater than 0"},
      {{"cluster", "in.nc", "--steps", "many"}, "--steps: \"many\""},
      {{"cluster", "in.nc", "--steps"}, "--steps needs a value"},
      {{"cluster", "in.nc", "--periodic", "w"}, "letters of xyz"},
      {{"gen", "random"}, "--output is missing"},
      {{"gen", "random", "-o", "x", "--like-paper", "other"}, "scaling|verification"},
      {{"gen", "nothing"}, "random"},
      {{"bench", "random", "--compare", "single-pass"}, "allowed: two"},
      {{"bench", "random", "--compare", "single-pass,magic"}, "magic"},
      {{"verify", "--comm", "telepathy"}, "telepathy"},
      {{"verify", "--samples", "0"}, "nothing to verify"},
      {{"run", "-n", "0", "--", "doctor"}, "at least 1"},
      {{"run", "-n", "2", "--", "cluster", "in.nc", "--comm", "threads"}, "--ranks 2"},
      {{"run", "-n", "2", "--", "doctor", ":", "doctor"}, "\":\" begins another program"},
      {{"run", "-n", "2", "--", "doctor", std::string(100000, 'x')}, "100,008 bytes in all; allowed"},
      {{"bench", "random", "--comm", std::string(100000, '9')}, "unknown communication model"}};
  for (const auto& [arguments, text] : cases) {
    const Outcome o = run(arguments);
    std::string typed;
    for (const auto& a : arguments) typed += ' ' + a;
    EXPECT_EQ(o.code, 2) << typed << '\n' << o.text();
    EXPECT_TRUE(says(o.err + o.out, text)) << typed << '\n' << o.text();
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << typed << '\n' << o.err;
  }
}

TEST(Doctor, names_the_models_and_the_settings) {
  const Outcome o = run({"doctor"});
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.out, "threads"));
  for (const auto& model : process_models()) EXPECT_TRUE(says(o.out, model)) << model;
}

TEST(Doctor, tells_the_vectors_that_run_and_every_command_has_the_same_digests_with_all) {
  MERGANSER_NEEDS_PACKAGE("graph");
  const std::string digest = run({"msf", "--points", "uniform:3:1024"}).digest();
  ASSERT_NE(digest, "");
  for (const std::string& name : merganser::vector_targets()) {
    const Outcome o = run({"doctor"}, {{"MERGANSER_SIMD", name}});
    EXPECT_TRUE(says(o.out, "kernels run on " + name + " of ")) << o.text();
    EXPECT_EQ(run({"msf", "--points", "uniform:3:1024"}, {{"MERGANSER_SIMD", name}}).digest(), digest) << name;
    EXPECT_EQ(run({"verify", "--ranks", "1", "--comm", "threads", "--samples", "1"}, {{"MERGANSER_SIMD", name}}).code,
              0)
        << name;
  }
  for (const Arguments& command : {Arguments{"doctor"}, Arguments{"msf", "--gen", "path:9"}}) {
    const Outcome o = run(command, {{"MERGANSER_SIMD", "AVX1"}});
    EXPECT_EQ(o.code, 2) << o.text();
    EXPECT_TRUE(
        says(o.err, "MERGANSER_SIMD is \"AVX1\"; allowed on this processor: " + merganser::vector_targets().front()))
        << o.text();
  }
}

TEST(Run, prints_the_command_and_its_reasons_without_starting_it) {
  if (process_models().empty()) GTEST_SKIP() << "this build has no model of processes";
  const Outcome o = run({"run", "-n", "3", "--dry-run", "--", "cluster", "a file.nc"});
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.out, "-n 3 ")) << o.out;
  EXPECT_TRUE(says(o.out, "cluster 'a file.nc'")) << o.out;
}

TEST(Verify, finds_every_run_equal) {
  const Folder folder;
  const std::string record = folder.file("v.json");
  const Outcome o =
      run({"verify", "--ranks", "1,3", "--comm", "all", "--samples", "4", "--chaos", "8", "--json", record});
  ASSERT_EQ(o.code, 0) << o.text();
  const Json result = read_json_file(record)["result"];
  EXPECT_EQ(result["failures"], 0);
  EXPECT_EQ(result["broken"], 0);
  EXPECT_EQ(result["lines"].size(), 2 * (1 + process_models().size()));
  std::int64_t chaos = 0;
  for (const auto& line : result["lines"]) chaos += line["chaos_runs"].get<std::int64_t>();
  EXPECT_EQ(chaos, static_cast<std::int64_t>(8 * (1 + process_models().size())));
}

class BenchRandom : public testing::Test {
 protected:
  /// Runs a tiny benchmark and returns the result of its record; null if it fails.
  Json bench(const Arguments& more) {
    const Outcome o = run(Arguments{"bench", "random", "--cells", "4,4,4", "--per-cell", "6", "--steps", "2", "--json",
                                    record_, "--csv", table_} +
                          more);
    EXPECT_EQ(o.code, 0) << o.text();
    text_ = o.out;
    return o.code == 0 ? read_json_file(record_)["result"] : Json();
  }
  Folder folder_;
  std::string record_ = folder_.file("b.json");
  std::string table_ = folder_.file("b.csv");
  std::string text_;
};

TEST_F(BenchRandom, measures_both_orders) {
  const Json result = bench({});
  for (const char* order : {"shuffled", "ordered"}) {
    for (const char* key : {"ns_per_parcel", "container_copies", "peak_bytes_per_parcel"})
      EXPECT_GT(result[order][key].get<double>(), 0) << order << ' ' << key;
    for (const char* stage : {"search", "exchange", "graph", "prune", "migrate", "merge", "step"})
      for (const char* key : {"min", "median", "mean", "max"})
        EXPECT_TRUE(result[order]["stages"][stage].contains(key)) << stage << ' ' << key;
    EXPECT_EQ(result[order]["n_before"], 384);
    EXPECT_EQ(result[order]["cycles"].size(), 2U);
  }
  EXPECT_EQ(result["shuffled"]["n_after"], result["ordered"]["n_after"]);
  std::ifstream table(table_);
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(table), {}, '\n'), 5);  // head, two orders of two cycles
}

TEST_F(BenchRandom, scales_over_threads_and_over_processes) {
  const Json weak = bench({"--ranks", "1,2", "--weak", "--comm", "threads", "--order", "shuffled"});
  EXPECT_EQ(weak["scaling"][1]["shuffled"]["n_before"], 768);
  for (const auto& model : process_models()) {
    const Json strong = bench({"--ranks", "1,2", "--comm", model, "--order", "shuffled"});
    ASSERT_EQ(strong["scaling"].size(), 2U) << text_;
    EXPECT_EQ(strong["scaling"][1]["shuffled"]["n_before"], 384);
    EXPECT_EQ(strong["scaling"][1]["shuffled"]["model"], model);
    EXPECT_GT(strong["scaling"][1]["shuffled"]["peak_bytes_per_parcel"].get<double>(), 0);
  }
}

TEST_F(BenchRandom, compares_two_prunings_in_turns) {
  const Json result = bench({"--ranks", "2", "--compare", "single-pass,iterative", "--repeats", "2"});
  const Json& c = result["compare"][0];
  EXPECT_EQ(c["a"], "single-pass");
  EXPECT_EQ(c["seconds_a"].size(), 2U);
  EXPECT_EQ(c["seconds_b"].size(), 2U);
  EXPECT_GT(c["ratio"]["median"].get<double>(), 0);
  EXPECT_EQ(c["series_a"]["n_after"], c["series_b"]["n_after"]);
}

TEST_F(BenchRandom, compares_two_models_in_turns) {
  const Arguments models = process_models();
  if (models.size() < 2) GTEST_SKIP() << "this build has fewer than two models of processes";
  const Json result = bench({"--ranks", "2", "--compare", models[0] + ',' + models[1], "--repeats", "1"});
  EXPECT_EQ(result["compare"][0]["series_a"]["model"], models[0]);
  EXPECT_EQ(result["compare"][0]["series_b"]["model"], models[1]);
}

class Files : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome o = run({"gen", "random", "--cells", "3,3,3", "-o", folder_.file("a.nc")});
    if (o.code != 0 && says(o.err, "NetCDF")) GTEST_SKIP() << "this build has no NetCDF";
    ASSERT_EQ(o.code, 0) << o.text();
  }
  Folder folder_;
};

TEST_F(Files, generated_parcels_do_not_depend_on_the_ranks) {
  const Arguments base{"gen", "random", "--like-paper", "scaling", "--cells", "7,5,4", "--seed", "3"};
  const std::string expected = run(base + Arguments{"-o", folder_.file("1.nc")}).digest();
  ASSERT_EQ(expected.size(), 32U);
  for (const char* n : {"2", "7"})
    EXPECT_EQ(run(base + Arguments{"-o", folder_.file("n.nc"), "--ranks", n}).digest(), expected) << n;
  EXPECT_NE(run(base + Arguments{"-o", folder_.file("s.nc"), "--seed", "4"}).digest(), expected);
  if (process_models().empty()) return;
  EXPECT_EQ(run_on(3, base + Arguments{"-o", folder_.file("p.nc")}).digest(), expected);
}

TEST_F(Files, presets_give_way_to_options) {
  const std::string record = folder_.file("g.json");
  const Arguments base{"gen", "random", "-o", folder_.file("g.nc"), "--json", record, "--like-paper"};
  ASSERT_EQ(run(base + Arguments{"verification", "--cells", "4,4,4"}).code, 0);
  EXPECT_EQ(read_json_file(record)["result"]["parcels"], 64 * 40);
  ASSERT_EQ(run(base + Arguments{"scaling", "--cells", "4,4,4", "--per-cell", "5"}).code, 0);
  EXPECT_EQ(read_json_file(record)["result"]["parcels"], 64 * 5);
}

TEST_F(Files, can_be_benchmarked_in_turn) {
  ASSERT_EQ(run({"gen", "random", "--cells", "3,3,3", "--seed", "9", "-o", folder_.file("b.nc")}).code, 0);
  const std::string record = folder_.file("r.json");
  const Outcome o = run({"bench", "files", folder_.file("a.nc"), folder_.file("b.nc"), "--ranks", "1,2", "--steps", "2",
                         "--json", record});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_EQ(read_json_file(record)["result"]["files"]["n_before"], 27 * 40);
  ASSERT_EQ(run({"gen", "random", "--cells", "4,3,3", "-o", folder_.file("c.nc")}).code, 0);
  EXPECT_EQ(run({"bench", "files", folder_.file("a.nc"), folder_.file("c.nc")}).code, 3);
}

TEST_F(Files, the_record_says_how_it_was_made) {
  const std::string record = folder_.file("r.json");
  ASSERT_EQ(run({"cluster", folder_.file("a.nc"), "--json", record, "--ranks", "2"}).code, 0);
  const Json r = read_json_file(record);
  for (const char* key : {"schema", "options", "provenance", "timings", "counters", "conservation", "result"})
    EXPECT_TRUE(r.contains(key)) << key;
  EXPECT_EQ(r["options"]["ranks"], 2) << r["options"];
}

}  // namespace
