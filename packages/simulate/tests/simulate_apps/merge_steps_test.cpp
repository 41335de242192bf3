/// The command merge-steps, which ./x simulate runs on simulated ranks, on ranks that are threads: the same results.
#include <gtest/gtest.h>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

/// Runs the command merge-steps on ranks that are threads. @return the cycles of its run record
Json steps(const Arguments& options) {
  const Folder folder;
  const std::string path = folder.file("steps.json");
  const Outcome o = run(Arguments{"merge-steps", "--cells", "12,12,3", "--comm", "threads", "--json", path} + options);
  EXPECT_EQ(o.code, 0) << o.text();
  return o.code == 0 ? read_json_file(path).at("result").at("cycles") : Json::array();
}

TEST(MergeSteps, ranks_and_pruning_change_no_bit_and_no_count) {
  const Json one = steps({"--ranks", "1", "--cycles", "2"});
  ASSERT_EQ(one.size(), 2U);
  EXPECT_NE(one[0].at("counts").at("digest"), one[1].at("counts").at("digest"));
  for (const char* ranks : {"2", "3", "4", "7"}) {
    for (const char* prune : {"single-pass", "iterative"}) {
      const Json many = steps({"--ranks", ranks, "--cycles", "2", "--prune", prune});
      ASSERT_EQ(many.size(), 2U);
      for (std::size_t cycle = 0; cycle < 2; ++cycle)
        for (const char* count : {"before", "small", "merged", "after", "digest"})
          EXPECT_EQ(many[cycle].at("counts").at(count), one[cycle].at("counts").at(count))
              << count << " on " << ranks << " ranks, " << prune;
    }
  }
}

TEST(MergeSteps, times_and_counts_fit_together) {
  const Json cycles = steps({"--ranks", "3"});
  ASSERT_EQ(cycles.size(), 1U);
  const Json& step = cycles[0];
  const Json& counts = step.at("counts");
  EXPECT_EQ(counts.at("before"), 12 * 12 * 3 * 20);
  EXPECT_EQ(counts.at("before").get<int>() - counts.at("merged").get<int>(), counts.at("after").get<int>());
  EXPECT_GT(counts.at("merged"), 0);
  EXPECT_EQ(counts.at("most_collectives"), 0);
  for (const auto& [stage, slowest] : step.at("slowest_s").items())
    EXPECT_GE(slowest.get<double>(), step.at("mean_s").at(stage).get<double>() * (1 - 1e-12)) << stage;
  EXPECT_LE(step.at("fastest_s"), step.at("mean_s").at("step"));
  for (const std::string name : {"prune", "step"}) {
    int ranks = 0;
    double most = 0;
    for (const auto& entry : step.at(name + "_spread")) {
      ranks += entry.at("ranks").get<int>();
      most = entry.at("up_to_us").get<double>();
    }
    EXPECT_EQ(ranks, 3) << name;
    const double slowest = step.at("slowest_s").at(name).get<double>() * 1e6;
    EXPECT_LE(slowest, most * (1 + 1e-12)) << name;
    EXPECT_GT(slowest * 1.05, most) << name;  // 16 entries for a factor of two
  }
}

TEST(MergeSteps, small_parcels_can_be_kept_to_a_part_of_the_domain) {
  const auto small = [](const Json& cycles) { return cycles.at(0).at("counts").at("small").get<double>(); };
  const double all = small(steps({"--ranks", "2"}));
  const double some = small(steps({"--ranks", "2", "--small-within", "0.25"}));
  EXPECT_NEAR(some / all, 0.25, 0.02);
}

TEST(MergeSteps, without_a_record_the_digest_is_told) {
  const Outcome o = run({"merge-steps", "--cells", "12,12,3", "--comm", "threads", "--ranks", "2"});
  ASSERT_EQ(o.code, 0) << o.text();
  EXPECT_EQ(o.digest(), steps({"--ranks", "1"}).at(0).at("counts").at("digest"));
  EXPECT_EQ(run({"merge-steps", "--small-within", "2"}).code, 2);
}

}  // namespace
