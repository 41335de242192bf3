// Tests of multi-node Boruvka on one rank: numbering, contraction, and removal of parallel edges and of idle components.
#include "src/mnd/part.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "tests/msf/oracle.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using mnd::detail::ComponentEdge;
using mnd::detail::Part;
using msf::Sense;

/// The edges of a shape that end in a range, without loops.
graphs::EdgeList edges_at(const Shape& shape, const graphs::Ranges& ranges, int rank) {
  graphs::EdgeList list{shape.vertices, graphs::WeightKind::unsigned_integer, {}, {}};
  Edges mine;
  for (const auto& e : shape.edges)
    if (e.low != e.high && (ranges.owner(e.low) == rank || ranges.owner(e.high) == rank)) mine.push_back(e);
  list.edges = std::move(mine);
  return list;
}

/// Whether the numbers of a part agree with each other.
void expect_sound(const Part& part, const graphs::Ranges& ranges) {
  ASSERT_LE(part.own, part.names.size());
  ASSERT_EQ(part.ghost_owner.size(), part.names.size() - part.own);
  EXPECT_EQ(std::set<std::uint64_t>(part.names.begin(), part.names.end()).size(), part.names.size());
  std::set<std::uint32_t> used;
  for (std::uint32_t c = 0; c < part.names.size(); ++c) ASSERT_EQ(part.owner(c), ranges.owner(part.names[c]));
  for (const auto& e : part.edges) {
    ASSERT_LT(std::max(e.a, e.b), part.names.size());
    ASSERT_TRUE(part.is_own(e.a));
    ASSERT_NE(e.a, e.b);
    used.insert({e.a, e.b});
  }
  EXPECT_EQ(used.size(), part.names.size());  // no idle components or ghosts
}

TEST(MakePartTest, numbers_all_ends_and_keeps_all_edges) {
  Shape far = random_shape(5, 60, 100, 9);  // a rank of many vertices with few edges numbers them as they come
  far.vertices = std::uint64_t{1} << 50;
  for (auto& e : far.edges) e = {e.low << 43, (e.high << 43) + 5, e.weight};
  for (const auto& shape : {random_shape(1, 80, 200, 4), random_shape(2, 3'000, 300, 4), far, grid_shape(8, 3)}) {
    for (const int ranks : {1, 2, 3, 7}) {
      const auto ranges = graphs::Ranges::even(shape.vertices, ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        for (const auto sense : {Sense::minimum, Sense::maximum}) {
          const auto mine = edges_at(shape, ranges, rank);
          const Part part = mnd::detail::make_part(mine, ranges, rank, sense);
          EXPECT_EQ(part.rank, rank);
          EXPECT_TRUE(part.forest.empty());
          ASSERT_NO_FATAL_FAILURE(expect_sound(part, ranges));
          const auto& edges = std::get<Edges>(mine.edges);
          ASSERT_EQ(part.edges.size(), edges.size());
          for (std::size_t i = 0; i < edges.size(); ++i) {
            const auto [low, high, weight] = part.edges[i].edge;
            ASSERT_EQ((graphs::Edge24{low, high, sense == Sense::maximum ? ~weight : weight}), edges[i]);
            const auto ends = std::minmax({part.names[part.edges[i].a], part.names[part.edges[i].b]});
            ASSERT_EQ(std::pair(ends.first, ends.second), std::pair(low, high));
          }
        }
      }
    }
  }
}

TEST(MakePartTest, of_no_edges_has_no_components) {
  const auto ranges = graphs::Ranges::even(50, 2);
  const Part part = mnd::detail::make_part(edges_at({"none", 50, {}}, ranges, 1), ranges, 1, Sense::minimum);
  EXPECT_EQ(part.own, 0U);
  EXPECT_TRUE(part.names.empty());
}

TEST(PartSizesTest, beyond_31_bits_are_refused) {
  constexpr std::size_t kMax = (std::size_t{1} << 31) - 1;
  mnd::detail::check_sizes(kMax, kMax);
  const auto text = [](std::size_t components, std::size_t edges) -> std::string {
    try {
      mnd::detail::check_sizes(components, edges);
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  const std::string allowed = "; allowed: 0 to 2147483647 of each, so take more ranks";
  EXPECT_EQ(text(kMax + 1, 3), "one rank would hold 2147483648 components or vertices and 3 edges" + allowed);
  EXPECT_EQ(text(4, kMax + 1), "one rank would hold 4 components or vertices and 2147483648 edges" + allowed);
}

TEST(OrientationTest, complements_the_weights_of_a_maximum_only) {
  EXPECT_EQ(mnd::detail::orient_weight(5, Sense::minimum), 5U);
  EXPECT_EQ(mnd::detail::orient_weight(5, Sense::maximum), ~std::uint64_t{5});
  EXPECT_EQ(mnd::detail::orient_weight(mnd::detail::orient_weight(9, Sense::maximum), Sense::maximum), 9U);
}

/// Own components 0, 1, 2 of names 10, 11, 12, and ghosts 3 (name 30, of rank 5) and 4 (name 40, of rank 6).
Part small_part(std::vector<ComponentEdge> edges) {
  Part part;
  part.rank = 2;
  part.own = 3;
  part.names = {10, 11, 12, 30, 40};
  part.ghost_owner = {5, 6};
  part.edges = std::move(edges);
  return part;
}
ComponentEdge edge_of(std::uint32_t a, std::uint32_t b, std::uint64_t weight, std::uint64_t low = 0) {
  return {a, b, {low, 100, weight}};
}
using PlainEdge = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
std::vector<PlainEdge> plain_edges(const Part& part) {
  std::vector<PlainEdge> all;
  for (const auto& e : part.edges) all.emplace_back(std::min(e.a, e.b), std::max(e.a, e.b), e.edge.weight, e.edge.low);
  std::sort(all.begin(), all.end());
  return all;
}

TEST(LeastEdgesTest, are_of_both_ends_but_not_of_ghosts_and_ties_go_by_ends) {
  const auto least = [](std::vector<ComponentEdge> edges) {
    return mnd::detail::least_edges(small_part(std::move(edges)));
  };
  constexpr auto kNone = Part::kNone;
  using Positions = std::vector<std::uint32_t>;
  EXPECT_EQ(least({}), (Positions{kNone, kNone, kNone}));
  EXPECT_EQ(least({edge_of(0, 3, 1)}), (Positions{0, kNone, kNone}));
  EXPECT_EQ(least({edge_of(0, 1, 5), edge_of(1, 2, 4), edge_of(2, 4, 3)}), (Positions{0, 1, 2}));
  EXPECT_EQ(least({edge_of(0, 1, 5, 9), edge_of(0, 1, 5, 8), edge_of(0, 1, 5, 9)}), (Positions{1, 1, kNone}));
  EXPECT_EQ(least({edge_of(1, 0, ~std::uint64_t{0}, 9), edge_of(0, 3, ~std::uint64_t{0}, 7)}),
            (Positions{1, 0, kNone}));
}

TEST(DropParallelTest, keeps_the_least_of_the_edges_between_two_components) {
  Part part = small_part({edge_of(0, 1, 9), edge_of(1, 0, 4), edge_of(0, 1, 6), edge_of(2, 3, 5, 8),
                          edge_of(2, 3, 5, 7), edge_of(2, 4, 5), edge_of(1, 3, 2), edge_of(0, 3, 2)});
  mnd::detail::drop_parallel(part);
  EXPECT_EQ(plain_edges(part),
            (std::vector<PlainEdge>{{0, 1, 4, 0}, {0, 3, 2, 0}, {1, 3, 2, 0}, {2, 3, 5, 7}, {2, 4, 5, 0}}));
  for (const auto& e : part.edges) EXPECT_TRUE(part.is_own(e.a));
}

TEST(DropParallelTest, is_right_for_any_edges) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed, 71, 0);
    Part part;
    part.own = 1 + static_cast<std::uint32_t>(random.below(12));
    const auto ghosts = static_cast<std::uint32_t>(random.below(12));
    for (std::uint32_t c = 0; c < part.own + ghosts; ++c) part.names.push_back(c);
    part.ghost_owner.assign(ghosts, 1);
    std::map<std::pair<std::uint32_t, std::uint32_t>, graphs::Edge24> least;
    for (std::uint64_t i = 0; i < 10 * seed; ++i) {
      const auto a = static_cast<std::uint32_t>(random.below(part.own));
      const auto b = static_cast<std::uint32_t>(random.below(part.own + ghosts));
      if (a == b) continue;
      part.edges.push_back({a, b, {random.below(9), 10 + random.below(9), random.below(4)}});
      const auto [at, fresh] = least.try_emplace(std::minmax(a, b), part.edges.back().edge);
      if (!fresh) at->second = std::min(at->second, part.edges.back().edge);
    }
    mnd::detail::drop_parallel(part);
    ASSERT_EQ(part.edges.size(), least.size()) << seed;
    for (const auto& e : part.edges) ASSERT_EQ(e.edge, least.at(std::minmax(e.a, e.b))) << seed;
  }
}

TEST(DropIdleTest, renumbers_what_still_has_an_edge) {
  Part part = small_part({edge_of(1, 4, 7), edge_of(1, 4, 3)});
  mnd::detail::drop_idle(part);
  EXPECT_EQ(part.own, 1U);
  EXPECT_EQ(part.names, (std::vector<std::uint64_t>{11, 40}));
  EXPECT_EQ(part.ghost_owner, std::vector<int>{6});
  EXPECT_EQ(plain_edges(part), (std::vector<PlainEdge>{{0, 1, 3, 0}, {0, 1, 7, 0}}));
  part.edges.clear();
  mnd::detail::drop_idle(part);
  EXPECT_EQ(part.own, 0U);
  EXPECT_TRUE(part.names.empty());
  EXPECT_TRUE(part.ghost_owner.empty());
  part = small_part({edge_of(0, 3, 1), edge_of(2, 4, 2), edge_of(1, 2, 3)});
  mnd::detail::drop_idle(part);
  EXPECT_EQ(part.own, 3U);
  EXPECT_EQ(part.names, (std::vector<std::uint64_t>{10, 11, 12, 30, 40}));
  EXPECT_EQ(plain_edges(part), (std::vector<PlainEdge>{{0, 3, 1, 0}, {1, 2, 3, 0}, {2, 4, 2, 0}}));
}

/// By definition: repeated while an own component's least edge leads to an own component, whatever the order.
struct PlainContraction {
  std::set<graphs::Edge24> forest;
  std::vector<std::uint32_t> component;  ///< by component or ghost before: the least one that it is joined with
};
PlainContraction plainly_contracted(const Part& part) {
  PlainContraction done;
  done.component.resize(part.names.size());
  std::iota(done.component.begin(), done.component.end(), 0U);
  for (bool again = true; again;) {
    again = false;
    for (std::uint32_t c = 0; c < part.own; ++c) {
      const ComponentEdge* least = nullptr;
      for (const auto& e : part.edges) {
        const auto a = done.component[e.a];
        const auto b = done.component[e.b];
        if (a != b && (a == c || b == c) && (least == nullptr || e.edge < least->edge)) least = &e;
      }
      if (least == nullptr || !part.is_own(least->a) || !part.is_own(least->b)) continue;
      const auto [low, high] = std::minmax({done.component[least->a], done.component[least->b]});
      std::replace(done.component.begin(), done.component.end(), std::uint32_t{high}, std::uint32_t{low});
      done.forest.insert(least->edge);
      again = true;
    }
  }
  return done;
}

TEST(ContractPartTest, joins_components_as_long_as_their_least_edges_stay_on_the_rank) {
  std::vector<Shape> all = {path_shape(50), grid_shape(9, 3), hubs_shape(30, 3), triangles_shape(12, true)};
  for (std::uint64_t seed = 0; seed < 12; ++seed) all.push_back(random_shape(seed, 70, 60 + 20 * seed, 1 + 3 * seed));
  for (const auto& shape : all) {
    for (const int ranks : {1, 2, 3}) {
      const auto ranges = graphs::Ranges::even(shape.vertices, ranks);
      for (int rank = 0; rank < ranks; ++rank) {
        const Part before = mnd::detail::make_part(edges_at(shape, ranges, rank), ranges, rank, Sense::minimum);
        Part part = before;
        const auto done = mnd::detail::contract(part, 0);
        const auto plain = plainly_contracted(before);
        ASSERT_EQ(std::set<graphs::Edge24>(part.forest.begin(), part.forest.end()), plain.forest) << shape.name;
        ASSERT_EQ(part.forest.size(), plain.forest.size()) << shape.name;
        ASSERT_EQ(done.added, static_cast<std::int64_t>(plain.forest.size())) << shape.name;
        ASSERT_EQ(done.image.size(), before.own);
        ASSERT_EQ(part.own, before.own - part.forest.size());
        std::map<std::uint32_t, std::uint32_t> image;
        for (std::uint32_t c = 0; c < before.own; ++c) {
          ASSERT_LT(done.image[c], part.own);
          ASSERT_EQ(image.emplace(plain.component[c], done.image[c]).first->second, done.image[c]) << shape.name;
        }
        ASSERT_EQ(image.size(), part.own) << shape.name;
        for (std::uint32_t c = 0; c < part.own; ++c) {  // the name is that of one of the components in it
          const auto at = std::find(before.names.begin(), before.names.begin() + before.own, part.names[c]);
          ASSERT_NE(at, before.names.begin() + before.own);
          ASSERT_EQ(done.image[static_cast<std::size_t>(at - before.names.begin())], c) << shape.name;
        }
        const auto now = [&](std::uint32_t c) {
          return before.is_own(c) ? part.names[done.image[c]] : before.names[c];
        };
        std::vector<std::tuple<std::uint64_t, std::uint64_t, graphs::Edge24>> expected;
        std::vector<std::tuple<std::uint64_t, std::uint64_t, graphs::Edge24>> found;
        for (const auto& e : before.edges)
          if (now(e.a) != now(e.b)) expected.emplace_back(now(e.a), now(e.b), e.edge);
        for (const auto& e : part.edges) found.emplace_back(part.names[e.a], part.names[e.b], e.edge);
        ASSERT_TRUE(found == expected) << shape.name;
        ASSERT_EQ(part.ghost_owner, before.ghost_owner);
      }
    }
  }
}

/// The least edges of a path of rising weights join it all in a round; a second round finds nothing.
TEST(ContractPartTest, ends_after_a_round_that_adds_fewer_edges_than_wanted) {
  const auto rounds = [](const Shape& shape, double least_added) {
    const auto ranges = graphs::Ranges::even(shape.vertices, 1);
    Part part = mnd::detail::make_part(edges_at(shape, ranges, 0), ranges, 0, Sense::minimum);
    const auto done = mnd::detail::contract(part, least_added);
    return std::pair(done.rounds, done.added);
  };
  using Counts = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(rounds(path_shape(40), 0), Counts(2, 39));
  EXPECT_EQ(rounds(path_shape(40), 39), Counts(2, 39));
  EXPECT_EQ(rounds(path_shape(40), 39.5), Counts(1, 39));
  Shape pairs{"pairs of pairs", 8, {}};  // four edges in the first round, two in the second, one in the third
  for (std::uint64_t v = 0; v < 7; ++v) pairs.add(v, v + 1, v % 2 == 0 ? 1 : v % 4 == 1 ? 2 : 3);
  EXPECT_EQ(rounds(pairs, 0), Counts(4, 7));
  EXPECT_EQ(rounds(pairs, 1), Counts(4, 7));
  EXPECT_EQ(rounds(pairs, 2), Counts(3, 7));
  EXPECT_EQ(rounds(pairs, 3), Counts(2, 6));
  EXPECT_EQ(rounds(pairs, 4), Counts(2, 6));
  EXPECT_EQ(rounds(pairs, 5), Counts(1, 4));
}

}  // namespace
