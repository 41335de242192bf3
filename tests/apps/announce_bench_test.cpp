/// Tests that the counts of the `announce bench` experiment equal those of its formulas, on every rank and model.
#include <gtest/gtest.h>

#include "apps/announce/bench.hpp"
#include "merganser/comm/runtime.hpp"
#include "tests/support/ranks.hpp"

namespace {

using merganser::comm::Transport;
using namespace merganser::app;
using namespace merganser::test;

void compare_on(Transport& t, const AnnounceExperiment& experiment, const std::vector<Exchanged>& variants) {
  AnnounceBench bench(t, experiment, variants);
  bench.run();
  EXPECT_EQ(bench.counted(), bench.expected()) << bench.network().describe() << " rank " << t.rank();
  for (const Exchanged e : variants) {
    EXPECT_EQ(bench.seconds(e).size(), static_cast<std::size_t>(experiment.steps));
  }
}

void compare(int ranks, const AnnounceExperiment& experiment, const std::vector<Exchanged>& variants) {
  if (merganser::comm::launched()) GTEST_SKIP() << "ranks are processes here";
  merganser::comm::run({.backend = "threads", .ranks = ranks},
                       [&](Transport& t) { compare_on(t, experiment, variants); });
}

class AnnounceBenchModelTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, AnnounceBenchModelTest, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(AnnounceBenchModelTest, every_variant_that_the_model_has_counts_what_the_formulas_say) {
  on_ranks(GetParam(), [](Transport& t) {
    std::vector<Exchanged> variants;
    for (const Exchanged e : kExchanged) {
      const auto gather = gather_kind(e);
      if (!gather || merganser::kernels::missing_gather(t, *gather).empty()) variants.push_back(e);
    }
    EXPECT_GE(variants.size(), 3U);
    compare_on(t, {.dimension = 2, .size = 801, .steps = 7, .block = 3, .work_ms = 0, .edge = 5}, variants);
  });
}

TEST(AnnounceBenchTest, counts_are_those_of_the_formulas_for_any_network_and_rhythm) {
  const std::vector<Exchanged> all{Exchanged::nothing, Exchanged::network, Exchanged::all_gather,
                                   Exchanged::non_blocking};
  for (const auto name : merganser::announce::network_names()) {
    for (const int ranks : {1, 2, 3, 5, 8, 13}) {
      AnnounceExperiment e;
      e.network = name;
      e.dimension = 2;
      e.size = 10 * ranks;
      e.every = 1 + ranks % 3;
      e.steps = 11;
      e.block = 4;
      e.work_ms = 0;
      e.edge = 3;
      compare(ranks, e, all);
    }
  }
}

TEST(AnnounceBenchTest, a_run_shorter_than_the_time_to_live_counts_too) {
  compare(20, {.dimension = 2, .size = 1, .steps = 2, .block = 1, .work_ms = 0, .edge = 0}, {Exchanged::network});
  compare(6, {.dimension = 3, .size = 1, .steps = 5, .work_ms = 0, .edge = 1}, {Exchanged::all_gather});
}

}  // namespace
