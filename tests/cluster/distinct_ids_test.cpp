// Duplicate ids: those of one rank are found in every search, those of two ranks where they can matter.
#include "src/cluster/distinct_ids.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/base/indexed_text.hpp"
#include "merganser/base/random.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/star_finder.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/comm/open.hpp"
#include "tests/cluster/star_clouds.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

using Numbers = std::vector<std::int64_t>;

nearest::PointSet points_with(const Numbers& ids) {
  PointView points;
  points.size = ids.size();
  return {points, nullptr, ids.data(), 0, 0};
}

/// Returns ids that ascend, that come from a short range, and that come from all numbers.
std::vector<Numbers> id_patterns() {
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::vector<Numbers> kinds{{-5, 0, 7, 9}, {7, 3, -9, 120, 0}, {kMax, 0, kMin, 17, -1}, {}, {4}};
  std::mt19937_64 random(1);
  Numbers many;
  for (int i = 0; i < 3000; ++i) many.push_back(static_cast<std::int64_t>(random()));
  kinds.push_back(many);
  return kinds;
}

TEST(IdSet, holds_each_id_and_no_other) {
  cluster::IdSet set;
  for (const Numbers& ids : id_patterns()) {
    set.assign(points_with(ids));
    const std::set<std::int64_t> all(ids.begin(), ids.end());
    for (const std::int64_t id : ids)
      for (const int step : {-1, 0, 1}) {
        const auto near = static_cast<std::int64_t>(static_cast<std::uint64_t>(id) + static_cast<std::uint64_t>(step));
        EXPECT_EQ(set.contains(near), all.count(near) == 1) << near;
      }
    EXPECT_EQ(set.contains(99), all.count(99) == 1);
  }
}

TEST(IdSet, holds_the_same_ids_after_its_memory_was_released) {
  cluster::IdSet set;
  for (const Numbers& ids : id_patterns()) {
    const auto points = points_with(ids);
    set.assign(points);
    const std::set<std::int64_t> all(ids.begin(), ids.end());
    for (int time = 0; time < 2; ++time) {
      set.release();
      for (const std::int64_t id : ids) EXPECT_TRUE(set.contains(id)) << id;
      for (const std::int64_t id : {-7, 0, 99}) EXPECT_EQ(set.contains(id), all.count(id) == 1) << id;
    }
  }
}

TEST(IdSet, refuses_an_id_that_two_points_have_and_names_both) {
  for (Numbers ids : id_patterns()) {
    if (ids.size() < 2) continue;
    for (const std::size_t other : {std::size_t{1}, ids.size() - 1}) {
      Numbers twice = ids;
      twice[other] = twice[0];
      const std::string text = refusal<InputError>([&] { cluster::IdSet().assign(points_with(twice)); });
      EXPECT_EQ(text, "point " + std::to_string(other) + ": id " + std::to_string(ids[0]) +
                          " is that of point 0; allowed: ids distinct over all ranks");
    }
  }
}

TEST(IdSet, counts_positions_from_one_for_those_who_do) {
  const Numbers twice{3, 3};
  try {
    cluster::IdSet().assign(points_with(twice));
    FAIL();
  } catch (const HasIndices& e) {
    EXPECT_EQ(e.indexed_text().to_string(1), "point 2: id 3 is that of point 1; allowed: ids distinct over all ranks");
  }
}

TEST(Agreement, carries_positions_in_texts_to_ranks_that_count_from_one) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  comm::run({"threads", 3}, [](comm::Transport& t) {
    try {
      comm::agree(t, [&] {
        if (t.rank() == 1) throw Indexed<InputError>(IndexedText("point ") + Index{0} + " and point " + Index{9} + ".");
      });
      ADD_FAILURE();
    } catch (const InputError& e) {
      EXPECT_STREQ(e.what(), "point 0 and point 9.");
      const auto* const indexed = dynamic_cast<const HasIndices*>(&e);
      ASSERT_NE(indexed, nullptr);
      EXPECT_EQ(indexed->indexed_text().to_string(1), "point 1 and point 10.");
    }
  });
}

std::string run_error(int ranks, const char* decorators, const std::function<void(comm::Transport&)>& body) {
  comm::RunOptions options{"threads", ranks};
  options.decorators = decorators;
  return refusal<InputError>([&] { comm::run(options, body); });
}

TEST(Ids, that_every_rank_numbers_for_itself_are_refused_by_a_search_that_compares_them) {
  if (comm::launched()) GTEST_SKIP() << "a rank fails alone";
  const Cloud all = random_cloud(400, 21);
  const auto body = [&](comm::Transport& t) {
    const Decomposition d(all.grid, t.size());
    Cloud mine = Share(all, d, t.rank()).cloud;
    std::iota(mine.ids.begin(), mine.ids.end(), 0);
    StarFinder finder(t, d);
    finder.find(PointView::rows(mine.xyz.data(), mine.size()), mine.small, mine.ids);
  };
  EXPECT_NE(run_error(2, "", body).find(" is that of a point on rank 0 and of one on rank 1"), std::string::npos);
  EXPECT_NE(run_error(4, "", body).find("; allowed: ids distinct over all ranks"), std::string::npos);
  EXPECT_NE(run_error(3, "checked", body).find("id 0 is there twice"), std::string::npos);
}

TEST(Ids, of_one_pair_over_a_face_are_refused_if_they_are_equal) {
  if (comm::launched()) GTEST_SKIP() << "a rank fails alone";
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {false, false, false}}, {2, 1, 1}};
  const auto text = [&](std::int64_t left, std::int64_t right) {
    return run_error(2, "", [&](comm::Transport& t) {
      const double xyz[3] = {t.rank() == 0 ? 0.49 : 0.52, 0.5, 0.5};
      const std::uint8_t small = 1;
      const std::int64_t id = t.rank() == 0 ? left : right;
      StarFinder finder(t, Decomposition(grid, 2));
      finder.find(PointView::rows(xyz, 1), {&small, 1}, {&id, 1});
    });
  };
  EXPECT_EQ(text(7, 7), "id 7 is that of a point on rank 0 and of one on rank 1; allowed: ids distinct over all ranks");
  EXPECT_EQ(text(7, 8), "nothing was thrown");
}

TEST(Ids, of_parcels_are_refused_by_a_step_before_anything_has_changed) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {false, false, false}}, {2, 2, 2}};
  const auto transport = comm::open_alone();
  const Decomposition d(grid, 1);
  Parcels parcels((Schema(std::vector<Attribute>{})));
  for (int i = 0; i < 4; ++i) {
    const double row[] = {std::bit_cast<double>(std::int64_t{i % 3}), 0};
    parcels.append({0.2 * i, 0.5, 0.5, 1e-6}, row);
  }
  Clusterer clusterer(*transport, d, parcels.schema(), {});
  EXPECT_EQ(refusal<InputError>([&] { (void)clusterer.step(parcels); }),
            "parcel id 0 is there twice; allowed: ids distinct over all ranks");
  EXPECT_EQ(parcels.size(), 4U);
  parcels.set_id(3, 3);
  EXPECT_GT(clusterer.step(parcels).merged, 0);
}

TEST(Ids, are_compared_over_all_ranks_when_that_is_asked_for) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  const auto check = [](std::int64_t last) {
    return run_error(3, "", [&](comm::Transport& t) {
      const Numbers ids{3 * t.rank() + 2, 3 * t.rank(), t.rank() == 2 ? last : 3 * t.rank() + 1};
      check_distinct(ids, t);
    });
  };
  EXPECT_EQ(check(7), "nothing was thrown");
  EXPECT_EQ(check(2), "id 2 is there twice; allowed: ids distinct over all ranks");
}

TEST(Ids, over_all_ranks_are_distinct_where_a_set_says_so) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  const auto compare = [](comm::Transport& t) {
    for (std::uint64_t sample = 0; sample < 300; ++sample) {
      Random random(11, sample, 0);
      // Dense, sparse, negative, and from one end of the numbers to the other.
      const std::uint64_t range = std::uint64_t{1} << (1 + random.below(12) + (sample % 5 == 0 ? 30 : 0));
      const std::int64_t first = sample % 3 == 0 ? -static_cast<std::int64_t>(range / 2) : 1000;
      Numbers all;
      for (std::uint64_t n = random.below(80); n > 0; --n)
        all.push_back(first + static_cast<std::int64_t>(random.below(range)));
      if (sample % 50 == 0)
        all = {std::numeric_limits<std::int64_t>::max(), 1, std::numeric_limits<std::int64_t>::min()};
      Numbers mine;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (static_cast<int>(i % static_cast<std::size_t>(t.size())) == t.rank()) mine.push_back(all[i]);
      bool distinct = true;
      try {
        check_distinct(mine, t);
      } catch (const InputError&) {
        distinct = false;
      }
      ASSERT_EQ(distinct, std::set<std::int64_t>(all.begin(), all.end()).size() == all.size()) << sample;
    }
  };
  for (const int ranks : {1, 2, 3, 4, 7}) EXPECT_EQ(run_error(ranks, "", compare), "nothing was thrown");
}

}  // namespace
