/// Tests of the parts of a Boruvka round that one rank computes alone: numbers of vertices, and parallel edges.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "merganser/base/random.hpp"
#include "src/msf/parallel_edges.hpp"
#include "src/msf/vertex_numbers.hpp"

namespace {

using namespace merganser;

TEST(VertexNumbersTest, vertices_are_numbered_once_and_by_owner_in_both_kinds_of_table) {
  // Few vertices of many: a hash table. Many: bits, words of 64 of which the first and the last are cut.
  for (const std::uint64_t vertices : {1ULL, 63ULL, 64ULL, 65ULL, 1000ULL, 200'000ULL, 1ULL << 40U}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{300}, std::size_t{4000}}) {
      Random random(vertices, 61, static_cast<std::uint32_t>(count));
      msf::VertexNumbers numbers(vertices, count);
      std::set<std::uint64_t> added;
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t id = i == 0 ? vertices - 1 : i == 1 ? 0 : random.below(vertices);
        numbers.add(id);
        added.insert(id);
      }
      const graphs::Ranges ranges{{0, vertices / 3, vertices / 3, vertices / 2, vertices}};
      const auto ids = numbers.finish(ranges);
      ASSERT_EQ(std::set<std::uint64_t>(ids.begin(), ids.end()), added) << vertices << ' ' << count;
      ASSERT_EQ(ids.size(), added.size()) << "each once";
      const auto owner = [&](std::uint64_t id) { return ranges.owner(id); };
      ASSERT_TRUE(std::is_sorted(ids.begin(), ids.end(), [&](auto x, auto y) { return owner(x) < owner(y); }));
      for (std::uint32_t i = 0; i < ids.size(); ++i) ASSERT_EQ(numbers.number(ids[i]), i) << vertices << ' ' << count;
    }
  }
}

struct Edge {
  std::uint32_t a;
  std::uint32_t b;
  std::uint64_t key;
  bool operator==(const Edge&) const = default;
};

TEST(ParallelEdgesTest, the_least_of_each_pair_stays_and_edges_in_order_stay_in_order) {
  std::size_t before = 0;
  std::size_t after = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed, 62, 0);
    const auto components = static_cast<std::size_t>(2 + random.below(40));
    std::vector<Edge> edges;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> least;
    for (std::size_t i = 0; i < 20 * components; ++i) {
      auto a = static_cast<std::uint32_t>(random.below(components));
      auto b = static_cast<std::uint32_t>(random.below(components));
      if (a == b) continue;
      if (b < a) std::swap(a, b);
      edges.push_back({a, b, seed % 2 == 0 ? i : random.below(1000)});
      const auto at = least.try_emplace({a, b}, edges.back().key).first;
      at->second = std::min(at->second, edges.back().key);
    }
    auto left = edges;
    msf::drop_parallel(left, components);
    std::set<std::pair<std::uint32_t, std::uint32_t>> found;
    for (const Edge& e : left) {
      ASSERT_NE(std::find(edges.begin(), edges.end(), e), edges.end());
      if (least.at({e.a, e.b}) == e.key) found.emplace(e.a, e.b);
    }
    ASSERT_EQ(found.size(), least.size()) << "least edges";
    const auto by_key = [](const Edge& x, const Edge& y) { return x.key < y.key; };
    ASSERT_EQ(std::is_sorted(left.begin(), left.end(), by_key), seed % 2 == 0) << seed;
    if (components == 2) {
      ASSERT_EQ(left.size(), 1U) << "one pair";
    }
    before += edges.size();
    after += left.size();
  }
  EXPECT_LT(10 * after, 9 * before);  // most pairs meet their last edge only if no other one took its slot since
}

TEST(ParallelEdgesTest, no_edges_and_one_edge_stay) {
  std::vector<Edge> edges;
  msf::drop_parallel(edges, 0);
  EXPECT_TRUE(edges.empty());
  edges = {{0, 1, 5}};
  msf::drop_parallel(edges, 2);
  EXPECT_EQ(edges, (std::vector<Edge>{{0, 1, 5}}));
}

}  // namespace
