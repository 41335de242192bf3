/// Overlay networks: arcs against a slow definition, diameters by search from every vertex, published values.
#include "merganser/announce/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <queue>
#include <random>
#include <set>

#include "merganser/base/error.hpp"

namespace {

using merganser::UsageError;
using namespace merganser::announce;

/// Computes the arcs of a Manhattan Street Network by its definition: coordinates are counted up, lines are walked vertex by
/// vertex.
std::map<int, std::set<int>> street_arcs(int k, const std::vector<int>& extents) {
  const auto id = [&](const std::vector<int>& x) {
    std::int64_t v = 0;
    for (std::size_t i = extents.size(); i-- > 0;) v = v * extents[i] + x[i];
    return v;
  };
  std::map<int, std::set<int>> arcs;
  std::vector<int> x(extents.size(), 0);
  for (int v = 0; v < k; ++v) {
    int sum = 0;
    for (const int c : x) sum += c;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      std::vector<int> line;
      auto y = x;
      for (y[i] = 0; y[i] < extents[i]; ++y[i]) {
        if (id(y) < k) line.push_back(static_cast<int>(id(y)));
      }
      const auto n = static_cast<int>(line.size());
      const int step = (sum - x[i]) % 2 == 0 ? 1 : n - 1;
      const int to = line[static_cast<std::size_t>((x[i] + step) % n)];
      if (to != v) arcs[v].insert(to);
    }
    for (std::size_t i = 0; i < x.size() && ++x[i] == extents[i]; ++i) x[i] = 0;
  }
  return arcs;
}

/// Computes an eccentricity by a plain breadth-first search, and expects that every vertex is reached.
int slow_eccentricity(const Network& network, int from) {
  std::vector<int> d(static_cast<std::size_t>(network.vertices()), -1);
  std::queue<int> queue({from});
  d[static_cast<std::size_t>(from)] = 0;
  int last = 0;
  int reached = 0;
  while (!queue.empty()) {
    const int v = queue.front();
    queue.pop();
    ++reached;
    last = d[static_cast<std::size_t>(v)];
    for (const int w : network.out(v)) {
      if (d[static_cast<std::size_t>(w)] >= 0) continue;
      d[static_cast<std::size_t>(w)] = last + 1;
      queue.push(w);
    }
  }
  EXPECT_EQ(reached, network.vertices()) << network.describe();
  return last;
}

int slow_diameter(const Network& network) {
  int most = 0;
  for (int v = 0; v < network.vertices(); ++v) most = std::max(most, slow_eccentricity(network, v));
  return most;
}

TEST(NetworkTest, extents_follow_the_inductive_rule_in_integers) {
  EXPECT_EQ(box_extents(10240, 2), (std::vector<int>{102, 101}));
  EXPECT_EQ(box_extents(114486, 3), (std::vector<int>{49, 49, 48}));
  EXPECT_EQ(box_extents(2282544, 5), (std::vector<int>{19, 19, 19, 19, 18}));
  EXPECT_EQ(box_extents(2282544, 3), (std::vector<int>{132, 132, 131}));
  EXPECT_EQ(box_extents(125, 3), (std::vector<int>{5, 5, 5}));  // pow(125, 1/3) is above 5
  EXPECT_EQ(box_extents(1, 4), (std::vector<int>{1, 1, 1, 1}));
  EXPECT_EQ(box_extents(2147483647, 2), (std::vector<int>{46341, 46341}));
}

TEST(NetworkTest, streets_are_those_of_the_definition) {
  for (int n = 2; n <= 5; ++n) {
    for (int k = 1; k <= 90; ++k) {
      const ManhattanStreetNetwork network(k, n);
      auto arcs = street_arcs(k, network.extents());
      for (int v = 0; v < k; ++v) {
        const auto out = network.out(v);
        ASSERT_EQ(std::set<int>(out.begin(), out.end()), arcs[v]) << network.describe() << " vertex " << v;
      }
    }
  }
}

/// Expects that arcs are distinct and no loops, degrees are within the bound, and in-arcs are the reverse of out-arcs.
void check_shape(const Network& network) {
  std::set<std::pair<int, int>> out;
  std::set<std::pair<int, int>> in;
  for (int v = 0; v < network.vertices(); ++v) {
    const auto to = network.out(v);
    const auto from = network.in(v);
    ASSERT_LE(static_cast<int>(to.size()), network.degree()) << network.describe();
    ASSERT_LE(static_cast<int>(from.size()), network.degree()) << network.describe();
    for (const int w : to) ASSERT_TRUE(w != v && out.emplace(v, w).second) << network.describe() << " vertex " << v;
    for (const int w : from) ASSERT_TRUE(w != v && in.emplace(w, v).second) << network.describe() << " vertex " << v;
  }
  ASSERT_EQ(out, in) << network.describe();
}

TEST(NetworkTest, arcs_in_are_arcs_out_and_every_vertex_is_reached) {
  for (const auto name : network_names()) {
    for (int n = 2; n <= 4; ++n) {
      for (int k = 1; k <= 70; ++k) {
        const auto network = make_network(name, k, n);
        check_shape(*network);
        ASSERT_EQ(diameter(*network).value, slow_diameter(*network)) << network->describe();
        if (network->diameter_bound()) {
          ASSERT_LE(diameter(*network).value, *network->diameter_bound()) << network->describe();
        }
      }
    }
  }
}

TEST(NetworkTest, what_symmetry_says_is_what_a_search_from_every_vertex_says) {
  const std::vector<std::vector<int>> boxes{{4, 4},    {4, 6},       {6, 6, 4},    {4, 4, 4}, {5, 4},
                                            {5, 5, 2}, {3, 3, 3},    {4, 5, 3, 2}, {7, 3, 2}, {8, 4, 2},
                                            {2, 2, 2}, {3, 5, 3, 2}, {9, 9, 4},    {7, 7, 3}};
  for (const auto& extents : boxes) {
    int k = 1;
    for (const int e : extents) k *= e;
    const ManhattanStreetNetwork network(k, extents);
    ASSERT_FALSE(network.representatives().empty());
    int most = 0;
    for (const int v : network.representatives()) most = std::max(most, slow_eccentricity(network, v));
    EXPECT_EQ(most, slow_diameter(network)) << network.describe();
    if (network.regular_diameter()) {
      EXPECT_EQ(*network.regular_diameter(), most) << network.describe();
    }
  }
  EXPECT_EQ(ManhattanStreetNetwork(64, 3).representatives(), std::vector<int>{0});
  EXPECT_TRUE(ManhattanStreetNetwork(63, 3).representatives().empty());
}

TEST(NetworkTest, the_published_formula_is_one_short_in_45_small_cases_and_never_more) {
  std::vector<std::pair<int, int>> short_ones;
  for (int n = 2; n <= 6; ++n) {
    for (int k = 2; k <= 419; ++k) {
      const ManhattanStreetNetwork network(k, n);
      const Diameter d = diameter(network);
      ASSERT_TRUE(d.exact);
      ASSERT_LE(d.value, network.published_diameter() + 1) << network.describe();
      if (d.value > network.published_diameter()) short_ones.emplace_back(n, k);
    }
  }
  EXPECT_EQ(short_ones.size(), 45U);
  for (const int k : {13, 15, 16, 21, 24, 25, 57, 63, 64, 73, 80, 81}) {
    EXPECT_NE(std::find(short_ones.begin(), short_ones.end(), std::pair(2, k)), short_ones.end()) << k;
  }
  for (int k = 245; k <= 256; ++k) {
    EXPECT_NE(std::find(short_ones.begin(), short_ones.end(), std::pair(4, k)), short_ones.end()) << k;
  }
}

TEST(NetworkTest, random_sizes_are_searched_alike_from_every_vertex_and_one_by_one) {
  std::mt19937 numbers(11);
  for (int i = 0; i < 8; ++i) {
    const int k = 420 + static_cast<int>(numbers() % 500);
    const ManhattanStreetNetwork network(k, 2 + static_cast<int>(numbers() % 5));
    EXPECT_EQ(diameter(network).value, slow_diameter(network)) << network.describe();
  }
}

TEST(NetworkTest, published_exact_diameters_of_10240_vertices_are_found) {
  const int exact[] = {101, 33, 20, 15, 14, 14, 13, 13, 11};
  for (int n = 8; n <= 10; ++n) {  // the others take longer; the command announce table3 has them
    const Diameter d = diameter(ManhattanStreetNetwork(10240, n));
    EXPECT_TRUE(d.exact);
    EXPECT_EQ(d.value, exact[n - 2]) << n;
  }
}

TEST(NetworkTest, distances_go_both_ways) {
  const ManhattanStreetNetwork network(57, 3);
  for (int v = 0; v < 57; v += 5) {
    const auto from = distances(network, v);
    EXPECT_EQ(*std::max_element(from.begin(), from.end()), eccentricity(network, v));
    for (int w = 0; w < 57; ++w) {
      EXPECT_EQ(from[static_cast<std::size_t>(w)], distances(network, w, true)[static_cast<std::size_t>(v)]);
    }
  }
}

TEST(NetworkTest, a_sample_says_that_it_is_one) {
  const ManhattanStreetNetwork network(5000, 3);
  const Diameter sample = diameter(network, {.arcs = 0, .sources = 3});
  EXPECT_FALSE(sample.exact);
  EXPECT_EQ(sample.sources, 3);
  EXPECT_EQ(sample.how, "from 3 of 5,000 vertices");
  EXPECT_LE(sample.value, diameter(network).value);
  EXPECT_TRUE(diameter(DeBruijnNetwork(5000, 3)).exact);
}

TEST(NetworkTest, a_sample_is_exact_only_if_it_reaches_a_proven_bound_or_all_vertices) {
  for (const int k : {5, 7, 23}) {
    for (const int n : {2, 3}) {
      const DeBruijnNetwork network(k, n);
      const int exact = slow_diameter(network);
      for (const int sources : {1, 2, k - 1, k, k + 3}) {
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
          const Diameter found = diameter(network, {.arcs = 0, .sources = sources, .seed = seed});
          const std::string where = network.describe() + ", seed " + std::to_string(seed) + ": " + found.how;
          ASSERT_LE(found.value, exact) << where;
          ASSERT_LE(found.sources, std::min(sources, k)) << where;
          if (found.exact || sources >= k) {
            ASSERT_EQ(found.value, exact) << where;
          }
          ASSERT_EQ(found.exact, found.value == network.diameter_bound() || sources >= k) << where;
          ASSERT_EQ(found.how == "from every vertex", found.sources == k) << where;
          ASSERT_EQ(found.how.find("a proven bound was reached") != std::string::npos, found.exact && found.sources < k)
              << where;
        }
      }
    }
  }
}

TEST(NetworkTest, ten_million_vertices_are_searched_by_arithmetic) {
  const ManhattanStreetNetwork network(10'649'600, 4);
  EXPECT_EQ(network.published_diameter(), 115);
  const int from_a_corner = eccentricity(network, 0);
  EXPECT_GT(from_a_corner, 80);
  EXPECT_LE(from_a_corner, 116);
}

/// Returns the greatest number of messages in transit on an arc u -> v: one more than the hops from v back to u.
int max_in_transit(const Network& network) {
  int most = 0;
  for (int v = 0; v < network.vertices(); ++v) {
    std::vector<int> behind = network.in(v);
    std::vector<bool> seen(static_cast<std::size_t>(network.vertices()));
    seen[static_cast<std::size_t>(v)] = true;
    std::vector<int> front{v};
    for (int hops = 1; !behind.empty(); ++hops) {
      std::vector<int> next;
      for (const int w : front)
        for (const int to : network.out(w)) {
          if (seen[static_cast<std::size_t>(to)]) continue;
          seen[static_cast<std::size_t>(to)] = true;
          next.push_back(to);
        }
      if (std::erase_if(behind, [&](int u) { return seen[static_cast<std::size_t>(u)]; }) > 0)
        most = std::max(most, hops + 1);
      front = std::move(next);
    }
  }
  return most;
}

TEST(NetworkTest, messages_on_their_way_along_an_arc_are_as_many_as_the_document_says) {
  // docs/announce.md, flow control. Of all up to 400 ranks the worst are among these.
  const std::map<int, int> said{{2, 13}, {3, 7}, {4, 5}, {5, 4}, {6, 3}};
  std::map<int, std::vector<int>> where;
  for (const auto& [dimension, worst] : said)
    for (int ranks = 370; ranks <= 392; ++ranks) {
      const int most = max_in_transit(ManhattanStreetNetwork(ranks, dimension));
      EXPECT_LE(most, worst) << ranks << " ranks, " << dimension << " dimensions";
      if (most == worst) where[dimension].push_back(ranks);
    }
  EXPECT_EQ(where[2], (std::vector<int>{373}));
  EXPECT_EQ(where[3], (std::vector<int>{375, 391}));
}

TEST(NetworkTest, the_dimension_for_a_budget_of_steps_is_the_least_that_will_do) {
  for (const int k : {1, 2, 13, 64, 500, 900}) {
    for (int budget = 1; budget <= 40; budget += 6) {
      const auto choice = choose_dimension(k, budget);
      for (int n = 2; n <= 12; ++n) {
        const int value = diameter(ManhattanStreetNetwork(k, n)).value;
        if (choice && n == choice->dimension) {
          EXPECT_EQ(value, choice->diameter.value);
          EXPECT_LE(value, budget);
          break;
        }
        EXPECT_GT(value, budget) << k << " " << n;
      }
    }
  }
  EXPECT_EQ(choose_dimension(10240, 28)->dimension, 4);  // bold in Table III
  EXPECT_FALSE(choose_dimension(100, 2));
}

TEST(NetworkTest, bad_numbers_are_refused) {
  EXPECT_THROW(ManhattanStreetNetwork(0, 2), UsageError);
  EXPECT_THROW(ManhattanStreetNetwork(5, 1), UsageError);
  EXPECT_THROW(ManhattanStreetNetwork(5, 31), UsageError);
  EXPECT_THROW(ManhattanStreetNetwork(5, std::vector<int>{2, 2}), UsageError);
  EXPECT_THROW(ManhattanStreetNetwork(5, std::vector<int>{0, 9}), UsageError);
  EXPECT_THROW(DeBruijnNetwork(5, 1), UsageError);
  EXPECT_THROW(HypercubeNetwork(-1), UsageError);
  EXPECT_THROW((void)ManhattanStreetNetwork(5, 2).out(5), UsageError);
  EXPECT_THROW((void)ManhattanStreetNetwork(5, 2).in(-1), UsageError);
  EXPECT_THROW((void)make_network("ring", 5, 2), UsageError);
  EXPECT_THROW((void)choose_dimension(5, 0), UsageError);
}

}  // namespace
