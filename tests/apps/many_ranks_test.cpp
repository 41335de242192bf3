/// Tests of many ranks on one host: the same result, and memory that does not grow with the square of the number of ranks.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

/// Returns the highest resident memory of all child processes that have ended so far, in bytes.
double most_memory_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

class ManyRanks : public testing::Test {
 protected:
  void SetUp() override {
    const Outcome made = run({"gen", "random", "--cells", "16,16,16", "--per-cell", "6", "-o", in_});
    ASSERT_EQ(made.code, 0) << made.text();
    const Outcome one = run({"cluster", in_});
    ASSERT_EQ(one.code, 0) << one.text();
    expected_ = one.digest();
  }
  Folder folder_;
  std::string in_ = folder_.file("in.nc");
  std::string expected_;
};

TEST_F(ManyRanks, as_threads_merge_the_same_and_take_no_memory_for_each_pair) {
  double few = 0;
  for (const char* ranks : {"64", "128", "256"}) {  // ascending: the most of all is the last then
    const Outcome o = run({"cluster", in_, "--ranks", ranks});
    ASSERT_EQ(o.code, 0) << o.text();
    EXPECT_EQ(o.digest(), expected_) << ranks;
    if (few == 0) few = most_memory_of_children();
  }
  // With four times as many ranks, memory proportional to ranks grows four times, memory proportional to pairs sixteen times.
  EXPECT_LT(most_memory_of_children(), 5 * few);
}

TEST_F(ManyRanks, as_processes_merge_the_same_over_every_model) {
  for (const auto& model : process_models()) {
    const Outcome o = run_on(16, {"cluster", in_, "--comm", model});
    ASSERT_EQ(o.code, 0) << model << o.text();
    EXPECT_EQ(o.digest(), expected_) << model;
  }
}

}  // namespace
