/// The commands topo extract and topo replay: files, output, exit codes.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "apps/frame/traffic_json.hpp"
#include "merganser/base/error.hpp"
#include "merganser/graphs/process_graph_files.hpp"
#include "merganser/topology/traffic.hpp"
#include "tests/apps/program.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using app::Json;
using comm::Move;
namespace fs = std::filesystem;

class TopoExtractTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::temp_directory_path() / "merganser-extract-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  std::string folder_;
};

void expect_refused(const Outcome& outcome, int code, const std::string& why) {
  EXPECT_EQ(outcome.code, code) << outcome.text();
  EXPECT_NE(outcome.err.find(why), std::string::npos) << outcome.text();
}

std::string record(int ranks, const Json& traffic) {
  Json r = {{"schema", "merganser-run-record"}, {"command", "cluster"}, {"provenance", {{"ranks", ranks}}}};
  if (!traffic.is_null()) r["traffic"] = traffic;
  return r.dump(1);
}

comm::TrafficMatrix ring() {
  comm::TrafficMatrix traffic(
      3, {{0, 1, Move::message, 4, 400, 7, {4}}, {1, 2, Move::put, 2, 20, 3, {1, 1}}, {2, 0, Move::get, 4, 8, 2, {4}}});
  traffic.exchanges = 2;
  traffic.source = "a ring";
  return traffic;
}

std::string part(int rank, int ranks) {
  return "merganser-trace 1\nprogram p\nrank " + std::to_string(rank) + " of " + std::to_string(ranks) +
         "\nended finalize\nphase 0 0\nphase 1 5\nflow 0 " + std::to_string((rank + 1) % ranks) +
         " message 1 100 7 1\nflow 1 " + std::to_string((rank + 1) % ranks) +
         " message 10 500 6 10\nself 0 0\noutside 0 0\nend\n";
}

TEST_F(TopoExtractTest, traffic_survives_json_in_both_forms) {
  EXPECT_EQ(app::parse_traffic(app::traffic_json(ring()), "t"), ring());
  std::vector<comm::TrafficFlow> flows;
  for (int to = 1; to <= 300; ++to) flows.push_back({0, to, Move::put, to, 8 * to, 4, {to}});
  const comm::TrafficMatrix many(301, flows);
  const Json json = app::traffic_json(many);
  EXPECT_TRUE(json.contains("packed"));
  EXPECT_EQ(app::parse_traffic(json, "t"), many);
}

TEST_F(TopoExtractTest, broken_traffic_is_refused_with_what_is_wrong) {
  const auto refusal = [](const std::function<void(Json&)>& spoil) {
    Json json = app::traffic_json(ring());
    spoil(json);
    try {
      (void)app::parse_traffic(json, "file");
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(refusal([](Json& j) { j["schema"] = "x"; }).find("is no traffic"), std::string::npos);
  EXPECT_NE(refusal([](Json& j) { j["schema_version"] = 9; }).find("this program reads 1"), std::string::npos);
  EXPECT_NE(refusal([](Json& j) { j.erase("ranks"); }).find("\"ranks\" is missing"), std::string::npos);
  EXPECT_NE(refusal([](Json& j) { j["ranks"] = 2; }).find("ranks 0 to 1"), std::string::npos);
  EXPECT_NE(refusal([](Json& j) { j["ranks"] = 2147483647; }).find("is 2147483647; allowed with"), std::string::npos);
  EXPECT_EQ(refusal([](Json& j) { j["ranks"] = 1 << 20; }), "accepted");
  EXPECT_NE(refusal([](Json& j) { j.erase("rows"); }).find("is missing"), std::string::npos);
  EXPECT_NE(refusal([](Json& j) { j["rows"][1] = 7; }).find("row 2 is 7"), std::string::npos);
  EXPECT_NE(refusal([](Json& j) { j["rows"][0][4] = 1.5; }).find("row 1, column 5, is 1.5"), std::string::npos);
  EXPECT_NE(refusal([](Json& j) { j["rows"][0][2] = "push"; }).find("push"), std::string::npos);
  EXPECT_NE(refusal([](Json& j) { j["exchanges"] = 0; }).find("\"exchanges\" is 0"), std::string::npos);
  EXPECT_NE(refusal([](Json& j) { j["packed"] = "?"; }).find("packed traffic"), std::string::npos);
}

TEST_F(TopoExtractTest, a_run_record_becomes_a_graph_of_bytes_per_exchange) {
  const std::string from = write("cluster.json", record(3, app::traffic_json(ring())));
  const Outcome outcome = run({"topo", "extract", "--from", from, "-o", path("app.bin")});
  ASSERT_EQ(outcome.code, 0) << outcome.text();
  EXPECT_EQ(outcome.digest(), topology::process_graph_of(ring()).digest());
  EXPECT_EQ(graphs::read_process_graph(path("app.bin")), topology::process_graph_of(ring()));
  EXPECT_EQ(topology::process_graph_of(ring()).bytes(0, 1), 200);
  const Outcome again = run({"topo", "extract", "--from", from, "-o", path("app.json")});
  ASSERT_EQ(again.code, 0) << again.text();
  EXPECT_EQ(app::parse_traffic(app::read_json(path("app.json")), "app.json"), ring());
  EXPECT_EQ(run({"topo", "extract", "--from", path("app.json")}).digest(), topology::process_graph_of(ring()).digest());
}

TEST_F(TopoExtractTest, one_rank_is_a_graph_without_arcs) {
  for (const Json& traffic : {Json(), app::traffic_json(comm::TrafficMatrix(1, {}))}) {
    const std::string from = write("one.json", record(1, traffic));
    const Outcome outcome = run({"topo", "extract", "--from", from, "-o", path("one.bin")});
    EXPECT_EQ(outcome.code, 0) << outcome.text();
    EXPECT_NE(outcome.out.find("one rank: a graph without arcs"), std::string::npos) << outcome.text();
    EXPECT_EQ(graphs::read_process_graph(path("one.bin")).ranks(), 1);
  }
}

TEST_F(TopoExtractTest, parts_of_a_trace_are_taken_from_their_folder_by_phase) {
  for (const int rank : {0, 1, 2}) write("rank-" + std::to_string(rank) + ".trace", part(rank, 3));
  const std::string folder = fs::path(path("x")).parent_path().string();
  const Outcome outcome = run({"topo", "extract", "--from", folder, "--phase", "1", "-o", path("halo.bin")});
  ASSERT_EQ(outcome.code, 0) << outcome.text();
  EXPECT_EQ(graphs::read_process_graph(path("halo.bin")).bytes(2, 0), 100);  // 500 bytes in 5 exchanges
  const Outcome files = run({"topo", "extract", "--from", path("rank-0.trace"), path("rank-1.trace"),
                             path("rank-2.trace"), "-o", path("all.json")});
  ASSERT_EQ(files.code, 0) << files.text();
  EXPECT_EQ(app::read_json(path("all.json"))["bytes"], 1800);
  expect_refused(run({"topo", "extract", "--from", folder, "--phase", "7"}), 3, "no rank was in phase 7");
  expect_refused(run({"topo", "extract", "--from", path("rank-0.trace")}), 3, "rank 1 is missing");
}

TEST_F(TopoExtractTest, what_holds_no_traffic_is_refused) {
  const auto from = [&](const std::string& name, const std::string& text) {
    return run({"topo", "extract", "--from", write(name, text)});
  };
  expect_refused(run({"topo", "extract"}), 2, "neither --from FILES nor a program");
  expect_refused(run({"topo", "extract", "--from", path("none.json")}), 3, "cannot read");
  expect_refused(from("text", "hello"), 3, "no traffic; known:");
  expect_refused(from("broken.json", "{\"schema\": "), 3, "broken.json");
  expect_refused(from("other.json", "{\"schema\": \"x\"}"), 3, "no traffic; known:");
  expect_refused(from("two.json", record(2, Json())), 3, "on 2 ranks has no traffic");
  expect_refused(run({"topo", "extract", "--from", fs::path(path("x")).parent_path().string() + "/"}), 3, "no part of");
  const std::string good = write("good.json", record(3, app::traffic_json(ring())));
  expect_refused(run({"topo", "extract", "--from", good + "," + good}), 3, "one record at a time");
  expect_refused(run({"topo", "extract", "--from", good, write("p.trace", part(0, 1))}), 3, "different kinds");
  expect_refused(run({"topo", "extract", "--from", good, "--phase", "1"}), 2, "--phase 1");
  expect_refused(run({"topo", "extract", "--from", good, "--phase", "x"}), 2, "--phase");
  expect_refused(run({"topo", "extract", "--from", good, "-n", "2"}), 2, "--ranks: \"2\" is not used with --from");
  expect_refused(run({"topo", "extract", "--from", good, "-o", path("a.xyz")}), 2, "xyz");
}

TEST_F(TopoExtractTest, a_program_is_traced_in_one_go_and_nothing_is_left_behind) {
  const char* program = std::getenv("MERGANSER_TEST_TRACE_MPI");
  if (program == nullptr) GTEST_SKIP() << "there is no tracing library in this build";
  const Outcome outcome = run({"topo", "extract", "-n", "2", "-o", path("app.json"), "--", program, "phases"});
  ASSERT_EQ(outcome.code, 0) << outcome.text();
  EXPECT_EQ(files(), 1U);
  std::istringstream truth(outcome.out);
  std::int64_t bytes = 0;
  for (std::string word; truth >> word;) {
    if (word != "truth") continue;
    std::string skipped;
    std::int64_t n = 0;
    truth >> skipped >> skipped >> skipped >> skipped >> skipped >> n;
    bytes += n;
  }
  EXPECT_GT(bytes, 0);
  EXPECT_EQ(app::read_json(path("app.json"))["bytes"], bytes);
  const Outcome coded = run({"topo", "extract", "-n", "2", "-o", path("coded.bin"), "--", program, "code"});
  EXPECT_EQ(coded.code, 7) << coded.text();
  EXPECT_NE(coded.out.find("ended with code 7"), std::string::npos) << coded.text();
  // What the program prints is not in the way of the traffic on standard output.
  const std::string beside = path("beside.bin");
  for (const Arguments& to : {Arguments{"--json", "-"}, Arguments{"-o", "-"}, Arguments{"-o", beside, "--json", "-"}}) {
    const Outcome alone = run(Arguments{"topo", "extract", "-n", "2"} + to + Arguments{"--", program, "phases"});
    ASSERT_EQ(alone.code, 0) << alone.text();
    EXPECT_EQ(app::parse_json(alone.out, "standard output")["bytes"], bytes) << alone.text();
    EXPECT_NE(alone.err.find("truth"), std::string::npos) << alone.text();
  }
  EXPECT_TRUE(fs::exists(beside));
  expect_refused(run({"topo", "extract", "--", "./nothing-here"}), 2, "no program ./nothing-here");
  expect_refused(run({"topo", "extract", "-n", "1", "--", "true"}), 4, "no rank has written a trace");
}

TEST_F(TopoExtractTest, a_pattern_is_replayed_as_it_is_or_coarser) {
  const std::string from = write("cluster.json", record(3, app::traffic_json(ring())));
  const Outcome outcome = run({"topo", "replay", from, "--models", "threads", "--time", "1", "--json", path("r.json")});
  ASSERT_EQ(outcome.code, 0) << outcome.text();
  const Json topology = app::read_json(path("r.json"))["topology"];
  EXPECT_EQ(topology["graphs"][0]["digest"], topology::process_graph_of(ring()).digest());
  EXPECT_EQ(topology["graphs"][0]["name"], from);
  ASSERT_FALSE(topology["cells"].empty());
  EXPECT_EQ(topology["cells"][0]["bytes_total"], 214);
  const Outcome coarse = run({"topo", "replay", from, "--models", "threads", "--time", "1", "--coarsen", "2"});
  EXPECT_EQ(coarse.code, 0) << coarse.text();
  expect_refused(run({"topo", "replay", from, "--models", "threads", "--coarsen", "9"}), 2, "allowed: 2 to 3");
  const std::string bare = path("bare.bin");
  ASSERT_EQ(run({"topo", "gen", "chain", "--ranks", "2", "-o", bare}).code, 0);
  const Outcome usual = run({"topo", "replay", bare, "--models", "threads", "--time", "1", "--json", path("b.json")});
  ASSERT_EQ(usual.code, 0) << usual.text();
  EXPECT_EQ(app::read_json(path("b.json"))["topology"]["cells"][0]["bytes_total"], 16);
  const std::string one = write("one.json", record(1, Json()));
  expect_refused(run({"topo", "replay", one, "--models", "threads"}), 3, "no arcs: nothing to replay");
  expect_refused(run({"topo", "replay", path("none.bin")}), 3, "none.bin");
}

TEST_F(TopoExtractTest, under_a_launcher_other_ranks_than_the_graph_has_are_refused_with_a_way_out) {
  if (process_models().empty()) GTEST_SKIP() << "this build has no model of processes";
  const std::string from = write("cluster.json", record(3, app::traffic_json(ring())));
  expect_refused(run_on(2, {"topo", "replay", from, "--time", "1"}), 2, "--coarsen 2");
  const Outcome coarse =
      run_on(2, {"topo", "replay", from, "--coarsen", "2", "--kernels", "p2p.isend-irecv", "--time", "1"});
  EXPECT_EQ(coarse.code, 0) << coarse.text();
  EXPECT_NE(coarse.out.find("p2p.isend-irecv"), std::string::npos) << coarse.text();
}

}  // namespace
