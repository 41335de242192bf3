// Tests of the parts of filter-Kruskal on one rank: disjoint sets, filters and samples.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <map>

#include "merganser/base/error.hpp"
#include "src/msf/local/filter_kruskal.hpp"
#include "tests/msf/oracle.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using Ends = std::pair<std::uint32_t, std::uint32_t>;

/// Disjoint sets by definition: all members of a set carry its least member.
class PlainSets {
 public:
  explicit PlainSets(std::size_t size) : label_(size) { std::iota(label_.begin(), label_.end(), 0U); }
  bool join(std::uint32_t a, std::uint32_t b) {
    const auto [low, high] = std::minmax({label_[a], label_[b]});
    const bool different = low != high;
    std::replace(label_.begin(), label_.end(), std::uint32_t{high}, std::uint32_t{low});
    return different;
  }
  [[nodiscard]] const std::vector<std::uint32_t>& labels() const { return label_; }

 private:
  std::vector<std::uint32_t> label_;
};

std::vector<Ends> random_ends(std::uint64_t seed, std::uint64_t n, std::size_t count) {
  Random random(seed, 21, 0);
  std::vector<Ends> all;
  for (std::size_t i = 0; i < count; ++i)
    all.emplace_back(static_cast<std::uint32_t>(random.below(n)), static_cast<std::uint32_t>(random.below(n)));
  return all;
}

TEST(UnionFindTest, sets_have_their_least_vertex_as_root) {
  for (const std::uint64_t n : {1, 2, 3, 31, 32, 33, 200}) {
    msf::UnionFind sets(n);
    PlainSets plain(n);
    EXPECT_EQ(sets.size(), n);
    for (const auto& [a, b] : random_ends(n, n, 2 * n)) {
      ASSERT_EQ(sets.join(a, b), plain.join(a, b));
      ASSERT_FALSE(sets.join(b, a));
      for (std::uint32_t v = 0; v < n; v += 3) ASSERT_EQ(sets.find(v), plain.labels()[v]);
    }
    sets.flatten();
    EXPECT_EQ(std::vector<std::uint32_t>(sets.labels(), sets.labels() + n), plain.labels());
  }
}

TEST(UnionFindTest, of_nothing_has_no_members) {
  msf::UnionFind sets(0);
  sets.flatten();
  EXPECT_EQ(sets.size(), 0U);
}

/// A chain of 1,000 pointers: one pass makes all of them short.
TEST(UnionFindTest, a_long_path_is_halved_by_a_search_and_flattened_by_one_pass) {
  msf::UnionFind sets(1000);
  for (std::uint32_t v = 999; v > 0; --v) EXPECT_TRUE(sets.join(v - 1, v));
  EXPECT_EQ(sets.labels()[999], 998U);
  EXPECT_EQ(sets.find(999), 0U);
  EXPECT_EQ(sets.labels()[999], 997U);  // halved: every second vertex of the path skips one
  EXPECT_EQ(sets.labels()[998], 997U);
  EXPECT_EQ(sets.labels()[997], 995U);
  std::vector<std::uint32_t> members(32);
  sets.flatten(0, members.data());
  for (std::size_t w = 0; w < 32; ++w) EXPECT_EQ(members[w], w < 31 ? 0xffffffffU : 0xffU);
  for (std::size_t v = 0; v < 1000; ++v) ASSERT_EQ(sets.labels()[v], 0U);
}

/// Paths of every length within 32 vertices, which one vector holds, and out of them; ranges that fill no word to several words. The
/// highest bit goes with parents of odd numbers.
void expect_flat(std::uint32_t n, std::uint32_t first, std::uint64_t reach) {
  constexpr std::uint32_t kBit = std::uint32_t{1} << 31;
  const auto entry = [](std::uint32_t v) { return v % 2 == 0 ? v : v | kBit; };
  Random random(n, 33, reach);
  std::vector<std::uint32_t> parent;
  for (std::uint32_t v = 0; v < n; ++v)
    parent.push_back(v - static_cast<std::uint32_t>(random.below(std::min<std::uint64_t>(reach, v + 1))));
  if (reach == 2)
    for (std::uint32_t v = 1; v < n; ++v) parent[v] = v % 100 == 0 ? v : v - 1;
  std::vector<std::uint32_t> roots;
  for (std::uint32_t v = 0; v < n; ++v) roots.push_back(parent[v] == v ? v : roots[parent[v]]);
  const std::uint32_t marked = n == 0 ? 0 : roots[n / 2];
  std::vector<std::uint32_t> members((n + 31) / 32);
  std::vector<std::uint32_t> expected_members((n + 31) / 32);
  std::vector<std::uint32_t> expected;
  for (std::uint32_t v = 0; v < n; ++v) {
    parent[v] = entry(v < first ? roots[v] : parent[v]);
    expected.push_back(entry(roots[v]));
    if (v >= first && roots[v] == marked) expected_members[v / 32] |= std::uint32_t{1} << (v % 32);
  }
  auto plain = parent;
  msf::flatten_paths(plain.data(), first, n, ~kBit, 0, nullptr);
  EXPECT_EQ(plain, expected) << first << " to " << n << ", reach " << reach;
  msf::flatten_paths(parent.data(), first, n, ~kBit, marked, members.data());
  EXPECT_EQ(parent, expected) << first << " to " << n << ", reach " << reach;
  EXPECT_EQ(members, expected_members) << first << " to " << n << ", reach " << reach;
}

TEST(FlattenPathsTest, points_every_vertex_to_its_root_and_marks_one_set) {
  for (const std::uint32_t n : {0U, 1U, 7U, 31U, 32U, 33U, 64U, 95U, 500U})
    for (const std::uint32_t first : {0U, 1U, 31U, 32U, 40U, 90U})
      for (const std::uint64_t reach : {1, 2, 3, 9, 40, 1000})  // a parent lies less than this before its child
        expect_flat(n, std::min(first, n), reach);
  // A parent behind its child that points to its root already, as shared vertices do.
  std::vector<std::uint32_t> parent = {0};
  for (std::uint32_t v = 1; v < 64; ++v) parent.push_back(v == 40 || v == 50 ? 0 : v < 40 ? 40 : 50);
  msf::flatten_paths(parent.data(), 0, 64, 0xffffffffU, 0, nullptr);
  EXPECT_EQ(parent, std::vector<std::uint32_t>(64));
}

template <class Edge>
void expect_batches(std::uint64_t weights, std::uint64_t offset) {
  Random random(weights, 34, offset);
  const auto draw = [&] {
    Edge e{};
    e.low = static_cast<typename Edge::id_type>(random.below(3));
    e.high = static_cast<typename Edge::id_type>(e.low + random.below(3));
    e.weight = static_cast<typename Edge::bits_type>(offset + random.below(weights));
    return e;
  };
  for (int turn = 0; turn < 40; ++turn) {
    std::vector<Edge> lasts;
    for (int i = 0; i <= turn % 4; ++i) lasts.push_back(draw());
    std::sort(lasts.begin(), lasts.end());
    for (const bool all : {false, true}) {
      const msf::LightBatches<Edge> batch_of(lasts, all);
      for (int i = 0; i < 60; ++i) {
        const Edge e = draw();
        std::size_t expected = 0;
        for (std::size_t k = 0; k < lasts.size() - (all ? 1 : 0); ++k) expected += lasts[k] < e ? 1 : 0;
        ASSERT_EQ(batch_of(e), expected) << weights << " weights from " << offset << ", turn " << turn;
        ASSERT_EQ(batch_of.pivot() < e, !all && lasts.back() < e);
      }
    }
  }
}

/// With one weight, a few and many; at both limits of weights, where the last one is that of the bounds behind the batches.
TEST(LightBatchesTest, edges_are_in_the_first_batch_whose_last_edge_is_not_before_them) {
  for (const std::uint64_t weights : {1, 2, 5, 1000}) {
    for (const std::uint64_t below_greatest : {std::uint64_t{0}, weights}) {
      expect_batches<graphs::Edge12>(weights, below_greatest == 0 ? 0 : (std::uint64_t{1} << 32) - weights);
      expect_batches<graphs::Edge16>(weights, 0 - below_greatest);
      expect_batches<graphs::Edge24>(weights, 0 - below_greatest);
    }
  }
}

TEST(JoinTreesTest, tells_every_edge_that_joins_two_trees) {
  for (const std::size_t count : {0, 1, 23, 24, 25, 26, 400}) {
    std::vector<graphs::Edge12> edges;
    for (const auto& [a, b] : random_ends(count, 90, count)) edges.push_back({a, b, 0});
    msf::UnionFind sets(90);
    std::vector<std::size_t> joined;
    msf::join_trees(sets, std::span<const graphs::Edge12>(edges), [&](std::size_t i) { joined.push_back(i); });
    PlainSets plain(90);
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < count; ++i)
      if (plain.join(edges[i].low, edges[i].high)) expected.push_back(i);
    EXPECT_EQ(joined, expected);
  }
}

/// Whether a predicate lists an edge as one that may be between two trees, in a block of that edge alone.
template <class Edge>
bool is_listed(const msf::BetweenTrees& between, const Edge& e) {
  std::array<std::uint32_t, 1 + msf::kListSlack> positions{};
  return between.list(std::span(&e, 1), positions.data()) == 1;
}

/// All pairs of vertices, for sets with one large tree among others, none, and several of one size.
TEST(BetweenTreesTest, decides_every_pair_of_vertices) {
  for (const std::uint64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 100, 257}) {
    for (const std::uint64_t joins : {std::uint64_t{0}, n / 3, n / 2, n, 3 * n}) {
      msf::UnionFind sets(n);
      PlainSets plain(n);
      for (const auto& [a, b] : random_ends(n + joins, n, joins)) EXPECT_EQ(sets.join(a, b), plain.join(a, b));
      const msf::BetweenTrees between(sets);
      for (std::uint32_t a = 0; a < n; ++a) {
        for (std::uint32_t b = a; b < n; ++b) {
          const graphs::Edge24 e{a, b, 0};
          const bool different = plain.labels()[a] != plain.labels()[b];
          ASSERT_EQ(between(e), different) << a << ", " << b << " of " << n;
          ASSERT_TRUE(is_listed(between, e) || !different) << a << ", " << b << " of " << n;
        }
      }
    }
  }
}

TEST(BetweenTreesTest, drops_edges_within_the_largest_tree_by_bits) {
  constexpr std::uint32_t kVertices = 500;
  for (const std::uint32_t first : {0U, 77U, 180U}) {  // first vertex of a tree of 320 vertices; all others are pairs
    msf::UnionFind sets(kVertices);
    const auto in_tree = [&](std::uint32_t v) { return v >= first && v < first + 320; };
    for (std::uint32_t v = 0; v + 1 < kVertices; ++v)
      if (in_tree(v) == in_tree(v + 1) && (in_tree(v) || v % 2 == 0)) sets.join(v, v + 1);
    const msf::BetweenTrees between(sets);
    for (std::uint32_t a = 0; a < kVertices; ++a)
      for (std::uint32_t b = a; b < kVertices; ++b)
        ASSERT_EQ(is_listed(between, graphs::Edge12{a, b, 0}), !in_tree(a) || !in_tree(b)) << a << ", " << b;
  }
}

TEST(BetweenTreesTest, lists_all_edges_where_no_tree_is_large) {
  msf::UnionFind sets(1000);
  for (std::uint32_t v = 0; v + 1 < 1000; ++v)
    if (v % 100 != 99) sets.join(v, v + 1);  // ten trees of 100 vertices
  const msf::BetweenTrees between(sets);
  for (std::uint32_t v = 1; v < 1000; ++v) {
    ASSERT_TRUE(is_listed(between, graphs::Edge12{0, v, 0}));
    ASSERT_EQ(between(graphs::Edge12{0, v, 0}), v >= 100);
  }
}

TEST(BetweenTreesTest, of_no_vertices_is_made) {
  msf::UnionFind sets(0);
  const msf::BetweenTrees between(sets);
  (void)between;
}

/// Keeps edges of even weights; list() leaves out some of them, and it is counted how many edges are asked about then.
struct KeepsEven {
  std::atomic<int>* asked = nullptr;
  std::uint64_t flip = 0;
  std::size_t list(std::span<const graphs::Edge16> block, std::uint32_t* positions) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < block.size(); ++i)
      if ((block[i].weight ^ flip) % 8 != 2) positions[count++] = static_cast<std::uint32_t>(i);
    return count;
  }
  bool operator()(const graphs::Edge16& e) const {
    ++*asked;
    return e.weight % 2 == 0;
  }
};

TEST(SelectTest, keeps_edges_in_their_order_whatever_the_threads) {
  const std::function<void(double)> tell;
  for (const std::size_t size : {0, 1, 2, 4095, 4096, 4097, 8192, 20'001}) {
    std::vector<graphs::Edge16> edges;
    Random random(size, 22, 0);
    for (std::size_t i = 0; i < size; ++i)
      edges.push_back(graphs::make_edge<graphs::Edge16>(random.below(5000), random.below(5000), random.bits()));
    for (const std::uint64_t flip : {std::uint64_t{0}, ~std::uint64_t{0}}) {
      std::vector<graphs::Edge16> even;
      std::vector<graphs::Edge16> staged;
      int asked = 0;
      for (auto e : edges) {
        e.weight ^= flip;
        if (e.weight % 2 == 0) even.push_back(e);
        asked += e.weight % 8 != 2 ? 1 : 0;
        if (e.weight % 2 == 0 && e.weight % 8 != 2) staged.push_back(e);
      }
      for (const int threads : {1, 2, 3, 5}) {
        for (const std::size_t expected : {std::size_t{0}, size, 3 * size + 9999}) {
          msf::ForestProgress progress(tell, 1);
          const auto is_even = [](const graphs::Edge16& e) { return e.weight % 2 == 0; };
          const std::span<const graphs::Edge16> all(edges);
          auto found = msf::select(all, flip, threads, expected, progress, is_even);
          ASSERT_EQ(std::vector(found.begin(), found.end()), even) << size << ", " << threads << " threads";
          std::atomic<int> times = 0;
          found = msf::select(all, flip, threads, expected, progress, KeepsEven{&times, flip});
          ASSERT_EQ(std::vector(found.begin(), found.end()), staged) << size << ", " << threads << " threads";
          ASSERT_EQ(times, asked);
        }
      }
    }
  }
}

TEST(SampleTest, draws_every_edge_about_equally_often) {
  std::vector<graphs::Edge12> edges;
  for (std::uint32_t i = 0; i < 10; ++i) edges.push_back({i, i + 1, i});
  for (const std::uint64_t seed : {0, 1, 2, 63}) {
    const auto sample = msf::sample_edges(std::span<const graphs::Edge12>(edges), 0xffffffffU, 20'000, seed);
    ASSERT_EQ(sample.size(), 20'000U);
    std::map<std::uint32_t, int> times;
    for (const auto& e : sample) {
      ASSERT_EQ(e, (graphs::Edge12{e.low, e.low + 1, ~e.low}));
      ++times[e.low];
    }
    ASSERT_EQ(times.size(), 10U);
    for (const auto& [edge, count] : times) EXPECT_NEAR(count, 2000, 250) << "edge " << edge << ", seed " << seed;
  }
}

TEST(SampleTest, depends_on_nothing_but_its_arguments) {
  const std::vector<graphs::Edge24> edges = random_shape(1, 500, 3000, 1U << 30).edges;
  const std::span<const graphs::Edge24> all(edges);
  const auto sample = msf::sample_edges(all, 0, 100, 3);
  EXPECT_EQ(sample, msf::sample_edges(all, 0, 100, 3));
  EXPECT_NE(sample, msf::sample_edges(all, 0, 100, 4));
  const auto fewer = msf::sample_edges(all, 0, 40, 3);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), sample.begin()));
  EXPECT_TRUE(msf::sample_edges(all, 0, 0, 3).empty());
  EXPECT_EQ(msf::sample_edges(all.first(1), 0, 9, 3), Edges(9, edges[0]));
}

TEST(PivotTest, is_compared_with_in_the_order_of_weight_and_ends) {
  Edges all;
  for (std::uint64_t i = 0; i < 27; ++i) all.push_back({i % 3, i / 3 % 3, i / 9});
  for (const auto& e : all)
    for (const auto& pivot : all)
      EXPECT_EQ(msf::is_above(e, pivot),
                std::tuple(e.weight, e.low, e.high) > std::tuple(pivot.weight, pivot.low, pivot.high));
}

TEST(ForestProgressTest, tells_the_share_after_every_four_million_edges) {
  std::vector<double> told;
  const std::function<void(double)> tell = [&](double share) { told.push_back(share); };
  const std::size_t step = std::size_t{1} << 22;
  msf::ForestProgress progress(tell, 8 * step);
  progress.add(step - 1);
  EXPECT_TRUE(told.empty());
  progress.add(1);
  EXPECT_EQ(told, (std::vector{0.125}));
  progress.add(step - 1);
  EXPECT_EQ(told.size(), 1U);
  progress.add(2 * step + 1);
  EXPECT_EQ(told, (std::vector{0.125, 0.5}));
  progress.add(100 * step);
  EXPECT_EQ(told, (std::vector{0.125, 0.5, 1.0}));
  const std::function<void(double)> nobody;
  msf::ForestProgress(nobody, step).add(3 * step);
}

TEST(LocalForestLimits, vertices_and_ends_beyond_what_is_allowed_are_refused) {
  const auto text = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  constexpr std::uint64_t kMax = std::uint64_t{1} << 32;
  EXPECT_EQ(text([] { msf::check_vertices(kMax); }), "accepted");
  EXPECT_EQ(text([] { msf::check_vertices(kMax + 1); }),
            "vertices of one rank's forest: 4294967297; allowed: at most 4294967296");
  EXPECT_EQ(text([] { msf::check_highest_end(4, 5); }), "accepted");
  EXPECT_EQ(text([] { msf::check_highest_end(5, 5); }),
            "an edge ends in vertex 5; allowed: below 5, the number of vertices");
}

}  // namespace
