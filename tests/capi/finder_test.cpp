// Tests of the C interface of the star finder (capi/finder.h): the stars are those of C++, and merges are bitwise equal.
#include "merganser/capi/finder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/parcels/generate.hpp"
#include "merganser/parcels/statistics.hpp"
#include "tests/capi/columns.hpp"
#include "tests/capi/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

Parcels input(const Decomposition& d, int rank) {
  RandomParcels o;
  o.per_cell = 10;
  o.min_volume_ratio = 20;
  return generate_random(o, d, rank);
}

/// Parcels of this rank, their mask, and a finder over them that has found.
struct Case {
  explicit Case(mg_transport* t, const mg_finder_options* options = nullptr) {
    mg_transport_rank(t, &rank);
    mg_transport_size(t, &ranks);
    const Decomposition d(the_grid(), ranks);
    arrays = ColumnArrays(input(d, rank));
    n = arrays.ids.size();
    for (const double v : arrays.volume) small.push_back(v < d.grid().cell_volume() / 20 ? 1 : 0);
    const mg_box box = the_box();
    const auto block = d.block(rank);
    EXPECT_OK(mg_decomposition_of_ranks(t, &box, nullptr, block.lower.data(), block.upper.data(), &blocks));
    EXPECT_OK(mg_finder_new(t, blocks, options, &finder));
    points = {sizeof points, n, arrays.xyz.data(), arrays.xyz.data() + 1, arrays.xyz.data() + 2, 3};
    EXPECT_OK(mg_finder_find(finder, &points, small.data(), arrays.ids.data()));
  }
  ~Case() {
    EXPECT_OK(mg_finder_free(finder));
    EXPECT_OK(mg_decomposition_free(blocks));
  }

  int rank = 0;
  int ranks = 0;
  std::size_t n = 0;
  ColumnArrays arrays{0, 9};
  std::vector<std::uint8_t> small;
  mg_points points{};
  mg_decomposition* blocks = nullptr;
  mg_finder* finder = nullptr;
};

/// Runs `look` on thread ranks.
void on_ranks_of_c(int ranks, const std::function<void(mg_transport*)>& look) {
  EXPECT_OK(run_threads(ranks, [&](mg_transport* t) {
    look(t);
    return MG_OK;
  }));
}

struct Step {
  std::string digest;
  std::map<std::int64_t, std::int64_t> centre_of;  // by id
};

Step step_by_clusterer(int ranks) {
  Step step;
  Digest all;
  std::mutex mutex;
  comm::run({.backend = "threads", .ranks = ranks}, [&](comm::Transport& t) {
    const Decomposition d(the_grid(), ranks);
    Parcels p = input(d, t.rank());
    ClusterOptions options;
    options.min_volume_ratio = 20;
    options.lineage = true;
    Clusterer clusterer(t, d, p.schema(), options);
    const StepReport report = clusterer.step(p);
    const std::lock_guard lock(mutex);
    all += digest(p);
    for (const auto& pair : report.lineage) step.centre_of[pair.source] = pair.centre;
  });
  step.digest = all.to_string();
  return step;
}

TEST(FinderInC, finds_the_stars_of_the_clusterer_on_any_number_of_ranks) {
  const Step expected = step_by_clusterer(1);
  ASSERT_GT(expected.centre_of.size(), 500U);
  for (const int ranks : {1, 2, 4}) {
    std::map<std::int64_t, std::int64_t> found;
    std::mutex mutex;
    on_ranks_of_c(ranks, [&](mg_transport* t) {
      const Case c(t);
      const mg_link* links = nullptr;
      size_t count = 0;
      EXPECT_OK(mg_finder_links(c.finder, &links, &count));
      const std::lock_guard lock(mutex);
      for (size_t i = 0; i < count; ++i) found[c.arrays.ids[links[i].source]] = links[i].centre_id;
    });
    EXPECT_EQ(found, expected.centre_of) << ranks;
  }
}

TEST(FinderInC, merges_columns_to_the_bits_of_the_clusterer) {
  const std::string expected = step_by_clusterer(1).digest;
  for (const int prune : {0, 1}) {
    for (const int ranks : {1, 2, 4}) {
      Digest all;
      std::mutex mutex;
      on_ranks_of_c(ranks, [&](mg_transport* t) {
        mg_finder_options options{};
        options.struct_size = sizeof options;
        options.prune = prune;
        Case c(t, &options);
        mg_schema* schema = nullptr;
        EXPECT_OK(mg_schema_epic(&schema));
        const mg_columns columns = c.arrays.record();
        size_t left = 0;
        EXPECT_OK(mg_finder_merge(c.finder, schema, &columns, &left));
        EXPECT_LT(left, c.n);
        EXPECT_OK(mg_schema_free(schema));
        EXPECT_EQ(mg_finder_merge(c.finder, schema, &columns, &left), MG_USAGE);
        const std::lock_guard lock(mutex);
        all += digest(c.arrays.parcels(left));
      });
      EXPECT_EQ(all.to_string(), expected) << ranks;
    }
  }
}

TEST(FinderInC, takes_a_point_on_an_upper_periodic_face_from_the_rank_that_owns_it) {
  on_ranks_of_c(2, [](mg_transport* t) {
    int rank = 0;
    EXPECT_OK(mg_transport_rank(t, &rank));
    const mg_box box{sizeof box, {0, 0, 0}, {4, 1, 1}, {1, 0, 0}, 0};
    mg_decomposition* blocks = nullptr;
    const double lower[3] = {2.0 * rank, 0, 0};
    const double upper[3] = {2.0 * rank + 2, 1, 1};
    EXPECT_OK(mg_decomposition_of_ranks(t, &box, nullptr, lower, upper, &blocks));
    const double face[3] = {4, 0.5, 0.5};
    int32_t owner = -1;
    EXPECT_OK(mg_decomposition_owners(blocks, face, 1, &owner));
    EXPECT_EQ(owner, 0);
    mg_finder* finder = nullptr;
    EXPECT_OK(mg_finder_new(t, blocks, nullptr, &finder));
    const double middle[3] = {3.5, 0.5, 0.5};
    const double* const at = rank == owner ? face : middle;
    const mg_points points{sizeof points, 1, at, at + 1, at + 2, 3};
    const uint8_t small = rank == owner ? 1 : 0;
    EXPECT_OK(mg_finder_find(finder, &points, &small, nullptr));
    const mg_link* links = nullptr;
    size_t count = 0;
    EXPECT_OK(mg_finder_links(finder, &links, &count));
    EXPECT_EQ(count, small);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(links[i].distance2, 0.25);
    EXPECT_OK(mg_finder_free(finder));
    EXPECT_OK(mg_decomposition_free(blocks));
  });
}

TEST(FinderInC, tells_of_every_point_where_it_merges) {
  on_ranks_of_c(3, [](mg_transport* t) {
    const Case c(t);
    std::vector<int32_t> rank(c.n);
    std::vector<int64_t> position(c.n), id(c.n);
    std::vector<double> distance2(c.n);
    EXPECT_OK(mg_finder_places(c.finder, rank.data(), position.data(), id.data(), distance2.data()));
    EXPECT_OK(mg_finder_places(c.finder, nullptr, nullptr, nullptr, nullptr));
    const mg_link* links = nullptr;
    size_t count = 0;
    EXPECT_OK(mg_finder_links(c.finder, &links, &count));
    size_t merging = 0;
    for (std::size_t i = 0; i < c.n; ++i) {
      if (rank[i] < 0) {
        EXPECT_EQ(position[i], -1);
        EXPECT_EQ(id[i], -1);
        EXPECT_EQ(distance2[i], -1);
        continue;
      }
      ++merging;
      EXPECT_EQ(c.small[i], 1);
      EXPECT_GT(distance2[i], 0);
      if (rank[i] != c.rank) continue;
      EXPECT_EQ(c.arrays.ids[static_cast<std::size_t>(position[i])], id[i]);
    }
    EXPECT_EQ(merging, count);
  });
}

TEST(FinderInC, moves_any_payload_to_the_rank_of_the_centre) {
  on_ranks_of_c(4, [](mg_transport* t) {
    Case c(t);
    const mg_receive* receives = nullptr;
    size_t receive_count = 0;
    EXPECT_OK(mg_finder_receives(c.finder, &receives, &receive_count));
    const uint32_t* sends = nullptr;
    size_t leaves = 0;
    EXPECT_OK(mg_finder_sends(c.finder, &sends, &leaves));
    EXPECT_GT(leaves, 0U);
    std::vector<int64_t> received(receive_count);
    const size_t room = receive_count * sizeof(int64_t);
    EXPECT_OK(mg_finder_migrate(c.finder, c.arrays.ids.data(), sizeof(int64_t), received.data(), room));
    for (size_t k = 0; k < receive_count; ++k) EXPECT_EQ(received[k], receives[k].source_id);
    const auto pack = [](uint32_t position, void* row, void* user) {
      *static_cast<int64_t*>(row) = -static_cast<const Case*>(user)->arrays.ids[position];
    };
    EXPECT_OK(mg_finder_migrate_packed(c.finder, sizeof(int64_t), pack, &c, received.data(), room));
    for (size_t k = 0; k < receive_count; ++k) EXPECT_EQ(received[k], -receives[k].source_id);
  });
}

TEST(FinderInC, gives_the_lists_that_EPIC_merges_by) {
  const Step expected = step_by_clusterer(1);
  for (const int base : {0, 1}) {
    std::map<std::int64_t, std::int64_t> found;
    std::mutex mutex;
    std::size_t left = 0;
    on_ranks_of_c(4, [&](mg_transport* t) {
      Case c(t);
      const mg_receive* receives = nullptr;
      size_t receive_count = 0;
      EXPECT_OK(mg_finder_receives(c.finder, &receives, &receive_count));
      auto ids = c.arrays.ids;  // receives at n, n + 1, ...
      ids.resize(c.n + receive_count);
      EXPECT_OK(mg_finder_migrate(c.finder, c.arrays.ids.data(), 8, ids.data() + c.n, 8 * receive_count));
      mg_star_lists lists{};
      lists.struct_size = sizeof lists;
      EXPECT_OK(mg_finder_lists(c.finder, base, &lists));
      const std::lock_guard lock(mutex);
      for (size_t k = 0; k < lists.merging; ++k)
        found[ids[static_cast<std::size_t>(lists.sources[k] - base)]] =
            ids[static_cast<std::size_t>(lists.centres[k] - base)];
      EXPECT_TRUE(std::is_sorted(lists.holes, lists.holes + lists.invalid));
      EXPECT_TRUE(std::is_sorted(lists.sources, lists.sources + lists.merging));
      left += ids.size() - lists.invalid;
    });
    EXPECT_EQ(found, expected.centre_of);
    EXPECT_EQ(left, 5120 - expected.centre_of.size());
  }
}

TEST(FinderInC, refuses_what_comes_before_it_has_found_and_arrays_that_are_too_short) {
  on_ranks_of_c(1, [](mg_transport* t) {
    Case c(t);
    mg_points bad = c.points;
    bad.x = nullptr;
    EXPECT_EQ(mg_finder_find(c.finder, &bad, c.small.data(), nullptr), MG_USAGE);
    const mg_link* links = nullptr;
    size_t count = 0;
    EXPECT_EQ(mg_finder_links(c.finder, &links, &count), MG_USAGE);  // the stars before are no more
    EXPECT_EQ(std::string(mg_error()).find("finder: no stars"), 0U) << mg_error();
    const double z = std::exchange(c.arrays.xyz[8], 1e9);
    EXPECT_EQ(mg_finder_find(c.finder, &c.points, c.small.data(), nullptr), MG_INPUT);
    EXPECT_EQ(mg_finder_find(c.finder, &c.points, nullptr, nullptr), MG_USAGE);
    c.arrays.xyz[8] = z;
    EXPECT_OK(mg_finder_find(c.finder, &c.points, c.small.data(), nullptr));
    mg_star_lists lists{};
    lists.struct_size = sizeof lists;
    EXPECT_EQ(mg_finder_lists(c.finder, 2, &lists), MG_USAGE);
    mg_schema* schema = nullptr;
    EXPECT_OK(mg_schema_epic(&schema));
    const mg_columns columns = c.arrays.record(c.n - 1);
    EXPECT_EQ(mg_finder_merge(c.finder, schema, &columns, nullptr), MG_USAGE);
    EXPECT_OK(mg_schema_free(schema));
  });
}

TEST(FinderInC, refuses_room_that_is_too_small_before_anything_is_sent) {
  on_ranks_of_c(2, [](mg_transport* t) {
    Case c(t);
    std::vector<int64_t> received(c.n);
    EXPECT_EQ(mg_finder_migrate(c.finder, c.arrays.ids.data(), 8, received.data(), 7), MG_USAGE);
    EXPECT_EQ(std::string(mg_error()).find("capacity: 7; allowed: at least"), 0U) << mg_error();
    EXPECT_OK(mg_finder_migrate(c.finder, c.arrays.ids.data(), 8, received.data(), 8 * c.n));
  });
}

TEST(FinderInC, refuses_on_every_rank_what_one_rank_gives_wrongly_when_it_is_made) {
  on_ranks_of_c(3, [](mg_transport* t) {
    int rank = 0;
    mg_transport_rank(t, &rank);
    const mg_box box = the_box();
    const int64_t cells[3] = {8, 8, 8};
    mg_decomposition* blocks = nullptr;
    EXPECT_OK(mg_decomposition_new(&box, cells, 3, nullptr, &blocks));
    mg_finder* finder = nullptr;
    EXPECT_EQ(mg_finder_new(t, rank == 1 ? nullptr : blocks, nullptr, &finder), MG_USAGE);
    EXPECT_STREQ(mg_error(), "decomposition: a null handle; allowed: one that was given and not freed");
    EXPECT_EQ(mg_finder_new(t, blocks, nullptr, rank == 2 ? nullptr : &finder), MG_USAGE);
    EXPECT_EQ(finder, nullptr);
    mg_schema* schema = nullptr;
    EXPECT_OK(mg_schema_epic(&schema));
    mg_clusterer* clusterer = nullptr;
    EXPECT_EQ(mg_clusterer_new(t, blocks, rank == 0 ? nullptr : schema, nullptr, &clusterer), MG_USAGE);
    EXPECT_OK(mg_schema_free(schema));
    EXPECT_OK(mg_decomposition_free(blocks));
  });
}

TEST(BlocksInC, of_cuts_boxes_and_ranks_own_the_same_points) {
  on_ranks_of_c(4, [](mg_transport* t) {
    const mg_box box = the_box();
    const double x = 2.5;
    const double y = 5;
    const double* cuts[3] = {&x, &y, nullptr};
    const size_t counts[3] = {1, 1, 0};
    mg_decomposition* by_cuts = nullptr;
    mg_decomposition* by_boxes = nullptr;
    mg_decomposition* by_ranks = nullptr;
    EXPECT_OK(mg_decomposition_from_cuts(&box, nullptr, cuts, counts, &by_cuts));
    int ranks = 0;
    EXPECT_OK(mg_decomposition_ranks(by_cuts, &ranks));
    EXPECT_EQ(ranks, 4);
    std::vector<double> lower(12), upper(12);
    for (int r = 0; r < 4; ++r)
      EXPECT_OK(mg_decomposition_block(by_cuts, r, &lower[3 * static_cast<std::size_t>(r)],
                                       &upper[3 * static_cast<std::size_t>(r)]));
    EXPECT_OK(mg_decomposition_from_boxes(&box, nullptr, lower.data(), upper.data(), 4, &by_boxes));
    int rank = 0;
    mg_transport_rank(t, &rank);
    const std::size_t mine = 3 * static_cast<std::size_t>(rank);
    EXPECT_OK(mg_decomposition_of_ranks(t, &box, nullptr, &lower[mine], &upper[mine], &by_ranks));
    const auto parcels = ColumnArrays(input(Decomposition(the_grid(), 1), 0));
    std::vector<int32_t> owners[3];
    const std::size_t n = parcels.ids.size();
    mg_decomposition* const all[3] = {by_cuts, by_boxes, by_ranks};
    for (std::size_t k = 0; k < 3; ++k) {
      owners[k].resize(n);
      EXPECT_OK(mg_decomposition_owners(all[k], parcels.xyz.data(), n, owners[k].data()));
      EXPECT_EQ(owners[k], owners[0]);
      EXPECT_OK(mg_decomposition_free(all[k]));
    }
    EXPECT_EQ(*std::max_element(owners[0].begin(), owners[0].end()), 3);
    upper[2] = 1;  // a hole
    EXPECT_EQ(mg_decomposition_from_boxes(&box, nullptr, lower.data(), upper.data(), 4, &by_boxes), MG_INPUT);
    EXPECT_EQ(mg_decomposition_from_boxes(&box, nullptr, nullptr, upper.data(), 4, &by_boxes), MG_USAGE);
  });
}

}  // namespace
