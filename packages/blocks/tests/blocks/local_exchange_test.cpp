/// Local exchange of properties of moving objects: against a global table, and detection of objects that break its condition.
#include "merganser/blocks/local_exchange.hpp"

#include <gtest/gtest.h>

#include <random>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "tests/blocks/blocks.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::blocks;
using namespace merganser::test;

class LocalExchangeTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, LocalExchangeTest,
                         testing::ValuesIn(setups({""}, {"chaos:1", "chaos:2", "chaos:3,checked"})),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Reference for the local exchange: objects that move over blocks at random; every rank computes the same global table of them.
template <class T>
class World {
 public:
  /// Object of the global table, with its whole values.
  struct Object {
    std::set<std::int64_t> blocks;   // blocks that hold a part
    std::set<std::int64_t> touched;  // blocks that held a part before or after the last step
    std::vector<T> value;
  };
  /// Change of an object's part in one block, which the owner of the block reports to the local exchange.
  struct Change {
    std::uint64_t key;
    std::int64_t block;
    std::vector<T> by;
    bool holds;    // the block holds a part after the step
    bool created;  // the object begins in this step
  };
  World(const BlockGrid& grid, int reach, unsigned seed) : grid_(grid), reach_(reach), numbers_(seed) {}

  /// Moves all objects of the global table by one step, and creates one if they are few. @return the changes of their parts
  std::vector<Change> step() {
    std::vector<Change> out;
    for (auto at = objects.begin(); at != objects.end();) {
      wander(at->first, at->second, out);
      at = at->second.blocks.empty() ? objects.erase(at) : std::next(at);
    }
    if (objects.size() < 6) begin(out);
    return out;
  }
  std::map<std::uint64_t, Object> objects;

 private:
  std::vector<T> random_values() {
    if constexpr (std::is_integral_v<T>) return {below(20) - 10, below(1000)};
    std::uniform_real_distribution<double> unit(-1, 1);
    const double a = unit(numbers_);
    return {static_cast<T>(a), static_cast<T>(1e9 * unit(numbers_))};
  }
  int below(int n) { return static_cast<int>(numbers_() % static_cast<unsigned>(n)); }

  /// Creates an object in a random block and some of its neighbours, and appends its parts to the changes.
  void begin(std::vector<Change>& out) {
    const std::uint64_t key = next_++;
    Object& o = objects[key];
    o.value.assign(2, 0);
    std::set<std::int64_t> blocks{below(static_cast<int>(grid_.count()))};
    for (const std::int64_t n : grid_.neighbours(*blocks.begin(), reach_)) {
      auto more = blocks;
      more.insert(n);
      if (below(3) == 0 && fits(grid_, more, reach_ + 1)) blocks = more;
    }
    for (const std::int64_t b : blocks) {
      out.push_back({key, b, random_values(), true, true});
      for (std::size_t i = 0; i < 2; ++i) o.value[i] += out.back().by[i];
    }
    o.blocks = o.touched = blocks;
  }

  /// Moves an object to a random set of blocks that fit into reach + 1 consecutive ones, and appends the changes of its parts.
  void wander(std::uint64_t key, Object& o, std::vector<Change>& out) {
    std::set<std::int64_t> touched = o.blocks;
    std::set<std::int64_t> next = o.blocks;
    for (const std::int64_t b : o.blocks) {
      for (const std::int64_t n : grid_.neighbours(b, reach_)) {
        auto more = touched;
        more.insert(n);
        if (below(6) == 0 && fits(grid_, more, reach_ + 1)) {
          touched = more;
          next.insert(n);
        }
      }
      if (below(4) == 0) next.erase(b);
    }
    if (next.empty() && below(5) != 0) next = {*o.blocks.begin()};
    for (const std::int64_t b : touched) {
      if (below(5) == 0 && o.blocks.contains(b) == next.contains(b)) continue;  // nothing to report
      out.push_back({key, b, random_values(), next.contains(b), false});
      for (std::size_t i = 0; i < 2; ++i) o.value[i] += out.back().by[i];
    }
    o.blocks = next;
    o.touched = touched;
  }

  BlockGrid grid_;
  int reach_;
  std::mt19937 numbers_;
  std::uint64_t next_ = 7;
};

/// Expects that the local exchange of this rank stores the objects of the global table, with equal values, in the blocks near them.
template <class T>
void compare(const LocalExchange<T>& exchange, const World<T>& world, int reach) {
  for (std::size_t i = 0; i < exchange.blocks().size(); ++i) {
    const std::int64_t block = exchange.blocks()[i];
    std::vector<std::uint64_t> held;
    for (const auto& [key, o] : world.objects) {
      if (o.blocks.contains(block)) held.push_back(key);
      auto with = o.touched;
      with.insert(block);
      ASSERT_EQ(exchange.holds(i, key), o.blocks.contains(block));
      if (!fits(exchange.grid(), with, reach + 1)) continue;
      // Held by the block, or able to enter it from a neighbouring one.
      ASSERT_TRUE(exchange.contains(i, key));
      const auto v = exchange.values(i, key);
      ASSERT_EQ(std::vector<T>(v.begin(), v.end()), o.value);
    }
    ASSERT_EQ(exchange.held_keys(i), held);
  }
}

/// Reports the random changes of objects to the local exchange for some steps, and compares it with the global table. Collective.
template <class T>
void follow(comm::Transport& t, const BlockGrid& grid, Placing how, int reach, int steps) {
  World<T> world(grid, reach, 17U + static_cast<unsigned>(grid.count() * 10 + reach));
  LocalExchange<T> exchange(t, grid, place_blocks(grid, t.rank(), t.size(), how), 2, reach);
  const auto owner = place_blocks(grid, t.rank(), t.size(), how).owner;
  const auto before = t.counters();
  for (int step = 0; step < steps; ++step) {
    for (const auto& c : world.step()) {
      if (owner(c.block) != t.rank()) continue;
      const std::size_t local = exchange.exchange().local(c.block);
      if (c.created) {
        exchange.create(local, c.key, c.by);
      } else {
        exchange.report(local, c.key, c.by, c.holds);
      }
    }
    exchange.step();
    ASSERT_NO_FATAL_FAILURE(compare(exchange, world, reach));
  }
  EXPECT_EQ((t.counters() - before).collectives, 0);
  EXPECT_EQ(exchange.counts().packages, steps * exchange.exchange().packages_per_step());
}

TEST_P(LocalExchangeTest, wandering_objects_have_the_same_values_wherever_they_are) {
  const int steps = GetParam().decorators.empty() ? 12 : 5;
  on_ranks(GetParam(), [steps](comm::Transport& t) {
    for (const auto& grid : grids())
      for (const int reach : {1, 2})
        follow<std::int64_t>(t, grid, reach == 1 ? Placing::runs : Placing::hash, reach, steps);
  });
}

TEST_P(LocalExchangeTest, sums_of_doubles_have_the_same_bits_in_every_block) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const Placing how : {Placing::runs, Placing::turns, Placing::last})
      follow<double>(t, {{4, 5, 1}, {true, true, false}}, how, 1, 20);
    follow<double>(t, {{4, 3, 3}, {true, false, true}}, Placing::hash, 1, 10);
  });
}

TEST_P(LocalExchangeTest, a_block_that_is_its_own_neighbour_keeps_its_objects) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    LocalExchange<std::int64_t> exchange(t, {{1, 1, 1}, {true, true, true}},
                                         contiguous_placement({}, t.rank(), t.size()), 1);
    const bool mine = !exchange.blocks().empty();
    const std::int64_t one = 1;
    if (mine) exchange.create(0, 5, {&one, 1});
    for (int step = 0; step < 3; ++step) {
      exchange.step();
      if (!mine) continue;
      EXPECT_EQ(exchange.values(0, 5)[0], step + 1);
      exchange.report(0, 5, {&one, 1}, true);
    }
  });
}

/// Moves of object 42 over a row of blocks: it lies in blocks `first` after one step and is reported by blocks `then` in the next.
struct Story {
  std::set<std::int64_t> first;
  std::vector<std::pair<std::int64_t, bool>> then;  // block, holds
};

/// Makes the two steps of a story over the local exchange. @return the errors of the second on the ranks where it throws; empty
/// if on none
std::vector<std::string> tell(comm::Transport& t, const BlockGrid& grid, int reach, const Story& story) {
  LocalExchange<std::int64_t> exchange(t, grid, place_blocks(grid, t.rank(), t.size(), Placing::turns), 1, reach);
  const std::int64_t one = 1;
  const auto here = [&](std::int64_t b) { return b % t.size() == t.rank(); };
  for (const std::int64_t b : story.first)
    if (here(b)) exchange.create(exchange.exchange().local(b), 42, {&one, 1});
  exchange.step();
  for (const auto& [b, holds] : story.then)
    if (here(b)) exchange.report(exchange.exchange().local(b), 42, {&one, 1}, holds);
  std::string what;
  try {
    exchange.step();
  } catch (const InputError& e) {
    what = e.what();
  }
  std::vector<std::string> all;
  for (const auto theirs : comm::all_gather(t, what))
    if (!theirs.empty()) all.emplace_back(theirs.begin(), theirs.end());
  return all;
}

void expect_found(const std::vector<std::string>& errors, const std::string& part) {
  ASSERT_FALSE(errors.empty()) << "nobody noticed; expected: " << part;
  for (const auto& e : errors) EXPECT_NE(e.find(part), std::string::npos) << e;
}

TEST_P(LocalExchangeTest, objects_that_are_too_long_are_found_by_the_block_between) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const BlockGrid row{{6, 1, 1}, {false, false, false}};
    const BlockGrid ring{{6, 1, 1}, {true, false, false}};
    const BlockGrid column{{1, 1, 5}, {false, false, false}};
    expect_found(
        tell(t, row, 1, {{1, 2}, {{1, true}, {3, true}}}),
        "object 42 lies before or after this step in blocks (1, 0, 0), (2, 0, 0), (3, 0, 0): 3 blocks along x; "
        "allowed: at most 2");
    expect_found(tell(t, ring, 1, {{5, 0}, {{1, true}}}), "(0, 0, 0), (1, 0, 0), (5, 0, 0): 3 blocks along x");
    expect_found(tell(t, column, 1, {{2}, {{1, true}, {3, true}}}), "3 blocks along z");
    // From blocks 0, 1 to blocks 1, 2 in one step: block 2 cannot receive what block 0 lost.
    expect_found(tell(t, row, 1, {{0, 1}, {{0, false}, {2, true}}}), "3 blocks along x");
    // Block 1 has left it, while blocks 0 and 2 hold it.
    expect_found(tell(t, row, 1, {{1}, {{0, true}, {1, false}, {2, true}}}), "3 blocks along x");
    expect_found(tell(t, row, 2, {{1, 2, 3}, {{4, true}}}), "4 blocks along x; allowed: at most 3");
    EXPECT_TRUE(tell(t, row, 2, {{1, 2}, {{3, true}, {1, false}}}).empty());
    EXPECT_TRUE(tell(t, row, 1, {{1}, {{2, true}, {1, false}}}).empty());
    EXPECT_TRUE(tell(t, ring, 1, {{5}, {{0, true}}}).empty());
  });
}

TEST_P(LocalExchangeTest, objects_that_are_too_long_from_the_start_are_found) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    LocalExchange<std::int64_t> exchange(t, {{4, 1, 1}, {}},
                                         place_blocks({{4, 1, 1}, {}}, t.rank(), t.size(), Placing::turns), 1);
    const std::int64_t one = 1;
    for (std::size_t i = 0; i < exchange.blocks().size(); ++i)
      if (exchange.blocks()[i] != 1) exchange.create(i, 3, {&one, 1});
    std::int64_t found = 0;
    try {
      exchange.step();
    } catch (const InputError& e) {
      found = 1;
    }
    EXPECT_GE(t.all_reduce(found, comm::Op::sum), 1);
  });
}

TEST_P(LocalExchangeTest, an_object_from_nowhere_is_refused_before_anything_is_sent) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const BlockGrid row{{5, 1, 1}, {}};
    LocalExchange<std::int64_t> exchange(t, row, place_blocks(row, t.rank(), t.size(), Placing::turns), 1);
    const std::int64_t one = 1;
    if (t.rank() == 0) exchange.create(0, 9, {&one, 1});
    exchange.step();
    for (std::size_t i = 0; i < exchange.blocks().size(); ++i) {
      const std::int64_t b = exchange.blocks()[i];
      EXPECT_EQ(exchange.contains(i, 9), b < 2);
      if (b >= 2) {
        EXPECT_THROW(exchange.report(i, 9, {&one, 1}, true), InputError);
        EXPECT_THROW((void)exchange.values(i, 9), UsageError);
      } else {
        EXPECT_THROW(exchange.create(i, 9, {&one, 1}), InputError);
        EXPECT_THROW(exchange.report(i, 9, {}, true), UsageError);
      }
    }
    exchange.step();
  });
}

TEST_P(LocalExchangeTest, two_objects_of_one_key_are_found_when_they_meet) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const BlockGrid row{{6, 1, 1}, {}};
    LocalExchange<std::int64_t> exchange(t, row, place_blocks(row, t.rank(), t.size(), Placing::turns), 1);
    const auto here = [&](std::int64_t b) { return b % t.size() == t.rank(); };
    const std::int64_t values[] = {3, 4};
    if (here(0)) exchange.create(exchange.exchange().local(0), 8, {&values[0], 1});
    if (here(4)) exchange.create(exchange.exchange().local(4), 8, {&values[1], 1});
    exchange.step();  // too far apart to be detected
    if (here(3)) exchange.report(exchange.exchange().local(3), 8, {&values[0], 1}, true);
    if (here(4)) exchange.report(exchange.exchange().local(4), 8, {&values[0], 1}, false);
    exchange.step();
    if (here(1)) exchange.report(exchange.exchange().local(1), 8, {&values[0], 1}, true);
    std::int64_t found = 0;
    try {
      exchange.step();
    } catch (const InputError& e) {
      found = 1;
    }
    EXPECT_GE(t.all_reduce(found, comm::Op::sum), 1);
  });
}

TEST_P(LocalExchangeTest, wrong_shapes_are_refused_on_every_rank) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    const BlockGrid row{{6, 1, 1}, {}};
    const auto p = place_blocks(row, t.rank(), t.size(), Placing::runs);
    EXPECT_THROW(LocalExchange<double>(t, row, p, 0), InputError);
    EXPECT_THROW(LocalExchange<double>(t, row, p, 1, 0), InputError);
    auto holes = p;
    holes.owner = [owner = p.owner](std::int64_t b) { return b == 3 ? -1 : owner(b); };
    std::erase(holes.mine, 3);
    EXPECT_THROW(LocalExchange<double>(t, row, holes, 1), InputError);
  });
}

}  // namespace
