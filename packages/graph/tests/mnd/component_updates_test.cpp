// Tests of what ranks tell each other in multi-node Boruvka: new names, new owners, and components that move.
#include "src/mnd/component_updates.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "tests/mnd/mnd_variants.hpp"
#include "tests/msf/thread_setups.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using mnd::detail::Part;

/// Between the ends of the graph's edges: the names of the components, and the ranks that own them. The same on every rank.
struct PlainState {
  std::map<std::uint64_t, std::uint64_t> name;  ///< by vertex
  std::map<std::uint64_t, int> owner;           ///< by name
};
PlainState plain_state(const Shape& shape, int ranks) {
  PlainState state;
  const auto ranges = graphs::Ranges::even(shape.vertices, ranks);
  for (const auto& e : shape.edges) {
    for (const auto v : {e.low, e.high}) {
      state.name[v] = v;
      state.owner[v] = ranges.owner(v);
    }
  }
  return state;
}

Part part_of_rank(const Shape& shape, const comm::Transport& t) {
  const auto ranges = graphs::Ranges::even(shape.vertices, t.size());
  graphs::EdgeList list{shape.vertices, graphs::WeightKind::unsigned_integer, {}, {}};
  Edges mine;
  for (const auto& e : shape.edges)
    if (e.low != e.high && (ranges.owner(e.low) == t.rank() || ranges.owner(e.high) == t.rank())) mine.push_back(e);
  list.edges = std::move(mine);
  return mnd::detail::make_part(list, ranges, t.rank(), msf::Sense::minimum);
}

/// The part must hold each edge between two components of which the rank owns one, once, and tell names and owners rightly.
void expect_part(const Part& part, const Shape& shape, const PlainState& state, const std::string& what) {
  Edges expected;
  std::set<std::uint64_t> own;
  std::set<std::uint64_t> ghosts;
  for (const auto& e : shape.edges) {
    const auto a = state.name.at(e.low);
    const auto b = state.name.at(e.high);
    const bool own_a = state.owner.at(a) == part.rank;
    const bool own_b = state.owner.at(b) == part.rank;
    if (a == b || (!own_a && !own_b)) continue;
    expected.push_back(e);
    (own_a ? own : ghosts).insert(a);
    (own_b ? own : ghosts).insert(b);
  }
  Edges found;
  for (const auto& e : part.edges) {
    found.push_back(e.edge);
    ASSERT_TRUE(part.is_own(e.a)) << what;
    const auto names = std::minmax({part.names[e.a], part.names[e.b]});
    const auto known = std::minmax({state.name.at(e.edge.low), state.name.at(e.edge.high)});
    ASSERT_EQ(std::pair(names.first, names.second), std::pair(known.first, known.second)) << what;
    for (const auto c : {e.a, e.b}) ASSERT_EQ(part.owner(c), state.owner.at(part.names[c])) << what;
  }
  ASSERT_EQ(sorted(found), sorted(expected)) << what;
  ASSERT_EQ(part.names.size(), part.own + part.ghost_owner.size()) << what;
  const auto middle = part.names.begin() + part.own;
  ASSERT_EQ(std::set<std::uint64_t>(middle, part.names.end()), ghosts) << what;
  for (const auto name : own) ASSERT_NE(std::find(part.names.begin(), middle, name), middle) << what;
}

std::vector<Shape> shapes_to_update() {
  Shape pairs{"pairs", 84, {}};
  for (std::uint64_t v = 0; v < 42; ++v) pairs.add(v, v + 42, v % 3);
  return {random_shape(1, 60, 90, 1'000), random_shape(2, 40, 200, 5), grid_shape(7, 3), pairs, path_shape(50),
          {"one edge", 70, {{0, 69, 3}}}};
}

class ComponentUpdatesTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ComponentUpdatesTest, testing::ValuesIn(thread_setups("chaos:5")),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Runs with every record exchange and every shape.
void with_exchanges(const std::function<void(comm::Transport&, mnd::detail::RecordExchange&, const Shape&)>& body) {
  on_ranks(ComponentUpdatesTest::GetParam(), [&](comm::Transport& t) {
    for (const auto& v : variants()) {
      if (v.options.post == mnd::MndPost::leader) continue;
      const auto exchange = mnd::detail::make_record_exchange(t, v.options);
      for (const auto& shape : shapes_to_update()) body(t, *exchange, shape);
    }
  });
}

TEST(SharedComponentsTest, are_listed_once_for_each_of_many_ranks) {
  Part part;
  part.rank = 3;
  part.own = 3;
  part.names = {0, 1, 2};
  std::set<std::pair<int, std::uint32_t>> expected;
  for (const int rank : {0, 1, 2, 4, 62, 63, 64, 65, 127, 128, 300}) {
    const auto ghost = static_cast<std::uint32_t>(part.names.size());
    part.names.insert(part.names.end(), {1000 + 2 * ghost, 1001 + 2 * ghost});
    part.ghost_owner.insert(part.ghost_owner.end(), {rank, rank});
    const std::uint32_t c = rank % 2 == 0 ? 0 : 2;
    for (const std::uint32_t other : {ghost, ghost + 1, ghost}) part.edges.push_back({c, other, {0, 1, 2}});
    expected.emplace(rank, c);
    if (rank > 100) {
      part.edges.push_back({1, ghost, {0, 1, 2}});
      expected.emplace(rank, 1);
    }
  }
  part.edges.push_back({0, 1, {0, 1, 2}});
  const auto found = mnd::detail::find_shared_components(part);
  EXPECT_EQ(found.size(), expected.size());
  std::set<std::pair<int, std::uint32_t>> seen;
  for (const auto& [rank, component] : found) seen.emplace(rank, component);
  EXPECT_EQ(seen, expected);
  part.edges.clear();
  part.ghost_owner.clear();
  EXPECT_TRUE(mnd::detail::find_shared_components(part).empty());
}

mnd::detail::NamesBefore names_before(const Part& part) {
  return {mnd::detail::find_shared_components(part), {part.names.begin(), part.names.begin() + part.own}};
}

TEST_P(ComponentUpdatesTest, new_names_reach_every_rank_that_has_a_ghost) {
  with_exchanges([](comm::Transport& t, mnd::detail::RecordExchange& exchange, const Shape& shape) {
    Part part = part_of_rank(shape, t);
    PlainState state = plain_state(shape, t.size());
    ASSERT_NO_FATAL_FAILURE(expect_part(part, shape, state, shape.name));
    const auto before = names_before(part);
    const auto contraction = mnd::detail::contract(part, 0);
    // What each rank calls its vertices now, told to all.
    std::vector<std::uint64_t> pairs;
    for (std::size_t c = 0; c < before.names.size(); ++c)
      pairs.insert(pairs.end(), {before.names[c], part.names[contraction.image[c]]});
    const auto all = comm::all_gather(t, pairs).flat();
    for (std::size_t i = 0; i < all.size(); i += 2) state.name[all[i]] = all[i + 1];
    mnd::detail::exchange_names(part, before, contraction, exchange, t.size());
    ASSERT_NO_FATAL_FAILURE(expect_part(part, shape, state, shape.name));
  });
}

/// Components move to the next rank, all, none, or those whose name is even.
TEST_P(ComponentUpdatesTest, components_move_with_all_their_edges) {
  with_exchanges([](comm::Transport& t, mnd::detail::RecordExchange& exchange, const Shape& shape) {
    const int next = (t.rank() + 1) % t.size();
    const int previous = (t.rank() + t.size() - 1) % t.size();
    for (const int kind : {0, 1, 2, 3}) {
      const auto moves = [&](std::uint64_t name) {
        return kind == 1 || (kind == 2 && name % 2 == 0) || (kind == 3 && name % 5 == 0);
      };
      Part part = part_of_rank(shape, t);
      PlainState state = plain_state(shape, t.size());
      for (int step = 0; step < 3; ++step) {
        std::vector<int> own;
        for (std::uint32_t c = 0; c < part.own; ++c) own.push_back(moves(part.names[c]) ? next : t.rank());
        const auto owners = mnd::detail::exchange_owners(part, own, exchange, t.size());
        for (auto& [name, owner] : state.owner)
          if (moves(name)) owner = (owner + 1) % t.size();
        EXPECT_EQ(owners.own, own);
        ASSERT_EQ(owners.ghosts.size(), part.ghost_owner.size());
        for (std::size_t g = 0; g < owners.ghosts.size(); ++g)
          ASSERT_EQ(owners.ghosts[g], state.owner.at(part.names[part.own + g])) << shape.name;
        mnd::detail::MigrationRoute route{next, {}};
        if (previous != t.rank()) route.senders.push_back(previous);
        mnd::detail::migrate_components(part, owners, route, exchange, t.size());
        ASSERT_NO_FATAL_FAILURE(expect_part(part, shape, state, shape.name + ", kind " + std::to_string(kind)));
      }
    }
  });
}

TEST_P(ComponentUpdatesTest, all_components_can_be_gathered_on_the_first_rank) {
  with_exchanges([](comm::Transport& t, mnd::detail::RecordExchange& exchange, const Shape& shape) {
    Part part = part_of_rank(shape, t);
    PlainState state = plain_state(shape, t.size());
    for (auto& [name, owner] : state.owner) owner = 0;
    mnd::detail::MigrationRoute route{0, {}};
    for (int r = 1; r < t.size() && t.rank() == 0; ++r) route.senders.push_back(r);
    const mnd::detail::FutureOwners owners{std::vector<int>(part.own, 0), std::vector<int>(part.ghost_owner.size(), 0)};
    mnd::detail::migrate_components(part, owners, route, exchange, t.size());
    ASSERT_NO_FATAL_FAILURE(expect_part(part, shape, state, shape.name));
    EXPECT_EQ(part.names.empty(), t.rank() > 0) << shape.name;
  });
}

/// An exchange in which a rank sends records of its own making.
class FalseExchange final : public mnd::detail::RecordExchange {
 public:
  FalseExchange(int from, mnd::detail::Words words) : from_(from), words_(std::move(words)) {}
  void run(mnd::detail::Letters&, const Use& use) override { use(from_, words_); }

 private:
  int from_;
  mnd::detail::Words words_;
};

TEST(FalseNewsTest, of_a_component_that_is_no_ghost_of_its_sender_is_refused) {
  Part part;
  part.rank = 1;
  part.own = 1;
  part.names = {4, 8, 9};
  part.ghost_owner = {0, 2};
  part.edges = {{0, 1, {4, 8, 1}}, {0, 2, {4, 9, 1}}};
  const auto told = [&](int from, std::uint64_t name) -> std::string {
    FalseExchange exchange(from, {name, 2});
    try {
      (void)mnd::detail::exchange_owners(part, {1}, exchange, 3);
    } catch (const CommError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(told(0, 8), "accepted");
  EXPECT_EQ(told(2, 9), "accepted");
  EXPECT_EQ(told(2, 8), "rank 2 speaks of a component 8 that rank 1 does not know as one of its");
  EXPECT_EQ(told(0, 7), "rank 0 speaks of a component 7 that rank 1 does not know as one of its");
  EXPECT_EQ(told(0, 4), "rank 0 speaks of a component 4 that rank 1 does not know as one of its");
}

TEST_P(ComponentUpdatesTest, options_that_are_not_allowed_are_named_with_what_is) {
  on_ranks(ComponentUpdatesTest::GetParam(), [](comm::Transport& t) {
    const auto told = [&](const mnd::MndOptions& options) -> std::string {
      graphs::EdgeList graph;
      graph.vertices = 3;
      msf::Report report;
      try {
        (void)mnd::mnd(graph, t, options, report);
      } catch (const UsageError& e) {
        return e.what();
      }
      return "accepted";
    };
    const auto expect = [&](const mnd::MndOptions& options, const std::string& text) {
      EXPECT_NE(told(options).find(text), std::string::npos) << told(options);
    };
    expect({.independent_threshold = -0.5}, "independent_threshold is -0.5; allowed: 0 to 1");
    expect({.mst_threshold = 1.5}, "mst_threshold is 1.5; allowed: 0 to 1");
    expect({.stall_threshold = std::nan("")}, "stall_threshold is nan; allowed: 0 to 1");
    expect({.ring_share = 2}, "ring_share is 2; allowed: 0 to 1");
    expect({.leader_group = 1}, "leader_group is 1; allowed: 2 and more");
    expect({.chunk = 0}, "chunk is 0; allowed: 1 and more");
    expect({.chunk = -3}, "chunk is -3; allowed: 1 and more");
    const std::string none = "style, post, carrier or sense is no value of its enumeration";
    expect({.style = static_cast<mnd::MndStyle>(2)}, none);
    expect({.post = static_cast<mnd::MndPost>(2)}, none);
    expect({.carrier = static_cast<mnd::MndCarrier>(3)}, none);
    expect({.sense = static_cast<msf::Sense>(2)}, none);
    expect({.independent_threshold = 1,
            .mst_threshold = 1,
            .stall_threshold = 1,
            .ring_share = 1,
            .leader_group = 2,
            .chunk = 1,
            .carrier = mnd::MndCarrier::messages},
           "accepted");
    expect({.independent_threshold = 0, .mst_threshold = 0, .stall_threshold = 0, .ring_share = 0}, "accepted");
  });
}

}  // namespace
