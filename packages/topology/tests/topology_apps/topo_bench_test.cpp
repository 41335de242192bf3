/// The command topo bench in whole jobs: records, and faults, which must end a job with a message and not block it.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include "apps/topo/bench_faults.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/kernels/exchange.hpp"
#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

/// Runs on threads, and under the launcher where this build has models that need it.
Outcome topo_bench(bool processes, Arguments arguments) {
  arguments.insert(arguments.begin(), {"topo", "bench"});
  if (processes) return run_on(3, arguments);
  arguments.insert(arguments.end(), {"--ranks", "3"});
  return run(arguments);
}

std::vector<bool> kinds() {
  return process_models().empty() ? std::vector<bool>{false} : std::vector<bool>{false, true};
}
std::string notifying(bool processes) { return processes ? "p2p.isend-irecv" : "threads.copy-flag"; }

TEST(TopoBench, writes_a_record_and_a_table_of_every_cell) {
  const Folder folder;
  for (const bool processes : kinds()) {
    const std::string json = folder.file("t.json");
    const std::string csv = folder.file("t.csv");
    const Outcome o = topo_bench(processes, {"--graph", "chain,complete", "--models", processes ? "p2p" : "threads",
                                             "--sizes", "8,1K,1024", "--time", "1", "--json", json, "--csv", csv});
    ASSERT_EQ(o.code, 0) << o.text();
    EXPECT_NE(o.out.find("graph complete: 3 ranks, 6 arcs"), std::string::npos) << o.out;
    const Json t = read_json_file(json).at("topology");
    EXPECT_EQ(t.at("graphs").size(), 2U);
    const std::size_t kernels = processes ? 2 : 3;
    ASSERT_EQ(t.at("cells").size(), 2 * 2 * kernels);
    for (const auto& c : t.at("cells")) {
      EXPECT_LE(c["exchange"]["p50_low_ns"], c["exchange"]["p50_ns"]);
      EXPECT_GE(c["exchange"]["p50_high_ns"], c["exchange"]["p50_ns"]);
      std::int64_t n = 0;
      for (const auto& count : c["histogram"]["counts"]) n += count.get<std::int64_t>();
      EXPECT_EQ(n, c["iterations"].get<std::int64_t>());
      EXPECT_EQ(c["exchange"]["p99_ns"].is_null(), n < 1000);
      EXPECT_EQ(c["slowest_share"].size(), 3U);
      EXPECT_EQ(c["bytes_total"].get<int>(), c["bytes"].get<int>() * c["messages_total"].get<int>());
    }
    std::ifstream lines(csv);
    EXPECT_EQ(std::count(std::istreambuf_iterator<char>(lines), {}, '\n'),
              static_cast<std::ptrdiff_t>(1 + 4 * kernels));
  }
}

TEST(TopoBench, joins_launches) {
  const Folder folder;
  const std::string json = folder.file("t.json");
  const Outcome o = run({"topo", "bench", "--models", "threads", "--ranks", "2", "--graph", "chain", "--sizes", "8",
                         "--time", "0.3", "--launches", "3", "--json", json});
  ASSERT_EQ(o.code, 0) << o.text();
  for (const auto& c : read_json_file(json).at("topology").at("cells")) {
    EXPECT_EQ(c["launch_p50_ns"].size(), 3U);
    EXPECT_EQ(c["rounds"].back()["launch"], 2);
  }
}

TEST(TopoBench, names_rank_kernel_and_missing_peer_when_a_signal_is_dropped) {
  for (const bool processes : kinds()) {
    Outcome o;
    const auto told = [&o] { return says(o.err, "in the exchange; waits for rank 1"); };
    for (const char* seconds :
         {"1", "20", "60"}) {  // on a busy machine ranks may need longer than the first to get so far
      o = topo_bench(processes, {"--graph", "chain", "--kernels", notifying(processes), "--sizes", "8", "--time", "60",
                                 "--watchdog", seconds, "--inject", "drop:rank=1,iteration=20"});
      if (told()) break;
    }
    EXPECT_TRUE(told()) << o.text();
    EXPECT_EQ(o.code, 4) << o.text();
    EXPECT_NE(o.err.find("kernel " + notifying(processes) + " on graph chain, size 8"), std::string::npos) << o.err;
  }
}

TEST(TopoBench, a_stall_is_told_with_all_that_is_known_of_it) {
  using merganser::topology::Phase;
  const auto text = [](Phase phase) {
    return merganser::app::stall_text({3, phase, "p2p.isend-irecv", "ring", "8", 41, 12.34, {1, 2}});
  };
  EXPECT_EQ(text(Phase::iterate),
            "rank 3: no iteration has ended for 12.3 s: kernel p2p.isend-irecv on graph ring, size 8, iteration 41, "
            "in the exchange; waits for rank 1, 2");
  EXPECT_NE(text(Phase::start).find(", at its start; "), std::string::npos);
  EXPECT_NE(text(Phase::quiesce).find(", between rounds, quiescing; "), std::string::npos);
  EXPECT_NE(text(Phase::gather).find(", between rounds, gathering times; "), std::string::npos);
  EXPECT_EQ(merganser::app::stall_text({0, Phase::setup, "", "", "", 0, 31, {}}),
            "rank 0: no iteration has ended for 31.0 s, in setup");
}

/// Exchange that counts the notifications that it is told to omit, and can do nothing else.
class CountingExchange final : public merganser::kernels::Exchange {
 public:
  [[nodiscard]] const merganser::kernels::KernelInfo& info() const noexcept override {
    return merganser::kernels::kernels().front();
  }
  [[nodiscard]] const merganser::comm::Graph& graph() const noexcept override { return graph_; }
  void resize(std::span<const std::size_t>, std::span<const std::size_t>) override {}
  [[nodiscard]] std::span<std::byte> source(std::size_t, std::size_t) override { return {}; }
  [[nodiscard]] std::span<std::byte> landing(std::size_t, std::size_t) override { return {}; }
  void iterate(std::size_t) override {}
  void quiesce() override {}
  [[nodiscard]] merganser::comm::Counters per_iteration() const override { return {}; }
  [[nodiscard]] std::vector<int> missing() const override { return {}; }
  bool drop_next(std::size_t) override {
    ++dropped;
    return true;
  }
  int dropped = 0;

 private:
  merganser::comm::Graph graph_ = merganser::comm::Graph::symmetric({1});
};

TEST(TopoBench, several_faults_of_one_rank_all_take_effect) {
  CountingExchange exchange;
  const auto hooks = merganser::app::make_hooks(
      "drop:rank=0,iteration=7; slow:rank=0,us=2e4; drop:rank=0,iteration=3; late:rank=0,us=1e4; drop:rank=1;"
      "slow:rank=0,us=3e4; drop:rank=0,iteration=7; late:rank=0,us=2e4",
      0, 2);
  std::vector<int> dropped;
  for (int i = 0; i < 10; ++i) {
    const int before = exchange.dropped;
    hooks.before(exchange, i);
    if (exchange.dropped > before) dropped.push_back(i);
  }
  EXPECT_EQ(dropped, (std::vector<int>{3, 7, 8}));
  EXPECT_EQ(exchange.dropped, 3);
  const double begin = merganser::now();
  hooks.inside_after(exchange, 0);
  const double after = merganser::now();
  EXPECT_GE(after - begin, 0.05) << "both slow";
  hooks.inside_before(exchange, 0);
  EXPECT_GE(merganser::now() - after, 0.03) << "both late";
}

TEST(TopoBench, a_rank_of_two_kills_ends_at_the_earlier) {
  CountingExchange exchange;
  for (const char* faults :
       {"kill:rank=0,iteration=9; kill:rank=0,iteration=2", "kill:rank=0,iteration=2; kill:rank=0,iteration=9",
        "kill:rank=0,iteration=2; drop:rank=0,iteration=5"}) {
    const auto hooks = merganser::app::make_hooks(faults, 0, 1);
    hooks.before(exchange, 1);
    EXPECT_EXIT(hooks.before(exchange, 2), testing::KilledBySignal(SIGKILL), "") << faults;
  }
}

TEST(TopoBench, measures_the_time_that_a_slow_rank_costs) {
  const Folder folder;
  for (const bool processes : kinds()) {
    const std::string json = folder.file("t.json");
    Json c;
    double slow_us = 0;
    for (const double us : {3e3, 3e5}) {  // on a busy machine others lose more than the first at their turns
      slow_us = us;
      const Outcome o = topo_bench(
          processes, {"--graph", "complete", "--kernels", notifying(processes), "--sizes", "8", "--time", "1.5",
                      "--json", json, "--inject", "slow:rank=2,us=" + std::to_string(static_cast<int>(us))});
      ASSERT_EQ(o.code, 0) << o.text();
      c = read_json_file(json).at("topology").at("cells").at(0);
      if (c.at("slowest_share").at(2) > 0.5) break;
    }
    EXPECT_GT(c.at("slowest_share").at(2), 0.5) << c.at("slowest_share");
    EXPECT_GE(c["exchange"]["p50_ns"].get<double>(), 0.9e3 * slow_us);
  }
}

TEST(TopoBench, ends_when_a_rank_is_killed) {
  if (process_models().empty()) GTEST_SKIP() << "threads die with their process";
  const Outcome o = topo_bench(true, {"--graph", "chain", "--kernels", notifying(true), "--sizes", "8", "--time", "20",
                                      "--watchdog", "5", "--inject", "kill:rank=1,iteration=30"});
  EXPECT_NE(o.code, 0) << o.text();
  EXPECT_NE(o.code, kOverdue) << o.text();
}

TEST(TopoBench, refuses_what_it_cannot_do_in_one_line) {
  const auto refused = [](const Arguments& more, const std::string& part) {
    Arguments all = Arguments{"topo", "bench"} + more;
    if (more[0] != "--models") all.insert(all.end(), {"--models", "threads"});
    if (more[0] != "--ranks") all.insert(all.end(), {"--ranks", "2"});
    const Outcome o = run(all);
    EXPECT_EQ(o.code, 2) << o.text();
    EXPECT_NE(o.err.find(part), std::string::npos) << o.err;
  };
  refused({"--sizes", "8,x"}, "--sizes: \"x\"");
  refused({"--sizes", "weights", "--graph", "chain"}, "have no weights");
  refused({"--kernels", "threads.none"}, "threads.none");
  refused({"--models", "none"}, "--models: \"none\"");
  refused({"--graph", "nothing"}, "nothing");
  refused({"--inject", "drop:rank=7,iteration=1"}, "allowed: 0 to 1");
  refused({"--inject", "drop:us=7"}, "--inject");
  refused({"--ranks", "1"}, "1 rank has nobody to talk to");
}

TEST(TopoBench, a_run_that_could_measure_nothing_fails) {
  const Outcome o =
      run({"topo", "bench", "--models", "threads", "--ranks", "2", "--graph", "chain", "--sizes", "900G"});
  EXPECT_EQ(o.code, 3) << o.text();
  EXPECT_NE(o.err.find("nothing could be measured: needs"), std::string::npos) << o.err;
}

TEST(TopoTail, misuse_is_one_line_of_one_process) {
  const std::vector<std::pair<Arguments, std::string>> cases{
      {{"--kernels="}, "--kernels: none"},
      {{"--sizes="}, "--sizes: none"},
      {{"--aggressor", "chain"}, "a graph and bytes"},
      {{"--aggressor-ranks", "0"}, "--aggressor-ranks: 1 of 4 ranks; allowed: two"},
      {{"--aggressor-ranks", "1,4"}, "--aggressor-ranks: 4; allowed: 0 to 3"},
      {{"--aggressor-ranks", "1,1"}, "--aggressor-ranks: 1 twice"}};
  for (const auto& [more, text] : cases) {
    Arguments command{"topo", "tail", "--time", "1"};
    command.insert(command.end(), more.begin(), more.end());
    std::vector<Outcome> outcomes{run(command)};
    if (!process_models().empty()) outcomes.push_back(run_on(4, command));
    for (const Outcome& o : outcomes) {
      EXPECT_EQ(o.code, 2) << o.text();
      EXPECT_NE(o.err.find(text), std::string::npos) << o.text();
      EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.text();
    }
  }
}

TEST(TopoTail, a_number_of_ranks_that_is_too_small_is_told_with_the_option_and_what_it_allows_works) {
  for (const std::string kernel : {"threads.copy-flag", "p2p.isend-irecv"}) {
    if (kernel[0] == 'p' && process_models().empty()) continue;
    const auto tail = [&](const std::string& ranks) {
      return run({"topo", "tail", "--kernels", kernel, "--sizes", "8", "--time", "0.3", "--ranks", ranks});
    };
    for (const std::string ranks : {"1", "2", "3"}) {
      const Outcome o = tail(ranks);
      EXPECT_EQ(o.code, 2) << o.text();
      EXPECT_NE(o.err.find("--ranks " + ranks + "; allowed: 4 and more"), std::string::npos) << o.text();
      EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.text();
    }
    const Outcome four = tail("4");
    EXPECT_EQ(four.code, 0) << four.text();
  }
}

TEST(TopoTail, tells_how_much_longer_victims_take) {
  const Folder folder;
  for (const bool processes : kinds()) {
    const std::string json = folder.file("t.json");
    Arguments words{"topo", "tail", "--time", "1", "--sizes", "8", "--json", json, "--kernels", notifying(processes)};
    if (!processes) words.insert(words.end(), {"--ranks", "4"});
    const Outcome o = processes ? run_on(4, words) : run(words);
    ASSERT_EQ(o.code, 0) << o.text();
    const Json cell = read_json_file(json).at("tail").at("cells").at(0);
    EXPECT_FALSE(cell.contains("unusable")) << cell;
    EXPECT_GT(cell["idle_iterations"].get<int>(), 0);
    EXPECT_EQ(cell["ranks"], (std::vector<int>{0, 2}));
  }
}

}  // namespace
