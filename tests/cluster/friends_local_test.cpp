// Search of friends among the points of one rank against all pairs, on every vector target of this machine.
#include "src/cluster/friends_local.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "tests/support/vectors.hpp"

namespace {

using namespace merganser;
using namespace merganser::cluster;

/// Box, linking length and points, of which those from `own` on are ghosts.
struct LocalCase {
  Box box{};
  double length = 1;
  std::vector<double> xyz;
  std::size_t own = 0;

  [[nodiscard]] std::size_t size() const { return xyz.size() / 3; }
  [[nodiscard]] Vec3 at(std::size_t i) const { return {xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]}; }
  void add(const Vec3& p) {
    for (int a = 0; a < 3; ++a) {
      const auto axis = static_cast<std::size_t>(a);
      const double top = box.lower[axis] + box.extent[axis];
      xyz.push_back(box.periodic[axis] ? box.wrap(a, p[axis]) : std::clamp(p[axis], box.lower[axis], top));
    }
  }
  /// Returns by how many periods point j moves along the edge of two friends.
  [[nodiscard]] FriendPeriods periods(std::size_t i, std::size_t j) const {
    FriendPeriods k{};
    for (std::size_t a = 0; a < 3; ++a) {
      const double d = at(j)[a] - at(i)[a];
      if (box.periodic[a]) k[a] = d > 0.5 * box.extent[a] ? -1 : d < -0.5 * box.extent[a] ? 1 : 0;
    }
    return k;
  }
};

/// Sets of connected points, by all pairs.
class Components {
 public:
  explicit Components(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(std::size_t i, std::size_t j) { parent_[find(i)] = find(j); }

 private:
  std::vector<std::size_t> parent_;
};

using CrossEdge = std::tuple<std::uint32_t, std::uint32_t, FriendPeriods>;  // two sets and the periods between them

/// Returns an edge in the direction in which its ends ascend.
CrossEdge directed(std::uint32_t a, std::uint32_t b, FriendPeriods k) {
  if (a <= b) return {a, b, k};
  for (std::int32_t& x : k) x = -x;
  return {b, a, k};
}

void compare_with_pairs(const LocalCase& c, std::span<const std::uint32_t> subset = {}) {
  const std::size_t n = c.size();
  std::vector<bool> used(n, subset.empty());
  for (const std::uint32_t i : subset) used[i] = true;
  std::vector<FriendSpot> ghosts;
  for (std::size_t g = c.own; g < n; ++g) {
    used[g] = true;
    ghosts.push_back({c.at(g)[0], c.at(g)[1], c.at(g)[2], static_cast<std::uint32_t>(g)});
  }
  FriendWorkspace workspace;
  std::vector<std::uint32_t> set(n, ~0U);
  std::vector<FriendEdge> edges;
  find_friends(c.box, c.length, PointView::rows(c.xyz.data(), c.own), subset, ghosts, workspace, set.data(), edges);

  // Two ghosts need not be connected: groups are compared where a point of the rank belongs to them.
  const auto matters = [&](std::size_t i, std::size_t j) {
    return used[i] && used[j] && (i < c.own || j < c.own) && c.box.distance2(c.at(i), c.at(j)) <= c.length * c.length;
  };
  Components all(n), found(n);
  std::map<std::size_t, std::size_t> of_set;
  for (std::size_t i = 0; i < n; ++i) {
    if (!used[i]) continue;
    ASSERT_LT(set[i], n);
    found.unite(i, set[i]);
    for (std::size_t j = 0; j < i; ++j)
      if (matters(i, j) && c.periods(i, j) == FriendPeriods{}) all.unite(i, j);
  }
  for (std::size_t i = 0; i < c.own; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (!used[i] || !used[j]) continue;
      // What ghosts that are near each other connect may be found, and need not.
      const bool wanted = all.find(i) == all.find(j);
      const bool is = found.find(i) == found.find(j);
      ASSERT_TRUE(wanted == is || (is && c.own < n)) << i << " " << j;
    }
  std::set<CrossEdge> listed;
  for (const FriendEdge& e : edges) {
    ASSERT_LE(c.box.distance2(c.at(e.a), c.at(e.b)), c.length * c.length);
    ASSERT_EQ(c.periods(e.a, e.b), e.k);
    ASSERT_NE(e.k, FriendPeriods{});
    listed.insert(directed(set[e.a], set[e.b], e.k));
  }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (!matters(i, j) || c.periods(i, j) == FriendPeriods{}) continue;
      const auto [a, b, k] = directed(set[i], set[j], c.periods(i, j));
      if (a == b) continue;  // one edge of each set that winds is listed, whatever its periods
      ASSERT_EQ(listed.count({a, b, k}), 1U) << i << " " << j;
    }
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (!matters(i, j) || c.periods(i, j) == FriendPeriods{} || set[i] != set[j]) continue;
      ASSERT_TRUE(std::any_of(listed.begin(), listed.end(), [&](const CrossEdge& e) {
        return std::get<0>(e) == set[i] && std::get<1>(e) == set[i];
      }));
    }
}

/// Returns a random case of at most `most` points. @param kind  where they are: 0 evenly, 1 at the linking length from each other
/// and a rounding error beside it, 2 in blobs, 3 evenly in a small part of the box, 4 as 1 but half of them at fractions of the box, which
/// are often faces of cells
LocalCase random_local_case(unsigned seed, std::size_t most) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(0, 1);
  const unsigned kind = seed % 5;
  LocalCase c;
  const double offset = seed % 3 == 0 ? 1e5 : -0.3;
  for (std::size_t a = 0; a < 3; ++a) {
    c.box.lower[a] = offset * u(random);
    c.box.extent[a] = 0.5 + u(random);
    c.box.periodic[a] = random() % 2 == 0;
  }
  const auto n = static_cast<std::size_t>(static_cast<double>(most) * u(random)) + 2;
  const double part = kind == 3 ? 1e-3 : 1;
  const double spacing = part * std::cbrt(1 / static_cast<double>(n));
  c.length = std::min(0.24, spacing * std::pow(10, 2 * u(random) - 1.5));
  std::vector<Vec3> blobs;
  for (int b = 0; b < 4; ++b) blobs.push_back({u(random), u(random), u(random)});
  std::normal_distribution<double> normal(0, 0.3 * spacing);
  for (std::size_t i = 0; i < n; ++i) {
    Vec3 p{u(random), u(random), u(random)};
    for (std::size_t a = 0; a < 3; ++a) {
      if (kind == 4) p[a] = static_cast<double>(random() % 12) / static_cast<double>(1 + random() % 12);
      if (kind == 2) p[a] = blobs[random() % 4][a] + normal(random);
      p[a] = c.box.lower[a] + c.box.extent[a] * part * p[a];
    }
    if ((kind == 1 || kind == 4) && i % 2 == 1) {
      p = c.at(random() % i);
      p[random() % 3] +=
          (random() % 2 == 0 ? 1 : -1) * c.length * (1 + (static_cast<double>(random() % 5) - 2) * 1e-16);
    }
    c.add(p);
  }
  c.own = seed % 7 == 0 ? n - n / 4 : n;
  return c;
}

TEST(FriendsLocal, groups_and_edges_are_those_of_all_pairs) {
  test::with_all_vectors([] {
    for (unsigned seed = 0; seed < 75; ++seed) {
      SCOPED_TRACE(seed);
      compare_with_pairs(random_local_case(seed, seed % 8 == 0 ? 900 : 300));
      if (testing::Test::HasFatalFailure()) return;
    }
  });
}

// Rounding to single precision grows with the number of cells of an axis.
TEST(FriendsLocal, pairs_at_the_linking_length_in_a_long_box_are_those_of_all_pairs) {
  LocalCase c;
  c.box.extent = {1e5, 1, 1};
  c.box.periodic = {true, false, false};
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> u(0, 1);
  for (int i = 0; i < 300; ++i) {
    Vec3 p{1e5 * u(random), 0.5, 0.5};
    c.add(p);
    p[0] += 1 + (static_cast<double>(i % 7) - 3) * 1e-9;
    c.add(p);
  }
  c.own = c.size();
  test::with_all_vectors([&] { compare_with_pairs(c); });
}

TEST(FriendsLocal, a_subset_is_searched_as_if_there_were_no_other_points) {
  for (unsigned seed = 200; seed < 240; ++seed) {
    SCOPED_TRACE(seed);
    const LocalCase c = random_local_case(seed, 300);
    std::vector<std::uint32_t> subset;
    for (std::uint32_t i = 0; i < c.own; ++i)
      if ((i * 7 + seed) % 3 != 0) subset.push_back(i);
    compare_with_pairs(c, subset);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace
