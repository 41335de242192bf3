// Serial reference of a merge step against published cases, the closed form, and the output of another program.
#include "merganser/cluster/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <random>
#include <set>

#include "merganser/comm/runtime.hpp"
#include "merganser/io/parcel_file.hpp"
#include "merganser/parcels/generate.hpp"
#include "merganser/parcels/statistics.hpp"
#include "src/cluster/reference_stages.hpp"
#include "tests/data/graph_cases.hpp"
#include "tests/support/folders.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

ClusterOptions make_options(double ratio, Search search) {
  ClusterOptions options;
  options.min_volume_ratio = ratio;
  options.search = search;
  return options;
}

class GraphCases : public testing::TestWithParam<GraphCase> {};
INSTANTIATE_TEST_SUITE_P(Published, GraphCases, testing::ValuesIn(graph_cases()),
                         [](const auto& info) { return case_name(info.param.id); });

TEST_P(GraphCases, merge_as_published) {
  for (const Search search : {Search::exact, Search::cells8}) {
    Parcels parcels = graph_parcels(GetParam());
    const auto before = static_cast<std::int64_t>(parcels.size());
    const StepReport report = cluster_reference(parcels, graph_grid(GetParam()), make_options(kGraphRatio, search));
    EXPECT_EQ(report.merged, GetParam().merged) << GetParam().pattern;
    EXPECT_EQ(report.clusters, GetParam().clusters) << GetParam().pattern;
    EXPECT_EQ(report.after, before - GetParam().merged);
    EXPECT_EQ(static_cast<std::int64_t>(parcels.size()), report.after);
    EXPECT_EQ(report.unmatched, 0);
  }
}

TEST(GraphCases, there_are_58) { EXPECT_EQ(graph_cases().size(), 58U); }

/// Formats the stars that pruning kept, each as its centre and then its sources sorted, by letters.
std::set<std::string> format_stars(const PlaneCase& c, const Parcels& parcels, const std::vector<std::int64_t>& ids) {
  std::vector<char> is_small(parcels.size());
  const double smallest = plane_grid().cell_volume() / kPlaneRatio;
  for (std::size_t i = 0; i < parcels.size(); ++i) is_small[i] = parcels.site(i).volume < smallest;
  reference::LinkGraph graph = reference::nearest(parcels, plane_grid(), is_small, Search::exact);
  reference::prune(graph, parcels);
  const auto letter = [&](std::size_t i) {
    const auto k = std::find(ids.begin(), ids.end(), parcels.id(i)) - ids.begin();
    return static_cast<char>('a' + k);
  };
  std::map<std::int64_t, std::string> sources;
  for (std::size_t i = 0; i < parcels.size(); ++i)
    if (graph.target[i] >= 0) sources[graph.target[i]] += letter(i);
  std::set<std::string> stars;
  for (auto& [centre, list] : sources) {
    std::sort(list.begin(), list.end());
    std::string star = letter(static_cast<std::size_t>(centre)) + list;
    std::string either = star;
    std::sort(either.begin(), either.end());
    const bool dual = std::find(c.stars.begin(), c.stars.end(), "=" + either) != c.stars.end();
    stars.insert(dual ? "=" + either : star);
  }
  return stars;
}

class PlaneCases : public testing::TestWithParam<PlaneCase> {};
INSTANTIATE_TEST_SUITE_P(Published, PlaneCases, testing::ValuesIn(plane_cases()),
                         [](const auto& info) { return std::string("plane_") + info.param.id; });

TEST_P(PlaneCases, form_the_same_stars_for_every_order_of_storage_and_ids) {
  const PlaneCase& c = GetParam();
  const std::set<std::string> expected(c.stars.begin(), c.stars.end());
  std::vector<std::size_t> order(c.points.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::int64_t> ids(c.points.size());
  do {
    for (std::size_t k = 0; k < ids.size(); ++k) ids[k] = 10 * static_cast<std::int64_t>(order[k]) + 3;
    std::vector<std::size_t> stored(c.points.size());
    std::iota(stored.begin(), stored.end(), 0);
    EXPECT_EQ(format_stars(c, plane_parcels(c, stored, ids), ids), expected) << c.pattern;
    EXPECT_EQ(format_stars(c, plane_parcels(c, order, ids), ids), expected) << c.pattern;
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(PlaneCases, give_the_same_bits_for_every_order_of_storage) {
  const PlaneCase& c = GetParam();
  std::vector<std::size_t> order(c.points.size());
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::int64_t> ids(order.begin(), order.end());
  std::set<std::string> digests;
  do {
    Parcels parcels = plane_parcels(c, order, ids);
    cluster_reference(parcels, plane_grid(), make_options(kPlaneRatio, Search::exact));
    digests.insert(digest(parcels).to_string());
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(digests.size(), 1U);
}

/// Returns parcels with ids 0 .. n-1 and no other data of interest.
Parcels points(std::size_t n) {
  Parcels parcels;
  for (std::size_t i = 0; i < n; ++i) add_sphere(parcels, static_cast<std::int64_t>(i), {0, 0, 0}, 1);
  return parcels;
}

TEST(ReferencePrune, the_graph_of_the_papers_first_figure_falls_into_its_stars) {
  enum { A, B, C, D, E, F, G, H, I, J, K, L, count };
  reference::LinkGraph graph{std::vector<std::int64_t>(count, -1), std::vector<links::Key>(count)};
  graph.target = {F, F, D, E, H, C, D, E, H, I, I, H};
  reference::prune(graph, points(count));
  EXPECT_EQ(graph.target, (std::vector<std::int64_t>{F, F, D, -1, H, -1, D, -1, -1, I, I, H}));
}

/// Prunes by the closed form: a vertex is a CENTRE if some child other than its dual partner is a LEAF.
std::vector<std::int64_t> closed_form(const std::vector<std::int64_t>& target) {
  const std::size_t n = target.size();
  std::vector<std::vector<std::size_t>> children(n);
  const auto is_dual = [&](std::size_t s) {
    return target[s] >= 0 && target[static_cast<std::size_t>(target[s])] == static_cast<std::int64_t>(s);
  };
  for (std::size_t s = 0; s < n; ++s)
    if (target[s] >= 0 && !is_dual(s)) children[static_cast<std::size_t>(target[s])].push_back(s);
  const std::function<bool(std::size_t)> centre = [&](std::size_t v) {
    return std::any_of(children[v].begin(), children[v].end(), [&](std::size_t c) { return !centre(c); });
  };
  std::vector<std::int64_t> kept = target;
  for (std::size_t s = 0; s < n; ++s) {
    if (target[s] < 0) continue;
    const auto partner = static_cast<std::size_t>(target[s]);
    const bool stays = is_dual(s) && !centre(partner) && !centre(s) && s < partner;
    if (centre(s) || stays) kept[s] = -1;
  }
  return kept;
}

TEST(ReferencePrune, the_published_sweeps_keep_what_the_closed_form_keeps) {
  std::mt19937 random(7);
  for (int sample = 0; sample < 3000; ++sample) {
    const std::size_t n = 2 + random() % 40;
    reference::LinkGraph graph{std::vector<std::int64_t>(n, -1), std::vector<links::Key>(n)};
    std::vector<std::size_t> rank(n);
    std::iota(rank.begin(), rank.end(), 0);
    std::shuffle(rank.begin(), rank.end(), random);
    for (std::size_t i = 1; i < n; ++i)  // towards a lower rank: a forest
      if (random() % 8 != 0) graph.target[rank[i]] = static_cast<std::int64_t>(rank[random() % i]);
    for (std::size_t i = 1; i < n; ++i) {  // some roots answer a child: dual links
      const std::int64_t parent = graph.target[rank[i]];
      if (parent >= 0 && graph.target[static_cast<std::size_t>(parent)] < 0 && random() % 2 == 0)
        graph.target[static_cast<std::size_t>(parent)] = static_cast<std::int64_t>(rank[i]);
    }
    const std::vector<std::int64_t> expected = closed_form(graph.target);
    reference::prune(graph, points(n));
    ASSERT_EQ(graph.target, expected) << "sample " << sample;
  }
}

TEST(ReferenceCycles, a_long_cycle_loses_its_largest_link_and_dual_links_stay) {
  reference::LinkGraph graph{{1, 2, 0, 4, 3, 0}, std::vector<links::Key>(6)};
  for (std::size_t i = 0; i < 6; ++i) graph.key[i] = {i == 1 ? 5.0 : 1.0, 0, static_cast<std::int64_t>(i)};
  EXPECT_EQ(reference::cut_long_cycles(graph), 1);
  EXPECT_EQ(graph.target, (std::vector<std::int64_t>{1, -1, 0, 4, 3, 0}));
}

TEST(ReferenceCycles, equal_distances_are_cut_by_ids) {
  reference::LinkGraph graph{{1, 2, 0}, {{1.0, 0, 1}, {1.0, 1, 2}, {1.0, 0, 2}}};
  EXPECT_EQ(reference::cut_long_cycles(graph), 1);
  EXPECT_EQ(graph.target, (std::vector<std::int64_t>{1, -1, 0}));
}

Parcels generated_parcels(const Grid& grid, std::int64_t per_cell, std::uint64_t seed) {
  RandomParcels random;
  random.per_cell = per_cell;
  random.seed = seed;
  return generate_random(random, Decomposition(grid, 1), 0);
}

TEST(ReferenceSearch, rings_of_cells_find_what_looking_at_all_finds) {
  const Grid grid{{{-1, 2, 0}, {2, 1, 3}, {true, false, true}}, {10, 7, 9}};
  const Parcels parcels = generated_parcels(grid, 7, 3);  // 4410: more than are looked at one by one
  const std::vector<char> all_small(parcels.size(), 1);
  const reference::LinkGraph rings = reference::nearest(parcels, grid, all_small, Search::exact);
  std::mt19937 random(1);
  for (int sample = 0; sample < 300; ++sample) {
    const std::size_t i = random() % parcels.size();
    const Site& s = parcels.site(i);
    std::int64_t best = -1;
    links::Key key;
    for (std::size_t j = 0; j < parcels.size(); ++j) {
      if (j == i) continue;
      const Site& o = parcels.site(j);
      const links::Key candidate{grid.box.distance2({s.x, s.y, s.z}, {o.x, o.y, o.z}),
                                 std::min(parcels.id(i), parcels.id(j)), std::max(parcels.id(i), parcels.id(j))};
      if (best < 0 || candidate < key) {
        best = static_cast<std::int64_t>(j);
        key = candidate;
      }
    }
    ASSERT_EQ(rings.target[i], best);
    ASSERT_EQ(rings.key[i], key);
  }
}

TEST(ReferenceSearch, cells8_looks_no_further_than_the_block_of_the_nearest_node) {
  const Grid grid{{{0, 0, 0}, {4, 4, 4}, {true, true, false}}, {4, 4, 4}};
  Parcels parcels;
  add_sphere(parcels, 0, {1.4, 1.5, 1.6}, 0.01);  // nearest node (1, 2, 2): cells 0-1, 1-2, 1-2
  add_sphere(parcels, 1, {2.1, 1.5, 1.6}, 1);     // nearer, but in cell 2
  add_sphere(parcels, 2, {0.6, 1.5, 1.6}, 1);
  const std::vector<char> is_small{1, 0, 0};
  EXPECT_EQ(reference::nearest(parcels, grid, is_small, Search::exact).target[0], 1);
  EXPECT_EQ(reference::nearest(parcels, grid, is_small, Search::cells8).target[0], 2);
}

TEST(ReferenceStep, nothing_and_almost_nothing_work) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {4, 4, 4}};
  Parcels none;
  EXPECT_EQ(cluster_reference(none, grid, make_options(1, Search::exact)).after, 0);
  Parcels one;
  add_sphere(one, 5, {0.5, 0.5, 0.5}, 1e-6);
  const StepReport report = cluster_reference(one, grid, make_options(20, Search::exact));
  EXPECT_EQ(report.unmatched, 1);
  EXPECT_EQ(report.after, 1);
}

TEST(ReferenceStep, all_parcels_at_one_point_merge_into_the_first_pair_of_ids) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {4, 4, 4}};
  Parcels parcels;
  for (int i = 0; i < 20; ++i) add_sphere(parcels, 100 - i, {0.5, 0.5, 0.5}, 1e-6);
  const StepReport report = cluster_reference(parcels, grid, make_options(20, Search::exact));
  // Everybody's least key is the pair with id 81, whose own is (81, 82).
  EXPECT_EQ(report.clusters, (std::map<int, std::int64_t>{{20, 1}}));
  EXPECT_EQ(parcels.id(0), 81);
}

TEST(ReferenceStep, a_lattice_of_exact_ties_keeps_its_volume_and_makes_stars_only) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, true}}, {8, 8, 8}};
  Parcels parcels;
  for (int i = 0; i < 512; ++i)
    add_sphere(parcels, (i * 193) % 512, {(i % 8 + 0.5) / 8, (i / 8 % 8 + 0.5) / 8, (i / 64 + 0.5) / 8}, 1e-6);
  const double before = moments(parcels, grid.box).volume.value();
  const StepReport report = cluster_reference(parcels, grid, make_options(20, Search::exact));
  EXPECT_EQ(report.long_cycles, 0);
  EXPECT_EQ(report.after, 512 - report.merged);
  EXPECT_NEAR(moments(parcels, grid.box).volume.value(), before, 1e-15 * before);
  std::int64_t members = 0;
  for (const auto& [size, count] : report.clusters) members += (size - 1) * count;
  EXPECT_EQ(members, report.merged);
}

TEST(ReferenceStep, a_random_configuration_merges_the_published_share_and_conserves) {
  const Grid grid{{{0, 0, 0}, {10, 10, 5}, {true, true, false}}, {32, 32, 16}};
  for (const Search search : {Search::exact, Search::cells8}) {
    Parcels parcels = generated_parcels(grid, 20, 42);
    const Moments before = moments(parcels, grid.box);
    const StepReport report = cluster_reference(parcels, grid, make_options(20, search));
    const Moments after = moments(parcels, grid.box);
    EXPECT_NEAR(static_cast<double>(report.small) / static_cast<double>(report.before), 0.49995, 0.003);
    EXPECT_NEAR(static_cast<double>(report.merged) / static_cast<double>(report.before), 0.3689, 0.002);
    EXPECT_NEAR(after.volume.value(), before.volume.value(), 1e-13 * before.volume.value());
    EXPECT_NEAR(after.volume_position[2].value(), before.volume_position[2].value(), 1e-12 * 500 * 5);
    for (std::size_t i = 0; i < before.volume_attribute.size(); ++i)
      EXPECT_NEAR(after.volume_attribute[i].value(), before.volume_attribute[i].value(), 1e-12 * 500 * 10);
  }
}

/// Returns the folder of shared data, which may be missing.
std::filesystem::path shared_data() { return test::shared_folder() / "data"; }

TEST(ReferenceStep, the_rayleigh_taylor_file_merges_as_another_program_merged_it) {
  const std::filesystem::path file = shared_data() / "epic-rt32-early.nc";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << file << " is not here";
  if (!io::netcdf_available()) GTEST_SKIP() << "this build has no NetCDF";
  const io::ParcelFileInfo info = io::read_info(file.string());
  Parcels parcels;
  comm::run({"threads", 1, "", {}}, [&](comm::Transport& t) { parcels = io::read_parcels(file.string(), info, t); });
  const StepReport report = cluster_reference(parcels, info.grid, make_options(20, Search::exact));
  EXPECT_EQ(report.before, 374900);
  EXPECT_EQ(report.small, 42516);
  EXPECT_EQ(report.merged, 24912);
  EXPECT_EQ(report.after, 349988);
  EXPECT_EQ(report.long_cycles, 0);
  EXPECT_EQ(report.links_to_small, 38064);
  EXPECT_EQ(report.clusters, (std::map<int, std::int64_t>{{2, 16412}, {3, 4138}, {4, 72}, {5, 2}}));
  // Plain sums over the merged parcels, not weighted by volume: b^2 and the squared length of the vorticity.
  ExactSum b_squared, abs_w2, b11, b22, b12;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const double* w = parcels.row(i) + parcels.schema().offset("vorticity");
    const double b = parcels.row(i)[parcels.schema().offset("buoyancy")];
    const double* shape = parcels.row(i) + parcels.schema().offset("B");
    b_squared.add(b * b);
    abs_w2.add(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    b11.add(shape[0]);
    b12.add(shape[1]);
    b22.add(shape[3]);
  }
  const auto equal = [](double value, double expected) { EXPECT_NEAR(value, expected, 1e-12 * std::fabs(expected)); };
  equal(b_squared.value(), 154448.50054335996);
  equal(abs_w2.value(), 1072754.7026484017);
  equal(b11.value(), 294.06234371873313);
  equal(b22.value(), 294.1474120645878);
  equal(b12.value(), -0.17584207995124013);
  const Moments sums = moments(parcels, info.grid.box);
  equal(sums.volume.value(), 31.006276680299816);
  for (const ExactSum& vanishing : sums.volume_attribute) EXPECT_NEAR(vanishing.value(), 0, 1e-12);
}

}  // namespace
