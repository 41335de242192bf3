/// Tests of run() and the start of ranks: choice of the model, errors of ranks, limits of threads.
#include "merganser/comm/runtime.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

#include "merganser/base/error.hpp"
#include "tests/base/system.hpp"

namespace {

using namespace merganser;

comm::RunOptions options(const std::string& backend, int ranks) {
  comm::RunOptions o;
  o.backend = backend;
  o.ranks = ranks;
  return o;
}

const auto kNothing = [](comm::Transport&) {};

TEST(RuntimeTest, threads_come_first_and_every_model_is_built_or_said_to_be_missing) {
  ASSERT_FALSE(comm::backends().empty());
  EXPECT_EQ(comm::backends()[0].name, "threads");
  std::set<std::string> names;
  for (const auto& backend : comm::backends()) {
    EXPECT_FALSE(backend.description.empty());
    EXPECT_EQ(backend.processes, backend.name != "threads");
    names.emplace(backend.name);
  }
  for (const auto missing : comm::missing_backends()) {
    EXPECT_NE(missing.find(" at configure time"), std::string_view::npos) << missing;
    names.emplace(missing.substr(0, missing.find(':')));
  }
  EXPECT_EQ(names, (std::set<std::string>{"threads", "p2p", "neighborhood", "rma", "shmem"}));
}

TEST(RuntimeTest, auto_without_a_launcher_runs_threads) {
  std::mutex mutex;
  std::set<int> ranks;
  comm::run(options("auto", 3), [&](comm::Transport& t) {
    const std::scoped_lock lock(mutex);
    EXPECT_EQ(t.name(), "threads");
    EXPECT_EQ(t.choice(), "");
    ranks.insert(t.rank());
  });
  EXPECT_EQ(ranks, (std::set<int>{0, 1, 2}));
}

TEST(RuntimeTest, the_first_model_within_five_percent_of_the_fastest_is_taken) {
  const auto model = [](std::string_view name, double ns) { return comm::MeasuredModel{name, {{ns}}, ns}; };
  const std::vector<comm::MeasuredModel> models{model("a", 120), model("b", 104), model("c", 100), model("d", 106)};
  const comm::ModelChoice choice = comm::first_of_the_fastest(models);
  EXPECT_EQ(choice.chosen, 1U);
  EXPECT_EQ(choice.equals, std::vector<std::size_t>{2});
  EXPECT_THROW((void)comm::first_of_the_fastest({}), UsageError);
}

TEST(RuntimeTest, a_pinned_model_that_is_unknown_is_refused_with_the_list) {
  setenv("MERGANSER_COMM", "smoke", 1);
  try {
    comm::run(options("auto", 1), kNothing);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UsageError& e) {
    EXPECT_NE(std::string(e.what()).find("unknown communication model 'smoke'; known: auto threads"), std::string::npos)
        << e.what();
  }
  EXPECT_NO_THROW(comm::run(options("threads", 1), kNothing));  // a name given is not overridden
  unsetenv("MERGANSER_COMM");
}

TEST(RuntimeTest, threads_within_a_process_that_a_launcher_has_started) {
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  EXPECT_TRUE(comm::launched());
  EXPECT_THROW(comm::run(options("threads", 3), kNothing), UsageError);
  for (const char* name : {"threads", "auto"}) {
    auto within = options(name, 3);
    within.within_process = true;
    std::atomic<int> ranks{0};
    comm::run(within, [&](comm::Transport& t) { ranks += t.size() == 3 && t.name() == "threads" ? 1 : 0; });
    EXPECT_EQ(ranks, 3) << name;
  }
  for (const auto& backend : comm::backends()) {
    if (!backend.processes) continue;
    auto within = options(std::string(backend.name), 0);
    within.within_process = true;
    EXPECT_THROW(comm::run(within, kNothing), UsageError) << backend.name;
  }
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_SIZE");
}

TEST(RuntimeTest, ranks_that_cannot_be_are_refused) {
  EXPECT_THROW(comm::run(options("threads", -1), kNothing), UsageError);
  for (const auto& backend : comm::backends()) {
    if (!backend.processes) continue;
    EXPECT_THROW(comm::run(options(std::string(backend.name), 2), kNothing), UsageError);
  }
}

/// What run() says on a system of a test.
std::string refusal_of(int ranks) {
  try {
    comm::run(options("threads", ranks), kNothing);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(RuntimeTest, more_threads_than_the_system_has_room_for_are_refused_before_anything_is_made) {
  const test::System system;
  system.memory(1 << 20);
  system.write("/proc/self/cgroup", "0::/job\n");
  system.write("/sys/fs/cgroup/job/pids.max", "20");
  system.write("/sys/fs/cgroup/job/pids.current", "17");
  EXPECT_EQ(refusal_of(4), "");
  for (const int ranks : {5, 100000, std::numeric_limits<int>::max()}) {
    const std::string why = refusal_of(ranks);
    EXPECT_NE(why.find("ranks: " + std::to_string(ranks) + " threads, which need about "), std::string::npos) << why;
    EXPECT_NE(why.find("allowed here: up to 4 (pids.max of /sys/fs/cgroup/job)"), std::string::npos) << why;
  }
}

TEST(RuntimeTest, more_threads_than_fit_into_memory_are_refused) {
  const test::System system;
  system.memory(1);
  EXPECT_EQ(refusal_of(20), "");
  const std::string why = refusal_of(30);
  EXPECT_NE(why.find("(there is 1.00 MiB)"), std::string::npos) << why;
}

TEST(RuntimeTest, no_rank_begins_where_one_thread_cannot_be_started) {
  pthread_attr_t usual, endless;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_attr_init(&endless), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&endless, std::size_t{1} << 48), 0);
  ASSERT_EQ(pthread_setattr_default_np(&endless), 0);
  std::atomic<int> begun{0};
  try {
    comm::run(options("threads", 3), [&](comm::Transport&) { ++begun; });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const CommError& e) {
    EXPECT_NE(std::string(e.what()).find("only 1 of 3 threads could be started"), std::string::npos) << e.what();
  }
  pthread_setattr_default_np(&usual);
  EXPECT_EQ(begun, 0);
}

TEST(RuntimeTest, an_error_on_one_thread_releases_the_others_and_comes_out) {
  for (const int culprit : {0, 2}) {
    try {
      comm::run(options("threads", 3), [&](comm::Transport& t) {
        const auto box = t.mailbox(comm::Graph::symmetric({(t.rank() + 1) % 3, (t.rank() + 2) % 3}));
        if (t.rank() == culprit) throw InputError("bad parcel");
        if (t.rank() == 1) box->step();
        t.barrier();
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& e) {
      EXPECT_STREQ(e.what(), "bad parcel");
    }
  }
}

TEST(RuntimeTest, what_a_released_rank_throws_instead_does_not_mask_the_error) {
  for (int i = 0; i < 20; ++i) {
    try {
      comm::run(options("threads", 4), [&](comm::Transport& t) {
        try {
          if (t.rank() == 2) throw InputError("bad parcel");
          t.barrier();
        } catch (const CommError& e) {
          throw UsageError(std::string("as a program may translate it: ") + e.what());
        }
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InputError& e) {
      EXPECT_STREQ(e.what(), "bad parcel");
    }
  }
}

TEST(RuntimeTest, of_several_errors_the_lowest_rank_s_comes_out_but_one_of_communication_last) {
  std::atomic<int> ready{0};
  const auto meet = [&] {  // not a wait of the library, which would release ranks
    ++ready;
    while (ready < 4) std::this_thread::yield();
  };
  try {
    comm::run(options("threads", 4), [&](comm::Transport& t) {
      meet();
      if (t.rank() == 0) throw CommError("missing");
      if (t.rank() == 1) t.barrier();
      throw InputError("bad parcel on rank " + std::to_string(t.rank()));
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "bad parcel on rank 2");
  }
}

TEST(RuntimeTest, settings_for_launchers_have_a_value_and_a_reason) {
  std::set<std::string> names;
  for (const auto& setting : comm::launcher_settings()) {
    EXPECT_FALSE(setting.value.empty());
    EXPECT_FALSE(setting.why.empty());
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name << " is there twice";
  }
  if (comm::mpi_library().find("Open MPI v4") == std::string::npos) return;
  for (const char* needed : {"OMPI_MCA_opal_common_ucx_opal_mem_hooks", "OMPI_MCA_mpi_yield_when_idle",
                             "OMPI_MCA_rmaps_base_oversubscribe", "OMPI_MCA_osc"}) {
    EXPECT_TRUE(names.contains(needed)) << needed;
  }
}

/// What the program was started with, whatever it has set since.
std::set<std::string> first_environment() {
  std::ifstream in("/proc/self/environ", std::ios::binary);
  std::set<std::string> all;
  for (std::string one; std::getline(in, one, '\0');) all.insert(one);
  return all;
}

TEST(RuntimeTest, tests_under_a_launcher_start_with_its_settings) {
  const auto started = first_environment();
  if (std::getenv("MERGANSER_TEST_MODELS") == nullptr) GTEST_SKIP() << "not under a launcher";
  for (const auto& s : comm::launcher_settings()) EXPECT_TRUE(started.contains(s.name + '=' + s.value)) << s.name;
}

}  // namespace
