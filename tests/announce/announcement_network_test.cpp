/// AnnouncementNetwork: delivery of random plans against a serial simulation, on every model and with delayed ranks; costs, memory,
/// stalls.
#include "merganser/announce/announcement_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <tuple>

#include "merganser/base/error.hpp"
#include "tests/support/ranks.hpp"

namespace {

using merganser::CommError;
using merganser::UsageError;
using merganser::comm::Transport;
using namespace merganser::announce;
using namespace merganser::test;

/// Schedule of announcements of all ranks, the same on every rank, so that each can compute what must be delivered to it.
struct Plan {
  struct Entry {
    int origin;
    std::int64_t step;  // number of steps before the announcement
    Delivery delivery;
    Topic topic;
    std::vector<std::byte> bytes;
  };
  std::vector<Entry> entries;  // by (step, origin, order of making)

  /// Draws a schedule, with bursts in some steps.
  static Plan random(int ranks, int steps, unsigned seed) {
    std::mt19937 numbers(seed);
    Plan plan;
    const int per_step = std::max(1, 6 / ranks);
    for (int step = 0; step < steps; ++step) {
      const bool burst = numbers() % 16 == 0;
      for (int origin = 0; origin < ranks; ++origin) {
        const auto odds = burst ? 2U : 4U + static_cast<unsigned>(ranks);
        if (numbers() % odds != 0) continue;
        for (unsigned i = 0; i <= numbers() % static_cast<unsigned>(burst ? 3 * per_step : per_step); ++i) {
          Entry e{origin,
                  step,
                  numbers() % 2 == 0 ? Delivery::same_step : Delivery::immediate,
                  static_cast<Topic>(numbers() % 3),
                  {}};
          e.bytes.resize(numbers() % 5 == 0 ? 0 : numbers() % 60);
          for (auto& b : e.bytes) b = static_cast<std::byte>(numbers());
          plan.entries.push_back(e);
        }
      }
    }
    return plan;
  }
};

/// Delivered announcement, ordered as deliveries must be.
struct Got {
  std::int64_t at;
  std::int64_t announced;
  int origin;
  std::uint64_t counter;
  Topic topic;
  Delivery delivery;
  std::string bytes;
  friend auto operator<=>(const Got&, const Got&) = default;
};

std::string to_string(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Computes by a serial breadth-first search, announcement by announcement, what must be delivered on a rank, in order.
std::vector<Got> expected(const Network& network, const Plan& plan, int rank, int ttl, std::int64_t steps) {
  std::vector<Got> all;
  std::vector<std::uint64_t> counters(static_cast<std::size_t>(network.vertices()), 0);
  std::map<int, int> hops;
  for (const auto& e : plan.entries) {
    auto& counter = counters[static_cast<std::size_t>(e.origin)];
    if (!hops.contains(e.origin)) {
      std::vector<int> at{e.origin};
      std::vector<int> seen(counters.size(), 0);
      seen[static_cast<std::size_t>(e.origin)] = 1;
      int h = 0;
      for (; seen[static_cast<std::size_t>(rank)] == 0; ++h) {
        std::vector<int> next;
        for (const int v : at) {
          for (const int w : network.out(v)) {
            if (seen[static_cast<std::size_t>(w)]++ == 0) next.push_back(w);
          }
        }
        at = next;
      }
      hops[e.origin] = h;
    }
    const std::int64_t at = e.step + (e.delivery == Delivery::same_step ? ttl : std::max(1, hops[e.origin]));
    if (at <= steps) all.push_back({at, e.step, e.origin, counter, e.topic, e.delivery, to_string(e.bytes)});
    ++counter;
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Runs a schedule on this rank, with random sleeps if `naps`, and compares the deliveries with expected(). Called by every rank.
void run_plan(Transport& t, const Network& network, const Plan& plan, int steps, bool naps) {
  AnnouncementNetwork announcements(t, network);
  const int ttl = announcements.time_to_live();
  const std::int64_t last = steps + ttl;
  std::mt19937 numbers(static_cast<unsigned>(t.rank()) * 7919 + 1);
  std::vector<Got> got;
  std::vector<Got> by_topic;
  announcements.subscribe(1, [&](const Announcement& a) {
    by_topic.push_back(
        {announcements.now(), a.announced, a.id.origin, a.id.counter, a.topic, a.delivery, to_string(a.bytes)});
  });
  auto next = plan.entries.begin();
  while (announcements.now() < last) {
    for (; next != plan.entries.end() && next->step == announcements.now(); ++next) {
      if (next->origin == t.rank()) announcements.announce(next->topic, next->bytes, next->delivery);
    }
    if (naps && numbers() % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(numbers() % 50));
    for (const Announcement& a : announcements.step()) {
      got.push_back(
          {announcements.now(), a.announced, a.id.origin, a.id.counter, a.topic, a.delivery, to_string(a.bytes)});
    }
  }
  const auto want = expected(network, plan, t.rank(), ttl, last);
  ASSERT_EQ(got.size(), want.size()) << network.describe();
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(got[i] == want[i]) << network.describe() << ": number " << i << " at step " << got[i].at << " from "
                                   << got[i].origin << ", expected at " << want[i].at << " from " << want[i].origin;
  }
  std::vector<Got> of_topic;
  std::copy_if(got.begin(), got.end(), std::back_inserter(of_topic), [](const Got& g) { return g.topic == 1; });
  EXPECT_TRUE(by_topic == of_topic);
  EXPECT_EQ(announcements.statistics().held_bytes, 0);
  announcements.drain();
  EXPECT_EQ(announcements.statistics().held, 0);
}

class AnnouncementNetworkTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, AnnouncementNetworkTest,
                         testing::ValuesIn(setups({""}, {"chaos:1", "checked,chaos:2"})),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(AnnouncementNetworkTest, every_announcement_comes_once_everywhere_at_the_promised_step) {
  on_ranks(GetParam(), [](Transport& t) {
    for (const auto name : network_names()) {
      for (int n = 2; n <= 4; ++n) {
        const auto network = make_network(name, t.size(), n);
        run_plan(t, *network, Plan::random(t.size(), 40, static_cast<unsigned>(n)), 40, false);
      }
    }
  });
}

TEST_P(AnnouncementNetworkTest, sizes_from_nothing_to_much_need_no_agreement) {
  on_ranks(GetParam(), [](Transport& t) {
    AnnouncementNetwork network(t, ManhattanStreetNetwork(t.size(), 2),
                                {.max_bytes = 300'000, .max_step_bytes = 600'000});
    const std::size_t sizes[] = {0, 1, 300'000, 7, 65'537};
    std::size_t came = 0;
    for (std::size_t i = 0; i < std::size(sizes); ++i) {
      const std::vector<std::byte> bytes(sizes[i], static_cast<std::byte>(t.rank() + 1));
      network.announce(9, bytes);
      for (const auto& a : network.step()) came += a.bytes.size();
    }
    network.drain([&](const Announcement& a) {
      for (const auto b : a.bytes) ASSERT_EQ(b, static_cast<std::byte>(a.id.origin + 1));
      came += a.bytes.size();
    });
    EXPECT_EQ(came, 365'545U * static_cast<std::size_t>(t.size()));
  });
}

TEST_P(AnnouncementNetworkTest, a_step_makes_no_collective_call_and_one_message_per_arc) {
  on_ranks(GetParam(), [](Transport& t) {
    AnnouncementNetwork network(t, ManhattanStreetNetwork(t.size(), 3));
    const auto before = t.counters();
    constexpr int kSteps = 25;
    for (int i = 0; i < kSteps; ++i) network.step();
    const auto quiet = t.counters() - before;
    EXPECT_EQ(quiet.collectives, 0);
    EXPECT_EQ(quiet.messages, 0);  // none that is not empty
    EXPECT_EQ(quiet.waves, kSteps);
    const auto& s = network.statistics();
    EXPECT_EQ(s.messages, kSteps * static_cast<std::int64_t>(network.graph().out.size()));
    EXPECT_EQ(s.empty, s.messages);
    EXPECT_EQ(s.bytes, 0);
  });
}

TEST_P(AnnouncementNetworkTest, misuse_is_refused_and_leaves_the_network_usable) {
  on_ranks(GetParam(), [](Transport& t) {
    EXPECT_THROW(AnnouncementNetwork(t, ManhattanStreetNetwork(t.size() + 1, 2)), UsageError);
    EXPECT_THROW(AnnouncementNetwork(t, ManhattanStreetNetwork(t.size(), 2), {.max_bytes = 0}), UsageError);
    EXPECT_THROW(AnnouncementNetwork(t, ManhattanStreetNetwork(t.size(), 2), {.max_bytes = 9, .max_step_bytes = 8}),
                 UsageError);
    if (t.size() > 2) {  // every rank is told if one differs
      EXPECT_THROW(AnnouncementNetwork(t, ManhattanStreetNetwork(t.size(), t.rank() == 1 ? 3 : 2)), UsageError);
    }
    AnnouncementNetwork network(t, ManhattanStreetNetwork(t.size(), 2), {.max_bytes = 8, .max_step_bytes = 20});
    const std::vector<std::byte> nine(9);
    const std::vector<std::byte> eight(8);
    EXPECT_THROW(network.announce(1, nine), UsageError);
    network.announce(1, eight);
    network.announce(1, eight);
    EXPECT_THROW(network.announce(1, eight), UsageError);
    network.step();
    const AnnouncementId id = network.announce(1, eight);
    EXPECT_EQ(id, (AnnouncementId{t.rank(), 2}));
    network.close();
    EXPECT_THROW(network.announce(1, {}), UsageError);
    int came = 0;
    network.drain([&](const Announcement& a) {
      ++came;
      EXPECT_THROW((void)a.as<int>(), CommError);
      EXPECT_EQ(a.as<std::int64_t>(), 0);
    });
    // If the time to live is one step, the first step has delivered the first two announcements already.
    EXPECT_EQ(came, t.size() * (network.time_to_live() == 1 ? 1 : 3));
  });
}

TEST_P(AnnouncementNetworkTest, subscribers_may_announce_and_leave) {
  on_ranks(GetParam(), [](Transport& t) {
    AnnouncementNetwork network(t, ManhattanStreetNetwork(t.size(), 2));
    std::vector<std::int64_t> questions;
    std::vector<int> answers;
    std::size_t subscription = 0;
    subscription = network.subscribe(1, [&](const Announcement& a) {
      questions.push_back(network.now());
      network.announce_value(2, 10 * a.as<int>() + t.rank());
      network.unsubscribe(subscription);
    });
    network.subscribe(2, [&](const Announcement& a) { answers.push_back(a.as<int>()); });
    if (t.rank() == 0) network.announce_value(1, 7);
    network.step();
    if (t.rank() == 0) network.announce_value(1, 8);  // nobody listens any more when it comes
    network.drain();
    network.drain();
    EXPECT_EQ(questions, std::vector<std::int64_t>{network.time_to_live()});
    std::vector<int> want;
    for (int r = 0; r < t.size(); ++r) want.push_back(70 + r);
    EXPECT_EQ(answers, want);
  });
}

/// Runs the body on ranks that are threads, any number of them.
void on_threads(int ranks, const std::string& decorators, const std::function<void(Transport&)>& body) {
  on_ranks({"threads", ranks, decorators}, body);
}
bool launched() { return merganser::comm::launched(); }

TEST(AnnouncementThreadsTest, every_number_of_ranks_to_64_and_dimensions_2_to_6_with_naps_and_bursts) {
  if (launched()) GTEST_SKIP() << "threads need no launcher";
  for (int ranks = 1; ranks <= 64; ranks += ranks < 20 ? 1 : 11) {
    on_threads(ranks, "", [ranks](Transport& t) {
      const int n = 2 + ranks % 5;
      run_plan(t, ManhattanStreetNetwork(ranks, n), Plan::random(ranks, 12, static_cast<unsigned>(ranks)), 12, true);
    });
  }
}

TEST(AnnouncementThreadsTest, many_seeds_of_chaos_change_nothing) {
  if (launched()) GTEST_SKIP() << "threads need no launcher";
  const char* wanted = std::getenv("MERGANSER_TEST_SEEDS");  // 1,000 take some minutes
  const int seeds = wanted != nullptr ? std::atoi(wanted) : 30;
  for (int seed = 0; seed < seeds; ++seed) {
    const int ranks = 1 + seed * 5 % 23;
    on_threads(ranks, "chaos:" + std::to_string(seed), [&](Transport& t) {
      const ManhattanStreetNetwork network(ranks, 2 + seed % 5);
      run_plan(t, network, Plan::random(ranks, 10, static_cast<unsigned>(seed)), 10, true);
    });
    if (testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed;
      break;
    }
  }
}

TEST(AnnouncementThreadsTest, messages_of_a_step_do_not_depend_on_the_number_of_ranks) {
  if (launched()) GTEST_SKIP() << "threads need no launcher";
  // A rank sends one message per out-arc in a step: n, and fewer only if a line of the box has one vertex.
  for (int ranks = 4; ranks <= 4096; ++ranks) {
    for (const int n : {2, 3, 5}) {
      const ManhattanStreetNetwork network(ranks, n);
      for (int v = 0; v < ranks; v += std::max(1, ranks / 7))
        ASSERT_LE(network.out(v).size(), static_cast<std::size_t>(n));
      if (ranks >= 1 << n) {
        ASSERT_EQ(network.out(0).size(), static_cast<std::size_t>(n)) << network.describe();
      }
    }
  }
  for (const int ranks : {4, 16, 256}) {
    std::atomic<std::int64_t> most{0};
    on_threads(ranks, "", [&](Transport& t) {
      AnnouncementNetwork network(t, ManhattanStreetNetwork(t.size(), 2));
      for (int i = 0; i < 5; ++i) network.step();
      const auto per_step = network.statistics().messages / 5;
      for (auto seen = most.load(); seen < per_step && !most.compare_exchange_weak(seen, per_step);) {
      }
    });
    EXPECT_EQ(most, 2);
  }
}

TEST(AnnouncementThreadsTest, a_flood_costs_what_the_network_says) {
  if (launched()) GTEST_SKIP() << "threads need no launcher";
  constexpr int kRanks = 27;
  std::atomic<std::int64_t> sent{0};
  std::atomic<std::int64_t> dropped{0};
  const ManhattanStreetNetwork network(kRanks, 3);
  int ttl = 0;
  on_threads(kRanks, "", [&](Transport& t) {
    AnnouncementNetwork announcements(t, network);
    if (t.rank() == 0) ttl = announcements.time_to_live();
    if (t.rank() == 5) announcements.announce_value(0, 3.5);
    for (int i = 0; i < announcements.time_to_live() + 1; ++i) announcements.step();
    sent += announcements.statistics().sent;
    dropped += announcements.statistics().duplicates;
    EXPECT_EQ(announcements.statistics().delivered, 1);
  });
  const auto hops = distances(network, 5);
  std::int64_t arcs = 0;
  for (int v = 0; v < kRanks; ++v) {
    if (hops[static_cast<std::size_t>(v)] < ttl) arcs += static_cast<std::int64_t>(network.out(v).size());
  }
  EXPECT_EQ(sent, arcs);
  EXPECT_EQ(dropped, arcs - (kRanks - 1));
}

TEST(AnnouncementThreadsTest, memory_is_that_of_the_announcements_alive) {
  if (launched()) GTEST_SKIP() << "threads need no launcher";
  const char* wanted = std::getenv("MERGANSER_TEST_STEPS");  // 1,000,000 take some minutes
  const std::int64_t steps = wanted != nullptr ? std::atoll(wanted) : 20'000;
  on_threads(2, "", [&](Transport& t) {
    AnnouncementNetwork network(t, ManhattanStreetNetwork(2, 2));
    const std::vector<std::byte> bytes(100);
    std::int64_t came = 0;
    for (std::int64_t i = 0; i < steps; ++i) {
      network.announce(3, bytes);
      came += static_cast<std::int64_t>(network.step().size());
    }
    const auto& s = network.statistics();
    const std::int64_t held_steps = network.time_to_live() + 1;
    EXPECT_EQ(s.announced, steps);
    EXPECT_LE(s.peak_held, 2 * held_steps);
    EXPECT_LE(s.peak_bytes, 200 * held_steps);
    EXPECT_EQ(came, 2 * (steps - network.time_to_live() + 1));
  });
}

TEST(AnnouncementThreadsTest, a_stalled_rank_delays_only_what_depends_on_it) {
  if (launched()) GTEST_SKIP() << "threads need no launcher";
  constexpr int kRanks = 16;
  constexpr int kStalled = 3;
  const ManhattanStreetNetwork graph(kRanks, 2);
  const auto hops = distances(graph, kStalled);
  const int farthest = *std::max_element(hops.begin(), hops.end());
  std::atomic<int> done{0};
  // The stalled rank continues only after all others have made the h - 1 steps that they can make without it. If one of them waited
  // for it earlier, this test would not end.
  on_threads(kRanks, "", [&](Transport& t) {
    AnnouncementNetwork network(t, graph);
    const int h = hops[static_cast<std::size_t>(t.rank())];
    if (t.rank() == kStalled) {
      while (done < kRanks - 1) std::this_thread::yield();
    } else {
      for (int i = 0; i < h - 1; ++i) network.step();
      ++done;
    }
    while (network.now() < farthest + 2) network.step();
  });
  EXPECT_EQ(done, kRanks - 1);
}

TEST(AnnouncementThreadsTest, the_watchdog_names_who_is_waited_for) {
  if (launched()) GTEST_SKIP() << "threads need no launcher";
  ::setenv("MERGANSER_WAIT_LIMIT", "0.3", 1);
  std::string message;
  std::atomic<bool> over{false};
  try {
    merganser::comm::run({.backend = "threads", .ranks = 2}, [&](Transport& t) {
      AnnouncementNetwork network(t, ManhattanStreetNetwork(2, 2));
      network.step();
      if (t.rank() == 0) {  // makes one step less, and stays out of waits of its own
        while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return;
      }
      try {
        network.step();
      } catch (const CommError& e) {
        message = e.what();
      }
      over = true;
    });
  } catch (const CommError& e) {
    ADD_FAILURE() << e.what();
  }
  ::unsetenv("MERGANSER_WAIT_LIMIT");
  EXPECT_NE(message.find("rank 1 in Mailbox 1, step 2: "), std::string::npos) << message;
  EXPECT_NE(message.find("messages have come, none from ranks 0"), std::string::npos) << message;
}

}  // namespace
