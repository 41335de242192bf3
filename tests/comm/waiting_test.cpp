/// Tests of the wait limit: a blocked rank throws, after it, with the call, the ranks it waits for and how much has arrived.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "merganser/base/error.hpp"
#include "src/comm/detail/waiter.hpp"
#include "tests/comm/graphs.hpp"
#include "tests/comm/launched.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using comm::Transport;
using namespace merganser::test;

/// Rank 0 waits, the others do not come before it has given up. Ranks that are threads, which share the limit, stay out of waits of
/// their own meanwhile.
std::string complaint(Transport& t, const std::function<void()>& wait) {
  static std::atomic<int> over{0};  // waits given up in this process
  const int before = over;
  t.barrier();
  std::string text;
  if (t.rank() == 0) {
    comm::detail::set_default_wait_limit(0.2);
    try {
      wait();
      text = "nothing was thrown";
    } catch (const CommError& e) {
      text = e.what();
    }
    comm::detail::set_default_wait_limit(0);
    ++over;
  } else if (!comm::launched()) {
    while (over == before) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  t.barrier();
  return text;
}

void expect_parts(const Transport& t, const std::string& text, const std::vector<std::string>& parts) {
  if (t.rank() != 0) return;
  EXPECT_NE(text.find("waited "), std::string::npos) << text;
  EXPECT_NE(text.find("s (MERGANSER_WAIT_LIMIT is 0.2): rank 0 in "), std::string::npos) << text;
  for (const auto& part : parts) EXPECT_NE(text.find(part), std::string::npos) << "no '" << part << "' in: " << text;
}

class WaitingTest : public testing::TestWithParam<Setup> {
 protected:
  void SetUp() override {
    if (GetParam().ranks < 2) GTEST_SKIP() << "there are no others to wait for";
    if (GetParam().backend == "rma" && comm::mpi_library().find("MPICH") != std::string::npos)
      GTEST_SKIP() << "MPI_Win_flush of MPICH over UCX returns when its target helps, and cannot be given up";
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WaitingTest);
INSTANTIATE_TEST_SUITE_P(Models, WaitingTest, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

std::string last(const Transport& t) { return std::to_string(t.size() - 1); }

TEST_P(WaitingTest, in_a_wave) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto box = t.mailbox(ring(t));
    const auto text = complaint(t, [&] { box->step(); });
    if (GetParam().backend == "neighborhood") {
      expect_parts(t, text, {"Mailbox 1, full step 1: not every neighbour of ranks " + last(t) + " has come"});
    } else {
      expect_parts(t, text, {"Mailbox 1, step 1: 0 of 1 messages have come, none from ranks " + last(t)});
    }
  });
}

TEST_P(WaitingTest, in_a_wave_over_some_arcs) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto box = t.mailbox(complete(t));  // arc 0 leads to the rank itself
    std::vector<std::uint8_t> in(box->graph().in.size());
    std::vector<std::uint8_t> out(box->graph().out.size());
    out[0] = in[0] = in.back() = 1;
    const auto text = complaint(t, [&] { box->step(out, in); });
    expect_parts(t, text, {"Mailbox 1, step 1: 1 of 2 messages have come, none from ranks " + last(t)});
  });
}

TEST_P(WaitingTest, for_records_that_nobody_sends) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto stream = t.stream(ring(t), {});
    const std::vector<std::size_t> none(1, 0);
    const std::vector<std::size_t> five(1, 5);
    const auto text = complaint(t, [&] {
      stream->open(none, five);
      while (stream->take([](std::size_t, std::size_t, std::uint32_t) {}) > 0) stream->wait();
    });
    expect_parts(t, text, {"Stream 1: 0 of 5 records have come from rank " + last(t) + " in round 1"});
  });
}

TEST_P(WaitingTest, at_the_end_of_a_phase) {
  on_ranks(GetParam(), [](Transport& t) {
    auto words = t.segment<std::uint64_t>(complete(t), 1);
    const auto text = complaint(t, [&] { words.sync(); });
    const std::string& model = GetParam().backend;
    if (model == "neighborhood") {
      expect_parts(t, text, {"Segment 1 (logs), full step 1: not every neighbour of ranks 0 1"});
    } else if (model == "rma" || model == "shmem") {
      expect_parts(t, text,
                   {"Segment 1, sync 1: 0 of " + last(t) + " neighbours have ended the phase, no word from ranks 1"});
    } else {
      expect_parts(t, text, {"Segment 1 (logs), step 1: 1 of ", " messages have come, none from ranks 1"});
    }
  });
}

TEST_P(WaitingTest, for_ghosts) {
  on_ranks(GetParam(), [](Transport& t) {
    const auto plan = t.plan(ring(t), {{{0, 1}}, {2}}, {});
    const std::vector<std::byte> local(16);
    const auto text = complaint(t, [&] { plan->pull(local, [](const comm::Plan::Chunk&) {}); });
    expect_parts(t, text, {"Plan 1, pull 1: 0 of 2 elements have come from rank " + last(t)});
  });
}

TEST_P(WaitingTest, in_a_collective_call) {
  if (comm::launched()) GTEST_SKIP() << "the others come at once, into the call that follows";
  on_ranks(GetParam(), [](Transport& t) {
    const auto text = complaint(t, [&] { t.barrier(); });
    expect_parts(t, text, {"barrier: 1 of " + std::to_string(t.size()) + " ranks have come", "not ranks 1"});
  });
}

TEST(WaitLimitTest, that_is_no_time_is_refused_when_a_run_starts) {
  for (const char* text : {"soon", "-1", "1s", "nan"}) {
    setenv("MERGANSER_WAIT_LIMIT", text, 1);
    comm::RunOptions options;
    options.backend = "threads";
    EXPECT_THROW(comm::run(options, [](Transport&) { ADD_FAILURE() << "the run has begun"; }), UsageError) << text;
  }
  unsetenv("MERGANSER_WAIT_LIMIT");
}

TEST(WaitLimitTest, of_the_environment_holds_for_a_whole_run) {
  setenv("MERGANSER_WAIT_LIMIT", "0.1", 1);
  comm::RunOptions options;
  options.backend = "threads";
  options.ranks = 3;
  std::string text;
  try {
    comm::run(options, [](Transport& t) {
      const auto box = t.mailbox(ring(t));
      if (t.rank() == 2) {
        t.barrier();
      } else {
        box->step();
      }
    });
  } catch (const CommError& e) {
    text = e.what();
  }
  unsetenv("MERGANSER_WAIT_LIMIT");
  EXPECT_NE(text.find("(MERGANSER_WAIT_LIMIT is 0.1): rank "), std::string::npos) << text;
}

TEST(ThreadsTest, different_collective_calls_are_refused) {
  comm::RunOptions options;
  options.backend = "threads";
  options.ranks = 2;
  std::string text;
  try {
    comm::run(options, [](Transport& t) {
      if (t.rank() == 0) t.barrier();
      if (t.rank() == 1) (void)t.all_gather({});
    });
  } catch (const CommError& e) {
    text = e.what();
  }
  EXPECT_NE(text.find("every rank must make the same collective calls in the same order"), std::string::npos) << text;
}

class WaitingProcessTest : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WaitingProcessTest);
INSTANTIATE_TEST_SUITE_P(Models, WaitingProcessTest, testing::ValuesIn(process_models()),
                         [](const auto& info) { return info.param; });

TEST_P(WaitingProcessTest, in_vain_ends_the_job_with_one_message_that_names_the_rank_and_what_has_come) {
  if (variable("MERGANSER_TEST_LAUNCHER").empty()) GTEST_SKIP() << "MERGANSER_TEST_LAUNCHER does not name a launcher";
  if (GetParam() == "rma" && comm::mpi_library().find("MPICH") != std::string::npos)
    GTEST_SKIP() << "MPI_Win_flush of MPICH over UCX returns when its target helps, and cannot be given up";
  // Case of the probe, and what the message says where it waits.
  const std::vector<std::pair<std::string, std::string>> waits{
      {"wait-stream", "Stream 1: 0 of 5 records have come from rank 1 in round 1"},
      {"wait-barrier", "rank 0 in barrier: "},
      {"wait-making", "rank 0 in all_reduce: "},
  };
  for (const auto& [where, expected] : waits) {
    Outcome outcome;
    for (const char* limit : {"0.2", "5"}) {  // on a busy machine ranks may start farther apart than the first
      outcome = start(launched(2) + where + " " + GetParam(), std::string("MERGANSER_WAIT_LIMIT=") + limit);
      if (!says(outcome, "fails its test")) break;
    }
    EXPECT_EQ(outcome.code, 4) << where << ": " << outcome.output;
    EXPECT_TRUE(says(outcome, "probe: waited ")) << where << ": " << outcome.output;
    EXPECT_TRUE(says(outcome, expected)) << "no '" << expected << "' in: " << outcome.output;
  }
}

}  // namespace
