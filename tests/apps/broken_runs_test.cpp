/// Tests of jobs that are started wrongly or lose a rank: an explanation, no hang, and whole output files.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "merganser/comm/runtime.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;
using std::chrono::milliseconds;
constexpr auto kLong =
    std::chrono::seconds(40);  // a job that ends at all ends in 10 s, and in more on a machine with 15 other tests

class BrokenRuns : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    ASSERT_EQ(run({"gen", "random", "--cells", "12,12,12", "--per-cell", "10", "-o", in_}).code, 0);
  }
  /// Waits until the job has `wanted` ranks, for at most 20 s, and returns them; none if it has not.
  [[nodiscard]] std::vector<pid_t> all_ranks(const Program& job, std::size_t wanted) const {
    for (int i = 0; i < 4000; ++i) {
      if (auto ranks = job.ranks(); ranks.size() == wanted) return ranks;
      std::this_thread::sleep_for(milliseconds(5));
    }
    return {};
  }
  Folder folder_;
  std::string in_ = folder_.file("in.nc");
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BrokenRuns);
INSTANTIATE_TEST_SUITE_P(Models, BrokenRuns, testing::ValuesIn(one_model_per_library()),
                         [](const auto& i) { return i.param; });

TEST_P(BrokenRuns, a_killed_rank_ends_the_others_with_a_message) {
  Program job({command_path(), "run", "-n", "3", "--", "cluster", in_, "--comm", GetParam(), "--steps", "1000000"});
  const auto ranks = all_ranks(job, 3);
  ASSERT_EQ(ranks.size(), 3U);
  std::this_thread::sleep_for(milliseconds(700));  // into the steps
  ::kill(ranks[1], SIGKILL);
  const Outcome o = job.wait(kLong);
  EXPECT_NE(o.code, kOverdue);
  EXPECT_NE(o.code, 0);
  EXPECT_NE(o.err.find("signal 9 (Killed)"), std::string::npos) << o.text();
  EXPECT_TRUE(job.ranks().empty());
}

TEST_P(BrokenRuns, the_output_is_the_old_or_the_new_file_whenever_a_rank_is_killed) {
  const std::string out = folder_.file("out.nc"), reference = folder_.file("new.nc");
  const std::string old = run({"gen", "random", "--cells", "3,3,3", "-o", out}).digest();
  ASSERT_EQ(run({"cluster", in_, "-o", reference}).code, 0);
  const auto content = [](const std::string& path) { return run({"cluster", path, "--json", "-"}); };
  const auto parcels = [](const Outcome& o) { return o.out.substr(o.out.find("\"n_before\""), 24); };
  const std::string old_parcels = parcels(content(out)), new_parcels = parcels(content(reference));
  ASSERT_NE(old_parcels, new_parcels);
  for (const int delay : {0, 60, 120, 250}) {
    Program job({command_path(), "run", "-n", "3", "--", "cluster", in_, "-o", out, "--comm", GetParam()});
    const auto ranks = all_ranks(job, 3);
    if (ranks.size() == 3) {
      std::this_thread::sleep_for(milliseconds(delay));
      ::kill(ranks[static_cast<std::size_t>(delay) % 3], SIGKILL);
    }
    EXPECT_NE(job.wait(kLong).code, kOverdue);
    const Outcome now = content(out);
    ASSERT_EQ(now.code, 0) << now.text();
    EXPECT_TRUE(parcels(now) == old_parcels || parcels(now) == new_parcels) << parcels(now);
  }
}

TEST(WrongLauncher, singletons_are_refused_with_an_explanation) {
  if (process_models().empty()) GTEST_SKIP() << "this build has no model of processes";
  const Outcome o = run({"cluster", "in.nc"}, {{"PALS_RANKID", "0"}, {"PALS_SIZE", "3"}});
  EXPECT_EQ(o.code, 4) << o.text();
  EXPECT_NE(o.err.find("rank 0 of 3"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("launcher belongs to another library"), std::string::npos) << o.err;
}

TEST(WrongLauncher, ranks_of_srun_without_a_plugin_are_refused_before_their_library_starts) {
  if (process_models().empty()) GTEST_SKIP() << "this build has no model of processes";
  const Outcome o = run({"cluster", "in.nc"}, {{"SLURM_PROCID", "1"}, {"SLURM_STEP_NUM_TASKS", "3"}});
  EXPECT_EQ(o.code, 4) << o.text();
  EXPECT_TRUE(says(o.err, "rank 1 of 3 without a plug-in for MPI")) << o.err;
  EXPECT_TRUE(says(o.err, "--mpi=pmix")) << o.err;
  EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
}

TEST(WrongLauncher, one_that_is_no_program_is_named) {
  if (process_models().empty()) GTEST_SKIP() << "this build has no model of processes";
  const Outcome o = run({"run", "-n", "2", "--", "doctor"}, {{"MERGANSER_LAUNCHER", "no-such-launcher"}});
  EXPECT_EQ(o.code, 4) << o.text();
  EXPECT_NE(o.err.find("MERGANSER_LAUNCHER is no-such-launcher"), std::string::npos) << o.err;
}

TEST(WrongLauncher, a_run_within_a_run_is_refused) {
  if (process_models().empty()) GTEST_SKIP() << "this build has no model of processes";
  const Outcome o = run_on(2, {"run", "-n", "2", "--", "doctor"});
  EXPECT_EQ(o.code, 2) << o.text();
  EXPECT_NE(o.err.find("run starts processes itself"), std::string::npos) << o.err;
}

TEST(WrongLauncher, a_job_of_one_rank_measures_itself_and_starts_no_other) {
  if (merganser::comm::mpi_library().find("Open MPI") == std::string::npos)
    GTEST_SKIP() << "other launchers start jobs within jobs";
  const Arguments bench{"bench", "random", "--cells", "4,4,4", "--steps", "2", "--comm", process_models().front()};
  const Outcome here = run_on(1, bench);
  EXPECT_EQ(here.code, 0) << here.text();
  EXPECT_TRUE(says(here.out, "merges into")) << here.text();
  EXPECT_EQ(run_on(1, bench + Arguments{"--ranks", "1"}).code, 0);
  const Outcome more = run_on(1, bench + Arguments{"--ranks", "1,2"});
  EXPECT_EQ(more.code, 2) << more.text();
  EXPECT_TRUE(says(more, "the launcher started 1")) << more.text();
  const Outcome again = run_on(1, {"run", "-n", "2", "--", "doctor"});
  EXPECT_EQ(again.code, 2) << again.text();
  EXPECT_TRUE(says(again, "an mpirun has started this process as rank 0 of 1, and no other starts from there"))
      << again.text();
}

TEST(WrongLauncher, a_job_told_to_stop_ends_with_the_number_of_the_signal) {
  MERGANSER_NEEDS_PACKAGE("topology");
  if (process_models().empty()) GTEST_SKIP() << "this build has no model of processes";
  for (const Arguments& start : {Arguments{"run", "-n", "2", "--"}, Arguments{}}) {
    Arguments command{command_path()};
    command.insert(command.end(), start.begin(), start.end());
    command.insert(command.end(), {"topo", "bench", "--graph", "chain", "--sizes", "8", "--kernels", "p2p.isend-irecv",
                                   "--time", "60"});
    if (start.empty()) command.insert(command.end(), {"--ranks", "2", "--launches", "3"});
    Program job(command);
    for (int i = 0; i < 2000 && job.ranks().size() < 2; ++i) std::this_thread::sleep_for(milliseconds(5));
    std::this_thread::sleep_for(milliseconds(300));
    ::kill(job.pid(), SIGTERM);
    const Outcome o = job.wait(kLong);
    EXPECT_EQ(o.code, 128 + SIGTERM) << o.text();
    EXPECT_NE(o.err.find("stopped by signal 15"), std::string::npos) << o.text();
    EXPECT_TRUE(job.ranks().empty());
  }
}

TEST(WrongLauncher, the_exit_code_of_the_verb_is_passed_on) {
  if (process_models().empty()) GTEST_SKIP() << "this build has no model of processes";
  EXPECT_EQ(run_on(2, {"cluster", "/no/such/file.nc"}).code, 3);
  EXPECT_EQ(run_on(2, {"cluster", "/no/such/file.nc", "--no-such-option"}).code, 2);
  EXPECT_EQ(run_on(2, {"gen", "random", "--cells", "2,2,2", "-o", "/no/such/folder/out.nc"}).code, 3);
}

}  // namespace
