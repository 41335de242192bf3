// Tests of the exchange between ranks, of the distributed disjoint-set forest, and of the reduction of lists along a tree of ranks.
#include "src/msf/components.hpp"

#include <gtest/gtest.h>

#include "merganser/comm/collectives.hpp"
#include "src/msf/merge_tree.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/msf/thread_setups.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using Ids = std::vector<std::uint64_t>;

/// Ranges of which some are empty, at both ends too where there are ranks enough.
graphs::Ranges uneven_ranges(std::uint64_t vertices, int ranks) {
  graphs::Ranges ranges{{0}};
  for (int r = 1; r < ranks; ++r) ranges.first.push_back(r % 3 == 1 ? ranges.first.back() : vertices * r / ranks);
  if (ranks > 5) ranges.first[static_cast<std::size_t>(ranks) - 1] = vertices;
  ranges.first.push_back(vertices);
  return ranges;
}

int plain_owner(std::uint64_t id, const graphs::Ranges& ranges) {
  for (std::size_t r = 0; r + 1 < ranges.first.size(); ++r)
    if (ranges.first[r] <= id && id < ranges.first[r + 1]) return static_cast<int>(r);
  return -1;
}

TEST(OwnersTest, vertices_are_ordered_by_owner_and_else_stay_in_order) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    const auto ranges = uneven_ranges(60, ranks);
    Random random(static_cast<std::uint64_t>(ranks), 51, 0);
    for (const std::size_t count : {0, 1, 5, 300}) {
      Ids ids;
      for (std::size_t i = 0; i < count; ++i) ids.push_back(random.below(60));
      std::vector<std::uint32_t> expected(count);
      std::iota(expected.begin(), expected.end(), 0U);
      std::stable_sort(expected.begin(), expected.end(), [&](std::uint32_t a, std::uint32_t b) {
        return plain_owner(ids[a], ranges) < plain_owner(ids[b], ranges);
      });
      ASSERT_EQ(msf::order_by_owner(ids, ranges), expected);
      Ids grouped;
      for (const auto i : expected) grouped.push_back(ids[i]);
      const auto slices = msf::slices_by_owner(grouped, ranges);
      ASSERT_EQ(slices.size(), static_cast<std::size_t>(ranks) + 1);
      EXPECT_EQ(slices.front(), 0U);
      EXPECT_EQ(slices.back(), count);
      for (std::size_t r = 0; r + 1 < slices.size(); ++r)
        for (std::size_t i = slices[r]; i < slices[r + 1]; ++i)
          ASSERT_EQ(plain_owner(grouped[i], ranges), static_cast<int>(r));
    }
  }
}

TEST(OwnersTest, slices_of_few_vertices_are_those_counted_by_hand) {
  const graphs::Ranges ranges{{0, 10, 10, 20, 30}};
  const Ids ids = {9, 3, 10, 19, 29};
  EXPECT_EQ(msf::slices_by_owner(ids, ranges), (std::vector<std::size_t>{0, 2, 2, 4, 5}));
  EXPECT_EQ(msf::slices_by_owner({}, ranges), (std::vector<std::size_t>{0, 0, 0, 0, 0}));
  EXPECT_EQ(msf::order_by_owner(Ids{29, 10, 9, 19, 3}, ranges), (std::vector<std::uint32_t>{2, 4, 1, 3, 0}));
}

class ComponentsTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ComponentsTest, testing::ValuesIn(thread_setups("chaos:8")),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Runs with messages between all pairs of ranks, and in bundles over a grid.
void both_ways(const std::function<void(comm::Transport&, msf::Peers&)>& body) {
  on_ranks(ComponentsTest::GetParam(), [&](comm::Transport& t) {
    for (const int most_direct : {t.size(), t.size() - 1}) {
      msf::Peers peers(t, most_direct);
      EXPECT_EQ(peers.is_direct(), most_direct == t.size());
      EXPECT_EQ(&peers.transport(), &t);
      body(t, peers);
    }
  });
}

struct Note {
  int from;
  int to;
  int step;
  int number;
  friend bool operator==(const Note&, const Note&) = default;
};
int notes_between(int from, int to, int step) { return (from * 5 + to * 3 + step * 7) % 4; }

TEST_P(ComponentsTest, records_come_to_their_ranks_in_their_order_and_for_one_step) {
  both_ways([](comm::Transport& t, msf::Peers& peers) {
    for (int step = 0; step < 6; ++step) {
      for (int r = t.size() - 1; r >= 0; --r) {
        std::vector<Note> more;
        for (int i = 0; i < notes_between(t.rank(), r, step); ++i) {
          if (i % 2 == 0)
            peers.post(r, Note{t.rank(), r, step, i});
          else
            peers.post_all<Note>(r, std::vector<Note>{{t.rank(), r, step, i}, {t.rank(), r, step, -i}});
        }
      }
      peers.step();
      for (int r = 0; r < t.size(); ++r) {
        std::vector<Note> expected;
        for (int i = 0; i < notes_between(r, t.rank(), step); ++i) {
          expected.push_back({r, t.rank(), step, i});
          if (i % 2 != 0) expected.push_back({r, t.rank(), step, -i});
        }
        const auto came = peers.records<Note>(r);
        ASSERT_EQ(std::vector<Note>(came.begin(), came.end()), expected) << "step " << step << ", rank " << r;
      }
    }
  });
}

TEST_P(ComponentsTest, arcs_lead_to_the_ranks_that_follow) {
  both_ways([](comm::Transport& t, msf::Peers& peers) {
    for (int r = 0; r < t.size(); ++r) {
      if (r == t.rank()) continue;
      EXPECT_EQ(peers.mailbox().graph().out[peers.arc(r)], r);
      EXPECT_EQ(peers.mailbox().graph().in[peers.arc(r)], r);
    }
  });
}

/// Parents of 60 vertices in trees of many depths; the roots by walking.
struct Parents {
  std::string name;
  Ids parent;
  [[nodiscard]] Ids roots() const {
    Ids all;
    for (std::uint64_t v = 0; v < parent.size(); ++v) {
      std::uint64_t at = v;
      while (parent[at] != at) at = parent[at];
      all.push_back(at);
    }
    return all;
  }
};

std::vector<Parents> parent_cases() {
  std::vector<Parents> all(6);
  all[0].name = "apart";
  all[1].name = "downward path";
  all[2].name = "upward path";
  all[3].name = "star of the last";
  all[4].name = "zigzag";  // every pointer leads to the other half
  all[5].name = "random";
  Random random(2, 52, 0);
  for (std::uint64_t v = 0; v < 60; ++v) {
    all[0].parent.push_back(v);
    all[1].parent.push_back(v == 0 ? 0 : v - 1);
    all[2].parent.push_back(v == 59 ? 59 : v + 1);
    all[3].parent.push_back(59);
    all[4].parent.push_back(v < 30 ? (v == 0 ? 0 : v + 29) : v - 30);
    all[5].parent.push_back(random.below(v + 1));
  }
  return all;
}

TEST_P(ComponentsTest, every_vertex_is_a_component_at_first) {
  both_ways([](comm::Transport& t, msf::Peers& peers) {
    const auto ranges = uneven_ranges(60, t.size());
    msf::Components components(ranges, peers);
    const auto me = static_cast<std::size_t>(t.rank());
    EXPECT_EQ(components.ranges().first, ranges.first);
    EXPECT_EQ(components.first(), ranges.first[me]);
    Ids expected(static_cast<std::size_t>(ranges.first[me + 1] - ranges.first[me]));
    std::iota(expected.begin(), expected.end(), ranges.first[me]);
    EXPECT_EQ(components.parent(), expected);
    components.flatten();
    EXPECT_EQ(components.parent(), expected);
  });
}

TEST_P(ComponentsTest, every_vertex_points_at_its_root_after_flattening) {
  both_ways([](comm::Transport& t, msf::Peers& peers) {
    for (const auto& c : parent_cases()) {
      msf::Components components(uneven_ranges(60, t.size()), peers);
      auto& mine = components.change_parents();
      for (std::size_t v = 0; v < mine.size(); ++v) mine[v] = c.parent[components.first() + v];
      components.flatten();
      EXPECT_EQ(comm::all_gather(t, mine).flat(), c.roots()) << c.name;
    }
  });
}

TEST_P(ComponentsTest, parents_are_told_for_any_vertices_in_any_order) {
  both_ways([](comm::Transport& t, msf::Peers& peers) {
    for (const auto& c : parent_cases()) {
      msf::Components components(uneven_ranges(60, t.size()), peers);
      auto& mine = components.change_parents();
      for (std::size_t v = 0; v < mine.size(); ++v) mine[v] = c.parent[components.first() + v];
      Random random(static_cast<std::uint64_t>(t.rank()), 53, 0);
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{200}}) {
        Ids ids;  // some twice; none on some rank
        for (std::size_t i = 0; i < count * static_cast<std::size_t>((t.rank() + 1) % 3); ++i)
          ids.push_back(random.below(60));
        Ids expected;
        for (const auto id : ids) expected.push_back(c.parent[id]);
        EXPECT_EQ(components.query_parents(ids), expected) << c.name;
        std::sort(ids.begin(), ids.end());
        Ids replaced = ids;
        components.replace_by_parents(replaced);
        for (std::size_t i = 0; i < ids.size(); ++i) ASSERT_EQ(replaced[i], c.parent[ids[i]]) << c.name;
      }
    }
  });
}

/// A list of rank r: r % 4 numbers.
std::vector<int> list_of_rank(int rank) {
  std::vector<int> list;
  for (int i = 0; i < rank % 4; ++i) list.push_back(100 * rank + i);
  return list;
}

TEST_P(ComponentsTest, lists_are_merged_on_the_first_rank_in_the_order_of_ranks) {
  on_ranks(ComponentsTest::GetParam(), [](comm::Transport& t) {
    msf::MergeTree tree(t);
    for (int round = 0; round < 3; ++round) {
      std::vector<int> list = list_of_rank(t.rank());
      int merged = 0;
      const auto before = t.counters();
      tree.merge_to_first(list, [&](std::vector<int>& mine, std::span<const int> theirs) {
        ++merged;
        mine.insert(mine.end(), theirs.begin(), theirs.end());
      });
      std::vector<int> expected;
      for (int r = 0; r < t.size() && t.rank() == 0; ++r) {
        const auto theirs = list_of_rank(r);
        expected.insert(expected.end(), theirs.begin(), theirs.end());
      }
      EXPECT_EQ(list, expected);
      EXPECT_EQ(list.capacity() == 0, t.rank() > 0 || list.empty());  // the memory is given back
      int children = 0;
      for (int r = t.rank() + 1; r < t.size(); ++r) children += (r & (r - 1)) == t.rank() ? 1 : 0;
      EXPECT_EQ(merged, children);
      EXPECT_EQ((t.counters() - before).waves, children + (t.rank() > 0 ? 1 : 0));
    }
  });
}

}  // namespace
