/// Tests of prediction models: joints of the search over ranks, files, damage; and of memberships and validity in C++.
#include "merganser/msf/prediction_model.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "merganser/base/error.hpp"
#include "merganser/msf/memberships.hpp"
#include "merganser/msf/new_points.hpp"
#include "merganser/msf/validity.hpp"
#include "tests/msf/swarms.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

constexpr int kSamples = 4;

/// A clustering of the first points of a swarm; the others are new points.
struct Clustered {
  Swarm all;
  std::size_t set = 0;
  std::vector<double> coordinates;
  std::vector<double> fresh;
  std::vector<double> cores;
  msf::CondensedTree tree;
  msf::Hdbscan found;

  [[nodiscard]] msf::PointSet points() const { return {all.space, coordinates, {}}; }
  [[nodiscard]] msf::PredictionModel model() const {
    return msf::PredictionModel({points(), cores, kSamples, tree, found.selected});
  }
};

Clustered cluster(const char* shape, int dimension, msf::Distance metric, std::uint64_t seed) {
  Clustered made{make_swarm(shape, dimension, 260, seed), 200, {}, {}, {}, {}, {}};
  made.all.space.metric = metric;
  const bool bits = metric == msf::Distance::hamming;
  const bool directions = metric == msf::Distance::cosine || metric == msf::Distance::correlation;
  if (dimension == 2 && !bits && !directions) made.all.space.periods = {{1, 0, 1}};
  for (std::size_t i = 0; i < made.all.at.size(); ++i) {
    auto& row = made.all.at[i];
    Random random(seed, i, 1);
    if (directions) row[0] += 1 + std::fabs(row.back());  // has a direction
    for (double& x : row)
      if (bits) x = static_cast<double>(random.below(2));
  }
  for (std::size_t i = 0; i < made.all.at.size(); ++i) {
    auto& to = i < made.set ? made.coordinates : made.fresh;
    to.insert(to.end(), made.all.at[i].begin(), made.all.at[i].end());
  }
  on_threads(1, [&](comm::Transport& t) {
    msf::Report report;
    msf::EuclideanOptions options;
    options.min_samples = kSamples;
    made.cores = msf::core_distances(made.points(), kSamples, t, options, report);
    const auto forest = msf::gather_forest(msf::euclidean_forest(made.points(), t, options, report), t);
    msf::HdbscanOptions how;
    how.min_cluster_size = 6;
    how.allow_single_cluster = true;
    made.tree = msf::condense(msf::dendrogram(forest, msf::Apart::join), how.min_cluster_size);
    made.found = msf::hdbscan(made.tree, how);
  });
  return made;
}

std::vector<Clustered> cases() {
  std::vector<Clustered> out;
  std::uint64_t seed = 7;
  for (const auto metric : {msf::Distance::euclidean, msf::Distance::manhattan, msf::Distance::chebyshev})
    for (const auto* shape : {"uniform", "lattice", "heaps"})
      for (const int dimension : {1, 2, 3, 9, 20}) out.push_back(cluster(shape, dimension, metric, ++seed));
  for (const auto metric : {msf::Distance::cosine, msf::Distance::correlation, msf::Distance::hamming})
    for (const auto* shape : {"uniform", "lattice", "heaps"})
      for (const int dimension : {2, 3, 9, 20}) out.push_back(cluster(shape, dimension, metric, ++seed));
  return out;
}

TEST(PredictionModel, joins_as_the_search_over_ranks_does) {
  for (const Clustered& made : cases()) {
    const auto predicted = made.model().predict(made.fresh, 3);
    on_threads(1, [&](comm::Transport& t) {
      msf::Report report;
      const msf::PointSet fresh{made.all.space, made.fresh, {}};
      const auto joints = msf::join_points(made.points(), made.cores, fresh, kSamples, t, {}, report);
      ASSERT_EQ(joints.size(), predicted.labels.size());
      for (std::size_t i = 0; i < joints.size(); ++i) {
        const auto joined = static_cast<std::size_t>(joints[i].id);
        ASSERT_EQ(predicted.joined[i], static_cast<std::int64_t>(joined)) << made.all.name;
        ASSERT_EQ(predicted.lambdas[i], 1 / joints[i].reachability);
        ASSERT_EQ(predicted.cluster_of[i], made.tree.cluster_of[joined]);
        ASSERT_EQ(predicted.joined_lambdas[i], made.tree.lambda[joined]);
        ASSERT_LT(predicted.labels[i], std::int64_t{made.found.clusters});
        ASSERT_TRUE(predicted.strengths[i] >= 0 && predicted.strengths[i] <= 1 && predicted.scores[i] <= 1);
      }
    });
  }
}

// From 1,000 places on they are searched in an order of their own.
TEST(PredictionModel, predicts_many_places_as_it_does_few) {
  const Clustered made = cluster("uniform", 3, msf::Distance::euclidean, 5);
  const auto model = made.model();
  const auto few = model.predict(made.fresh);
  std::vector<double> many;
  for (int i = 0; i < 20; ++i) many.insert(many.end(), made.fresh.begin(), made.fresh.end());
  const auto found = model.predict(many, 2);
  const std::size_t n = few.joined.size();
  ASSERT_EQ(found.joined.size(), 20 * n);
  ASSERT_GE(found.joined.size(), 1000U);
  for (std::size_t i = 0; i < found.joined.size(); ++i) {
    EXPECT_EQ(found.joined[i], few.joined[i % n]);
    EXPECT_EQ(found.labels[i], few.labels[i % n]);
    EXPECT_EQ(found.strengths[i], few.strengths[i % n]);
    EXPECT_EQ(found.scores[i], few.scores[i % n]);
  }
}

/// A file of a name that no other process of the test has.
struct ScratchFile {
  std::string path = std::filesystem::temp_directory_path() / ("merganser-model-" + std::to_string(getpid()));
  ~ScratchFile() { std::filesystem::remove(path); }
};

TEST(PredictionModel, predicts_the_same_after_its_file_was_read) {
  const ScratchFile file;
  for (const Clustered& made :
       {cluster("uniform", 3, msf::Distance::euclidean, 1), cluster("heaps", 20, msf::Distance::manhattan, 2),
        cluster("lattice", 2, msf::Distance::chebyshev, 3)}) {
    const auto model = made.model();
    model.write(file.path);
    const auto again = msf::PredictionModel::read(file.path);
    EXPECT_EQ(again.points(), made.set);
    EXPECT_EQ(again.clusters(), made.found.clusters);
    EXPECT_EQ(again.min_samples(), kSamples);
    EXPECT_EQ(again.space(), made.all.space);
    const auto a = model.predict(made.fresh);
    const auto b = again.predict(made.fresh);
    EXPECT_EQ(a.labels, b.labels);
    EXPECT_EQ(a.strengths, b.strengths);
    EXPECT_EQ(a.scores, b.scores);
    EXPECT_EQ(a.joined, b.joined);
  }
}

TEST(PredictionModel, refuses_damaged_files) {
  const ScratchFile file;
  cluster("uniform", 2, msf::Distance::euclidean, 5).model().write(file.path);
  std::ifstream in(file.path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t at = 0; at < whole.size(); at += 97) {
    std::string bad = whole;
    bad[at] = static_cast<char>(bad[at] ^ 0x20);
    std::ofstream(file.path, std::ios::binary) << bad;
    EXPECT_THROW((void)msf::PredictionModel::read(file.path), InputError) << at;
    std::ofstream(file.path, std::ios::binary) << whole.substr(0, at);
    EXPECT_THROW((void)msf::PredictionModel::read(file.path), InputError) << at;
  }
  EXPECT_THROW((void)msf::PredictionModel::read("/no/such/file"), InputError);
  EXPECT_THROW((void)msf::PredictionModel::read(std::filesystem::temp_directory_path()), InputError);
  std::string other = whole;
  other[6] = '2';
  std::ofstream(file.path, std::ios::binary) << other;
  try {
    (void)msf::PredictionModel::read(file.path);
    FAIL() << "a file of another version was read";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("version 2; allowed: 1"), std::string::npos) << error.what();
  }
}

TEST(PredictionModel, refuses_what_does_not_fit) {
  const Clustered made = cluster("uniform", 3, msf::Distance::euclidean, 4);
  const auto model = made.model();
  EXPECT_THROW((void)model.predict(std::vector<double>{1, 2}), UsageError);
  EXPECT_THROW((void)model.predict(std::vector<double>{1, 2, NAN}), InputError);
  EXPECT_TRUE(model.predict({}).labels.empty());
  const std::vector<double> few(3);
  EXPECT_THROW((void)msf::PredictionModel({made.points(), few, kSamples, made.tree, made.found.selected}), InputError);
  EXPECT_THROW((void)msf::PredictionModel({made.points(), made.cores, 0, made.tree, made.found.selected}), UsageError);
  EXPECT_THROW((void)msf::PredictionModel({made.points(), made.cores, 201, made.tree, made.found.selected}),
               InputError);
  const std::vector<std::uint32_t> beyond{1U << 20};
  EXPECT_THROW((void)msf::PredictionModel({made.points(), made.cores, kSamples, made.tree, beyond}), InputError);
}

/// Tables of memberships of a clustering.
msf::MembershipTables tables_of(const Clustered& made) {
  const auto found = msf::exemplars(made.tree, made.found.selected);
  auto tables = msf::membership_tables(made.tree, made.found.selected, made.all.space, found);
  for (const auto p : found.points)
    tables.exemplars.insert(tables.exemplars.end(), made.all.at[p].begin(), made.all.at[p].end());
  return tables;
}

TEST(Memberships, of_a_point_add_up_to_at_most_1_and_the_greatest_are_among_them) {
  for (const auto rule : {msf::MembershipRule::fitted, msf::MembershipRule::fresh}) {
    const Clustered made = cluster("clusters", 3, msf::Distance::euclidean, 11);
    const msf::Memberships members(tables_of(made));
    const std::size_t k = members.clusters();
    ASSERT_GE(k, 2U);
    const msf::MembershipQuery query{made.coordinates, made.tree.cluster_of, made.tree.lambda};
    const auto all = members.all(query, rule);
    EXPECT_EQ(all, members.all(query, rule, 4));
    const auto top = members.top(query, rule, 2, 3);
    ASSERT_EQ(top.width, 2U);
    for (std::size_t i = 0; i < made.set; ++i) {
      double sum = 0;
      std::vector<std::pair<double, std::size_t>> row;
      for (std::size_t j = 0; j < k; ++j) {
        sum += all[i * k + j];
        row.emplace_back(-all[i * k + j], j);
      }
      EXPECT_LE(sum, 1 + 1e-12);
      std::sort(row.begin(), row.end());
      for (std::size_t j = 0; j < 2; ++j) {
        EXPECT_EQ(top.labels[2 * i + j], static_cast<std::int32_t>(row[j].second));
        EXPECT_EQ(top.values[2 * i + j], -row[j].first);
      }
    }
    EXPECT_THROW((void)members.top(query, rule, 0), UsageError);
    EXPECT_THROW((void)members.all({made.coordinates, made.tree.cluster_of, {}}, rule), InputError);
    EXPECT_THROW(
        (void)members.all({std::span(made.coordinates).first(3), made.tree.cluster_of, made.tree.lambda}, rule),
        InputError);
  }
}

TEST(Memberships, of_a_point_that_leaves_at_the_birth_of_an_infinitely_dense_cluster_are_those_of_its_own) {
  // Clusters 1 and 2 part at lambda 2, at which a point of cluster 2 leaves; points of cluster 1 coincide.
  msf::MembershipTables tables{{1, {}, {}, {}}, {0, 0, 0}, {0, 2, 2}, {2, INFINITY, 4}, {1, 2}, {0, 1, 2}, {0, 10}};
  const std::vector<double> place{9.5};
  const std::vector<std::uint32_t> cluster{2};
  const std::vector<double> lambda{2};
  const auto sum = [&] {
    const auto found = msf::Memberships(tables).all({place, cluster, lambda}, msf::MembershipRule::fitted);
    return found[0] + found[1];
  };
  EXPECT_DOUBLE_EQ(sum(), 2.0 / 4);
  tables.last[1] = 8;  // finite: of equal ones the first, as in hdbscan
  EXPECT_DOUBLE_EQ(sum(), 2.0 / 8);
}

TEST(Memberships, refuse_tables_that_do_not_fit) {
  const Clustered made = cluster("clusters", 3, msf::Distance::euclidean, 11);
  auto tables = tables_of(made);
  tables.exemplars.pop_back();
  EXPECT_THROW(msf::Memberships{tables}, InputError);
  tables = tables_of(made);
  tables.birth.pop_back();
  EXPECT_THROW(msf::Memberships{tables}, InputError);
  tables = tables_of(made);
  tables.parent.back() = 1U << 20;
  EXPECT_THROW(msf::Memberships{tables}, InputError);
  tables = tables_of(made);
  tables.selected.back() = 1U << 20;
  EXPECT_THROW(msf::Memberships{tables}, InputError);
}

TEST(Validity, of_three_clusters_on_a_line_can_be_computed_by_hand) {
  // Plain distances: trees are chains, inner points those but the ends.
  const std::vector<double> x{0, 1, 2, 3, 10, 12, 14, 16, 30, 31, 40};
  const std::vector<std::int64_t> labels{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, -1};
  msf::ValidityOptions options;
  options.raw_distances = true;
  const auto found = msf::validity_index({{1, {}, {}, {}}, x, {}}, labels, options);
  // Inner points 1, 2; 12, 14; and of the pair, which has none, the first: separations 10, 10 and 16.
  EXPECT_EQ(found.by_cluster, (std::vector<double>{(10 - 1) / 10.0, (10 - 2) / 10.0, (16 - 1) / 16.0}));
  EXPECT_DOUBLE_EQ(found.index, (4 * 0.9 + 4 * 0.8 + 2 * 15 / 16.0) / 11);
  options.dimension = -1;
  EXPECT_THROW((void)msf::validity_index({{1, {}, {}, {}}, x, {}}, labels, options), UsageError);
  options.dimension = 1;
  EXPECT_THROW((void)msf::validity_of_distances(x, labels, options), InputError);
}

/// Returns the generalised mean of two distances that core distances of clusters of three points are, from its logarithm: powers of
/// a high dimension do not fit a number.
double core_of_two(double near, double far, double dimension) {
  return std::exp(std::log(near) +
                  (std::log(2.0) - std::log1p(std::exp(dimension * std::log(near / far)))) / dimension);
}

// Two clusters of three points on a line: at 1, 0, 3, and the same 100 away. The tree is a chain around the point at 1, which alone
// is an inner point; its longer edge weighs the core distance of the point at 3, and the clusters are 100 apart. Distances are
// scaled, the line lies along one axis and along two, and the point by which the core distance comes is the first of its cluster.
TEST(Validity, of_clusters_of_three_is_that_of_the_definition_in_any_dimension_and_unit) {
  for (const double unit : {1e-5, 0.125, 1.0, 1e6}) {
    for (const double dimension : {0.5, 1.0, 2.0, 2.5, 64.0, 65.0, 2000.0}) {
      const std::vector<double> along{1, 0, 3, 101, 100, 103};
      const std::vector<std::int64_t> labels{0, 0, 0, 1, 1, 1};
      const double expected = (100 - core_of_two(2, 3, dimension)) / 100;
      msf::ValidityOptions options;
      options.dimension = dimension;
      std::vector<double> flat, plane, distances;
      for (const double x : along) {
        flat.push_back(unit * x);
        plane.insert(plane.end(), {0.6 * unit * x, 0.8 * unit * x});
        for (const double y : along) distances.push_back(unit * std::fabs(x - y));
      }
      for (const msf::Validity& found : {msf::validity_index({{1, {}, {}, {}}, flat, {}}, labels, options),
                                         msf::validity_index({{2, {}, {}, {}}, plane, {}}, labels, options),
                                         msf::validity_of_distances(distances, labels, options)}) {
        ASSERT_EQ(found.by_cluster.size(), 2U);
        EXPECT_NEAR(found.by_cluster[0], expected, 1e-9) << dimension << " in units of " << unit;
        EXPECT_NEAR(found.by_cluster[1], expected, 1e-9) << dimension << " in units of " << unit;
        EXPECT_NEAR(found.index, expected, 1e-9);
      }
    }
  }
}

TEST(Validity, refuses_distances_that_differ_both_ways_or_are_not_finite) {
  constexpr std::size_t n = 130;  // more than one block of rows and columns that are compared together
  std::vector<double> distances(n * n);
  std::vector<std::int64_t> labels(n);
  for (std::size_t i = 0; i < n; ++i) {
    labels[i] = static_cast<std::int64_t>(i % 2);
    for (std::size_t j = 0; j < n; ++j)
      distances[i * n + j] = std::fabs(static_cast<double>(i) - static_cast<double>(j)) + (i % 2 == j % 2 ? 0 : 500);
  }
  msf::ValidityOptions options;
  options.dimension = 1;
  EXPECT_TRUE(std::isfinite(msf::validity_of_distances(distances, labels, options).index));
  for (const std::size_t row : {std::size_t{0}, std::size_t{63}, std::size_t{64}, n - 1}) {
    for (const std::size_t column : {std::size_t{1}, std::size_t{65}, n - 2}) {
      auto changed = distances;
      changed[row * n + column] += 1;
      EXPECT_THROW((void)msf::validity_of_distances(changed, labels, options), InputError) << row << ' ' << column;
      changed[row * n + column] = changed[column * n + row] = INFINITY;
      EXPECT_THROW((void)msf::validity_of_distances(changed, labels, options), InputError) << row << ' ' << column;
    }
  }
}

TEST(Validity, of_distances_that_round_both_ways_differently_is_that_of_either) {
  // Each is up to 9e-6 of itself off, so that of two ways from a point to the tree none may be within the tolerance of equal edges.
  constexpr std::size_t n = 40;
  std::uint64_t state = 7;
  std::vector<double> distances(n * n);
  std::vector<std::int64_t> labels(n);
  for (std::size_t i = 0; i < n; ++i) {
    labels[i] = static_cast<std::int64_t>(i % 2);
    for (std::size_t j = 0; j < i; ++j) {
      distances[i * n + j] = 1 + static_cast<double>(mix64(++state) % 1000) / 1000 + (labels[i] == labels[j] ? 0 : 9);
      distances[j * n + i] = distances[i * n + j] * (1 + 9e-6);
    }
  }
  msf::ValidityOptions options;
  for (const bool raw : {false, true}) {
    options.raw_distances = raw;
    for (const double dimension : {1e-3, 1.0, 2.0}) {  // the least makes core distances infinite
      options.dimension = dimension;
      const double found = msf::validity_of_distances(distances, labels, options).index;
      const bool finite = raw || dimension >= 1;
      EXPECT_TRUE(!finite || (found > 0 && found < 1)) << found;
    }
  }
}

}  // namespace
