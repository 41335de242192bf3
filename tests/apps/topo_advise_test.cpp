/// Advice from outside, from records; and the doctor's hints.
#include <gtest/gtest.h>

#include <fstream>

#include "apps/program.hpp"
#include "apps/topo_records.hpp"
#include "io/folder.hpp"
#include "support/hints.hpp"

namespace {

using namespace merganser::test;
using Json = nlohmann::ordered_json;

bool says(const Outcome& o, const std::string& part) { return o.text().find(part) != std::string::npos; }

class TopoAdvise : public testing::Test {
 protected:
  void SetUp() override {
    write_json(record_, topo_record({}));
    std::ofstream(graph_) << "0: 1 2\n1: 0 2\n2: 0 1\n";
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

TEST_F(TopoAdvise, evaluates_records_by_leaving_graphs_out) {
  const std::string out = folder_.file("e.json");
  const Outcome o = run({"topo", "advise", "--evaluate", record_, "--json", out});
  ASSERT_EQ(o.code, 0) << o.text();
  std::ifstream in(out);
  const Json all = Json::parse(in)["result"]["all"];
  EXPECT_EQ(all["cells"], 3 * 5 * 2);
  EXPECT_GE(all["right"].get<int>(), 27);
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
  const Outcome predicted = run({"topo", "advise", graph_, "--record", record_, "--sizes", "8"});
  EXPECT_EQ(predicted.code, 0) << predicted.text();
  EXPECT_TRUE(says(predicted, "measured were at most 4")) << predicted.text();
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
  EXPECT_TRUE(measured_hints(topo_record({}), "k.json").empty());
  const auto hints = measured_hints(topo_record({.slow = 30, .slow_kernel = "rma.put-notify"}), "k.json");
  ASSERT_EQ(hints.size(), 1U);
  EXPECT_NE(hints[0].what.find("rma is more than three times slower"), std::string::npos);
  EXPECT_NE(hints[0].seen.find("p2p.isend-irecv"), std::string::npos) << hints[0].seen;
}

}  // namespace
