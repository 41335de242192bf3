/// Tests of src/cluster/parcel_exchange.hpp: after the exchange every rank has the parcels that it owns, each once and bit for bit.
#include "src/cluster/parcel_exchange.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>

#include "merganser/base/random.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

class ParcelExchangeTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, ParcelExchangeTest, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

/// Returns the rank that a parcel, given by its id, is on before the exchange, or owns it.
using RankOf = std::function<int(std::int64_t)>;

/// Case of an exchange: where parcels lie and where they belong.
struct Case {
  const char* name;
  RankOf before;
  RankOf owner;
};

/// Returns cases in which no, all, or some parcels leave, and ranks become empty or full.
std::vector<Case> cases(int ranks) {
  const auto some = [ranks](std::uint64_t key) {
    return [ranks, key](std::int64_t id) {
      return static_cast<int>(Random(key, static_cast<std::uint64_t>(id), 0).below(static_cast<std::uint64_t>(ranks)));
    };
  };
  const RankOf first = [](std::int64_t) { return 0; };
  const RankOf last = [ranks](std::int64_t) { return ranks - 1; };
  const RankOf blocks = [ranks](std::int64_t id) { return static_cast<int>(id * ranks / 200); };
  const RankOf next = [ranks](std::int64_t id) { return static_cast<int>((id * ranks / 200 + 1) % ranks); };
  const auto mostly = [ranks](std::int64_t id) {
    return static_cast<int>((id * ranks / 200 + (id % 17 == 0 ? 1 : 0)) % ranks);
  };
  return {{"home", blocks, blocks},   {"shuffled", some(1), some(2)}, {"gathered", some(3), first},
          {"spread", first, some(4)}, {"moved", first, last},         {"rotated", blocks, next},
          {"few", blocks, mostly}};
}

/// Returns the parcel of an id, all of whose numbers depend on it.
void set_parcel(Parcels& parcels, std::size_t i, std::int64_t id) {
  const auto x = static_cast<double>(id);
  parcels.site(i) = {x + 0.25, x + 0.5, x + 0.75, 1 + x};
  for (std::size_t c = 0; c < parcels.schema().width(); ++c) parcels.row(i)[c] = 1000 * x + static_cast<double>(c);
  parcels.set_id(i, id);
}

/// Exchanges the parcels of a case, `parcels_at_once` in a round, and compares with what every rank must have.
void check_exchange(comm::Transport& t, const Case& the, std::size_t parcels_at_once) {
  constexpr std::int64_t kParcels = 200;
  Parcels mine;
  std::vector<cluster::LeavingParcel> leaving;
  std::map<std::int64_t, std::size_t> stay;
  for (std::int64_t id = 0; id < kParcels; ++id) {
    if (the.before(id) != t.rank()) continue;
    mine.resize(mine.size() + 1);
    set_parcel(mine, mine.size() - 1, id);
    if (the.owner(id) == t.rank()) stay[id] = mine.size() - 1;
    if (the.owner(id) != t.rank()) leaving.push_back({mine.size() - 1, the.owner(id)});
  }
  const std::size_t before = mine.size();
  const std::size_t sent = leaving.size();
  cluster::ParcelExchange(mine, std::move(leaving), t, parcels_at_once * mine.parcel_bytes()).run();
  std::map<std::int64_t, int> found;
  Parcels expected;
  expected.resize(1);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    ++found[mine.id(i)];
    set_parcel(expected, 0, mine.id(i));
    EXPECT_EQ(std::memcmp(&mine.site(i), &expected.site(0), sizeof(Site)), 0) << the.name;
    EXPECT_EQ(std::memcmp(mine.row(i), expected.row(0), mine.schema().width() * sizeof(double)), 0) << the.name;
    // As many arrive as leave, or more: then nothing that stays moves.
    if (stay.contains(mine.id(i)) && mine.size() >= before) {
      EXPECT_EQ(stay[mine.id(i)], i) << the.name;
    }
  }
  for (std::int64_t id = 0; id < kParcels; ++id)
    EXPECT_EQ(found[id], the.owner(id) == t.rank() ? 1 : 0) << the.name << ", id " << id << " on rank " << t.rank();
  EXPECT_GE(mine.size(), before - sent);
}

TEST_P(ParcelExchangeTest, every_rank_has_the_parcels_that_it_owns) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    for (const Case& the : cases(t.size()))
      for (const std::size_t at_once : {1, 7, 1000}) check_exchange(t, the, at_once);
  });
}

TEST_P(ParcelExchangeTest, nothing_is_exchanged_where_every_parcel_is_home) {
  on_ranks(GetParam(), [](comm::Transport& t) {
    Parcels mine;
    mine.resize(3);
    for (std::size_t i = 0; i < 3; ++i) set_parcel(mine, i, 3 * t.rank() + static_cast<std::int64_t>(i));
    const comm::Counters before = t.counters();
    cluster::ParcelExchange(mine, {}, t).run();
    const comm::Counters made = t.counters() - before;
    EXPECT_EQ(made.collectives, t.size() == 1 ? 0 : 1);  // the number of rounds
    EXPECT_EQ(mine.size(), 3U);
  });
}

}  // namespace
