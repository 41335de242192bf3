/// Tests of spanning trees of points over every communication model.
#include "merganser/msf/euclidean.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "tests/msf/clouds.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class EuclideanTree : public testing::TestWithParam<Setup> {
 protected:
  static void expect_exact(const Cloud& cloud, const msf::EuclideanOptions& options) {
    const Edges expected = compute_tree(cloud, options.min_samples);
    on_ranks(GetParam(), [&](comm::Transport& t) {
      msf::Report report;
      const auto forest = msf::euclidean_forest(distribute(cloud, t, 5), t, options, report);
      EXPECT_EQ(forest.vertices, cloud.at.size());
      EXPECT_EQ(sorted(gathered(forest.edges, t)), expected) << cloud.name << ", min samples " << options.min_samples;
    });
  }
};
INSTANTIATE_TEST_SUITE_P(Models, EuclideanTree, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

TEST_P(EuclideanTree, is_that_of_all_pairs) {
  expect_exact(make_cloud("uniform", 3, 300, 1), {});
  expect_exact(make_cloud("clusters", 2, 250, 2), {});
  expect_exact(make_cloud("lattice", 3, 250, 3), {});
  expect_exact(make_cloud("equal", 3, 40, 4), {});
}

TEST_P(EuclideanTree, goes_around_periodic_boxes) {
  Cloud cloud = make_cloud("uniform", 3, 200, 6);
  cloud.periodic = {true, false, true};
  expect_exact(cloud, {});
}

TEST_P(EuclideanTree, of_mutual_reachability_is_that_of_all_pairs) {
  msf::EuclideanOptions options;
  options.min_samples = 5;
  expect_exact(make_cloud("uniform", 2, 200, 7), options);
  expect_exact(make_cloud("heaps", 2, 200, 8), options);
}

TEST_P(EuclideanTree, refuses_bad_points_on_every_rank) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    msf::Report report;
    const Cloud cloud = make_cloud("uniform", 3, 20, 9);
    auto twice = distribute(cloud, t, 5);
    for (auto& id : twice.ids) id = id == 3 ? 4 : id;
    EXPECT_THROW((void)msf::euclidean_forest(twice, t, {}, report), InputError);
    auto beyond = distribute(cloud, t, 5);
    for (auto& id : beyond.ids) id += id == 7 ? 20U : 0U;
    EXPECT_THROW((void)msf::euclidean_forest(beyond, t, {}, report), InputError);
    auto broken = distribute(cloud, t, 5);
    for (std::size_t i = 0; i < broken.ids.size(); ++i)
      if (broken.ids[i] == 11) broken.coordinates[3 * i + 1] = std::nan("");
    EXPECT_THROW((void)msf::euclidean_forest(broken, t, {}, report), InputError);
    msf::EuclideanOptions many;
    many.min_samples = 21;
    EXPECT_THROW((void)msf::euclidean_forest(distribute(cloud, t, 5), t, many, report), InputError);
  });
}

}  // namespace
