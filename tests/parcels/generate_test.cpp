// Artificial parcel configurations: the same for any decomposition, with the distributions of the paper.
#include "merganser/parcels/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "merganser/base/error.hpp"
#include "merganser/parcels/merge.hpp"
#include "merganser/parcels/split.hpp"
#include "merganser/parcels/statistics.hpp"

namespace {

using namespace merganser;

Grid make_grid(std::array<std::int64_t, 3> cells) {
  return {{{-1.3, 0.7, 5}, {3.1, 2.3, 1.7}, {true, true, false}}, cells};
}

Digest generated_digest(const RandomParcels& options, const Decomposition& decomposition) {
  Digest sum;
  for (int r = 0; r < decomposition.ranks(); ++r) sum += digest(generate_random(options, decomposition, r));
  return sum;
}

TEST(GenerateRandom, makes_the_same_parcels_for_every_decomposition) {
  const Grid grid = make_grid({6, 5, 4});
  for (const bool variable : {false, true}) {
    RandomParcels options;
    options.variable_per_cell = variable;
    const Digest expected = generated_digest(options, Decomposition(grid, 1));
    const std::map<int, std::string> shapes{{2, "auto"}, {3, "1d"}, {4, "1x2x2"}, {6, "auto"}, {8, "2x2x2"}};
    for (const auto& [ranks, shape] : shapes)
      EXPECT_EQ(generated_digest(options, Decomposition(grid, ranks, shape)), expected) << ranks << shape;
    const Decomposition uneven =
        Decomposition(grid, 4, "2x2x1")
            .balanced({std::vector<std::int64_t>{9, 1, 1, 1, 1, 1}, std::vector<std::int64_t>{1, 1, 1, 1, 9},
                       std::vector<std::int64_t>{1, 1, 1, 1}});
    EXPECT_EQ(generated_digest(options, uneven), expected);
  }
}

TEST(GenerateRandom, has_the_digest_it_always_had) {
  EXPECT_EQ(generated_digest({}, Decomposition(make_grid({4, 4, 4}), 1)).to_string(),
            "c050cd6ce85b5800fc6107b95d9fc839");
}

TEST(GenerateRandom, replaces_the_parcels_of_a_container_and_keeps_its_memory) {
  const Decomposition whole(make_grid({4, 4, 4}), 1);
  RandomParcels options;
  Parcels parcels = generate_random(options, whole, 0);
  const Site* const memory = parcels.sites();
  options.seed = 43;
  options.per_cell = 7;
  generate_random(options, whole, 0, parcels);
  EXPECT_EQ(parcels.size(), 64U * 7);
  EXPECT_EQ(digest(parcels), digest(generate_random(options, whole, 0)));
  EXPECT_EQ(parcels.sites(), memory);
  Parcels other(Schema{});
  EXPECT_THROW(generate_random(options, whole, 0, other), UsageError);
}

TEST(GenerateRandom, changes_with_the_seed_but_not_with_shuffling) {
  const Decomposition whole(make_grid({4, 4, 4}), 1);
  RandomParcels options;
  const Parcels ordered = generate_random(options, whole, 0);
  options.shuffle = true;
  const Parcels shuffled = generate_random(options, whole, 0);
  EXPECT_EQ(digest(shuffled), digest(ordered));
  std::size_t moved = 0;
  for (std::size_t i = 0; i < ordered.size(); ++i) moved += ordered.id(i) != shuffled.id(i);
  EXPECT_GT(moved, ordered.size() * 9 / 10);
  options.seed = 43;
  EXPECT_NE(digest(generate_random(options, whole, 0)), digest(ordered));
}

TEST(GenerateRandom, puts_every_parcel_into_its_cell_and_counts_ids_by_cell) {
  const Grid grid = make_grid({7, 3, 5});
  RandomParcels options;
  options.per_cell = 9;
  const Parcels parcels = generate_random(options, Decomposition(grid, 1), 0);
  ASSERT_EQ(parcels.size(), 7U * 3 * 5 * 9);
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    const std::int64_t cell = (grid.cell(2, s.z) * 3 + grid.cell(1, s.y)) * 7 + grid.cell(0, s.x);
    ASSERT_EQ(parcels.id(i), cell * 9 + static_cast<std::int64_t>(i % 9));
    ASSERT_EQ(parcels.id(i), static_cast<std::int64_t>(i));
    ASSERT_TRUE(grid.box.contains({s.x, s.y, s.z}));
    ASSERT_EQ(grid.box.wrap(0, s.x), s.x);
  }
}

TEST(GenerateRandom, keeps_to_cells_that_rounding_would_leave) {
  // Cells of about one rounding error: most positions need to be moved.
  const Grid grid{{{1e15, 1e15, 1e15}, {64, 64, 64}, {true, true, false}}, {128, 128, 4}};
  RandomParcels options;
  options.per_cell = 2;
  options.shuffle = false;
  const Decomposition decomposition(grid, 8, "4x2x1");
  for (int rank = 0; rank < 8; ++rank) {
    const Parcels parcels = generate_random(options, decomposition, rank);
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      const Site& s = parcels.site(i);
      ASSERT_EQ(decomposition.owner({s.x, s.y, s.z}), rank);
      ASSERT_EQ(grid.box.wrap(1, s.y), s.y);
    }
  }
}

TEST(GenerateRandom, draws_from_the_distributions_of_the_paper) {
  const Grid grid = make_grid({16, 16, 16});
  const Parcels parcels = generate_random({}, Decomposition(grid, 1), 0);
  const auto n = static_cast<double>(parcels.size());
  const double smallest = grid.cell_volume() / 20;
  double small = 0, vorticity = 0, buoyancy = 0, volume = 0, ac = 0, ab = 0;
  double least = 1e9, most = 0;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const double* row = parcels.row(i);
    const double v = parcels.site(i).volume / smallest;
    small += v < 1;
    volume += v;
    least = std::min(least, v);
    most = std::max(most, v);
    for (int c = 1; c < 4; ++c) {
      ASSERT_LE(std::fabs(row[c]), 10);
      vorticity += row[c] * row[c] / 3;
    }
    ASSERT_LE(std::fabs(row[4]), 1);
    buoyancy += row[4] * row[4];
    ASSERT_FALSE(is_singular(row + 5, parcels.site(i).volume));
    const Axes a = principal_axes(row + 5, parcels.site(i).volume);
    ASSERT_LE(a.square[0], a.square[2] * 16.0001);
    ac += std::sqrt(a.square[0] / a.square[2]);
    ab += std::sqrt(a.square[0] / a.square[1]);
  }
  EXPECT_NEAR(small / n, 0.5, 5 * 0.5 / std::sqrt(n));
  EXPECT_NEAR(volume / n, 1, 0.005);
  EXPECT_NEAR(least, 0.5, 1e-3);
  EXPECT_NEAR(most, 1.5, 1e-3);
  EXPECT_NEAR(vorticity / n, 100.0 / 3, 0.3);
  EXPECT_NEAR(buoyancy / n, 1.0 / 3, 0.005);
  // The two ratios are U(1, 4), independent; sorted: the larger has mean 3, the smaller 2.
  EXPECT_NEAR(ac / n, 3, 0.02);
  EXPECT_NEAR(ab / n, 2, 0.02);
}

TEST(GenerateRandom, the_long_axis_has_a_uniform_polar_angle) {
  // Of an axis (cos t sin p, sin t sin p, cos p) with p uniform in (0, pi): <cos^2 p> = 1/2, and it is along z for
  // a parcel whose other axes are equal. Take those with nearly equal shorter axes.
  const Grid grid = make_grid({16, 16, 16});
  const Parcels parcels = generate_random({}, Decomposition(grid, 1), 0);
  double sum = 0;
  double x = 0;
  double n = 0;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Axes a = principal_axes(parcels.row(i) + 5, parcels.site(i).volume);
    if (a.square[0] < 2 * a.square[1]) continue;
    sum += a.vector[0][2] * a.vector[0][2];
    x += a.vector[0][0] * a.vector[0][0];
    ++n;
  }
  EXPECT_NEAR(sum / n, 0.5, 0.01);
  EXPECT_NEAR(x / n, 0.25, 0.01);
}

TEST(GenerateRandom, reaches_the_asked_share_of_small_parcels) {
  const Grid grid = make_grid({16, 16, 8});
  for (const double fraction : {0.0, 0.1, 0.9, 1.0}) {
    RandomParcels options;
    options.small_fraction = fraction;
    options.min_volume_ratio = 40;
    const Parcels parcels = generate_random(options, Decomposition(grid, 1), 0);
    double small = 0;
    for (std::size_t i = 0; i < parcels.size(); ++i) small += parcels.site(i).volume < grid.cell_volume() / 40;
    EXPECT_NEAR(small / static_cast<double>(parcels.size()), fraction, 0.01) << fraction;
  }
}

TEST(GenerateRandom, a_varying_number_per_cell_is_between_ten_and_its_bound) {
  const Grid grid = make_grid({12, 12, 6});
  RandomParcels options;
  options.per_cell = 40;
  options.variable_per_cell = true;
  const Parcels parcels = generate_random(options, Decomposition(grid, 1), 0);
  std::map<std::int64_t, int> count;
  std::set<std::int64_t> ids;
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    ++count[parcels.id(i) / 39];
    ids.insert(parcels.id(i));
  }
  EXPECT_EQ(ids.size(), parcels.size());
  EXPECT_EQ(count.size(), 12U * 12 * 6);
  std::set<int> met;
  for (const auto& [cell, n] : count) met.insert(n);
  EXPECT_EQ(*met.begin(), 10);
  EXPECT_EQ(*met.rbegin(), 39);
}

TEST(GenerateRandom, refuses_options_out_of_range) {
  const Decomposition whole(make_grid({2, 2, 2}), 1);
  const auto refused = [&](auto change) {
    RandomParcels options;
    change(options);
    EXPECT_THROW(static_cast<void>(generate_random(options, whole, 0)), UsageError);
  };
  refused([](RandomParcels& o) { o.per_cell = -1; });
  refused([](RandomParcels& o) { o.min_volume_ratio = 0; });
  refused([](RandomParcels& o) { o.min_volume_ratio = NAN; });
  refused([](RandomParcels& o) { o.small_fraction = 1.5; });
  refused([](RandomParcels& o) { o.small_fraction = NAN; });
  RandomParcels none;
  none.per_cell = 0;
  EXPECT_EQ(generate_random(none, whole, 0).size(), 0U);
}

}  // namespace
