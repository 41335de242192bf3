/// Exchange kernels of every model: bytes delivered over many graphs, counters, lost notifications, synchronised start, errors.
#include "merganser/kernels/exchange.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser::comm;
using namespace merganser::kernels;
using namespace merganser::test;
using merganser::UsageError;

/// Tests with a control transport of every model, since kernels of all models can be made with any.
class ControlTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ControlTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

/// Returns the setups of one model: threads, or the first model of processes.
std::vector<Setup> one_model_setups() {
  auto all = setups();
  std::erase_if(all, [first = all.front().backend](const Setup& setup) { return setup.backend != first; });
  return all;
}
class ExchangeTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ExchangeTest, testing::ValuesIn(one_model_setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Returns the kernels that can run on the ranks of t (threads or processes), without the one that not every OpenSHMEM supports.
std::vector<KernelInfo> usable(Transport& t) {
  std::vector<KernelInfo> infos;
  for (const auto& info : merganser::kernels::kernels()) {
    const bool processes = info.model != "threads";
    if (processes == t.capabilities().processes && info.name != "shmem.put-signal-native") infos.push_back(info);
  }
  return infos;
}

Graph chain(const Transport& t) {
  std::vector<int> neighbours;
  if (t.rank() > 0) neighbours.push_back(t.rank() - 1);
  if (t.rank() + 1 < t.size()) neighbours.push_back(t.rank() + 1);
  return Graph::symmetric(neighbours);
}

/// Returns the bytes of an arc, by its ends: zero, odd, and longer than libraries send eagerly are among them.
std::size_t arc_bytes(int from, int to, unsigned salt) {
  static constexpr std::size_t sizes[] = {1, 0, 7, 64, 65, 1023, 4096, 20001};
  return sizes[(static_cast<unsigned>(from) * 5U + static_cast<unsigned>(to) * 3U + salt) % std::size(sizes)];
}

struct Sizes {
  std::vector<std::size_t> out;
  std::vector<std::size_t> in;
};
Sizes arc_sizes(const Transport& t, const Graph& graph, unsigned salt) {
  Sizes sizes;
  for (const int to : graph.out) sizes.out.push_back(arc_bytes(t.rank(), to, salt));
  for (const int from : graph.in) sizes.in.push_back(arc_bytes(from, t.rank(), salt));
  return sizes;
}
Sizes equal_sizes(const Graph& graph, std::size_t bytes) {
  return {std::vector(graph.out.size(), bytes), std::vector(graph.in.size(), bytes)};
}
std::byte test_byte(int from, int to, unsigned round, std::size_t at) {
  return static_cast<std::byte>(static_cast<unsigned>(from) * 17U + static_cast<unsigned>(to) * 59U + round * 101U +
                                static_cast<unsigned>(at) * 7U + static_cast<unsigned>(at >> 8));
}

void fill(const Transport& t, Exchange& exchange, std::size_t buffer, unsigned round) {
  const auto& out = exchange.graph().out;
  for (std::size_t arc = 0; arc < out.size(); ++arc) {
    const auto source = exchange.source(arc, buffer);
    for (std::size_t at = 0; at < source.size(); ++at) source[at] = test_byte(t.rank(), out[arc], round, at);
  }
}

/// Returns the number of bytes, in all landing zones, that differ from what the senders wrote.
std::size_t wrong_bytes(const Transport& t, Exchange& exchange, std::size_t buffer, unsigned round) {
  const auto& in = exchange.graph().in;
  std::size_t wrong = 0;
  for (std::size_t arc = 0; arc < in.size(); ++arc) {
    const auto landing = exchange.landing(arc, buffer);
    for (std::size_t at = 0; at < landing.size(); ++at) wrong += landing[at] != test_byte(in[arc], t.rank(), round, at);
  }
  return wrong;
}

void expect_round(Transport& t, Exchange& exchange, std::size_t buffer, unsigned round) {
  fill(t, exchange, buffer, round);
  exchange.quiesce();
  exchange.iterate(buffer);
  exchange.quiesce();
  EXPECT_EQ(wrong_bytes(t, exchange, buffer, round), 0U)
      << exchange.info().name << ", round " << round << ", buffer " << buffer;
}

TEST_P(ExchangeTest, every_kernel_delivers_every_byte_over_every_graph) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graphs[] = {{}, chain(t), complete(t), funnel(t), ring(t), random_graph(t, 5)};
    for (const auto& info : usable(t)) {
      unsigned salt = 0;
      for (const auto& graph : graphs) {
        const auto [out, in] = arc_sizes(t, graph, salt++);
        const auto exchange = make_exchange(t, info.name, {graph, out, in, 2});
        EXPECT_EQ(exchange->info().name, info.name);
        for (unsigned round = 0; round < 4; ++round) expect_round(t, *exchange, round % 2, round);
      }
    }
  });
}

TEST_P(ExchangeTest, iterations_may_follow_each_other_without_quiescing) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = random_graph(t, 9);
    const auto [out, in] = arc_sizes(t, graph, 3);
    for (const auto& info : usable(t)) {
      const auto exchange = make_exchange(t, info.name, {graph, out, in, 3});
      for (std::size_t buffer = 0; buffer < 3; ++buffer) fill(t, *exchange, buffer, static_cast<unsigned>(buffer));
      exchange->quiesce();
      for (std::size_t i = 0; i < 60; ++i) exchange->iterate(i % 3);
      exchange->quiesce();
      for (std::size_t buffer = 0; buffer < 3; ++buffer) {
        EXPECT_EQ(wrong_bytes(t, *exchange, buffer, static_cast<unsigned>(buffer)), 0U) << info.name;
      }
    }
  });
}

TEST_P(ExchangeTest, what_a_notified_kernel_delivers_is_there_without_quiescing) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = complete(t);
    const auto [out, in] = arc_sizes(t, graph, 1);
    for (const auto& info : usable(t)) {
      if (info.completion != Completion::notified && info.completion != Completion::global) continue;
      const auto exchange = make_exchange(t, info.name, {graph, out, in, 1});
      for (unsigned round = 0; round < 5; ++round) {
        fill(t, *exchange, 0, round);
        exchange->quiesce();
        exchange->iterate(0);
        EXPECT_EQ(wrong_bytes(t, *exchange, 0, round), 0U) << info.name;
        exchange->quiesce();
      }
    }
  });
}

TEST_P(ControlTest, kernels_may_be_interleaved_and_freed_in_any_order) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto infos = usable(t);
    std::vector<std::unique_ptr<Exchange>> exchanges;
    const Graph graph = chain(t);
    const auto [out, in] = arc_sizes(t, graph, 2);
    const auto start = make_start(t);
    for (const auto& info : infos) exchanges.push_back(make_exchange(t, info.name, {graph, out, in, 1}));
    for (const auto& exchange : exchanges) {
      fill(t, *exchange, 0, 1);
      exchange->quiesce();
    }
    for (std::size_t i = 0; i < 5 * exchanges.size(); ++i) {
      start->wait();
      exchanges[i * 7 % exchanges.size()]->iterate(0);
    }
    for (const auto& exchange : exchanges) expect_round(t, *exchange, 0, 2);
    // Each rank destroys them in another order; the next make_exchange() frees those that all ranks have destroyed.
    for (std::size_t i = 0; i < exchanges.size(); ++i) {
      exchanges[(i + static_cast<std::size_t>(t.rank())) % exchanges.size()].reset();
      if (i == exchanges.size() / 2) expect_round(t, *make_exchange(t, infos.front().name, {graph, out, in, 1}), 0, 3);
    }
    for (const auto& info : infos) expect_round(t, *make_exchange(t, info.name, {graph, out, in, 1}), 0, 4);
  });
}

TEST_P(ExchangeTest, a_smaller_size_leaves_the_bytes_behind_it_alone) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = complete(t);
    const Sizes most = equal_sizes(graph, 3000);
    const Sizes less = equal_sizes(graph, 1001);
    for (const auto& info : usable(t)) {
      const auto exchange = make_exchange(t, info.name, {graph, most.out, most.in, 2});
      expect_round(t, *exchange, 0, 0);
      expect_round(t, *exchange, 1, 1);
      exchange->resize(less.out, less.in);
      expect_round(t, *exchange, 1, 2);
      exchange->quiesce();
      exchange->resize(most.out, most.in);
      std::size_t wrong = 0;
      for (std::size_t arc = 0; arc < graph.in.size(); ++arc) {
        const auto other = exchange->landing(arc, 0);
        const auto landing = exchange->landing(arc, 1);
        for (std::size_t at = 0; at < landing.size(); ++at) {
          wrong += landing[at] != test_byte(graph.in[arc], t.rank(), at < 1001 ? 2 : 1, at);
          wrong += other[at] != test_byte(graph.in[arc], t.rank(), 0, at);
        }
      }
      EXPECT_EQ(wrong, 0U) << info.name;
      expect_round(t, *exchange, 0, 3);
    }
  });
}

TEST_P(ExchangeTest, what_an_iteration_does_is_counted) {
  on_ranks(GetParam(), [](Transport& t) {
    const Graph graph = complete(t);
    const auto [out, in] = equal_sizes(graph, 100);
    const auto others = t.size() - 1;  // arcs to oneself are not counted
    for (const auto& info : usable(t)) {
      const Counters counters = make_exchange(t, info.name, {graph, out, in, 1})->per_iteration();
      EXPECT_EQ(counters.bytes, 100 * others) << info.name;
      EXPECT_EQ(counters.gets, info.pulls ? others : 0) << info.name;
      EXPECT_EQ(counters.collectives > 0, info.completion == Completion::global) << info.name;
      if (info.name == "rma.put-notify" || info.name == "shmem.put-signal") {
        EXPECT_EQ(counters.puts, 2 * others);
      }
      if (info.name == "rma.lock") {
        EXPECT_EQ(counters.epochs, others);
      }
      if (info.model == "p2p") {
        EXPECT_EQ(counters.messages, others);
      }
    }
  });
}

/// Signal from rank 0 to all others that does not use the exchange under test: a file that appears. Its constructor is collective.
class SeenFile {
 public:
  explicit SeenFile(Transport& t) {
    static std::atomic<int> made{0};
    const int pid = static_cast<int>(::getpid());
    const auto first = all_gather_value(t, std::array<int, 2>{pid, t.rank() == 0 ? made++ : 0})[0];
    path_ = std::filesystem::temp_directory_path() /
            ("merganser-seen-" + std::to_string(first[0]) + "-" + std::to_string(first[1]));
  }
  void signal() const { std::ofstream(path_).put('1'); }
  void await() const {
    while (!std::filesystem::exists(path_)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  void remove() const { std::filesystem::remove(path_); }

 private:
  std::filesystem::path path_;
};

/// Returns true if missing(), called by another thread while iterate() waits, returns `wanted` within 20 s. Then signals the other
/// ranks.
bool is_seen_missing(Exchange& exchange, const std::vector<int>& wanted, const SeenFile& file) {
  bool seen = false;
  std::thread watchdog([&] {
    for (int ms = 0; !seen && ms < 20'000; ++ms) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      seen = exchange.missing() == wanted;
    }
    file.signal();
  });
  exchange.iterate(0);
  watchdog.join();
  return seen;
}

// All ranks send to rank 0. Every other rank omits a notification and sends the next one later, with which rank 0 continues.
TEST_P(ExchangeTest, a_lost_notification_shows_who_is_missing) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 2) return;
    const Graph graph = funnel(t);
    const auto [out, in] = equal_sizes(graph, 8);
    for (const auto& info : usable(t)) {
      const auto exchange = make_exchange(t, info.name, {graph, out, in, 1});
      EXPECT_TRUE(exchange->missing().empty()) << info.name;
      exchange->quiesce();
      bool drops = true;
      if (t.rank() > 0) drops = exchange->drop_next(0);
      if (t.all_reduce(drops ? 1 : 0, Op::min) == 0) {
        EXPECT_TRUE(info.completion != Completion::notified || info.model == "neighborhood" || info.name == "rma.pscw")
            << info.name;
        continue;
      }
      EXPECT_EQ(info.completion, Completion::notified) << info.name;
      const SeenFile file(t);
      if (t.rank() == 0) {
        EXPECT_TRUE(is_seen_missing(*exchange, graph.in, file)) << info.name;
      } else {
        exchange->iterate(0);
        file.await();
        exchange->iterate(0);
      }
      EXPECT_TRUE(exchange->missing().empty()) << info.name;
      exchange->quiesce();
      if (t.rank() == 0) file.remove();
    }
  });
}

TEST_P(ExchangeTest, only_the_rank_whose_notification_is_lost_is_missing) {
  on_ranks(GetParam(), [](Transport& t) {
    if (t.size() < 3) return;
    const Graph graph = funnel(t);
    const auto [out, in] = equal_sizes(graph, 8);
    const int loser = t.size() - 1;
    for (const auto& info : usable(t)) {
      if (info.completion != Completion::notified || info.model == "neighborhood" || info.name == "rma.pscw") continue;
      const auto exchange = make_exchange(t, info.name, {graph, out, in, 1});
      exchange->quiesce();
      const SeenFile file(t);
      if (t.rank() == 0) {
        EXPECT_TRUE(is_seen_missing(*exchange, {loser}, file)) << info.name;
      } else {
        if (t.rank() == loser) {
          EXPECT_TRUE(exchange->drop_next(0));
        }
        exchange->iterate(0);
        if (t.rank() == loser) {
          file.await();
          exchange->iterate(0);
        }
      }
      exchange->quiesce();
      if (t.rank() == 0) file.remove();
    }
  });
}

TEST_P(ControlTest, nobody_starts_before_the_last_one) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto start = make_start(t);
    const auto other = make_start(t);
    EXPECT_EQ(start->waits_for(), -1);
    for (int i = 0; i < 50; ++i) (i % 3 == 0 ? other : start)->wait();
    if (t.size() < 2) return;
    t.barrier();
    if (t.rank() == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      start->wait();
    } else {
      const auto before = std::chrono::steady_clock::now();
      start->wait();
      EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(20));
    }
    EXPECT_EQ(start->waits_for(), -1);
  });
}

TEST_P(ControlTest, what_works_here_is_found_by_trying) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto unusable = probe_kernels(t);
    std::size_t of_this_kind = 0;
    for (const auto& one : unusable) {
      EXPECT_FALSE(one.reason.empty());
      EXPECT_NO_THROW((void)kernel(one.kernel));
      const bool processes = kernel(one.kernel).model != "threads";
      if (processes == t.capabilities().processes) ++of_this_kind;
      if (processes == t.capabilities().processes) {
        EXPECT_EQ(one.kernel, "shmem.put-signal-native") << one.reason;
      }
    }
    EXPECT_LE(of_this_kind, 1U);
  });
}

TEST_P(ControlTest, kernels_work_on_some_of_the_ranks) {
  on_ranks(GetParam(), [](Transport& t) {
    if (!t.capabilities().sub_transports) return;
    const auto part = t.subset(t.size() == 1 || t.rank() > 0);
    if (!part) return t.barrier();
    const Graph graph = complete(*part);
    const auto sizes = arc_sizes(*part, graph, 4);
    const ExchangeSpec spec{graph, sizes.out, sizes.in, 1};
    const auto try_out = [&](std::string_view model, const auto& action) {
      const bool possible = model != "shmem" || part->size() == t.size();
      EXPECT_EQ(refusal<UsageError>(action) == "nothing was thrown", possible) << model;
    };
    try_out(t.name(), [&] { make_start(*part)->wait(); });
    for (const auto& info : usable(*part)) {
      try_out(info.model, [&] { expect_round(*part, *make_exchange(*part, info.name, spec), 0, 1); });
    }
    t.barrier();
  });
}

TEST_P(ExchangeTest, every_rank_refuses_what_does_not_fit) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto infos = usable(t);
    const std::string name(infos.front().name);
    const auto refused = [&](std::string_view kernel, const ExchangeSpec& spec) {
      return refusal<UsageError>([&] { (void)make_exchange(t, kernel, spec); });
    };
    const auto contains = [](const std::string& text, const std::string& part) {
      EXPECT_NE(text.find(part), std::string::npos) << text;
    };
    const Graph graph = ring(t);
    contains(refused("p2p.telepathy", {graph, {1}, {1}, 1}), "known: threads.copy");
    for (const auto& info : merganser::kernels::kernels()) {
      const bool processes = t.capabilities().processes;
      if ((info.model != "threads") == processes) continue;
      contains(refused(info.name, {graph, {1}, {1}, 1}), processes ? "ranks are processes" : "ranks are threads");
    }
    contains(refused(name, {graph, {1, 2}, {1}, 1}), "sizes for 2 out-arcs; the graph has 1");
    contains(refused(name, {graph, {1}, {1}, 0}), "0 buffers; allowed: 1 to");
    contains(refused(name, {{{t.size()}, {}}, {1}, {}, 1}), "out-neighbour " + std::to_string(t.size()));
    contains(refused(name, {graph, {std::size_t{1} << 63}, {std::size_t{1} << 63}, 1}), "allowed: up to");
    contains(refused(name, {graph, {8}, {t.rank() == 0 ? 9U : 8U}, 1}), "sends 8 bytes, but 9 are expected here");
    contains(refused(name, {{graph.out, {}}, {8}, {}, 1}), "-neighbour here");
    if (t.size() > 1) {
      const std::string other(infos.back().name);
      contains(refused(t.rank() == 0 ? name : other, {graph, {8}, {8}, 1}), "rank 0 " + name);
    }
    for (const auto& info : infos) {
      if (info.model == "threads" || info.model == "shmem") continue;
      contains(refused(info.name, {graph, {std::size_t{1} << 31}, {std::size_t{1} << 31}, 1}),
               "2147483648 bytes on the out-arc of rank");
    }
    const auto exchange = make_exchange(t, name, {graph, {8}, {8}, 1});
    const auto local = [&](const std::function<void()>& use) { return refusal<UsageError>(use); };
    const std::size_t nine[] = {9};
    contains(local([&] { exchange->resize(nine, nine); }), "resize to 9 bytes");
    contains(local([&] { exchange->resize({}, {}); }), "resize of 0 out-arcs; there are 1");
    contains(local([&] { exchange->iterate(1); }), "buffer 1; allowed: 0 to 0");
    contains(local([&] { (void)exchange->source(1, 0); }), "out-arc 1; there are 1");
    contains(local([&] { (void)exchange->landing(0, 2); }), "buffer 2; allowed: 0 to 0");
    expect_round(t, *exchange, 0, 7);
  });
}

TEST_P(ExchangeTest, a_heap_too_small_is_refused_with_the_size_that_is_needed) {
  on_ranks(GetParam(), [](Transport& t) {
    constexpr std::size_t kTera = std::size_t{1} << 40;
    for (const auto& info : usable(t)) {
      if (info.model != "shmem") continue;
      const ExchangeSpec spec{ring(t), {kTera}, {kTera}, 1};
      const auto text = refusal<merganser::CommError>([&] { (void)make_exchange(t, info.name, spec); });
      EXPECT_NE(text.find("no room for 1099511627"), std::string::npos) << text;
      EXPECT_NE(text.find(" to at least "), std::string::npos) << text;
    }
  });
}

}  // namespace
