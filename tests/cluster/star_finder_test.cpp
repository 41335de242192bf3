// StarFinder over every model and decomposition against the serial reference; merging of columns against the Clusterer.
#include "merganser/cluster/star_finder.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/cluster/reference.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/parcels/statistics.hpp"
#include "src/cluster/candidate_ranks.hpp"
#include "tests/cluster/star_clouds.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/refusal.hpp"
#include "tests/support/total_digest.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

/// Source and centre as one rank reports them, to be gathered.
struct ReportedPair {
  std::int64_t source;
  std::int64_t centre;
  double distance2;
};

Pairs gather_pairs(comm::Transport& t, const std::vector<ReportedPair>& mine) {
  Pairs pairs;
  for (const ReportedPair& reported : comm::all_gather(t, std::span<const ReportedPair>(mine)).flat())
    EXPECT_TRUE(pairs.emplace(reported.source, Partner{reported.centre, reported.distance2}).second) << reported.source;
  return pairs;
}

class StarFinderTest : public testing::TestWithParam<Setup> {
 protected:
  void compare(const Cloud& all) {
    const Pairs want = oracle(all);
    on_ranks(GetParam(), [&](comm::Transport& t) {
      for (const Decomposition& d : decompositions(all.grid, t.size()))
        for (const Prune prune : {Prune::single_pass, Prune::iterative}) {
          SCOPED_TRACE(d.describe());
          StarFinder finder(t, d, {.prune = prune});
          const Share share(all, d, t.rank());
          for (int turn = 0; turn < 2; ++turn) check(t, finder, share.cloud, want);
        }
    });
  }

  static void check(comm::Transport& t, StarFinder& finder, const Cloud& mine, const Pairs& want) {
    finder.find(PointView::rows(mine.xyz.data(), mine.size()), mine.small, mine.ids);
    std::vector<ReportedPair> of_sources;
    std::vector<ReportedPair> of_centres;
    std::size_t away = 0;
    for (const StarLink& l : finder.links()) {
      of_sources.push_back({mine.ids[l.source], l.centre_id, l.distance2});
      if (l.rank != t.rank()) {
        ASSERT_EQ(finder.sends()[away++], l.source);
        continue;
      }
      ASSERT_EQ(mine.ids[l.centre], l.centre_id);
      of_centres.push_back({mine.ids[l.source], mine.ids[l.centre], l.distance2});
    }
    EXPECT_EQ(away, finder.sends().size());
    // Ids travel as one payload, positions in the arrays as another.
    std::vector<std::int64_t> received;
    finder.migrate(mine.ids, received);
    std::vector<std::byte> positions;
    finder.migrate_packed(
        sizeof(std::uint32_t),
        [](std::uint32_t position, std::byte* row) { std::memcpy(row, &position, sizeof position); }, positions);
    // The rank of each source sends the centre that it has stored, for the rank of the centre to compare.
    struct Claim {
      std::int32_t from, to;
      std::uint32_t centre;
    };
    std::map<std::uint32_t, Claim> claims;
    for (const StarLink& l : finder.links()) claims[l.source] = {t.rank(), l.rank, l.centre};
    std::vector<std::byte> claimed;
    finder.migrate_packed(
        sizeof(Claim),
        [&](std::uint32_t position, std::byte* row) { std::memcpy(row, &claims[position], sizeof(Claim)); }, claimed);
    const auto receives = finder.receives();
    ASSERT_EQ(claimed.size(), receives.size() * sizeof(Claim));
    for (std::size_t k = 0; k < receives.size(); ++k) {
      Claim claim;
      std::memcpy(&claim, claimed.data() + k * sizeof claim, sizeof claim);
      EXPECT_EQ(claim.from, receives[k].rank);
      EXPECT_EQ(claim.to, t.rank());
      EXPECT_EQ(claim.centre, receives[k].centre);
    }
    ASSERT_EQ(received.size(), receives.size());
    ASSERT_EQ(positions.size(), receives.size() * sizeof(std::uint32_t));
    for (std::size_t k = 0; k < receives.size(); ++k) {
      const std::int64_t id = received[k];
      std::uint32_t position;
      std::memcpy(&position, positions.data() + k * sizeof position, sizeof position);
      EXPECT_EQ(id, receives[k].source_id);
      EXPECT_EQ(position, receives[k].source);
      EXPECT_NE(receives[k].rank, t.rank());
      of_centres.push_back({id, mine.ids[receives[k].centre], receives[k].distance2});
    }
    const Pairs pairs_by_source = gather_pairs(t, of_sources);
    const Pairs pairs_by_centre = gather_pairs(t, of_centres);
    if (t.rank() != 0) return;
    EXPECT_TRUE(pairs_by_source == want) << pairs_by_source.size() << " of " << want.size();
    EXPECT_TRUE(pairs_by_centre == want) << pairs_by_centre.size() << " of " << want.size();
  }
};
INSTANTIATE_TEST_SUITE_P(Models, StarFinderTest, testing::ValuesIn(setups()),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(StarFinderTest, finds_the_stars_of_the_oracle_whatever_the_blocks) {
  compare(random_cloud(1500, 1));
  compare(random_cloud(40, 2));
}

TEST_P(StarFinderTest, decides_equal_distances_by_id) { compare(random_cloud(800, 3, 8)); }

TEST_P(StarFinderTest, works_where_ranks_have_few_points_or_none) {
  for (const std::size_t n : {0U, 1U, 2U, 3U, 9U}) compare(random_cloud(n, 4));
}

TEST_P(StarFinderTest, finds_partners_on_ranks_that_share_no_arc) {
  const cluster::SmallWorld only_those_that_touch(1);
  // Over processes every finder makes windows and symmetric memory, so every fourth cloud is tried.
  const unsigned stride = GetParam().backend == "threads" ? 1 : 4;
  for (unsigned seed = 30; seed < 45; seed += stride) compare(random_cloud(2 + seed % 12, seed));
}

TEST_P(StarFinderTest, reads_columns_rows_and_strides_alike) {
  const Cloud all = random_cloud(700, 5);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(all.grid, t.size());
    const Cloud mine = Share(all, d, t.rank()).cloud;
    StarFinder finder(t, d);
    finder.find(PointView::rows(mine.xyz.data(), mine.size()), mine.small, mine.ids);
    const std::vector<StarLink> want(finder.links().begin(), finder.links().end());
    std::vector<double> x(mine.size());
    std::vector<double> y(mine.size());
    std::vector<double> z(mine.size());
    std::vector<double> wide(7 * mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      std::tie(x[i], y[i], z[i]) = std::tuple(mine.at(i)[0], mine.at(i)[1], mine.at(i)[2]);
      std::copy_n(&mine.xyz[3 * i], 3, &wide[7 * i + 2]);
    }
    const auto expect_want = [&] {
      ASSERT_EQ(finder.links().size(), want.size());
      EXPECT_TRUE(want.empty() || std::memcmp(finder.links().data(), want.data(), want.size() * sizeof want[0]) == 0);
    };
    finder.find(PointView::columns(x.data(), y.data(), z.data(), mine.size()), mine.small, mine.ids);
    expect_want();
    finder.find({wide.data() + 2, wide.data() + 3, wide.data() + 4, 7, mine.size()}, mine.small, mine.ids);
    expect_want();
  });
}

TEST_P(StarFinderTest, without_details_tells_the_same_links) {
  const Cloud all = random_cloud(500, 13);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(all.grid, t.size());
    const Cloud mine = Share(all, d, t.rank()).cloud;
    StarFinder full(t, d);
    StarFinder brief(t, d, {.details = false});
    const PointView points = PointView::rows(mine.xyz.data(), mine.size());
    full.find(points, mine.small, mine.ids);
    brief.find(points, mine.small, mine.ids);
    ASSERT_EQ(brief.links().size(), full.links().size());
    for (std::size_t i = 0; i < full.links().size(); ++i) {
      const StarLink& b = brief.links()[i];
      const StarLink& f = full.links()[i];
      EXPECT_TRUE(b.source == f.source && b.rank == f.rank && b.centre == f.centre);
      if (b.rank == t.rank()) continue;
      EXPECT_TRUE(b.centre_id == f.centre_id && b.distance2 == f.distance2);
    }
  });
}

TEST_P(StarFinderTest, in_two_dimensions_is_as_in_a_plane_of_three) {
  Cloud all = random_cloud(900, 6);
  for (std::size_t i = 0; i < all.size(); ++i) all.xyz[3 * i + 2] = all.grid.box.lower[2];
  all.grid.cells[2] = 1;
  const Pairs want = oracle(all);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(all.grid, t.size(), "2d");
    const Cloud mine = Share(all, d, t.rank()).cloud;
    std::vector<double> xy;
    for (std::size_t i = 0; i < mine.size(); ++i) xy.insert(xy.end(), {mine.at(i)[0], mine.at(i)[1]});
    StarFinder finder(t, d);
    finder.find(PointView::rows_2d(xy.data(), mine.size()), mine.small, mine.ids);
    std::vector<ReportedPair> reported;
    for (const StarLink& l : finder.links()) reported.push_back({mine.ids[l.source], l.centre_id, l.distance2});
    const Pairs got = gather_pairs(t, reported);
    if (t.rank() == 0) {
      EXPECT_TRUE(got == want);
    }
  });
}

TEST_P(StarFinderTest, without_ids_numbers_points_by_rank_and_position) {
  Cloud all = random_cloud(600, 7);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(all.grid, t.size());
    Cloud mine = Share(all, d, t.rank()).cloud;
    for (std::size_t i = 0; i < mine.size(); ++i)
      mine.ids[i] = (std::int64_t{t.rank()} << 40) + static_cast<std::int64_t>(i);
    StarFinder finder(t, d);
    finder.find(PointView::rows(mine.xyz.data(), mine.size()), mine.small, mine.ids);
    const std::vector<StarLink> want(finder.links().begin(), finder.links().end());
    finder.find(PointView::rows(mine.xyz.data(), mine.size()), mine.small);
    ASSERT_EQ(finder.links().size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) EXPECT_EQ(finder.links()[i].centre_id, want[i].centre_id);
  });
}

/// Returns a schema of which each attribute has another rule.
Schema many_rules() {
  return Schema({{"heat", 2, Rule::mean, {"h1", "h2"}, ""},
                 {"drops", 1, Rule::sum, {"drops"}, ""},
                 {"colour", 1, Rule::centre, {"colour"}, ""},
                 {"origin", 1, Rule::largest, {"origin"}, ""}});
}

Parcels as_parcels(const Cloud& cloud, const Schema& schema, double small_volume) {
  Parcels parcels(schema);
  std::vector<double> row(schema.width(), 0);
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    const double part = 0.3 + 0.6 * std::fabs(std::sin(static_cast<double>(cloud.ids[i])));
    const Site site{cloud.at(i)[0], cloud.at(i)[1], cloud.at(i)[2],
                    cloud.small[i] != 0 ? part * small_volume : (1 + part) * small_volume};
    row[0] = std::bit_cast<double>(cloud.ids[i]);
    for (std::size_t c = 1; c < row.size(); ++c)
      row[c] = std::cos(static_cast<double>(cloud.ids[i]) + 0.1 * static_cast<double>(c));
    if (schema == Schema::epic())
      row[5] = row[8] = 0.3 * std::cbrt(site.volume * site.volume), row[6] = row[7] = row[9] = 0;
    parcels.append(site, row.data());
  }
  return parcels;
}

/// Parcels as columns, one array for each number.
struct Arrays {
  std::vector<std::vector<double>> numbers;  // x y z volume, then components
  std::vector<std::int64_t> ids;
  explicit Arrays(const Parcels& p) {
    std::size_t components = 0;
    for (const auto& a : p.schema().attributes()) components += static_cast<std::size_t>(a.components);
    numbers.resize(4 + components);
    for (std::size_t i = 0; i < p.size(); ++i) {
      const Site& s = p.site(i);
      const double site[] = {s.x, s.y, s.z, s.volume};
      for (std::size_t c = 0; c < numbers.size(); ++c) numbers[c].push_back(c < 4 ? site[c] : p.row(i)[c - 3]);
      ids.push_back(p.id(i));
    }
  }
  [[nodiscard]] Columns columns() {
    Columns c;
    c.size = ids.size();
    c.ids = ids;
    Column* const site[] = {&c.x, &c.y, &c.z, &c.volume};
    for (std::size_t k = 0; k < 4; ++k) *site[k] = {numbers[k].data(), 1};
    for (std::size_t k = 4; k < numbers.size(); ++k) c.attributes.push_back({numbers[k].data(), 1});
    return c;
  }
  [[nodiscard]] Parcels parcels(const Schema& schema, std::size_t n) const {
    Parcels p(schema);
    std::vector<double> row(schema.width(), 0);
    for (std::size_t i = 0; i < n; ++i) {
      row[0] = std::bit_cast<double>(ids[i]);
      for (std::size_t k = 4; k < numbers.size(); ++k) row[k - 3] = numbers[k][i];
      p.append({numbers[0][i], numbers[1][i], numbers[2][i], numbers[3][i]}, row.data());
    }
    return p;
  }
};

TEST_P(StarFinderTest, merges_columns_as_the_clusterer_merges_parcels) {
  const Cloud all = random_cloud(1200, 8);
  for (const Schema& schema : {Schema::epic(), many_rules()}) {
    on_ranks(GetParam(), [&](comm::Transport& t) {
      const Decomposition d(all.grid, t.size());
      ClusterOptions options;
      const double small_volume = all.grid.cell_volume() / options.min_volume_ratio;
      Parcels parcels = as_parcels(Share(all, d, t.rank()).cloud, schema, small_volume);
      Arrays arrays(parcels);
      std::vector<std::uint8_t> small;
      for (const double v : arrays.numbers[3]) small.push_back(v < small_volume);
      Clusterer clusterer(t, d, schema, options);
      const StepReport report = clusterer.step(parcels);

      StarFinder finder(t, d);
      const Columns columns = arrays.columns();
      finder.find(PointView::columns(columns.x.data, columns.y.data, columns.z.data, columns.size), small, columns.ids);
      EXPECT_EQ(finder.numbers().small, report.small);
      EXPECT_EQ(finder.numbers().merged, report.merged);
      const std::size_t left = finder.merge(MergeRules(schema, all.grid.box), columns);
      EXPECT_EQ(left, parcels.size());
      EXPECT_EQ(total_digest(t, arrays.parcels(schema, left)).to_string(), total_digest(t, parcels).to_string());
    });
  }
}

TEST_P(StarFinderTest, merges_no_less_with_the_clusterer_on_cuts_and_boxes) {
  const Cloud all = random_cloud(1000, 9);
  ClusterOptions options;
  const double small_volume = all.grid.cell_volume() / options.min_volume_ratio;
  Parcels serial = as_parcels(all, Schema::epic(), small_volume);
  for (int step = 0; step < 2; ++step) (void)cluster_reference(serial, all.grid, options);
  on_ranks(GetParam(), [&](comm::Transport& t) {
    for (const Decomposition& plain : decompositions(all.grid, t.size())) {
      SCOPED_TRACE(plain.describe());
      // The same blocks, with the grid that the volume of a small parcel comes from.
      std::vector<Decomposition::Block> blocks;
      for (int r = 0; r < plain.ranks(); ++r) blocks.push_back(plain.block(r));
      const Decomposition d = Decomposition::from_boxes(all.grid, blocks);
      Parcels mine = as_parcels(Share(all, d, t.rank()).cloud, Schema::epic(), small_volume);
      Clusterer clusterer(t, d, Schema::epic(), options);
      for (int step = 0; step < 2; ++step) {
        clusterer.step(mine);
        clusterer.redistribute(mine);
      }
      EXPECT_EQ(total_digest(t, mine).to_string(), digest(serial).to_string());
    }
  });
}

TEST(StarFinder, refuses_what_it_cannot_read_and_names_it) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  comm::run({"threads", 1}, [](comm::Transport& t) {
    Cloud cloud = random_cloud(20, 10);
    const Decomposition d(cloud.grid, 1);
    StarFinder finder(t, d);
    const PointView points = PointView::rows(cloud.xyz.data(), cloud.size());
    const auto find = [&] { finder.find(points, cloud.small, cloud.ids); };
    cloud.small.pop_back();
    EXPECT_NE(refusal<UsageError>(find).find("20 points, 19 entries in the mask"), std::string::npos);
    cloud.small.push_back(1);
    const double x = cloud.xyz[3 * 7];
    cloud.xyz[3 * 7] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(refusal<InputError>(find).find("point 7 (id " + std::to_string(cloud.ids[7]) + ") at (nan"),
              std::string::npos);
    cloud.xyz[3 * 7] = x;
    const double z = std::exchange(cloud.xyz[3 * 7 + 2], 4.0000000001);  // beyond the wall
    EXPECT_NE(
        refusal<InputError>(find).find(", 4.0000000001) is outside of its rank's block, (-1, 0.25, 2) to (3, 3.25, 4) "
                                       "of the box [-1, 3) x [0.25, 3.25) x [2, 4], periodic in x and y"),
        std::string::npos)
        << refusal<InputError>(find);
    cloud.xyz[3 * 7 + 2] = z;
    const std::int64_t id = std::exchange(cloud.ids[9], cloud.ids[7]);
    EXPECT_NE(refusal<InputError>(find).find("point 9: id " + std::to_string(cloud.ids[7]) + " is that of point 7"),
              std::string::npos)
        << refusal<InputError>(find);
    cloud.ids[9] = id;
    find();
    EXPECT_FALSE(finder.links().empty());
    std::vector<std::byte> received;
    EXPECT_NE(refusal<UsageError>([&] {
                finder.migrate_bytes(std::as_bytes(std::span(cloud.ids)), 4, received);
              }).find("160 bytes for 20 rows of 4"),
              std::string::npos);
    std::vector<std::int64_t> ids;
    EXPECT_EQ(refusal<UsageError>([&] { finder.migrate(std::span(cloud.ids).first(19), ids); }),
              "migrate: 19 rows; allowed: 20, as many as points given to find()");
  });
}

TEST(StarFinder, with_the_decorator_checked_every_rank_hears_of_a_bad_point) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  Cloud all = random_cloud(200, 11);
  std::atomic<int> heard = 0;
  comm::RunOptions options{"threads", 3};
  options.decorators = "checked";
  comm::run(options, [&](comm::Transport& t) {
    const Decomposition d(all.grid, t.size());
    Cloud mine = Share(all, d, t.rank()).cloud;
    if (t.rank() == 1) mine.xyz[0] = std::numeric_limits<double>::infinity();
    StarFinder finder(t, d);
    try {
      finder.find(PointView::rows(mine.xyz.data(), mine.size()), mine.small, mine.ids);
    } catch (const InputError& e) {
      if (std::string(e.what()).find("rank 1: point 0 (id ") != std::string::npos) ++heard;
    }
  });
  EXPECT_EQ(heard, 3);
}

TEST(StarFinder, refuses_columns_that_do_not_match) {
  if (comm::launched()) GTEST_SKIP() << "threads only";
  comm::run({"threads", 1}, [](comm::Transport& t) {
    const Cloud cloud = random_cloud(30, 12);
    const Decomposition d(cloud.grid, 1);
    StarFinder finder(t, d);
    finder.find(PointView::rows(cloud.xyz.data(), cloud.size()), cloud.small, cloud.ids);
    const Schema schema = many_rules();
    const MergeRules rules(schema, cloud.grid.box);
    Arrays arrays(as_parcels(cloud, schema, 1));
    Columns columns = arrays.columns();
    columns.attributes.pop_back();
    EXPECT_NE(
        refusal<UsageError>([&] { (void)finder.merge(rules, columns); }).find("4 columns of attributes; allowed: 5"),
        std::string::npos);
    columns = arrays.columns();
    columns.ids = {};
    EXPECT_NE(refusal<UsageError>([&] { (void)finder.merge(rules, columns); }).find("0 ids; allowed: the 30"),
              std::string::npos);
    columns = arrays.columns();
    for (const auto& [volume, text] :
         {std::pair(-1.0, "volume is -1"), std::pair(1e-310, "volume is 1e-310; allowed")}) {
      arrays.numbers[3][4] = volume;
      EXPECT_NE(refusal<InputError>([&] { (void)finder.merge(rules, columns); }).find("point 4: " + std::string(text)),
                std::string::npos);
    }
  });
}

}  // namespace
