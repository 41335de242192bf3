/// The command bench msf: plans, records, tables, and small runs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "apps/bench_msf/analysis.hpp"
#include "merganser/base/error.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::app;
using merganser::test::Arguments;
using merganser::test::command_path;
using merganser::test::Folder;
using merganser::test::Outcome;
using merganser::test::Program;
using merganser::test::says;

/// Plans bench msf for a machine with 2 cores. @param here  ranks of the job that the process is part of; 0: none
MsfPlan plan(const MsfBenchOptions& o, int here = 0, const Arguments& models = {"threads", "p2p", "shmem"}) {
  return plan_msf_bench(o, here, models, 2);
}

TEST(Plans, hold_what_the_tables_need_and_no_more) {
  MsfBenchOptions o;
  o.quick = true;
  o.only = {"T4"};
  const MsfPlan barriers = plan(o);
  ASSERT_EQ(barriers.launches.size(), 2U);  // ranks 2 and 4: a rank alone has no barrier to wait at
  for (const auto& w : barriers.launches) {
    EXPECT_TRUE(w.forests.empty());
    EXPECT_EQ(w.collectives.size(), 2U);  // p2p, shmem: threads only where they are asked for
    EXPECT_TRUE(w.arcs.kernels.empty());
  }
  o.only = {"T9"};
  EXPECT_TRUE(plan(o).launches.empty());
  o.only = {"T2"};
  EXPECT_EQ(plan(o).heaps.size(), 6U);
  EXPECT_TRUE(plan(o, 0, {"threads"}).heaps.empty());
  EXPECT_TRUE(plan(o, 4).heaps.empty());  // a job cannot start others
}

TEST(Plans, compare_post_processing_of_messages_where_there_are_two_leaders) {
  MsfBenchOptions o;
  o.quick = true;
  o.only = {"F5"};
  o.gen = {"path:9"};
  const MsfPlan posts = plan(o, 0, {"neighborhood", "p2p"});
  ASSERT_EQ(posts.launches.size(), 2U);
  EXPECT_EQ(posts.launches[1].ranks, 8);
  ASSERT_EQ(posts.launches[1].forests.size(), 2U);
  EXPECT_EQ(posts.launches[1].forests[0].model, "p2p");
  EXPECT_EQ(posts.launches[1].forests[1].post, "leader");
}

TEST(Plans, refuse_what_is_not_there) {
  const auto refused = [](const MsfBenchOptions& o, int here = 0) {
    try {
      (void)plan(o, here);
    } catch (const UsageError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  MsfBenchOptions o;
  o.only = {"T10"};
  EXPECT_TRUE(says(refused(o), "T10"));
  o = {};
  o.models = {"telepathy"};
  EXPECT_TRUE(says(refused(o), "allowed here: threads, p2p, shmem"));
  o = {};
  o.ranks = {2};
  EXPECT_TRUE(says(refused(o, 4), "the launcher started 4"));
  o = {};
  o.gen = {"nonsense:3"};
  EXPECT_TRUE(says(refused(o), "nonsense"));
}

/// Makes the result of finding a spanning forest once by a method, in so many seconds.
ForestResult forest(const std::string& graph, const MsfWay& way, int ranks, double seconds) {
  ForestResult r;
  r.what = {{graph, false}, way.model, way.style, way.post};
  r.ranks = ranks;
  r.seconds = {seconds};
  r.digest = "d";
  r.phases = {{"ring", seconds / 2, 7, 3}};
  return r;
}

/// Makes results of bench msf for three graphs: shmem saves 10, 20 and 60 % on 2 ranks and nothing on 4; one rank is not counted.
MsfResults sample() {
  MsfResults r;
  const double saved[] = {0.1, 0.2, 0.6};
  for (int g = 0; g < 3; ++g) {
    const std::string name = "g" + std::to_string(g);
    r.graphs.push_back({name, 100, 100 * (g + 1), 5, 1200});
    r.forests.push_back(forest(name, kMpi, 1, 1));
    r.forests.push_back(forest(name, kShmem, 1, 0.01));
    r.forests.push_back(forest(name, kMpi, 2, 4));
    r.forests.push_back(forest(name, kShmem, 2, 4 * (1 - saved[g])));
    r.forests.push_back(forest(name, kMpi, 4, 2));
    r.forests.push_back(forest(name, kShmem, 4, 2));
  }
  r.collectives.push_back({"barrier", "p2p", 2, 0, {1e-6, 2e-6, 3e-6, 4e-6, 9}});
  r.arcs.push_back({"p2p.isend-irecv", "notified", false, 8, {1e-6, 2e-6, 3e-6, 4e-6, 9}});
  r.heaps.push_back(forest("g0", kShmem, 2, 1));
  r.heaps.back().failure = "no room";
  r.heaps.back().heap_mib = 2;
  r.notes = {"a note"};
  return r;
}

TEST(Improvements, are_means_over_ranks_and_correlate_with_what_graphs_are) {
  const auto found = improvements(sample(), kMpi, kShmem);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_DOUBLE_EQ(found[0].percent, 5);
  EXPECT_DOUBLE_EQ(found[2].percent, 30);
  EXPECT_EQ(found[0].cases, 2);
  const auto with = correlations(sample(), found);
  ASSERT_EQ(with.size(), 1U);
  EXPECT_NEAR(with[0].edges, 0.9449, 1e-4);  // of (1, 2, 3) and (5, 10, 30)
  EXPECT_EQ(with[0].bytes, 0);               // all of one size
  EXPECT_NEAR(with[0].arcs_per_vertex, with[0].edges, 1e-12);
  EXPECT_EQ(improvements(sample(), kMpi, kRma)[0].cases, 0);
}

TEST(Results, complain_of_forests_that_differ) {
  MsfResults r = sample();
  EXPECT_TRUE(r.contradictions().empty());
  r.forests[3].digest = "another";
  ASSERT_EQ(r.contradictions().size(), 1U);
  EXPECT_TRUE(says(r.contradictions()[0], "shmem tuned single on 2 found the forest another")) << r.contradictions()[0];
}

TEST(Results, and_work_survive_the_way_between_processes) {
  const MsfResults r = sample();
  EXPECT_EQ(serialize(deserialize<MsfResults>(serialize(r))), serialize(r));
  MsfBenchOptions o;
  o.quick = true;
  for (const auto& w : plan(o).launches) EXPECT_EQ(serialize(deserialize<MsfWork>(serialize(w))), serialize(w));
}

TEST(Tables, show_published_values_beside_measured_ones) {
  MsfBenchOptions o;
  const std::string text = msf_bench_text(plan(o), sample(), "2 cores, 1 node");
  for (const char* part : {"Not comparable: 2 cores, 1 node", "sk-2005", "77.00", "SS-- SSSS SSSS", "no room", "14.48",
                           "3.00 [2.00, 4.00]", "-67.60 %", "37.48 %", "(16, 32)", "39.63 %", "0.861", "+22.2 %",
                           "1402", "packages/studies/productivity.py counts", "note: a note"})
    EXPECT_TRUE(says(text, part)) << part << '\n' << text;
  o.only = {"T7"};
  const std::string one = msf_bench_text(plan(o), sample(), "2 cores, 1 node");
  EXPECT_TRUE(says(one, "T7"));
  EXPECT_FALSE(says(one, "T8") || says(one, "T1 ")) << one;
}

TEST(Measured, forests_facts_and_calls_of_ranks) {
  MsfWork work;
  work.ranks = 4;
  work.repeats = 2;
  work.facts = {{"star:50", false}, {"grid:7x9", false}};
  for (const char* style : {"baseline", "tuned"})
    for (const char* post : {"single", "leader"}) work.forests.push_back({{"gnm:7:4", false}, "threads", style, post});
  work.collectives.push_back({"barrier", "threads", {0}, 5});
  work.collectives.push_back({"all-reduce", "threads", {8, 64}, 5});
  work.arcs = {{"threads.copy"}, {8}, 0.05};
  MsfResults r;
  ASSERT_EQ(measure_msf(work, r), 0);
  ASSERT_EQ(r.graphs.size(), 2U);
  EXPECT_EQ(r.graphs[0].max_degree, 49);
  EXPECT_EQ(r.graphs[0].edges, 49);
  EXPECT_EQ(r.graphs[1].max_degree, 4);
  EXPECT_EQ(r.graphs[1].edges, 7 * 8 + 6 * 9);
  ASSERT_EQ(r.forests.size(), 4U);
  for (const auto& f : r.forests) {
    EXPECT_EQ(f.failure, "");
    EXPECT_EQ(f.seconds.size(), 2U);
    EXPECT_EQ(f.digest.size(), 32U);
    EXPECT_FALSE(f.phases.empty());
    EXPECT_GT(f.bytes, 0);
  }
  EXPECT_TRUE(r.contradictions().empty());
  ASSERT_EQ(r.collectives.size(), 3U);
  EXPECT_EQ(r.collectives[2].bytes, 64);
  EXPECT_EQ(r.collectives[0].seconds.count, 5);
  ASSERT_EQ(r.arcs.size(), 1U);
  EXPECT_GT(r.arcs[0].seconds.count, 0);
}

TEST(BenchMsf, writes_a_record_of_a_small_study) {
  const Folder folder;
  const std::string record = folder.file("t.json");
  Arguments words{"bench",   "msf", "--quick", "--only", "T1,T8,T9", "--gen", "path:50,grid:5x5,star:9",
                  "--ranks", "1,2"};
  const bool processes = !merganser::test::process_models().empty();
  words.insert(words.end(), {"--models", processes ? "threads,p2p" : "threads", "--repeats", "1", "--json", record});
  const Outcome o = merganser::test::run(words);
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o.out, "30.855")) << o.out;
  std::ifstream in(record);
  const Json bench = Json::parse(in).at("msf_bench");
  EXPECT_EQ(bench.at("graphs").size(), 3U);
  EXPECT_EQ(bench.at("forests").size(), 3U * 2 * 2 * (processes ? 2 : 1));
  EXPECT_EQ(bench.at("derived").at("published").size(), 14U);
}

TEST(BenchMsf, tells_users_what_was_wrong) {
  const auto code = [](const Arguments& more) {
    Arguments words{"bench", "msf", "--quick", "--models", "threads"};
    words.insert(words.end(), more.begin(), more.end());
    return merganser::test::run(words);
  };
  EXPECT_EQ(code({"--only", "T99"}).code, 2);
  const Outcome missing = code({"--only", "T8", "--graphs", "/nowhere/graph.txt"});
  EXPECT_EQ(missing.code, 3);
  EXPECT_TRUE(says(missing.err, "/nowhere/graph.txt")) << missing.text();
}

}  // namespace
