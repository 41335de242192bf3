/// Tests of src/io/numbering.hpp: ids by content do not depend on ranks or order; ids that are not unique are refused.
#include "src/io/numbering.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/statistics.hpp"
#include "tests/data/graph_cases.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using comm::Transport;

class Numbering : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, Numbering, testing::ValuesIn(setups()), setup_name<testing::TestParamInfo<Setup>>);

using Content = std::vector<double>;

/// Position, volume and attributes.
Content content(const Parcels& p, std::size_t i) {
  Content out{p.site(i).x, p.site(i).y, p.site(i).z, p.site(i).volume};
  out.insert(out.end(), p.row(i) + 1, p.row(i) + 10);
  return out;
}

/// Parcels of few different coordinates, so that every component decides somewhere, and some that are equal in all.
Parcels parcels_with_ties(std::size_t n) {
  Parcels all;
  Random random(7, 0, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const auto some = [&](std::uint64_t values) { return static_cast<double>(random.below(values)); };
    add_sphere(all, 0, {some(3) - 1, some(2), some(2)}, 1 + some(2));
    all.row(i)[4] = some(3);
    all.row(i)[9] = i % 50 == 0 ? -0.0 : 0.0;
    all.set_id(i, static_cast<std::int64_t>(i));
  }
  return all;
}

/// Every rank's part, in slices of the given order.
Parcels local_part(const Parcels& all, const std::vector<std::size_t>& order, Transport& t) {
  const auto ranks = static_cast<std::size_t>(t.size());
  const auto rank = static_cast<std::size_t>(t.rank());
  Parcels mine;
  for (std::size_t at = order.size() * rank / ranks; at < order.size() * (rank + 1) / ranks; ++at) {
    mine.append(all.site(order[at]), all.row(order[at]));
    mine.set_id(mine.size() - 1, static_cast<std::int64_t>(at));
  }
  return mine;
}

/// Content by id, of all ranks.
std::map<std::int64_t, Content> by_id(const Parcels& mine, Transport& t) {
  std::vector<double> packed;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    packed.push_back(static_cast<double>(mine.id(i)));
    const Content c = content(mine, i);
    packed.insert(packed.end(), c.begin(), c.end());
  }
  std::map<std::int64_t, Content> out;
  for (const auto values : comm::all_gather(t, packed)) {
    for (std::size_t i = 0; i < values.size(); i += 14)
      EXPECT_TRUE(out.emplace(static_cast<std::int64_t>(values[i]), Content(&values[i + 1], &values[i] + 14)).second);
  }
  return out;
}

TEST_P(Numbering, gives_the_places_in_the_order_of_content_for_any_order_and_number_of_ranks) {
  const Parcels all = parcels_with_ties(1500);
  std::vector<Content> expected;
  for (std::size_t i = 0; i < all.size(); ++i) expected.push_back(content(all, i));
  std::sort(expected.begin(), expected.end(), [](const Content& a, const Content& b) {
    for (std::size_t c = 0; c < a.size(); ++c) {
      if (a[c] != b[c]) return a[c] < b[c];
      if (std::signbit(a[c]) != std::signbit(b[c])) return std::signbit(a[c]);
    }
    return false;
  });
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  on_ranks(GetParam(), [&](Transport& t) {
    auto shuffled = order;
    for (const bool shuffle : {false, true}) {
      Random random(11, 0, 0);
      for (std::size_t i = shuffled.size(); shuffle && i > 1; --i)
        std::swap(shuffled[i - 1], shuffled[random.below(i)]);
      Parcels mine = local_part(all, shuffled, t);
      std::vector<io::FilePlace> before;
      io::number_by_content(mine, t, &before);
      const auto got = by_id(mine, t);
      ASSERT_EQ(got.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const Content& c = got.at(static_cast<std::int64_t>(i));
        ASSERT_TRUE(std::memcmp(c.data(), expected[i].data(), 13 * sizeof(double)) == 0) << i;
      }
      ASSERT_EQ(before.size(), mine.size());
      for (const auto& [id, place] : before) {
        const Content c = content(all, shuffled[static_cast<std::size_t>(place)]);
        ASSERT_EQ(got.at(id), c);
      }
      const auto size = static_cast<std::int64_t>(mine.size());
      EXPECT_LE(t.all_reduce(size, comm::Op::max) * t.size(), 2 * 1500) << "parts of very different size";
    }
  });
}

TEST_P(Numbering, of_equal_parcels_goes_by_the_ids_that_they_come_with) {
  on_ranks(GetParam(), [](Transport& t) {
    Parcels mine;
    for (std::int64_t i = 0; i < 40; ++i) {
      add_sphere(mine, 5, {0, 0, 0}, 1);
      mine.set_id(mine.size() - 1, (39 - i) * t.size() + t.rank());
    }
    std::vector<io::FilePlace> before;
    io::number_by_content(mine, t, &before);
    for (const auto& [id, place] : before) EXPECT_EQ(id, place);
    std::int64_t count = static_cast<std::int64_t>(mine.size());
    EXPECT_EQ(t.all_reduce(count, comm::Op::sum), 40 * t.size());
  });
}

TEST_P(Numbering, of_fewer_parcels_than_ranks_works) {
  on_ranks(GetParam(), [](Transport& t) {
    Parcels mine;
    io::number_by_content(mine, t, nullptr);
    EXPECT_EQ(mine.size(), 0U);
    if (t.rank() == t.size() - 1) add_sphere(mine, 77, {0, 0, 0}, 1);
    io::number_by_content(mine, t, nullptr);
    EXPECT_EQ(t.all_reduce(static_cast<std::int64_t>(mine.size()), comm::Op::sum), 1);
    if (mine.size() == 1) {
      EXPECT_EQ(mine.id(0), 0);
    }
  });
}

std::string check_ids_error(Transport& t, const std::vector<std::int64_t>& ids) {
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < ids.size(); ++i) places.push_back(static_cast<std::int64_t>(i) * t.size() + t.rank());
  std::string what = "none";
  try {
    io::check_ids("in.nc", ids, places, t);
  } catch (const InputError& e) {
    what = e.what();
  }
  for (const auto other : comm::all_gather(t, what)) EXPECT_EQ(std::string(other.begin(), other.end()), what);
  return what;
}

TEST_P(Numbering, ids_that_are_negative_or_not_unique_are_named_on_every_rank) {
  on_ranks(GetParam(), [](Transport& t) {
    const std::int64_t high = std::int64_t{1} << 62;
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < 100; ++i) ids.push_back(high - i * t.size() - t.rank());
    EXPECT_EQ(check_ids_error(t, ids), "none");
    EXPECT_EQ(check_ids_error(t, {}), "none");
    auto twice = ids;
    if (t.rank() == t.size() - 1) twice[99] = high;
    const std::string second = std::to_string(99 * t.size() + t.size() - 1);
    EXPECT_EQ(check_ids_error(t, twice),
              "in.nc: parcels 0 and " + second + " have the same id, " + std::to_string(high) + "; ids must be unique");
    auto negative = ids;
    if (t.rank() == 0) negative[3] = -2;
    EXPECT_EQ(check_ids_error(t, negative),
              "in.nc: parcel " + std::to_string(3 * t.size()) + ": its id is -2; allowed: 0 and above");
  });
}

/// Returns, on every rank, whether the ids of all ranks surely are valid; of `ids` each rank has some, in runs or in turns.
bool says(Transport& t, const std::vector<std::int64_t>& ids, bool in_turns = false) {
  const auto ranks = static_cast<std::size_t>(t.size());
  const auto rank = static_cast<std::size_t>(t.rank());
  Parcels mine;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if ((in_turns ? i % ranks : i * ranks / ids.size()) != rank) continue;
    mine.resize(mine.size() + 1);
    mine.set_id(mine.size() - 1, ids[i]);
  }
  const bool said = io::are_surely_valid_ids(mine, t);
  EXPECT_EQ(t.all_reduce(std::int64_t{said}, comm::Op::sum), said ? t.size() : 0);
  return said;
}

TEST_P(Numbering, surely_valid_are_only_ids_that_are_distinct_and_not_negative) {
  on_ranks(GetParam(), [](Transport& t) {
    EXPECT_TRUE(says(t, {}));
    EXPECT_TRUE(says(t, {7}));
    EXPECT_FALSE(says(t, {-1}));
    EXPECT_FALSE(says(t, {INT64_MIN, INT64_MAX}));
    EXPECT_FALSE(says(t, {5, 5}));
    EXPECT_TRUE(says(t, {0, INT64_MAX}));  // ascending
    if (t.size() < 4) {                    // then some rank has two, of a range too long for bits
      EXPECT_FALSE(says(t, {INT64_MAX, 3, 0, 4}));
    }
    Random random(12, 0, 0);
    for (int sample = 0; sample < 400; ++sample) {
      const auto range = static_cast<std::uint64_t>(1) << (1 + random.below(14));
      const std::int64_t first = static_cast<std::int64_t>(random.below(3)) * 1000000007;
      std::vector<std::int64_t> ids;
      std::set<std::int64_t> seen;
      for (std::size_t n = 1 + static_cast<std::size_t>(random.below(60)); n > 0; --n) {
        ids.push_back(first + static_cast<std::int64_t>(random.below(range)));
        seen.insert(ids.back());
      }
      if (sample % 3 == 0) std::sort(ids.begin(), ids.end());
      if (sample % 9 == 0) ids.assign(seen.begin(), seen.end());
      const bool distinct = seen.size() == ids.size();
      const bool in_turns = sample % 2 == 0;
      const bool said = says(t, ids, in_turns);
      if (!distinct) {
        EXPECT_FALSE(said);
      }
      const auto span = static_cast<std::size_t>(*seen.rbegin() - *seen.begin());
      const bool short_range = span / 64 < ids.size();
      const bool sorted_runs = !in_turns && std::is_sorted(ids.begin(), ids.end());
      if (distinct && (short_range || sorted_runs)) {
        EXPECT_TRUE(said);
      }
    }
  });
}

TEST_P(Numbering, ids_in_turns_of_a_short_range_are_surely_valid_until_one_is_there_twice) {
  on_ranks(GetParam(), [](Transport& t) {
    std::vector<std::int64_t> ids;
    for (std::int64_t i = 0; i < 500; ++i) ids.push_back(i * 7 % 500);
    EXPECT_TRUE(says(t, ids, true));
    ids[499] = ids[0];
    EXPECT_FALSE(says(t, ids, true));
  });
}

}  // namespace
