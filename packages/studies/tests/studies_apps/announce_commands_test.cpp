/// The commands announce table2, announce table3 and others, with small sizes: output, records, exit codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

/// Returns the arguments of announce bench with few steps, no work and small messages, and more arguments.
Arguments small_bench(const Arguments& more) {
  return Arguments{"announce", "bench", "--steps", "6",  "--work-ms",   "0",
                   "--edge",   "3",     "--size",  "80", "--dimension", "2"} +
         more;
}

/// Checks that a record of announce bench has so many variants on 4 ranks, and counts that equal those of the formulas.
void expect_counted(const Json& record, std::size_t variants) {
  const Json& b = record.at("announce_bench");
  EXPECT_EQ(b.at("variants").size(), variants);
  EXPECT_TRUE(b.at("counts").at("equal_on_every_rank").get<bool>());
  EXPECT_EQ(b.at("counts").at("counted"), b.at("counts").at("expected"));
  EXPECT_GT(b.at("counts").at("counted").at("delivered"), 0);
  for (const Json& v : b.at("variants")) EXPECT_EQ(v.at("rank_medians").size(), 4U) << v;
}

TEST(AnnounceBenchCommand, counts_on_threads_are_those_of_the_formulas_and_missing_variants_are_named) {
  const Folder folder;
  const std::string json = folder.file("b.json");
  const Outcome o = run(small_bench({"--ranks", "4", "--comm", "threads", "--json", json}));
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.out, "4 ranks, threads; manhattan 2x2, time to live ")) << o.out;
  EXPECT_TRUE(says(o.out, "  equal on every rank\n")) << o.out;
  EXPECT_FALSE(says(o.out, "DIFFERS")) << o.out;
  EXPECT_TRUE(says(o.out, "neighborhood: not in this model")) << o.out;
  const Json record = read_json_file(json);
  const std::size_t missing = record.at("announce_bench").at("missing").size();
  EXPECT_GT(missing, 0U);
  expect_counted(record, 5 - missing);
  // Every rank sends on n = 2 arcs, N = 4 ranks, announcements of m = 80 bytes.
  EXPECT_EQ(record.at("announce_bench").at("section_2d").at("messages_per_step"), 8);
  EXPECT_EQ(record.at("announce_bench").at("section_2d").at("bytes_every_process_every_step"), 2 * 4 * 4 * 80);
}

TEST(AnnounceBenchCommand, counts_on_processes_are_those_of_the_formulas_with_every_all_gather) {
  const Arguments models = process_models();
  if (std::find(models.begin(), models.end(), "p2p") == models.end()) GTEST_SKIP() << "there is no MPI in this build";
  const Folder folder;
  const std::string json = folder.file("b.json");
  const Outcome o = run_on(4, small_bench({"--comm", "p2p", "--every", "2", "--json", json}));
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.out, "neighborhood: messages")) << o.out;
  const Json record = read_json_file(json);
  expect_counted(record, 5);
  for (const Json& v : record.at("announce_bench").at("variants"))
    EXPECT_EQ(v.contains("calls"), v.at("exchange") != "none" && v.at("exchange") != "network") << v;
}

TEST(AnnounceBenchCommand, misuse_is_one_line_and_exit_code_2) {
  const std::vector<std::pair<Arguments, std::string>> cases{
      {{"--exchange="}, "--exchange: \"\"; allowed: one or more"},
      {{"--exchange", "none,network,none"}, "--exchange: none stands twice"},
      {{"--exchange", "soup"}, "soup"},
      {{"--exchange", "neighborhood", "--comm", "threads", "--ranks", "2"}, "allowed: a variant that the model has"},
      {{"--exchange", "none", "--size", "8"}, "--size: \"8\" is not used here; allowed only with --exchange network|"},
      {{"--dimension", "1"}, "dimension"}};
  for (const auto& [more, text] : cases) {
    const Outcome o = run(Arguments{"announce", "bench", "--steps", "2", "--work-ms", "0", "--edge", "2"} + more);
    EXPECT_EQ(o.code, 2) << text << '\n' << o.text();
    EXPECT_TRUE(says(o.err, text)) << o.text();
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
}

TEST(AnnounceTables, table_2_has_the_formulas_of_table_1_and_four_networks_for_a_machine) {
  const Folder folder;
  const std::string json = folder.file("t.json");
  const Outcome o = run({"announce", "table2", "--machines", "1", "--json", json});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_FALSE(says(o.out, "NOT REPRODUCED")) << o.out;
  EXPECT_TRUE(says(o.out, "differs (a)")) << o.out;
  const Json r = read_json_file(json).at("result");
  EXPECT_TRUE(r.at("reproduced").get<bool>());
  for (const Json& f : r.at("table1"))
    if (f.at("must_be_as_published")) {
      EXPECT_EQ(f.at("diameter"), f.at("published_diameter")) << f;
      EXPECT_EQ(f.at("degree"), f.at("published_degree")) << f;
    }
  ASSERT_EQ(r.at("table2").size(), 1U);
  const Json& row = r.at("table2").at(0);
  EXPECT_EQ(row.at("cores_table2"), 10240);
  ASSERT_EQ(row.at("networks").size(), 4U);
  for (const Json& n : row.at("networks")) {
    EXPECT_TRUE(n.at("exact").get<bool>()) << n;
    // (degree + 1)^diameter bounds the number of ranks that an announcement can reach.
    EXPECT_GE(std::pow(n.at("degree").get<double>() + 1, n.at("diameter").get<double>()), 10240) << n;
  }
  const Outcome strict = run({"announce", "table2", "--machines", "1", "--budget", "14", "--json", "-"});
  ASSERT_EQ(strict.code, 0) << strict.text();
  EXPECT_EQ(Json::parse(strict.out).at("result").at("table2").at(0).at("networks").at(0).at("degree"), 7);
}

TEST(AnnounceTables, table_3_reproduces_the_published_diameters_of_a_machine) {
  const Folder folder;
  const std::string json = folder.file("t.json");
  const Outcome o = run({"announce", "table3", "--machines", "1", "--budget", "16", "--json", json});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_FALSE(says(o.out, "not reproduced")) << o.out;
  const Json r = read_json_file(json).at("result");
  EXPECT_TRUE(r.at("reproduced").get<bool>());
  EXPECT_EQ(r.at("complaints").size(), 0U);
  const std::vector<int> published{102, 33, 21, 16, 15, 14, 13, 13, 13};
  const std::vector<int> exact{101, 33, 20, 15, 14, 14, 13, 13, 11};
  ASSERT_EQ(r.at("cells").size(), published.size());
  for (std::size_t i = 0; i < published.size(); ++i) {
    const Json& c = r.at("cells").at(i);
    EXPECT_EQ(c.at("published"), published[i]);
    EXPECT_EQ(c.at("searched_now"), exact[i]) << c;
    EXPECT_TRUE(c.at("exact").get<bool>() && c.at("follows_rule").get<bool>()) << c;
  }
}

}  // namespace
