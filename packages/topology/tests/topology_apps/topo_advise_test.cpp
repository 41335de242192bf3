/// Advice from outside, from records; and the doctor's hints.
#include <gtest/gtest.h>

#include <fstream>

#include "apps/topo/hints_of_cells.hpp"
#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/apps/topo_records.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/folders.hpp"

namespace {

using namespace merganser::test;

class TopoAdvise : public testing::Test {
 protected:
  void SetUp() override {
    write_json(record_, topo_record({}));
    std::ofstream(graph_) << "0: 1 2\n1: 0 2\n2: 0 1\n3: 0 1\n";
  }
  Folder folder_;
  std::string record_ = folder_.file("k.json");
  std::string graph_ = folder_.file("g.txt");
};

TEST_F(TopoAdvise, predicts_the_winner_of_each_class_from_a_record) {
  const std::string out = folder_.file("a.json");
  const Outcome o = run({"topo", "advise", graph_, "--record", record_, "--sizes", "64,32768", "--json", out});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o, "advice: shmem (shmem.put-signal)")) << o.text();
  std::ifstream in(out);
  const Json result = Json::parse(in)["result"];
  EXPECT_EQ(result["way"], "predicted");
  ASSERT_EQ(result["advice"].size(), 2U);
  EXPECT_EQ(result["advice"][0]["classes"][1]["completion"], "notified");
  EXPECT_EQ(result["advice"][0]["classes"][1]["advice"], "shmem.put-signal");
  EXPECT_EQ(result["advice"][1]["classes"][1]["advice"], "rma.put-notify");
  EXPECT_GT(result["advice"][0]["classes"][1]["saves_against_baseline"]["share"].get<double>(), 0.4);
}

TEST_F(TopoAdvise, tells_the_settings_and_the_calls_that_the_advice_is_for) {
  const std::string out = folder_.file("a.json");
  EXPECT_TRUE(says(run({"topo", "advise", graph_, "--record", record_, "--sizes", "64"}), "settings: not known"));
  Json record = topo_record({});
  record["provenance"]["variables"] = {{"OMPI_MCA_osc", "sm,rdma,pt2pt"}, {"OMPI_MCA_x_password", "geheim"}};
  record["provenance"]["components"] = {{"osc", {"rdma", "sm"}}};
  write_json(record_, record);
  const Outcome o = run({"topo", "advise", graph_, "--record", record_, "--sizes", "64", "--json", out});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o, "  OMPI_MCA_osc=sm,rdma,pt2pt\n  component osc [\"rdma\",\"sm\"]\n")) << o.text();
  EXPECT_TRUE(says(o, "calls of shmem.put-signal: shmem_putmem")) << o.text();
  EXPECT_FALSE(says(o, "geheim"));
  std::ifstream in(out);
  const Json result = Json::parse(in)["result"];
  EXPECT_EQ(result["settings"]["variables"].dump(), R"({"OMPI_MCA_osc":"sm,rdma,pt2pt"})");
  EXPECT_TRUE(says(result["advice"][0]["classes"][1]["kernels"][0]["calls"].get<std::string>(), "shmem_fence"));
}

TEST(Conclusion, names_a_tie_on_its_last_line) {
  merganser::topology::ClassAdvice c;
  c.completion = "notified";
  for (const char* name : {"rma.put-notify", "p2p.persistent", "p2p.isend-irecv"})
    c.kernels.push_back({name, std::string(name).substr(0, 3), {}, false});
  EXPECT_TRUE(merganser::app::conclusion_text(c).ends_with("advice: rma (rma.put-notify)\n\n"));
  c.near_ties = {"p2p.isend-irecv"};
  EXPECT_TRUE(merganser::app::conclusion_text(c).ends_with(
      "advice: rma (rma.put-notify); a tie with p2p (p2p.isend-irecv)\n\n"));
}

TEST_F(TopoAdvise, evaluates_records_by_leaving_graphs_out) {
  const std::string out = folder_.file("e.json");
  const Outcome o = run({"topo", "advise", "--evaluate", record_, "--json", out});
  ASSERT_EQ(o.code, 0) << o.text();
  std::ifstream in(out);
  const Json all = Json::parse(in)["result"]["all"];
  EXPECT_EQ(all["cells"], 4 * 5 * 2);
  EXPECT_GE(all["right"].get<int>(), 36);
}

TEST_F(TopoAdvise, nine_of_ten_held_out_launches_of_real_records_lie_in_their_intervals) {
  const std::string data = source_folder().string() + "/packages/topology/tests/data/exchanges/";
  const std::string out = folder_.file("e.json");
  for (const std::string& records :
       {data + "processes-1.json," + data + "processes-2.json," + data + "processes-3.json",
        data + "threads-1.json," + data + "threads-2.json", data + "processes-1.json", data + "threads-1.json"}) {
    const Outcome o = run({"topo", "advise", "--models", "all", "--evaluate", records, "--json", out});
    ASSERT_EQ(o.code, 0) << o.text();
    std::ifstream in(out);
    const Json graphs = Json::parse(in)["result"]["graphs"];
    EXPECT_GE(graphs["launches"].get<int>(), 100) << records;
    EXPECT_GE(graphs["inside"].get<int>(), 0.9 * graphs["launches"].get<int>()) << records;
    EXPECT_LT(graphs["median_factor"].get<double>(), 4) << records;  // and they still tell something
  }
}

TEST_F(TopoAdvise, what_records_cannot_know_is_refused_with_what_to_measure) {
  const std::string two = folder_.file("two.json"), torus = folder_.file("torus.bin"), many = folder_.file("many.bin");
  const std::string out = folder_.file("a.json");
  Json record = topo_record({.ranks = 2});
  record["provenance"]["cores"] = 2;
  write_json(two, record);
  ASSERT_EQ(run({"topo", "gen", "torus:4x2", "--ranks", "8", "-o", torus}).code, 0);
  ASSERT_EQ(run({"topo", "gen", "ring", "--ranks", "64", "-o", many}).code, 0);
  for (const auto& [graph, ranks] : {std::pair{torus, "8 ranks"}, {many, "64 ranks"}}) {
    const Outcome o = run({"topo", "advise", graph, "--record", two, "--sizes", "8", "--json", out});
    EXPECT_EQ(o.code, 3) << o.text();
    EXPECT_TRUE(says(o, std::string(ranks) + " share 2 cores, and of what was measured each rank had its own"))
        << o.text();
    EXPECT_TRUE(says(o, std::string("measure it on ") + ranks)) << o.text();
    std::ifstream in(out);
    const Json advice = Json::parse(in)["result"]["advice"][0];
    EXPECT_TRUE(advice["classes"].empty());
    EXPECT_TRUE(advice["unknown"][0]["all"].get<bool>());
  }
  // One size of two can be predicted.
  const Outcome some = run({"topo", "advise", graph_, "--record", record_, "--sizes", "64,1000000000"});
  EXPECT_EQ(some.code, 0) << some.text();
  EXPECT_TRUE(says(some, "cannot be predicted: ")) << some.text();
  EXPECT_TRUE(says(some, "advice: shmem")) << some.text();
}

TEST_F(TopoAdvise, a_prediction_is_for_the_machine_of_the_records) {
  const Outcome o = run({"topo", "advise", graph_, "--record", record_, "--sizes", "64"});
  EXPECT_TRUE(says(o, "predicted for 8 cores of x, where the records were made; this machine is another one"))
      << o.text();
  EXPECT_FALSE(says(o, "share")) << o.text();
  EXPECT_FALSE(says(o, "other programs")) << o.text();
  Json other = topo_record({.seed = 2});
  other["provenance"]["load_average"] = {20, 20, 20};
  write_json(folder_.file("busy.json"), other);
  EXPECT_TRUE(says(run({"topo", "advise", graph_, "--record", folder_.file("busy.json")}), "other programs used"));
  other["provenance"]["cpu"] = "y";
  const std::string path = folder_.file("other.json");
  write_json(path, other);
  const Outcome both = run({"topo", "advise", graph_, "--record", record_ + "," + path});
  EXPECT_EQ(both.code, 3);
  EXPECT_TRUE(says(both, "was made on 8 cores of y")) << both.text();
  const Outcome twice = run({"topo", "advise", graph_, "--record", record_ + "," + record_});
  EXPECT_EQ(twice.code, 3);
  EXPECT_TRUE(says(twice, "is given twice")) << twice.text();
}

TEST_F(TopoAdvise, broken_records_are_refused_with_the_field) {
  const auto refused = [&](const std::function<void(Json&)>& harm, const std::string& part) {
    Json record = topo_record({});
    harm(record);
    write_json(record_, record);
    for (const Outcome& o : {run({"topo", "advise", graph_, "--record", record_, "--sizes", "8"}),
                             run({"topo", "advise", "--evaluate", record_})}) {
      EXPECT_EQ(o.code, 3) << part << '\n' << o.text();
      EXPECT_TRUE(says(o, part)) << part << '\n' << o.text();
    }
  };
  refused([](Json& j) { j["schema_version"] = 2; }, "schema version 2");
  refused([](Json& j) { j.erase("schema"); }, "no run record");
  refused([](Json& j) { j["provenance"].erase("cores"); }, "has no field \"cores\"");
  refused([](Json& j) { j["provenance"]["cores"] = 1e300; }, "cores is 1e+300; allowed");
  refused([](Json& j) { j["topology"]["graphs"][0]["ranks"] = 0; }, "ranks is 0; allowed");
  refused([](Json& j) { j["topology"]["graphs"][0]["arcs"] = 1e300; }, "arcs is 1e+300; allowed");
  refused([](Json& j) { j["topology"]["graphs"][0]["max_degree"] = 0; }, "max_degree is 0; allowed");
  refused([](Json& j) { j["topology"]["cells"][0]["bytes_total"] = -1; }, "bytes_total is -1; allowed");
  refused([](Json& j) { j["topology"]["cells"][0]["bytes_total"] = 1e300; }, "bytes_total is 1e+300; allowed");
  refused([](Json& j) { j["topology"]["cells"][0]["rounds"][0]["launch"] = 1e300; }, "launch is 1e+300; allowed");
  refused([](Json& j) { j["topology"]["cells"][0]["rounds"][0]["p50_ns"] = 0; }, "allowed: a positive time");
  refused([](Json& j) { j["topology"]["cells"][0]["completion"] = "sometime"; }, "completion is \"sometime\"; allowed");
  refused([](Json& j) { j["topology"]["cells"] = Json::array(); }, "nothing was measured");
}

TEST_F(TopoAdvise, graphs_of_one_rank_or_without_arcs_need_no_advice) {
  for (const char* text : {"0:\n", "0:\n1:\n2:\n"}) {
    std::ofstream(graph_) << text;
    const Outcome o = run({"topo", "advise", graph_});
    EXPECT_EQ(o.code, 0) << o.text();
    EXPECT_TRUE(says(o, "nothing to advise")) << o.text();
  }
}

TEST_F(TopoAdvise, measures_a_graph_without_sizes_at_usual_ones) {
  const std::string out = folder_.file("m.json");
  const std::string bare = folder_.file("bare.bin");
  ASSERT_EQ(run({"topo", "gen", "complete", "--ranks", "3", "-o", bare}).code, 0);
  const Outcome o =
      run({"topo", "advise", bare, "--models", "threads", "--time", "0.3", "--launches", "1", "--json", out});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_TRUE(says(o, "8, 1024 and 65536 bytes along every arc")) << o.text();
  std::ifstream in(out);
  const Json result = Json::parse(in)["result"];
  EXPECT_EQ(result["way"], "measured");
  ASSERT_EQ(result["advice"].size(), 3U);
  EXPECT_EQ(result["advice"][2]["size"], "65536");
}

TEST_F(TopoAdvise, misuse_and_bad_files_are_told_apart) {
  EXPECT_EQ(run({"topo", "advise"}).code, 2);
  EXPECT_EQ(run({"topo", "advise", graph_, "--sizes", "many", "--record", record_}).code, 2);
  EXPECT_EQ(run({"topo", "advise", graph_, "--models", "pigeons", "--record", record_}).code, 2);
  EXPECT_EQ(run({"topo", "advise", folder_.file("none")}).code, 3);
  EXPECT_EQ(run({"topo", "advise", graph_, "--record", graph_}).code, 3);
  std::string big;
  for (int r = 0; r < 5000; ++r) big += std::to_string(r) + "," + std::to_string((r + 1) % 5000) + '\n';
  std::ofstream(graph_) << big;
  const Outcome o = run({"topo", "advise", graph_});
  EXPECT_EQ(o.code, 2);
  EXPECT_TRUE(says(o, "--record")) << o.text();
}

TEST(Hints, settings_known_to_be_bad_are_named_with_their_value) {
  using namespace merganser::app;
  Surroundings fine{{}, "Open MPI v4.1.4", "Open MPI, OpenSHMEM 1.4", 4, 0, 0, false, 1e12, false};
  EXPECT_TRUE(setting_hints(fine).empty());
  const auto hint = [&](const std::function<void(Surroundings&)>& harm, const std::string& part) {
    Surroundings s = fine;
    harm(s);
    const auto hints = setting_hints(s);
    ASSERT_EQ(hints.size(), 1U) << part;
    EXPECT_NE(hints_text(hints).find(part), std::string::npos) << hints_text(hints);
  };
  hint([](auto& s) { s.variables["OMPI_MCA_osc"] = "pt2pt"; }, "OMPI_MCA_osc=pt2pt");
  hint([](auto& s) { s.variables["OMPI_MCA_btl"] = "tcp,self"; }, "OMPI_MCA_btl=tcp,self");
  hint([](auto& s) { s.variables["UCX_TLS"] = "tcp,self"; }, "UCX_TLS=tcp,self");
  hint([](auto& s) { s.variables["OMPI_MCA_opal_common_ucx_opal_mem_hooks"] = "1"; }, "crash when they end");
  hint([](auto& s) { s.ranks = 8; }, "8 ranks on 4 cores");
  hint([](auto& s) { s.ptrace_scope = 2; }, "ptrace_scope is 2");
  hint([](auto& s) { s.shared_memory_bytes = 64e6; }, "/dev/shm has 61.0 MiB free");
  hint([](auto& s) { s.shared_memory_bytes = -1; }, "/dev/shm is not there");
  fine.variables["OMPI_MCA_osc"] = "sm,rdma,pt2pt";
  fine.variables["OMPI_MCA_btl"] = "self,vader,tcp";
  EXPECT_TRUE(setting_hints(fine).empty());
}

TEST(Hints, one_sided_kernels_far_slower_than_two_sided_ones_are_named) {
  using namespace merganser::app;
  EXPECT_TRUE(measured_hints(read_known(topo_record({}), "k.json"), "k.json").empty());
  const auto hints =
      measured_hints(read_known(topo_record({.slow = 30, .slow_kernel = "rma.put-notify"}), "k.json"), "k.json");
  ASSERT_EQ(hints.size(), 1U);
  EXPECT_NE(hints[0].what.find("rma is more than three times slower"), std::string::npos);
  EXPECT_NE(hints[0].seen.find("p2p.isend-irecv"), std::string::npos) << hints[0].seen;
}

}  // namespace
