// Nearest parcels beyond the ranks that may be asked: always found, never over a collective.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/cluster/far_cases.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

constexpr std::array<std::int64_t, 3> kCells{12, 12, 12};

/// Threads of a plain process.
class FarThreads : public testing::Test {
 protected:
  void SetUp() override {
    if (comm::launched()) GTEST_SKIP() << "threads of a plain process only";
  }
  static void run(int ranks, const std::function<void(comm::Transport&)>& body, const std::string& decorators = "") {
    comm::RunOptions options;
    options.backend = "threads";
    options.ranks = ranks;
    options.decorators = decorators;
    comm::run(options, body);
  }
  static void compare(const FarCase& c, int ranks, const std::string& shape, int steps = 2, double stirred = 0.1,
                      const std::string& decorators = "") {
    const Merged want = reference_of(c, steps, stirred);
    run(
        ranks,
        [&](comm::Transport& t) {
          const Merged got = merged_far(t, c, shape, far_options(), steps, stirred);
          if (t.rank() == 0)
            expect_merged(got, want, c.name + ", " + std::to_string(ranks) + " ranks, " + shape + " " + decorators);
        },
        decorators);
  }
};

TEST_F(FarThreads, few_ranks_that_ask_only_blocks_that_touch_merge_as_the_reference) {
  const cluster::SmallWorld small(1);
  const char* const shapes[] = {"1d", "2d", "auto"};
  for (unsigned seed = 0; seed < 1500; ++seed) {
    const FarCase c = random_case(seed, kCells);
    compare(c, static_cast<int>(3 + seed % 10), shapes[seed / 10 % 3]);
    if (HasFailure()) return;
  }
}

}  // namespace
