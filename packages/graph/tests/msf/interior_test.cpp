// Tests of the contraction of a rank's interior in filter-Kruskal: what is listed, what is joined and what is left undecided, the
// ranges of vertices of ranks, and forests of graphs whose ranks share few vertices.
#include "src/msf/local/interior.hpp"

#include <gtest/gtest.h>

#include "merganser/msf/minimum_forest.hpp"
#include "src/msf/kruskal_ranks.hpp"
#include "tests/msf/local_shapes.hpp"
#include "tests/msf/thread_setups.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class InteriorTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, InteriorTest, testing::ValuesIn(thread_setups("chaos:4")),
                         setup_name<testing::TestParamInfo<Setup>>);

template <class Edge>
std::vector<Edge> as_edges(const Edges& wide) {
  std::vector<Edge> edges;
  for (const auto& e : wide) edges.push_back(graphs::make_edge<Edge>(e.low, e.high, e.weight));
  return edges;
}

template <class Edge>
void expect_lists(std::size_t size, typename Edge::bits_type flip, std::uint64_t bound, const msf::VertexRange& range) {
  const auto edges = as_edges<Edge>(random_shape(size, 1000, size, 100).edges);
  std::vector<std::uint32_t> light(size + msf::kListSlack);
  std::vector<std::uint32_t> away(size + msf::kListSlack);
  auto pivot = graphs::make_edge<Edge>(bound % 7 * 150, bound % 3 * 400, bound);  // ends in the middle, or the least
  pivot.weight ^= flip;
  const auto found = msf::list_edges<Edge>(edges, flip, pivot, range, light.data(), away.data());
  std::vector<std::uint32_t> expected_light, expected_away;
  std::uint64_t highest = 0;
  for (std::uint32_t i = 0; i < size; ++i) {
    Edge e = edges[i];
    e.weight ^= flip;
    if (!(pivot < e)) expected_light.push_back(i);
    if (edges[i].low < range.first || edges[i].high > range.last) expected_away.push_back(i);
    highest = std::max<std::uint64_t>(highest, edges[i].high);
  }
  light.resize(found.light);
  away.resize(found.away);
  EXPECT_EQ(light, expected_light) << size;
  EXPECT_EQ(away, expected_away) << size;
  EXPECT_EQ(found.highest, highest) << size;
}

TEST(ListEdgesTest, tells_light_edges_those_out_of_the_range_and_the_highest_end) {
  for (const std::size_t size : {0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 500}) {
    for (const std::uint64_t bound : {0, 1, 40, 100}) {
      for (const msf::VertexRange& range : {msf::VertexRange{}, {0, 999}, {100, 900}, {1, 0}, {5'000, 1ULL << 40}}) {
        expect_lists<graphs::Edge12>(size, 0, bound, range);
        expect_lists<graphs::Edge12>(size, 0xffffffffU, bound, range);
        expect_lists<graphs::Edge16>(size, ~std::uint64_t{0}, bound, range);
        expect_lists<graphs::Edge24>(size, 0, bound, range);
      }
    }
  }
  const std::vector<graphs::Edge12> far = {{0xfffffffeU, 0xffffffffU, 0xffffffffU}, {0, 0x80000000U, 0x80000000U}};
  std::array<std::uint32_t, 2 + msf::kListSlack> light{}, away{};
  const auto found = msf::list_edges<graphs::Edge12>(far, 0, {0, 0x7fffffffU, 0x80000000U}, {0, 0xfffffffeULL},
                                                     light.data(), away.data());
  EXPECT_EQ(found.light, 0U);
  EXPECT_EQ(found.away, 1U);
  EXPECT_EQ(found.highest, 0xffffffffU);
}

template <class Edge>
void expect_outside(std::size_t size) {
  const auto edges = as_edges<Edge>(random_shape(size, 1000, size, 100).edges);
  std::vector<std::uint32_t> set(32);
  Random random(size, 5, 0);
  for (auto& word : set) word = static_cast<std::uint32_t>(random.bits() | random.bits());
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 0; i < size; ++i) {
    const auto in = [&](std::uint64_t v) { return (set[v / 32] >> (v % 32) & 1U) != 0; };
    if (!in(edges[i].low) || !in(edges[i].high)) expected.push_back(i);
  }
  std::vector<std::uint32_t> list(size + msf::kListSlack);
  list.resize(msf::list_outside<Edge>(edges, set.data(), list.data()));
  EXPECT_EQ(list, expected) << size;
}

TEST(ListOutsideTest, leaves_out_edges_with_both_ends_in_the_set) {
  for (const std::size_t size : {0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 500}) {
    expect_outside<graphs::Edge12>(size);
    expect_outside<graphs::Edge16>(size);
    expect_outside<graphs::Edge24>(size);
  }
}

/// The rule by definition: components as labels of all vertices, an edge joins two unless both have a shared vertex.
TEST(InteriorTreesTest, join_unless_both_trees_have_a_shared_vertex) {
  constexpr std::uint32_t kVertices = 400;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const msf::VertexRange range{seed % 2 == 0 ? 0U : 50U, seed % 3 == 0 ? 399U : 330U};
    Random random(seed, 31, 0);
    std::vector<std::uint8_t> is_shared(kVertices);
    const std::uint64_t share = 1 + seed % 20;
    for (std::uint32_t v = 0; v < kVertices; ++v)
      is_shared[v] = v < range.first || v > range.last || random.below(100) < share ? 1 : 0;
    std::vector<std::uint32_t> shared;
    for (std::uint32_t v = 0; v < kVertices; ++v)
      if (is_shared[v] != 0) shared.push_back(v);
    const auto edges = as_edges<graphs::Edge12>(sorted(random_shape(seed, kVertices, 900, 50).edges));

    std::vector<std::uint32_t> label(kVertices);
    std::iota(label.begin(), label.end(), 0U);
    auto tree_is_shared = is_shared;
    std::vector<graphs::Edge12> expected, expected_undecided;
    for (const auto& e : edges) {
      const std::uint32_t a = label[e.low];
      const std::uint32_t b = label[e.high];
      if (a == b) continue;
      if (tree_is_shared[a] != 0 && tree_is_shared[b] != 0) {
        expected_undecided.push_back(e);
        continue;
      }
      std::replace(label.begin(), label.end(), b, a);
      tree_is_shared[a] = tree_is_shared[a] | tree_is_shared[b];
      expected.push_back(e);
    }

    msf::UnionFind sets(kVertices);
    msf::InteriorTrees trees(sets, range, shared);
    std::vector<graphs::Edge12> joined;
    msf::Buffer<msf::UndecidedEdge<graphs::Edge12>> undecided;
    trees.join(
        std::span<const graphs::Edge12>(edges), [&](const auto& e) { joined.push_back(e); }, undecided);
    EXPECT_EQ(joined, expected) << "seed " << seed;
    ASSERT_EQ(undecided.size(), expected_undecided.size()) << "seed " << seed;
    for (std::size_t i = 0; i < undecided.size(); ++i) {
      const auto& e = undecided[i];
      ASSERT_EQ(static_cast<const graphs::Edge12&>(e), expected_undecided[i]);
      ASSERT_TRUE(is_shared[e.from] != 0 && is_shared[e.to] != 0);
      ASSERT_TRUE(label[e.from] == label[e.low] && label[e.to] == label[e.high]);
    }
    std::vector<std::uint32_t> members((kVertices + 31) / 32);
    const std::uint32_t marked = trees.find(trees.sample(seed, 40));
    trees.flatten(marked, members.data());
    for (std::uint32_t v = 0; v < kVertices; ++v) {
      const bool known = is_shared[v] != 0 || (v >= range.first && v <= range.last);
      ASSERT_EQ((members[v / 32] >> (v % 32) & 1U) != 0, known && label[v] == label[marked]) << v;
    }
    for (std::uint32_t a = 0; a < kVertices; ++a)
      for (std::uint32_t b = 0; b < a; ++b) ASSERT_EQ(trees.labels()[a] == trees.labels()[b], label[a] == label[b]);
  }
}

TEST_P(InteriorTest, ranges_are_of_one_rank_each_where_ranks_share_few_vertices) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    msf::Report report;
    msf::KruskalRanks ranks(t, report);
    const Shape shape = local_shape(80, 3, 0);
    const auto mine = in_blocks<graphs::Edge12>(shape, t);
    const std::span<const graphs::Edge12> all(std::get<std::vector<graphs::Edge12>>(mine.edges));
    const auto range = ranks.own_range(all, shape.vertices);
    ASSERT_TRUE(range.has_value());
    EXPECT_LE(range->first, range->last);
    const auto ends = comm::all_gather_value(t, *range);
    for (int r = 1; r < t.size(); ++r)
      EXPECT_GT(ends[static_cast<std::size_t>(r)].first, ends[static_cast<std::size_t>(r) - 1].last);
    const auto dealt = distribute_as<graphs::Edge12>(shape, t);
    const std::span<const graphs::Edge12> others(std::get<std::vector<graphs::Edge12>>(dealt.edges));
    EXPECT_EQ(ranks.own_range(others, shape.vertices).has_value(), t.size() == 1);
    EXPECT_FALSE(ranks.own_range(all.first(0), shape.vertices).has_value());
    // All edges on the last rank: it has all vertices, the others have none.
    const bool last = t.rank() == t.size() - 1;
    const auto whole = as_edges<graphs::Edge12>(shape.edges);
    const auto one =
        ranks.own_range(std::span<const graphs::Edge12>(whole).first(last ? whole.size() : 0), shape.vertices);
    ASSERT_TRUE(one.has_value());
    EXPECT_EQ(one->first <= one->last, last);
  });
}

TEST_P(InteriorTest, vertices_and_counts_of_all_ranks_are_united) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    msf::Report report;
    msf::KruskalRanks ranks(t, report);
    const auto r = static_cast<std::uint32_t>(t.rank());
    const auto n = static_cast<std::uint32_t>(t.size());
    std::vector<std::uint32_t> expected = {3};
    for (std::uint32_t i = 0; i < n; ++i) expected.push_back(10 + i);
    EXPECT_EQ(ranks.union_of({3, 10 + r}), expected);
    const auto sum = ranks.sum({r + 1U, 2});
    EXPECT_EQ(sum.edges, n * (n + 1) / 2);
    EXPECT_EQ(sum.joined, 2 * n);
  });
}

template <class Edge>
void expect_local_forest(const Shape& shape, comm::Transport& t, msf::Sense sense, int threads) {
  const auto graph = in_blocks<Edge>(shape, t);
  msf::ForestOptions options;
  options.method = msf::ForestMethod::kruskal;
  options.sense = sense;
  options.threads = threads;
  msf::Report report;
  const auto forest = msf::minimum_spanning_forest(graph, t, options, report);
  EXPECT_TRUE(sorted(gathered(forest.edges, t)) == sorted(plain_kruskal(shape.edges, shape.vertices, sense)))
      << shape.name;
}

/// In rounds and batches, with ties, long edges, copies, and vertices that no edge touches.
TEST_P(InteriorTest, forests_are_those_of_plain_kruskal) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    expect_local_forest<graphs::Edge12>(local_shape(70, 1'000'000'000, 0), t, msf::Sense::minimum, 1);
    expect_local_forest<graphs::Edge16>(local_shape(64, 2, 10), t, msf::Sense::maximum, 2);
    expect_local_forest<graphs::Edge24>(local_shape(90, 50, 15), t, msf::Sense::minimum, 3);
    expect_local_forest<graphs::Edge12>(grid_shape(90, 3), t, msf::Sense::minimum, 1);  // the last round at once
  });
}

TEST_P(InteriorTest, many_light_edges_are_joined_in_batches) {
  if (!GetParam().decorators.empty()) GTEST_SKIP() << "large: once is enough";
  const Shape shape = local_shape(380, 1U << 31, 1);
  const Edges expected = sorted(plain_kruskal(shape.edges, shape.vertices));
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const auto graph = in_blocks<graphs::Edge12>(shape, t);
    msf::ForestOptions options;
    options.method = msf::ForestMethod::kruskal;
    msf::Report report;
    const auto forest = msf::minimum_spanning_forest(graph, t, options, report);
    EXPECT_TRUE(sorted(gathered(forest.edges, t)) == expected);
  });
}

}  // namespace
