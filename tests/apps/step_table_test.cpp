/// Test of the table of steps and ranks, with more steps than one message to rank 0 holds.
#include "apps/cluster/step_table.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "merganser/comm/runtime.hpp"

namespace {

using namespace merganser;

TEST(StepTable, has_a_line_for_each_step_and_rank_in_order_on_the_first_rank_alone) {
  constexpr int kSteps = 10000, kRanks = 3;
  std::array<std::string, kRanks> texts;
  comm::run({"threads", kRanks, "", {}}, [&](comm::Transport& t) {
    app::StepTable table;
    StepReport report;
    report.before = 3'000'000'000 + t.rank();
    report.seconds.merge = 0.25;
    report.seconds.search = 1e-9;
    for (int step = 1; step <= kSteps; ++step) {
      report.after = step;
      table.add(report);
    }
    texts[static_cast<std::size_t>(t.rank())] = table.to_csv(t);
  });
  EXPECT_EQ(texts[1] + texts[2], "");
  std::istringstream in(texts[0]);
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "step,rank,before,small,merged,after,search_s,exchange_s,graph_s,prune_s,migrate_s,merge_s,step_s");
  for (int step = 1; step <= kSteps; ++step)
    for (int rank = 0; rank < kRanks; ++rank) {
      ASSERT_TRUE(std::getline(in, line));
      ASSERT_EQ(line, std::to_string(step) + ',' + std::to_string(rank) + ",300000000" + std::to_string(rank) +
                          ",0,0," + std::to_string(step) + ",1e-09,0,0,0,0,0.25,0.25");
    }
  EXPECT_FALSE(std::getline(in, line));
}

}  // namespace
