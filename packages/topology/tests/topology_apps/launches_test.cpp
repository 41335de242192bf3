/// Jobs of topo bench: the arguments that start one, the record that comes back, and jobs that bring none.
#include "apps/topo/launches.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::app;
using test::Folder;
using test::Outcome;
using test::says;

/// Every option of topo bench at another value than its default.
constexpr const char* kAllOptions[] = {"--graph=ring,rgg:5",
                                       "--models=p2p,threads",
                                       "--kernels=all",
                                       "--sizes=8,weights*0.1",
                                       "--ranks=3",
                                       "--launches=7",
                                       "--sync=roundtime",
                                       "--buffers=rotate",
                                       "--time=0.1",
                                       "--width=3.3",
                                       "--seed=18446744073709551615",
                                       "--memory=0.001",
                                       "--watchdog=0",
                                       "--force",
                                       "--inject=slow:rank=1,us=2",
                                       "--json=r.json",
                                       "--csv=r.csv",
                                       "--picture=p.svg",
                                       "--quiet",
                                       "--progress",
                                       "--launch=2",
                                       "--pattern=a b.bin",
                                       "--log=debug",
                                       "--log-ranks=all"};

TEST(JobArguments, are_none_for_defaults) {
  EXPECT_EQ(job_arguments({}, {}), (std::vector<std::string>{"topo", "bench"}));
}

TEST(JobArguments, are_those_that_give_a_job_the_same_options) {
  const std::vector<std::string> given(std::begin(kAllOptions), std::end(kAllOptions));
  app::detail::Whole<TopoBenchOptions> options;
  OptionTable table(options);
  ASSERT_EQ(table.options().size(), given.size()) << "an option of topo bench is not in this test";
  table.parse(given);
  std::vector<std::string> made = job_arguments(options.own, options.log);
  made.erase(made.begin(), made.begin() + 2);
  EXPECT_EQ(made, given);
}

Histogram histogram(std::initializer_list<std::uint64_t> samples) {
  Histogram h;
  for (const auto ns : samples) h.add(ns);
  return h;
}

/// A cell of two ranks with three iterations, `ns` long and longer.
topology::CellResult cell(std::size_t graph, std::uint64_t ns, int launch) {
  const auto time = static_cast<double>(ns);
  topology::CellResult c;
  c.graph = graph;
  c.kernel = "threads.copy-flag";
  c.size = {0.1, true};
  c.bytes_total = 16;
  c.messages_total = 2;
  c.exchange = histogram({ns, ns + 7, ns + 1001});
  c.ranks = histogram({ns, ns, ns + 7, ns + 3, ns + 1001, ns + 900});
  c.rounds = {{launch, 3, time + 7, time + 336, std::nullopt}};
  c.rank_p50_ns = {time, time + 1.0 / 3};
  c.rank_mean_ns = {time + 1, time + 0.1};
  c.slowest = {1, 2};
  c.start_skew_ns = 12.5;
  c.late = 4;
  c.seconds = 0.7;
  c.launches = {{time, time + 7, time + 1001}};
  return c;
}

/// Two graphs of one name.
BenchResults results(std::uint64_t ns, int launch) {
  BenchResults r;
  r.sync = "roundtime";
  r.buffers = "rotate";
  for (const char* digest : {"a", "b"}) r.graphs.push_back({"chain", 2, 2, 1.0, 1, digest, true});
  r.measured.cells = {cell(0, ns, launch), cell(1, 2 * ns, launch)};
  r.measured.unusable = {{"rma.get", "chain", "8", "no"}, {"rma.put-flush", "", "", "never"}};
  r.measured.seconds = 1.5;
  r.measured.clock_error_ns = 3;
  r.measured.timer_ns = 11;
  r.measured.record_ns = 22;
  r.measured.resolution_ns = 10;
  r.measured.timer = "TSC";
  r.oversubscribed = true;
  r.ranks = 2;
  r.cores = 1;
  r.control = "threads";
  r.surroundings = {{"binding", "0-1"}, {"variables", {{"OMPI_MCA_osc", "rdma"}}}, {"components", Json::object()}};
  return r;
}

Json record(const BenchResults& r, bool joinable) {
  TopoBenchOptions o;
  const OptionTable table(o);
  return bench_record({"topo bench", {}, table}, r, joinable);
}
Json topology_part(const BenchResults& r) { return record(r, true)["topology"]; }

TEST(JobRecord, gives_back_the_results_that_it_was_made_of) {
  const BenchResults mine = results(1'000'000'007, 0);
  const BenchResults theirs = read_results(parse_json(compact_text(record(mine, true)), "record"));
  EXPECT_EQ(topology_part(theirs).dump(), topology_part(mine).dump());
  EXPECT_EQ(theirs.surroundings, mine.surroundings);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(theirs.measured.cells[i].graph, i);
    EXPECT_EQ(theirs.measured.cells[i].exchange, mine.measured.cells[i].exchange);
    EXPECT_EQ(theirs.measured.cells[i].ranks, mine.measured.cells[i].ranks);
    EXPECT_EQ(theirs.measured.cells[i].slowest, mine.measured.cells[i].slowest);
  }
}

TEST(JobRecord, of_launches_joins_as_their_results_do) {
  BenchResults direct, read;
  for (int launch = 0; launch < 3; ++launch) {
    const BenchResults one = results(500 + 100 * static_cast<std::uint64_t>(launch), launch);
    direct.merge(one);
    read.merge(read_results(record(one, true)));
  }
  ASSERT_EQ(direct.measured.cells[0].launches.size(), 3U);
  EXPECT_EQ(topology_part(read).dump(), topology_part(direct).dump());
  EXPECT_EQ(csv_text(read), csv_text(direct));
}

TEST(JobRecord, that_users_get_has_no_field_for_joining) {
  for (const Json& c : record(results(100, 0), false)["topology"]["cells"]) EXPECT_FALSE(c.contains("joining"));
  Json broken = record(results(100, 0), true);
  broken["topology"]["cells"][0]["joining"]["graph"] = 2;
  EXPECT_THROW((void)read_results(broken), InputError);
}

TEST(KnownCells, of_a_record_have_launches_loads_and_what_could_not_be_measured) {
  BenchResults r = results(500, 0);
  r.graphs[1].name = "ring";
  r.merge(results(700, 1));
  const Known known = read_known(record(r, false), "k.json");
  ASSERT_EQ(known.cells.size(), 2U);
  EXPECT_EQ(known.cells[1].graph, "b");
  EXPECT_EQ(known.cells[1].model, "threads");
  EXPECT_EQ(known.cells[1].completion, "notified");
  EXPECT_EQ(known.cells[1].load.bytes, 16);
  EXPECT_EQ(known.cells[1].load.rank_bytes, 8);
  EXPECT_EQ(known.cells[0].launches, (std::vector<std::vector<double>>{{507}, {707}}));
  EXPECT_EQ(known.cells[0].source, "k.json");
  ASSERT_EQ(known.unusable.size(), 2U);
  EXPECT_EQ(known.unusable[0].graph + known.unusable[0].size + known.unusable[0].reason, "chain8no");
  EXPECT_TRUE(known.oversubscribed);
}

/// Jobs under a launcher that starts nothing: a script that writes a record, or does what a job that fails does.
class FakeJob : public testing::Test {
 protected:
  void SetUp() override {
    if (test::process_models().empty()) GTEST_SKIP() << "this build starts no processes";
    std::ofstream(graph_) << "0,1\n1,0\n";
  }
  /// @param body  of the script, after $record has got the path that the job is to write
  Outcome advise(const std::string& body) {
    std::ofstream(script_)
        << "#!/bin/sh\n[ \"$1\" = --version ] && echo some launcher && exit 0\nfor w; do echo \"$w\" >>" << arguments_
        << "; case $w in --json=*) record=${w#--json=};; esac; done\n"
        << body << '\n';
    std::filesystem::permissions(script_, std::filesystem::perms::owner_all);
    return test::run({"topo", "advise", graph_, "--sizes", "8", "--time", "0.5", "--launches", "1", "--json", out_},
                     {{"MERGANSER_LAUNCHER", script_}});
  }
  Folder folder_;
  std::string script_ = folder_.file("launcher"), arguments_ = folder_.file("arguments"),
              graph_ = folder_.file("g.txt"), out_ = folder_.file("a.json");
};

TEST_F(FakeJob, gets_its_settings_as_arguments_and_its_record_becomes_the_advice) {
  BenchResults r = results(500, 0);
  r.graphs.resize(1);
  r.measured.cells.resize(1);
  r.measured.cells[0].size = {8, false};
  r.measured.cells[0].kernel = "p2p.isend-irecv";
  const std::string canned = folder_.file("canned.json");
  write_compact_record(canned, record(r, true));
  const Outcome o = advise("cp " + canned + " \"$record\"");
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o, "advice: p2p (p2p.isend-irecv)")) << o.text();
  EXPECT_TRUE(says(o, "OMPI_MCA_osc=rdma")) << o.text();
  const test::Json result = test::read_json_file(out_)["result"];
  EXPECT_EQ(result["settings"]["binding"], "0-1");
  EXPECT_EQ(result["unusable"][0]["size"], "8");
  std::ifstream in(arguments_);
  const std::string seen{std::istreambuf_iterator<char>(in), {}};
  for (const char* argument : {"topo\nbench\n", "\n--sizes=8\n", "\n--ranks=2\n", "\n--time=0.5\n", "\n--quiet\n",
                               "\n--launch=1\n", "\n--pattern="})
    EXPECT_TRUE(says(seen, argument)) << argument << '\n' << seen;
}

TEST_F(FakeJob, that_fails_is_killed_or_writes_nothing_is_told) {
  const Outcome failed = advise("exit 5");
  EXPECT_EQ(failed.code, 4) << failed.text();
  EXPECT_TRUE(says(failed, "the measurement failed with exit code 5")) << failed.text();
  const Outcome killed = advise("exit 137");
  EXPECT_EQ(killed.code, 4) << killed.text();
  EXPECT_TRUE(says(killed, "launch 1: a rank was ended by signal 9 (Killed)")) << killed.text();
  const Outcome silent = advise("exit 0");
  EXPECT_EQ(silent.code, 3) << silent.text();
  EXPECT_TRUE(says(silent, "record.json")) << silent.text();
}

}  // namespace
