/// Tests of the tree of boxes over a rank's points: its shape, folding of equal points and traversal.
#include "merganser/nearest/point_tree.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "tests/nearest/tree_shapes.hpp"

namespace {

using namespace merganser;
using namespace merganser::nearest;

/// Points that are divided into many parts at once, the first ones twice.
constexpr TreeShape kLargeTrees[] = {{"uniform", 20000}, {"lattice", 2000}, {"heaps", 2000}, {"clusters", 2000}};

/// Calls body(items, tree, leaf, fold) for trees of many shapes.
template <std::size_t D>
void over_trees(const auto& body) {
  std::vector<TreeShape> trees(std::begin(kTrees), std::end(kTrees));
  trees.insert(trees.end(), std::begin(kLargeTrees), std::end(kLargeTrees));
  for (const auto& [shape, points] : trees)
    for (const std::uint32_t leaf : {4U, 16U, 64U})
      for (const std::uint32_t fold : {2U, 5U, 1000U}) {
        const auto items = make_items<D>(test::make_points(shape, static_cast<int>(D), points, points + D));
        SCOPED_TRACE(std::string(shape) + " of " + std::to_string(points) + ", leaf " + std::to_string(leaf) +
                     ", fold " + std::to_string(fold));
        auto copy = items;
        body(items, PointTree<D>(copy, {}, leaf, fold), leaf, fold);
      }
}

/// Ids of the points of each place.
template <std::size_t D>
std::map<Place<D>, std::set<std::uint64_t>> by_place(const std::vector<IdentifiedPoint<D>>& items) {
  std::map<Place<D>, std::set<std::uint64_t>> out;
  for (const auto& item : items) out[item.at].insert(item.id);
  return out;
}

template <std::size_t D>
void expect_folds() {
  over_trees<D>([](const auto& items, const PointTree<D>& tree, std::uint32_t, std::uint32_t fold) {
    std::set<std::uint64_t> kept;
    std::set<std::uint64_t> standing;
    std::set<std::pair<std::uint64_t, std::uint64_t>> folds;
    for (const auto& [place, ids] : by_place<D>(items)) {
      const bool folded = ids.size() >= fold;
      for (const auto id : ids) {
        if (!folded || id == *ids.begin())
          kept.insert(id);
        else
          folds.emplace(*ids.begin(), id);
      }
      if (folded) standing.insert(*ids.begin());
    }
    std::set<std::uint64_t> ids;
    std::map<std::uint64_t, Place<D>> place_of;
    for (const auto& item : items) place_of[item.id] = item.at;
    for (std::uint32_t v = 0; v < tree.size(); ++v) {
      ASSERT_TRUE(ids.insert(tree.id(v)).second);
      ASSERT_EQ(tree.at(v), place_of[tree.id(v)]);
    }
    EXPECT_EQ(ids, kept);
    std::set<std::pair<std::uint64_t, std::uint64_t>> found;
    for (const auto& f : tree.folds()) ASSERT_TRUE(found.emplace(f.low, f.high).second);
    EXPECT_EQ(found, folds);
    std::set<std::uint64_t> folded;
    for (const auto v : tree.representatives()) folded.insert(tree.id(v));
    EXPECT_EQ(folded, standing);
    EXPECT_TRUE(std::is_sorted(tree.representatives().begin(), tree.representatives().end()));
    EXPECT_EQ(folded.size(), tree.representatives().size());
  });
}

TEST(PointTreeTest, of_equal_points_from_the_fold_on_the_least_id_stays_and_the_others_are_edges) {
  expect_folds<3>();
  expect_folds<6>();
}

template <std::size_t D>
void expect_the_same_tree_of_threads() {
  for (const auto* shape : {"uniform", "lattice", "heaps", "equal", "line", "clusters"})
    for (const std::size_t n : {4096U, 20001U})
      for (const std::uint32_t fold : {2U, 100000U}) {
        SCOPED_TRACE(std::string(shape) + " of " + std::to_string(n) + ", fold " + std::to_string(fold));
        const auto items = make_items<D>(test::make_points(shape, static_cast<int>(D), n, n + D));
        auto copy = items;
        const PointTree<D> one(copy, {}, 16, fold);
        for (const int threads : {2, 3, 7}) {
          copy = items;
          const PointTree<D> more(copy, {}, 16, fold, threads);
          ASSERT_EQ(more.ids(), one.ids());
          EXPECT_EQ(more.leaves(), one.leaves());
          EXPECT_EQ(more.representatives(), one.representatives());
          const auto folds = [](const PointTree<D>& tree) {
            std::vector<std::uint64_t> out;
            for (const Fold& f : tree.folds()) out.insert(out.end(), {f.low, f.high});
            return out;
          };
          EXPECT_EQ(folds(more), folds(one));
          for (std::size_t a = 0; a < D; ++a)
            EXPECT_TRUE(std::equal(one.axis(a), one.axis(a) + one.size() + 16, more.axis(a)));
          ASSERT_EQ(more.nodes().size(), one.nodes().size());
          for (std::size_t i = 0; i < one.nodes().size(); ++i) {
            const auto& x = one.nodes()[i];
            const auto& y = more.nodes()[i];
            ASSERT_EQ(y.box.lower, x.box.lower);
            ASSERT_EQ(y.box.upper, x.box.upper);
            ASSERT_EQ(std::tuple(y.begin, y.end, y.right, y.parent), std::tuple(x.begin, x.end, x.right, x.parent))
                << i;
          }
        }
      }
}

TEST(PointTreeTest, threads_make_the_same_tree) {
  expect_the_same_tree_of_threads<3>();
  expect_the_same_tree_of_threads<6>();
}

template <std::size_t D>
void expect_tight_boxes() {
  over_trees<D>([](const auto& items, const PointTree<D>& tree, std::uint32_t leaf, std::uint32_t) {
    const auto& nodes = tree.nodes();
    ASSERT_EQ(nodes.empty(), items.empty());
    if (nodes.empty()) {
      EXPECT_TRUE(tree.bounds().empty());
      EXPECT_TRUE(tree.leaves().empty());
    } else {
      EXPECT_EQ(nodes[0].begin, 0U);
      EXPECT_EQ(nodes[0].end, tree.size());
      EXPECT_EQ(nodes[0].parent, 0U);
      EXPECT_EQ(tree.bounds().lower, nodes[0].box.lower);
      EXPECT_EQ(tree.bounds().upper, nodes[0].box.upper);
    }
    std::vector<std::uint32_t> leaves;
    std::uint32_t next = 0;
    for (std::uint32_t i = 0; i < nodes.size(); ++i) {
      const auto& node = nodes[i];
      Bounds<D> box;
      for (std::uint32_t v = node.begin; v < node.end; ++v) box.add(tree.at(v));
      ASSERT_EQ(box.lower, node.box.lower) << i;
      ASSERT_EQ(box.upper, node.box.upper) << i;
      ASSERT_LT(node.begin, node.end) << "no node is empty";
      if (node.right == 0) {
        leaves.push_back(i);
        ASSERT_LE(node.end - node.begin, leaf);
        ASSERT_EQ(node.begin, next) << "leaves in the order of points";
        next = node.end;
        continue;
      }
      ASSERT_EQ(nodes[i + 1].parent, i);
      ASSERT_EQ(nodes[node.right].parent, i);
      ASSERT_EQ(nodes[i + 1].begin, node.begin);
      ASSERT_EQ(nodes[i + 1].end, nodes[node.right].begin);
      ASSERT_EQ(nodes[node.right].end, node.end);
      bool apart = false;
      for (std::size_t a = 0; a < D; ++a) apart |= nodes[i + 1].box.upper[a] <= nodes[node.right].box.lower[a];
      ASSERT_TRUE(apart) << "a plane is between the children, or they are at one place";
    }
    EXPECT_EQ(next, tree.size());
    EXPECT_EQ(tree.leaves(), leaves);
    for (std::size_t a = 0; a < D; ++a)
      for (std::uint32_t i = 0; i < 16; ++i) ASSERT_EQ(tree.axis(a)[tree.size() + i], kInfinity) << "padding";
  });
}

TEST(PointTreeTest, boxes_are_tight_children_divide_their_parent_and_leaves_are_small) {
  expect_tight_boxes<3>();
  expect_tight_boxes<8>();
}

TEST(PointTreeTest, a_leaf_of_eight_points_is_split_at_a_gap_of_more_than_half_its_extent_but_not_a_smaller_one) {
  const auto leaves_of = [](const std::vector<double>& at) {
    std::vector<IdentifiedPoint<3>> items;
    for (std::size_t i = 0; i < at.size(); ++i) items.push_back({{0, at[i], 0}, i});
    const PointTree<3> tree(items, {}, 24, 2);
    std::vector<std::uint32_t> sizes;
    for (const auto leaf : tree.leaves()) sizes.push_back(tree.nodes()[leaf].end - tree.nodes()[leaf].begin);
    return sizes;
  };
  using Sizes = std::vector<std::uint32_t>;
  EXPECT_EQ(leaves_of({0, 1, 2, 9, 10, 11, 12, 13}), (Sizes{3, 5}));
  EXPECT_EQ(leaves_of({13, 9, 2, 12, 0, 10, 1, 11}), (Sizes{3, 5})) << "in any order";
  EXPECT_EQ(leaves_of({0, 1, 2, 8, 9, 10, 11, 12}), (Sizes{8})) << "half is not more than half";
  EXPECT_EQ(leaves_of({0, 1, 2, 9, 10, 11, 12}), (Sizes{7})) << "too few";
}

TEST(PointTreeTest, many_points_of_one_coordinate_do_not_make_it_deep) {
  // Nine of ten points share a coordinate on the longest axis; splits at it would take off few points each.
  std::vector<IdentifiedPoint<3>> items;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    Random random(5, i, 0);
    const bool apart = i % 10 == 0;
    items.push_back({{apart ? std::exp2(-static_cast<double>(i) / 100) * 8 : 0, random.uniform(), 0}, i});
  }
  const PointTree<3> tree(items, {}, 8, 2);
  std::vector<int> depth(tree.nodes().size(), 0);
  for (std::size_t i = 1; i < depth.size(); ++i) depth[i] = 1 + depth[tree.nodes()[i].parent];
  EXPECT_EQ(tree.size(), 4000U);
  EXPECT_LT(*std::max_element(depth.begin(), depth.end()), 40);
}

TEST(PointTreeTest, a_sample_of_far_points_alone_does_not_divide_badly) {
  // The greatest coordinates at regular positions, where a sample of 15 takes them; too few points to be divided at once.
  std::vector<IdentifiedPoint<3>> items;
  for (std::uint64_t i = 0; i < 450; ++i) items.push_back({{i % 30 == 15 ? 1e4 : static_cast<double>(i), 0, 0}, i});
  const PointTree<3> tree(items, {}, 8, 1000);
  const auto& first = tree.nodes()[1];
  EXPECT_GE(first.end - first.begin, 450U / 16);
  EXPECT_LE(first.end - first.begin, 450U - 450U / 16);
}

TEST(VisitLeavesTest, each_leaf_whose_bound_is_within_is_visited_once_unless_a_node_above_it_is_closed) {
  auto items = make_items<3>(test::make_points("uniform", 3, 400, 3));
  const PointTree<3> tree(items, {}, 6, 2);
  const auto& nodes = tree.nodes();
  std::vector<Visit> todo;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed, 5, 0);
    const Place<3> from{random.uniform(), random.uniform(), random.uniform()};
    const double most = random.uniform() * random.uniform();
    const auto top = seed % 3 == 0 ? static_cast<std::uint32_t>(random.below(nodes.size())) : 0;
    const auto closed = static_cast<std::uint32_t>(random.below(nodes.size()));
    const auto bound = [&](const Bounds<3>& box) { return tree.metric().distance2(from, box); };
    std::map<std::uint32_t, double> expected;
    for (const auto leaf : tree.leaves()) {
      bool below = false;
      bool open = true;
      for (std::uint32_t node = leaf;; node = nodes[node].parent) {
        open = open && node != closed;
        if (node == top) below = true;
        if (below || node == 0) break;
      }
      if (below && open && bound(nodes[leaf].box) <= most) expected[leaf] = bound(nodes[leaf].box);
    }
    std::map<std::uint32_t, double> found;
    visit_leaves(
        nodes, top, todo, bound, [&](double d2) { return d2 <= most; },
        [&](std::uint32_t node) { return node != closed; },
        [&](std::uint32_t leaf, double d2) { ASSERT_TRUE(found.emplace(leaf, d2).second); });
    ASSERT_EQ(found, expected) << seed;
  }
}

TEST(VisitLeavesTest, the_first_leaf_is_reached_by_the_nearer_children) {
  auto items = make_items<3>(test::make_points("uniform", 3, 400, 8));
  const PointTree<3> tree(items, {}, 6, 2);
  std::vector<Visit> todo;
  for (std::uint32_t v = 0; v < tree.size(); v += 7) {
    const auto bound = [&](const Bounds<3>& box) { return tree.metric().distance2(tree.at(v), box); };
    std::uint32_t expected = 0;
    while (tree.nodes()[expected].right != 0) {
      const std::uint32_t right = tree.nodes()[expected].right;
      expected = bound(tree.nodes()[right].box) < bound(tree.nodes()[expected + 1].box) ? right : expected + 1;
    }
    int visits = 0;
    double within = kInfinity;
    visit_leaves(
        tree.nodes(), 0, todo, bound, [&](double d2) { return d2 <= within; }, [](std::uint32_t) { return true; },
        [&](std::uint32_t leaf, double) {
          if (visits++ == 0) {
            ASSERT_EQ(leaf, expected);
          }
          within = -1;  // stricter than anything: the traversal ends
        });
    ASSERT_EQ(visits, 1);
  }
}

/// Expects that a traversal from the leaf of each point finds all points within a distance of it.
void expect_within(int dimension, const char* shape, double most, bool periodic) {
  Metric<3> metric;
  metric.any_period = periodic;
  if (periodic) metric.period[0] = 1;
  auto items = make_items<3>(test::make_points(shape, dimension, 400, 3));
  const PointTree<3> tree(items, metric, 6, 4096);
  std::vector<Visit> todo;
  for (const std::uint32_t leaf : tree.leaves())
    for (std::uint32_t v = tree.nodes()[leaf].begin; v < tree.nodes()[leaf].end; ++v) {
      const Place<3> at = tree.at(v);
      std::vector<std::uint32_t> found;
      visit_leaves_from(
          tree.nodes(), leaf, todo, [&](const Bounds<3>& box) { return metric.distance2(at, box); },
          [&](double d2) { return d2 <= most; }, [](std::uint32_t) { return true; },
          [&](std::uint32_t node) {
            return tree.covers(node, {at, at}, most);
          },
          [&](std::uint32_t near, double) {
            for (std::uint32_t u = tree.nodes()[near].begin; u < tree.nodes()[near].end; ++u)
              if (tree.distance2(v, u) <= most) found.push_back(u);
          });
      std::sort(found.begin(), found.end());
      std::vector<std::uint32_t> expected;
      for (std::uint32_t u = 0; u < tree.size(); ++u)
        if (tree.distance2(v, u) <= most) expected.push_back(u);
      EXPECT_EQ(found, expected) << shape << ", point " << v;
    }
}

TEST(PointTreeTest, a_traversal_from_a_leaf_finds_what_one_from_the_root_does) {
  for (const int dimension : {1, 2, 3})
    for (const auto* shape : {"uniform", "lattice", "heaps", "equal"})
      for (const double most : {0.0, 1e-4, 0.01, 1.0})
        for (const bool periodic : {false, true}) expect_within(dimension, shape, most, periodic);
}

TEST(PointTreeTest, a_node_covers_what_is_far_from_its_sides) {
  auto items = make_items<3>(test::make_points("uniform", 2, 400, 3));
  const PointTree<3> tree(items, {}, 6, 4096);
  const Place<3> middle{0.5, 0.5, 0};
  EXPECT_TRUE(tree.covers(0, {middle, middle}, 0.01));
  EXPECT_FALSE(tree.covers(0, {middle, middle}, 0.3));
  const Place<3> corner = tree.bounds().lower;
  EXPECT_FALSE(tree.covers(0, {corner, corner}, 0));
  auto same = make_items<3>(std::vector<std::vector<double>>(40, {1, 2, 3}));
  const PointTree<3> place(same, {}, 6, 4096);
  EXPECT_FALSE(place.covers(1, place.bounds(), 0));
}

}  // namespace
