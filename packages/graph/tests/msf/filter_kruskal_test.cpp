// Tests of the rounds and batches of filter-Kruskal: what is joined in which order, and what the filters drop, is watched by a rank
// that communicates with nobody.
#include <gtest/gtest.h>

#include "merganser/base/error.hpp"
#include "merganser/msf/local_forest.hpp"
#include "src/msf/local/filter_kruskal.hpp"
#include "tests/msf/oracle.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// One rank that takes itself for several: it has all edges, and joins the ranges of all. It keeps the trees by a plain union-find.
template <class Edge>
class WatchedRank {
 public:
  struct Scope {
    Scope(const WatchedRank&, bool) {}
    ~Scope() {}
  };
  struct Batch {
    std::vector<Edge> edges;      ///< in the order in which they were joined
    std::vector<Edge> splitters;  ///< between the ranges of ranks
    std::size_t joined = 0;
    bool filtered = true;  ///< no edge was within a tree
  };
  WatchedRank(std::uint64_t vertices, int ranks) : parent_(vertices), ranks_(ranks) {
    std::iota(parent_.begin(), parent_.end(), std::uint64_t{0});
  }
  static constexpr bool kContracts = false;
  [[nodiscard]] static int rank() { return 0; }
  [[nodiscard]] int size() const { return ranks_; }
  std::size_t count(std::size_t edges) {
    rounds.push_back(edges);
    return edges;
  }
  static void agree(const auto& check) { check(); }
  std::vector<Edge> gather(std::vector<Edge> sample) {
    samples.push_back(sample.size());
    return sample;
  }
  msf::Buffer<Edge> distribute(msf::Buffer<Edge> batch, const std::vector<Edge>& splitters) {
    batches.push_back({{}, splitters, 0, true});
    for (const Edge& e : batch) batches.back().filtered = batches.back().filtered && root(e.low) != root(e.high);
    return batch;
  }
  msf::JoinCount join(msf::UnionFind& sets, std::span<const Edge> sorted, const auto& joined) {
    Batch& batch = batches.back();
    batch.edges.assign(sorted.begin(), sorted.end());
    for (const Edge& e : sorted) parent_[root(e.low)] = root(e.high);
    msf::join_trees(sets, sorted, [&](std::size_t i) {
      joined(i);
      ++batch.joined;
    });
    return {sorted.size(), batch.joined};
  }
  std::uint64_t root(std::uint64_t v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }

  std::vector<std::size_t> rounds;   ///< edges at the begin of each round
  std::vector<std::size_t> samples;  ///< edges of each sample
  std::vector<Batch> batches;

 private:
  std::vector<std::uint64_t> parent_;
  int ranks_;
};

template <class Edge>
std::vector<Edge> narrow_edges(const Edges& wide) {
  std::vector<Edge> edges;
  for (const auto& e : wide) edges.push_back(graphs::make_edge<Edge>(e.low, e.high, e.weight));
  return edges;
}

/// Runs filter-Kruskal on a watched rank, and checks the forest and the order of all edges that it joins along.
template <class Edge>
WatchedRank<Edge> watched(const Shape& shape, int ranks, bool flip = false, int threads = 1) {
  const auto edges = narrow_edges<Edge>(shape.edges);
  WatchedRank<Edge> watch(shape.vertices, ranks);
  const std::function<void(double)> nobody;
  msf::ForestProgress progress(nobody, 1);
  msf::FilterKruskal<Edge, WatchedRank<Edge>> search(shape.vertices, threads, flip, watch, progress);
  const auto found = search.run(edges);
  auto expected =
      narrow_edges<Edge>(plain_kruskal(shape.edges, shape.vertices, flip ? msf::Sense::maximum : msf::Sense::minimum));
  if (flip)
    for (auto& e : expected) e.weight = static_cast<typename Edge::bits_type>(~e.weight);
  EXPECT_TRUE(found == expected) << shape.name << ", " << ranks << " ranks";
  const Edge* last = nullptr;
  for (const auto& batch : watch.batches) {
    EXPECT_TRUE(std::is_sorted(batch.edges.begin(), batch.edges.end())) << shape.name;
    EXPECT_TRUE(std::is_sorted(batch.splitters.begin(), batch.splitters.end())) << shape.name;
    if (batch.edges.empty()) continue;
    EXPECT_TRUE(last == nullptr || *last < batch.edges.front()) << shape.name;
    last = &batch.edges.back();
  }
  return watch;
}

/// Number of edges of a list up to `last`.
template <class Edge>
std::size_t edges_up_to(const std::vector<Edge>& sorted, const Edge& last) {
  return static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), last) - sorted.begin());
}

template <class Edge>
std::vector<Edge> in_order(const Shape& shape) {
  auto edges = narrow_edges<Edge>(shape.edges);
  std::sort(edges.begin(), edges.end());
  return edges;
}

/// 135,000 vertices and 440,000 edges: 270,000 light ones, joined in four batches of an eighth, an eighth, a quarter and a half.
Shape batched_shape(std::uint64_t weights) { return random_shape(31, 135'000, 440'000, weights); }

TEST(FilterKruskalBatches, double_twice_after_an_eighth_and_are_filtered_when_most_edges_join_nothing) {
  const Shape shape = batched_shape(std::uint64_t{1} << 31);
  const auto all = in_order<graphs::Edge12>(shape);
  const auto watch = watched<graphs::Edge12>(shape, 1);
  ASSERT_EQ(watch.rounds.size(), 2U);
  EXPECT_EQ(watch.rounds[0], 440'000U);
  ASSERT_EQ(watch.batches.size(), 5U);  // and one in the last round
  std::size_t begin = 0;
  bool filtered = false;
  for (std::size_t b = 0; b < 4; ++b) {
    const auto& batch = watch.batches[b];
    const std::size_t end = edges_up_to(all, batch.edges.back());
    const double eighths = b < 2 ? 1 : b == 2 ? 2 : 4;
    EXPECT_NEAR(static_cast<double>(end - begin), eighths * 270'000 / 8, 9'000) << "batch " << b;
    if (filtered)
      EXPECT_TRUE(batch.filtered) << "batch " << b;
    else
      EXPECT_NEAR(static_cast<double>(batch.edges.size()), static_cast<double>(end - begin), 5) << "batch " << b;
    filtered = 4 * batch.joined < 3 * batch.edges.size();
    begin = end;
  }
  EXPECT_FALSE(watch.batches[2].filtered);  // three quarters of the edges of the first two joined trees
  EXPECT_TRUE(watch.batches[3].filtered);
  EXPECT_LT(watch.batches[3].edges.size(), 100'000U);
}

TEST(FilterKruskalBatches, are_right_for_ties_for_maxima_for_threads_and_for_all_sizes_of_edges) {
  (void)watched<graphs::Edge16>(batched_shape(2), 1, false, 3);
  (void)watched<graphs::Edge24>(batched_shape(~std::uint64_t{0}), 1, true);
  (void)watched<graphs::Edge12>(batched_shape(1), 2, true, 2);
}

TEST(FilterKruskalBatches, are_divided_among_ranks_by_splitters_into_even_ranges) {
  const Shape shape = batched_shape(std::uint64_t{1} << 31);
  const auto all = in_order<graphs::Edge12>(shape);
  const auto watch = watched<graphs::Edge12>(shape, 3);
  ASSERT_EQ(watch.batches.size(), 5U);
  std::size_t begin = 0;
  for (std::size_t b = 0; b < 4; ++b) {
    const auto& batch = watch.batches[b];
    ASSERT_EQ(batch.splitters.size(), 2U);
    const std::array<std::size_t, 3> ends = {edges_up_to(all, batch.splitters[0]), edges_up_to(all, batch.splitters[1]),
                                             edges_up_to(all, batch.edges.back())};
    const double range = (b < 2 ? 1 : b == 2 ? 2 : 4) * 270'000.0 / 8 / 3;
    for (const std::size_t end : ends) {
      EXPECT_NEAR(static_cast<double>(end - begin), range, range / 2) << "batch " << b;
      begin = end;
    }
  }
}

/// Weights that rise with the position would repeat in a sample by strides.
TEST(FilterKruskalRounds, take_an_eighth_of_the_edges_or_twice_the_trees) {
  for (const std::uint64_t vertices : {900, 9'000}) {
    const Shape shape = random_shape(5, vertices, 60'000, std::uint64_t{1} << 31);
    const auto all = in_order<graphs::Edge12>(shape);
    for (const int ranks : {1, 3}) {
      const auto watch = watched<graphs::Edge12>(shape, ranks);
      ASSERT_FALSE(watch.samples.empty());
      const double wanted = std::max(2.0 * static_cast<double>(vertices), 60'000.0 / 8);
      EXPECT_NEAR(static_cast<double>(edges_up_to(all, watch.batches[0].edges.back())), wanted, 1'000);
      EXPECT_GE(watch.samples[0], 4096U);
      EXPECT_LE(watch.samples[0], 5000U);
      EXPECT_EQ(watch.batches[0].splitters.size(), static_cast<std::size_t>(ranks - 1));
    }
  }
}

/// The heavy edges that are left after a round are those between the trees of that round, all of them.
TEST(FilterKruskalRounds, go_on_with_the_edges_between_two_trees) {
  Shape shape{"clique with leaves", 1'000 + 20'000, {}};
  Random random(3, 41, 0);
  for (int i = 0; i < 70'000; ++i) shape.add(random.below(1'000), random.below(1'000), random.below(1'000));
  for (std::uint64_t leaf = 0; leaf < 20'000; ++leaf)
    for (int i = 0; i < 3; ++i) shape.add(1'000 + leaf, random.below(1'000), 5'000 + random.below(100'000));
  const auto watch = watched<graphs::Edge12>(shape, 1);
  ASSERT_EQ(watch.rounds.size(), 2U);
  EXPECT_EQ(watch.rounds[0], 130'000U);
  EXPECT_EQ(watch.rounds[1], 60'000U);  // at most three for each of the trees left: the last round
  ASSERT_EQ(watch.batches.size(), 2U);
  EXPECT_EQ(watch.batches[1].edges.size(), 60'000U);
  EXPECT_EQ(watch.batches[1].joined, 20'000U);
  EXPECT_TRUE(watch.batches[1].filtered);
}

TEST(FilterKruskalRounds, end_with_few_edges_or_three_for_each_tree) {
  const auto rounds = [](std::uint64_t vertices, std::size_t edges) {
    Shape shape{"fan", vertices, {}};  // copies of the edges of a path, so that all rounds are alike
    for (std::size_t i = 0; i < edges; ++i) shape.add(i % (vertices - 1), i % (vertices - 1) + 1, i);
    const auto watch = watched<graphs::Edge12>(shape, 1);
    return watch.rounds.size();
  };
  EXPECT_EQ(rounds(50, 8'192), 1U);
  EXPECT_EQ(rounds(50, 8'193), 2U);
  EXPECT_EQ(rounds(5'000, 15'000), 1U);
  EXPECT_EQ(rounds(5'000, 15'001), 2U);
}

/// After the first round 30,000 edges are left: fewer than three for each vertex, but not for each of the 6,000 trees.
TEST(FilterKruskalRounds, end_by_the_trees_that_are_left) {
  Shape shape{"core with leaves", 10'000 + 6'000, {}};
  Random random(4, 43, 0);
  for (int i = 0; i < 60'000; ++i) shape.add(random.below(10'000), random.below(10'000), random.below(1'000));
  for (std::uint64_t leaf = 0; leaf < 6'000; ++leaf)
    for (int i = 0; i < 5; ++i) shape.add(10'000 + leaf, random.below(10'000), 5'000 + random.below(100'000));
  const auto watch = watched<graphs::Edge12>(shape, 1);
  ASSERT_EQ(watch.rounds.size(), 3U);
  EXPECT_GE(watch.rounds[1], 30'000U);
  EXPECT_LT(watch.rounds[1], 31'000U);
}

TEST(FilterKruskalRounds, drop_loops_before_the_last_sort) {
  Shape shape = random_shape(8, 100, 1'000, 50);
  std::size_t loops = 0;
  for (const auto& e : shape.edges) loops += e.low == e.high ? 1 : 0;
  ASSERT_GT(loops, 0U);
  const auto watch = watched<graphs::Edge16>(shape, 1);
  ASSERT_EQ(watch.batches.size(), 1U);
  EXPECT_EQ(watch.batches[0].edges.size(), 1'000 - loops);
  EXPECT_TRUE(watch.samples.empty());
}

TEST(FilterKruskalRounds, need_no_luck_with_copies_and_with_weights_that_repeat) {
  Shape copies{"copies", 3'000, {}};
  for (int i = 0; i < 60'000; ++i) copies.add(5, 7, 1);
  for (std::uint64_t v = 0; v + 1 < 3'000; ++v) copies.add(v, v + 1, 2);
  (void)watched<graphs::Edge12>(copies, 1);
  (void)watched<graphs::Edge24>(copies, 4, true);
  Shape periodic{"periodic", 2'000, {}};
  Random random(1, 42, 0);
  for (std::uint64_t i = 0; i < 65'536; ++i) periodic.add(random.below(2'000), random.below(2'000), i % 16);
  (void)watched<graphs::Edge16>(periodic, 1);
  (void)watched<graphs::Edge16>(periodic, 7, true, 2);
}

template <class Edge>
std::string refusal_of_local_forest(const std::vector<Edge>& edges, std::uint64_t vertices) {
  try {
    (void)msf::local_forest<Edge>(edges, vertices);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(FilterKruskalErrors, an_end_that_is_no_vertex_is_named_wherever_it_is) {
  const std::string told = "an edge ends in vertex 40; allowed: below 40, the number of vertices";
  EXPECT_EQ(refusal_of_local_forest<graphs::Edge12>({{3, 40, 1}}, 40), told);
  EXPECT_EQ(refusal_of_local_forest<graphs::Edge12>({{3, 39, 1}}, 40), "accepted");
  EXPECT_EQ(refusal_of_local_forest<graphs::Edge16>({{40, 40, 1}}, 40), told);  // a loop too
  EXPECT_EQ(refusal_of_local_forest<graphs::Edge24>({}, 40), "accepted");
  EXPECT_EQ(refusal_of_local_forest<graphs::Edge24>({{0, 0, 0}}, 0),
            "an edge ends in vertex 0; allowed: below 0, the number of vertices");
  for (const std::size_t at : {0, 4'095, 4'096, 49'999}) {
    auto edges = narrow_edges<graphs::Edge12>(random_shape(4, 40, 50'000, 1'000).edges);
    edges[at] = {3, 40, 2'000};  // a heavy edge: the first filter sees it
    EXPECT_EQ(refusal_of_local_forest(edges, 40), told) << at;
  }
  EXPECT_EQ(refusal_of_local_forest<graphs::Edge24>({}, (std::uint64_t{1} << 32) + 1),
            "vertices of one rank's forest: 4294967297; allowed: at most 4294967296");
}

TEST(FilterKruskalProgress, rises_to_the_whole_at_most) {
  std::vector<graphs::Edge12> edges;  // a little more than the progress is told after
  for (std::uint32_t i = 0; i < 4'300'000; ++i) edges.push_back({i % 999, 999, i * 2'654'435'761U});
  std::vector<double> told;
  const auto found =
      msf::local_forest<graphs::Edge12>(edges, 1'000, 2, false, [&](double share) { told.push_back(share); });
  EXPECT_EQ(found.size(), 999U);
  EXPECT_GE(told.size(), 1U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  for (const double share : told) {
    EXPECT_GT(share, 0.0);
    EXPECT_LE(share, 1.0);
  }
}

}  // namespace
