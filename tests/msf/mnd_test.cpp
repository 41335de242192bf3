// The published algorithm over every model.
#include "msf/mnd_variants.hpp"
#include "support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class MndTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, MndTest, testing::ValuesIn(setups({""}, {"chaos:5", "checked,chaos:6"})),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(MndTest, finds_the_forest_of_kruskal_in_every_way) {
  const std::vector<Shape> few = {random_shape(3, 150, 400, 3), triangles_shape(20, true),
                                  skewed_shape(2, 8, 700, 1000), path_shape(60)};
  on_ranks(GetParam(), [&](comm::Transport& t) {
    for (const auto& shape : few) {
      const auto graph = dealt(shape, t);
      const auto wanted = msf::totals(oracle_forest(graph, t), t);
      for (const auto& v : variants()) expect_oracle(graph, wanted, t, v.options, shape.name + ", " + v.name);
    }
  });
}

TEST_P(MndTest, works_in_many_cycles_that_follow_each_other_closely) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const auto graph = dealt(random_shape(9, 150, 450, 50), t);
    const auto wanted = msf::totals(oracle_forest(graph, t), t);
    for (auto v : variants()) {
      if (t.capabilities().one_sided && v.options.carrier == msf::MndCarrier::messages) continue;  // slow: many windows
      v.options.mst_threshold = 0;
      v.options.stall_threshold = 0;
      v.options.ring_share = 0.3;
      expect_oracle(graph, wanted, t, v.options, v.name);
    }
  });
}

}  // namespace
