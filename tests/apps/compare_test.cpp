/// Tests of the regression gate `compare` from outside: exit codes, messages, what it compares.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/apps/topo_records.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

class Compare : public testing::Test {
 protected:
  std::string write(const std::string& name, const Json& record) {
    write_json(folder_.file(name), record);
    return folder_.file(name);
  }
  Outcome against(const Json& after, const Arguments& more = {}) {
    // With a small --block-floor, as if launches had been taken in turns, which single records cannot show.
    Arguments words{"compare", write("before.json", topo_record({})), write("after.json", after), "--block-floor",
                    "0.1%"};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  /// Compares launches made at the given seconds, those of AFTER 10 % slower; a negative second: a record without a time.
  Outcome at_seconds(const std::vector<int>& before, const std::vector<int>& after, const Arguments& more = {}) {
    const auto list = [&](const std::string& side, const std::vector<int>& seconds, double slow) {
      std::vector<std::string> files;
      for (const int s : seconds) {
        const std::string time = s < 0 ? "" : "2026-11-01T10:00:" + std::to_string(10 + s) + "Z";
        const auto seed = static_cast<std::uint64_t>(files.size() + (side == "b" ? 1 : 100));
        files.push_back(write(side + std::to_string(files.size()),
                              topo_record({.slow = slow, .seed = seed, .launches = 1, .time = time})));
      }
      return files;
    };
    const auto b = list("b", before, 1), a = list("a", after, 1.1);
    Arguments words{"compare",
                    b[0],
                    a[0],
                    "--more-before",
                    joined({b.begin() + 1, b.end()}),
                    "--more-after",
                    joined({a.begin() + 1, a.end()})};
    words.insert(words.end(), more.begin(), more.end());
    return run(words);
  }
  static std::string joined(const std::vector<std::string>& files) {
    std::string text;
    for (const auto& f : files) text += (text.empty() ? "" : ",") + f;
    return text;
  }
  Folder folder_;
};

TEST_F(Compare, finds_no_regression_between_two_runs_of_the_same) {
  const Outcome o = against(topo_record({.seed = 2}));
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o, "no regression")) << o.text();
}

TEST_F(Compare, a_slower_run_ends_with_exit_code_5) {
  EXPECT_EQ(against(topo_record({.slow = 1.1, .seed = 2})).code, 5);
  const std::string out = folder_.file("c.json");
  const Outcome o = against(topo_record({.slow = 1.15, .slow_kernel = "rma.put-flush", .seed = 2}), {"--json", out});
  EXPECT_EQ(o.code, 5) << o.text();
  std::ifstream in(out);
  const Json result = Json::parse(in)["result"];
  EXPECT_TRUE(result["regression"].get<bool>());
  for (const auto& f : result["families"])
    EXPECT_EQ(f["verdict"] == "slower", f["name"] == "rma.put-flush") << f.dump();
}

TEST_F(Compare, a_faster_run_is_no_regression) {
  const Outcome o = against(topo_record({.slow = 0.8, .seed = 2}));
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o, "faster")) << o.text();
}

/// Returns a record of one launch of the kernels in `factors`, their times multiplied by the factors.
Json three_kernels(std::uint64_t seed, const std::map<std::string, double>& factors) {
  Json record = topo_record({.noise = 0.05, .seed = seed, .launches = 1});
  std::erase_if(record["topology"]["cells"].get_ref<Json::array_t&>(),
                [&](const Json& cell) { return !factors.contains(cell["kernel"]); });
  for (auto& cell : record["topology"]["cells"])
    for (auto& round : cell["rounds"])
      round["p50_ns"] = round["p50_ns"].get<double>() * factors.at(cell["kernel"].get<std::string>());
  return record;
}

TEST_F(Compare, what_became_faster_does_not_turn_the_rest_into_a_regression) {
  const char *a = "p2p.isend-irecv", *b = "rma.put-flush", *c = "shmem.put-quiet";
  const std::string before = write("b.json", three_kernels(1, {{a, 1}, {b, 1}, {c, 1}}));
  for (const double first : {1.06, 0.6, 0.01}) {
    const Outcome o = run({"compare", before, write("a.json", three_kernels(2, {{a, first}, {b, 1.06}, {c, 1.06}}))});
    EXPECT_EQ(o.code, 0) << first << o.text();
  }
  EXPECT_EQ(run({"compare", before, write("a.json", three_kernels(2, {{a, 0.01}, {b, 9}, {c, 1.06}}))}).code, 5);
}

TEST_F(Compare, more_messages_are_a_regression_without_statistics) {
  Json after = topo_record({.seed = 2});
  after["topology"]["cells"][3]["messages_total"] = 999;
  const Outcome o = against(after);
  EXPECT_EQ(o.code, 5) << o.text();
  EXPECT_TRUE(says(o, "999")) << o.text();
  after["topology"]["cells"][3]["messages_total"] = 1;
  EXPECT_EQ(against(after).code, 0);
}

TEST_F(Compare, what_is_not_alike_is_said) {
  Json after = topo_record({.seed = 2});
  after["options"]["seed"] = 7;
  after["provenance"]["cpu"] = "another";
  after["topology"]["graphs"][0]["digest"] = "another";
  const Outcome o = against(after);
  EXPECT_EQ(o.code, 0) << o.text();
  for (const char* part : {"option seed differs: 1 before, 7 after", "cpu differs", "the input differs", "only before"})
    EXPECT_TRUE(says(o, part)) << part << '\n' << o.text();
}

TEST_F(Compare, settings_of_libraries_that_differ_are_said) {
  Json before = topo_record({.seed = 2}), after = before;
  const Json same = {{"UCX_TLS", "tcp"}, {"OMPI_MCA_osc", "sm"}, {"SLURM_JOB_ID", "1"}};
  before["provenance"].update({{"variables", same}, {"components", {{"btl", {"self", "tcp"}}}}, {"binding", "0-3"}});
  after["provenance"] = before["provenance"];
  after["provenance"]["variables"].update({{"OMPI_MCA_osc", "rdma"}, {"SLURM_JOB_ID", "2"}});
  after["provenance"]["variables"].erase("UCX_TLS");
  after["provenance"]["components"]["btl"] = {"self", "vader"};
  after["provenance"]["binding"] = "2";
  const Outcome o = run({"compare", write("b.json", before), write("a.json", after)});
  EXPECT_EQ(o.code, 0) << o.text();
  for (const char* part :
       {"variable OMPI_MCA_osc differs: sm before, rdma after", "variable UCX_TLS differs: tcp before, absent after",
        "component btl differs", "binding differs"})
    EXPECT_TRUE(says(o, part)) << part << '\n' << o.text();
  EXPECT_FALSE(says(o, "SLURM_JOB_ID")) << o.text();
  before["provenance"].erase("variables");  // as a record of an older version, which has none
  EXPECT_FALSE(says(run({"compare", write("c.json", before), write("a.json", after)}), "variable")) << o.text();
}

TEST_F(Compare, the_load_is_told_beside_all_cores_of_the_machine) {
  Json after = topo_record({.seed = 2});
  after["provenance"].update({{"load_average", {9, 9, 9}}, {"cores", 1}, {"all_cores", 2}});  // a rank that is bound
  EXPECT_TRUE(says(against(after), "the load was 9.0 on 2 cores for "));
  after["provenance"].erase("all_cores");
  EXPECT_TRUE(says(against(after), "the load was 9.0 on 1 core for "));
}

TEST_F(Compare, what_cannot_be_compared_ends_with_exit_code_3) {
  Json other = topo_record({});
  other["command"] = "cluster";
  EXPECT_EQ(against(other).code, 3);
  const Outcome ranks = against(topo_record({.ranks = 8}));
  EXPECT_EQ(ranks.code, 3) << ranks.text();
  EXPECT_TRUE(says(ranks, "on 8 ranks")) << ranks.text();
}

TEST_F(Compare, broken_records_are_refused_with_the_field) {
  const auto refused = [&](const std::function<void(Json&)>& harm, const std::string& part) {
    Json record = topo_record({});
    harm(record);
    const Outcome o = against(record);
    EXPECT_EQ(o.code, 3) << part << '\n' << o.text();
    EXPECT_TRUE(says(o, part)) << part << '\n' << o.text();
  };
  refused([](Json& j) { j["schema_version"] = 99; }, "schema version 99");
  refused([](Json& j) { j["schema"] = "else"; }, "schema is else");
  refused([](Json& j) { j.erase("schema"); }, "no run record");
  refused([](Json& j) { j["topology"]["cells"][2].erase("kernel"); }, "topology.cells[2] has no field \"kernel\"");
  refused([](Json& j) { j["topology"]["cells"][2]["rounds"][1]["p50_ns"] = nullptr; },
          "topology.cells[2].rounds[1].p50_ns is null");
  refused([](Json& j) { j["topology"]["cells"][2]["rounds"][1]["p50_ns"] = -3; }, "allowed: a positive time");
  refused([](Json& j) { j["topology"]["cells"][2]["graph"] = "nowhere"; }, "not in topology.graphs");
  refused([](Json& j) { j["topology"]["cells"] = Json::array(); }, "nothing was measured");
  refused([](Json& j) { j.erase("topology"); }, "without timings");
  refused([](Json& j) { j["topology"]["cells"][2]["rounds"][1]["p50_ns"] = 1e-320; }, "allowed: a positive time");
  refused([](Json& j) { j["topology"]["cells"][2]["rounds"][1]["p50_ns"] = 1e300; }, "allowed: a positive time");
  refused([](Json& j) { j["topology"]["cells"][2]["rounds"][1]["launch"] = 1e300; }, "launch is 1e+300; allowed");
  refused([](Json& j) { j["topology"]["cells"][2]["rounds"][1]["launch"] = 0.5; }, "allowed: a whole number");
  refused([](Json& j) { j["topology"]["graphs"][0]["ranks"] = -1e30; }, "ranks is -1e+30; allowed");
  refused([](Json& j) { j["samples"] = {{"x", {{"launches", {Json::array()}}}}}; }, "holds no times");
  refused([](Json& j) { j = Json::array(); }, "no run record");
  const std::string half = folder_.file("half.json");
  std::ofstream(half) << topo_record({}).dump().substr(0, 5000);
  EXPECT_EQ(run({"compare", half, half}).code, 3);
  EXPECT_EQ(run({"compare", half, folder_.file("none")}).code, 3);
  EXPECT_EQ(run({"compare", half}).code, 2);
  EXPECT_EQ(against(topo_record({}), {"--threshold", "much"}).code, 2);
}

TEST_F(Compare, more_launches_may_come_from_more_files) {
  const std::string a = write("a.json", topo_record({.launches = 1}));
  Arguments words{"compare", a, write("b.json", topo_record({.slow = 1.1, .seed = 9, .launches = 1}))};
  std::string before, after;
  for (int i = 0; i < 4; ++i) {
    const auto seed = static_cast<std::uint64_t>(20 + i);
    before += (i > 0 ? "," : "") + write("a" + std::to_string(i), topo_record({.seed = seed, .launches = 1}));
    after += (i > 0 ? "," : "") +
             write("b" + std::to_string(i), topo_record({.slow = 1.1, .seed = seed + 50, .launches = 1}));
  }
  words.insert(words.end(), {"--more-before", before, "--more-after", after, "--block-floor", "0.1%"});
  const Outcome o = run(words);
  EXPECT_EQ(o.code, 5) << o.text();
  EXPECT_FALSE(says(o, "fewer than five launches")) << o.text();
  words[4] = before + ',' + a;
  const Outcome twice = run(words);
  EXPECT_EQ(twice.code, 3);
  EXPECT_TRUE(says(twice, "is given twice")) << twice.text();
  Json other = topo_record({.seed = 77, .launches = 1});
  other["provenance"]["cpu"] = "y";
  words[4] = write("other.json", other);
  EXPECT_TRUE(says(run(words), "cpu differs: x in ")) << run(words).text();
  other["topology"]["graphs"][0]["digest"] = "another";
  words[4] = write("other.json", other);
  EXPECT_TRUE(says(run(words), "is of another input")) << run(words).text();
}

TEST_F(Compare, launches_that_were_not_taken_in_turns_are_judged_with_more_caution) {
  const Outcome turns = at_seconds({0, 3, 4, 7, 8}, {1, 2, 5, 6, 9});
  EXPECT_EQ(turns.code, 5) << turns.text();
  EXPECT_FALSE(says(turns, "in turns")) << turns.text();
  const std::string out = folder_.file("c.json");
  const Outcome blocks = at_seconds({0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}, {"--json", out});
  EXPECT_EQ(blocks.code, 0) << blocks.text();
  EXPECT_TRUE(says(blocks, "were not taken in turns")) << blocks.text();
  std::ifstream in(out);
  const Json result = Json::parse(in)["result"];
  EXPECT_EQ(result["in_turns"], false);
  EXPECT_GT(result["detectable"]["suite"].get<double>(), 0.1);
  EXPECT_EQ(at_seconds({0, 1, 2, 6, 7}, {3, 4, 5, 8, 9}).code, 0);  // three in a row
  EXPECT_EQ(at_seconds({0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}).code, 0);  // in whatever order
  const Outcome untold = at_seconds({0, 3, 4, 7, -1}, {1, 2, 5, 6, 9});
  EXPECT_EQ(untold.code, 0) << untold.text();
  EXPECT_TRUE(says(untold, "do not tell")) << untold.text();
  EXPECT_EQ(at_seconds({0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}, {"--block-floor", "0.1%"}).code, 5);
}

TEST_F(Compare, no_regression_says_what_could_not_have_been_seen) {
  const Outcome o = run({"compare", write("b.json", topo_record({.launches = 1})),
                         write("a.json", topo_record({.seed = 2, .launches = 1}))});
  EXPECT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o, "no regression; smallest detectable slowdown (in 19 of 20 cases): +")) << o.text();
}

TEST_F(Compare, commands_are_launched_in_turns) {
  const std::string command = command_path() + " bench random --cells 4,4,4 --per-cell 6 --steps 4";
  const std::string kept = folder_.file("two words");
  const Outcome o =
      run({"compare", "--run", "3", command, command + " '--order' \"shuffled,ordered\"", "--keep", kept});
  EXPECT_TRUE(o.code == 0 || o.code == 5) << o.text();  // other programs use the machine too
  EXPECT_FALSE(says(o, "in turns")) << o.text();
  for (const char* name : {"before-1", "before-3", "after-2", "after-3"})
    EXPECT_TRUE(std::ifstream(kept + "/" + name + ".json").is_open()) << name;
  EXPECT_EQ(run({"compare", "--run", "2", command, command_path() + " bench random --cells none"}).code, 3);
  EXPECT_TRUE(says(run({"compare", "--run", "1", command, command_path() + " --version"}), "launch 1 of AFTER"));
  EXPECT_EQ(run({"compare", "--run", "2", command, "no-such-program x"}).code, 2);
  EXPECT_EQ(run({"compare", "--run", "2", command, command_path() + " 'x"}).code, 2);
  EXPECT_EQ(run({"compare", "--run", "2", command, ""}).code, 2);
  EXPECT_EQ(run({"compare", "--run", "2", command, command, "--more-before", "x"}).code, 2);
}

TEST_F(Compare, a_stage_counts_by_its_share_of_the_step_before) {
  const auto cluster = [](double search, double merge, double step) {
    Json j = topo_record({});
    j.erase("topology");
    j["command"] = "cluster";
    j["timings"] = {{"search", {{"max", search}}}, {"merge", {{"max", merge}}}, {"step", {{"max", step}}}};
    return j;
  };
  const std::string before = write("before.json", cluster(1, 0.001, 1));
  EXPECT_EQ(run({"compare", before, write("small.json", cluster(1, 0.015, 1))}).code, 0);
  // The step became a hundred times faster, so that a small stage is a large part of it.
  EXPECT_EQ(run({"compare", before, write("small.json", cluster(0.01, 0.015, 0.025))}).code, 0);
  EXPECT_EQ(run({"compare", before, write("large.json", cluster(1, 0.5, 1.5))}).code, 5);
}

TEST_F(Compare, a_time_may_be_a_number_or_a_summary_over_ranks) {
  const auto record = [](const Json& forest) {
    Json j = topo_record({});
    j.erase("topology");
    j["command"] = "msf";
    j["timings"] = {{"load", 0.5}, {"forest", forest}};
    return j;
  };
  const std::string before = write("before.json", record(1.0));
  EXPECT_EQ(run({"compare", before, write("same.json", record({{"max", 1.0}}))}).code, 0);
  EXPECT_EQ(run({"compare", before, write("slow.json", record(50.0))}).code, 5);
  const Outcome o = run({"compare", before, write("text.json", record("1 s"))});
  EXPECT_EQ(o.code, 3);
  EXPECT_TRUE(says(o, "timings.forest")) << o.text();
}

TEST_F(Compare, changes_beyond_all_measure_are_told_in_numbers) {
  const auto record = [](double time) {
    Json j = topo_record({});
    j.erase("topology");
    j["samples"] = {{"x", {{"family", "f"}, {"launches", {{time, time}, {time, time}}}}}};
    return j;
  };
  const std::string out = folder_.file("c.json");
  const Outcome o = run({"compare", write("a.json", record(1e-100)), write("b.json", record(1e100)), "--json", out});
  EXPECT_EQ(o.code, 5) << o.text();
  EXPECT_TRUE(says(o, "x 1e+200")) << o.text();
  std::ifstream in(out);
  EXPECT_TRUE(Json::parse(in)["result"]["suite"]["high"].is_number());
}

TEST_F(Compare, merge_benchmarks_compare_by_stage_and_by_result) {
  const std::string a = folder_.file("m.json");
  ASSERT_EQ(run({"bench", "random", "--cells", "4,4,4", "--per-cell", "6", "--steps", "4", "--json", a}).code, 0);
  EXPECT_EQ(run({"compare", a, a}).code, 0);
  std::ifstream in(a);
  Json after = Json::parse(in);
  after["result"]["shuffled"]["n_after"] = 1;
  const Outcome o = run({"compare", a, write("n.json", after)});
  EXPECT_EQ(o.code, 5) << o.text();
  EXPECT_TRUE(says(o, "result of the same input")) << o.text();
}

}  // namespace
