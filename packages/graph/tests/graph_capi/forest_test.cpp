// Tests of the C interface to forests, linkages and clusters: results are those of the C++ interface.
#include "merganser/capi/forest.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "merganser/base/random.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/msf/cluster_scores.hpp"
#include "merganser/msf/euclidean.hpp"
#include "merganser/msf/grow.hpp"
#include "merganser/msf/hdbscan.hpp"
#include "merganser/msf/linkage.hpp"
#include "merganser/msf/minimum_forest.hpp"
#include "tests/capi/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;

constexpr std::uint64_t kPoints = 2000;

msf::Points make_points(int rank, int ranks, int dimension) {
  msf::Points mine;
  mine.dimension = dimension;
  mine.periods = {{0, 0, 1}};
  for (std::uint64_t id = static_cast<std::uint64_t>(rank); id < kPoints; id += static_cast<std::uint64_t>(ranks)) {
    Random random(5, 0, static_cast<std::uint32_t>(id));
    const double spread = id % 3 == 0 ? 1 : 0.05;
    for (int a = 0; a < dimension; ++a) mine.coordinates.push_back(spread * random.uniform());
    mine.ids.push_back(id);
  }
  return mine;
}

graphs::EdgeList make_graph(int rank, int ranks) {
  graphs::EdgeList graph;
  graph.vertices = 500;
  graph.kind = graphs::WeightKind::float64;
  std::vector<graphs::Edge24> edges;
  for (std::uint32_t e = static_cast<std::uint32_t>(rank); e < 3000; e += static_cast<std::uint32_t>(ranks)) {
    Random random(9, 1, e);
    const std::uint64_t a = random.below(480);  // some vertices are alone
    const std::uint64_t b = random.below(480);
    edges.push_back(graphs::make_edge<graphs::Edge24>(a, b, graphs::ordered_bits(std::floor(random.uniform(-4, 4)))));
  }
  graph.edges = std::move(edges);
  return graph;
}

struct Outcome {
  std::string digest;
  double weight = 0;
  std::int64_t edges = 0;
  std::vector<msf::Merge> merges;
  std::vector<std::uint32_t> cut;
  std::vector<std::int32_t> labels;
  std::vector<double> probabilities;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

msf::HdbscanOptions choice() {
  msf::HdbscanOptions options;
  options.min_cluster_size = 40;
  return options;
}

Outcome by_cpp(bool of_points, int dimension, msf::Sense sense = msf::Sense::minimum) {
  Outcome o;
  comm::run({.backend = "threads", .ranks = 1}, [&](comm::Transport& t) {
    msf::Report report;
    msf::EuclideanOptions euclidean;
    euclidean.min_samples = 6;
    msf::ForestOptions options;
    options.sense = sense;
    const msf::Forest forest = of_points ? msf::euclidean_forest(make_points(0, 1, dimension), t, euclidean, report)
                                         : msf::minimum_spanning_forest(make_graph(0, 1), t, options, report);
    const auto totals = msf::totals(forest, t);
    o.digest = totals.digest;
    o.weight = totals.weight_value;
    o.edges = totals.edges;
    if (sense == msf::Sense::maximum) return;
    const auto tree = msf::dendrogram(msf::gather_forest(forest, t), msf::Apart::join);
    o.merges = tree.merges;
    o.cut = msf::cut_by_height(tree, 0.05).of;
    auto found = msf::hdbscan(msf::condense(tree, 40), choice());
    o.labels = found.labels;
    o.probabilities = found.probabilities;
  });
  return o;
}

int linkage_in_c(mg_forest* forest, Outcome& o) {
  mg_linkage* linkage = nullptr;
  if (int s = mg_linkage_new(forest, 1, &linkage)) return s;
  const mg_merge_step* merges = nullptr;
  size_t count = 0;
  if (int s = mg_linkage_merges(linkage, &merges, &count)) return s;
  for (size_t i = 0; i < count; ++i) o.merges.push_back({merges[i].a, merges[i].b, merges[i].height, merges[i].size});
  uint64_t vertices = 0;
  if (int s = mg_linkage_vertices(linkage, &vertices)) return s;
  o.cut.resize(vertices);
  o.labels.resize(vertices);
  o.probabilities.resize(vertices);
  uint32_t clusters = 0;
  if (vertices > 0) {
    if (int s = mg_linkage_cut_height(linkage, 0.05, o.cut.data(), vertices, &clusters)) return s;
    std::vector<uint32_t> exactly(vertices);
    if (int s = mg_linkage_cut_count(linkage, 7, 1, exactly.data(), vertices, &clusters)) return s;
    EXPECT_EQ(clusters, 7U);
    mg_hdbscan_options options{};
    options.struct_size = sizeof options;
    options.min_cluster_size = 40;
    if (int s = mg_hdbscan(linkage, &options, o.labels.data(), o.probabilities.data(), vertices, &clusters)) return s;
    EXPECT_EQ(mg_hdbscan(linkage, &options, o.labels.data(), nullptr, vertices - 1, nullptr), MG_USAGE);
  }
  return mg_linkage_free(linkage);
}

int finish(mg_transport* t, mg_forest* forest, Outcome& result, bool linkage) {
  int rank = 0;
  mg_transport_rank(t, &rank);
  Outcome o;
  mg_forest_totals totals{};
  totals.struct_size = sizeof totals;
  if (int s = mg_forest_sums(forest, &totals)) return s;
  o.digest = totals.digest;
  o.weight = totals.weight;
  o.edges = totals.edges;
  if (linkage)
    if (int s = linkage_in_c(forest, o)) return s;
  if (rank == 0) result = o;
  return mg_forest_free(forest);
}

TEST(ForestInC, of_points_is_that_of_cpp_as_are_the_dendrogram_and_the_clusters) {
  for (const int dimension : {2, 3}) {
    const Outcome expected = by_cpp(true, dimension);
    for (const int ranks : {1, 3}) {
      Outcome found;
      EXPECT_OK(run_threads(ranks, [&](mg_transport* t) {
        int rank = 0;
        mg_transport_rank(t, &rank);
        const auto mine = make_points(rank, ranks, dimension);
        const mg_box box = {sizeof box, {0, 0, 0}, {1, 1, 1}, {1, 0, 0}, 0};
        mg_tree_options options{};
        options.struct_size = offsetof(mg_tree_options, metric);  // as in the first version
        options.box = &box;
        options.threads = 2;
        options.min_samples = 6;
        mg_forest* forest = nullptr;
        if (int s = mg_forest_of_points(t, dimension, mine.coordinates.data(), mine.ids.data(), mine.ids.size(),
                                        &options, &forest))
          return s;
        return finish(t, forest, found, true);
      }));
      EXPECT_EQ(found, expected) << dimension << " dimensions, " << ranks << " ranks";
    }
  }
}

TEST(ForestInC, of_a_graph_is_that_of_cpp) {
  for (const bool maximum : {false, true}) {
    const Outcome expected = by_cpp(false, 2, maximum ? msf::Sense::maximum : msf::Sense::minimum);
    for (const int ranks : {1, 4}) {
      Outcome found;
      EXPECT_OK(run_threads(ranks, [&](mg_transport* t) {
        int rank = 0;
        mg_transport_rank(t, &rank);
        const auto graph = make_graph(rank, ranks);
        std::vector<mg_edge> edges;
        for (const auto& e : std::get<std::vector<graphs::Edge24>>(graph.edges))
          edges.push_back({e.high, e.low, graphs::weight_from_bits(graph.kind, e.weight)});  // ends the other way round
        mg_forest_options options{};
        options.struct_size = sizeof options;
        options.maximum = maximum ? 1 : 0;
        mg_forest* forest = nullptr;
        if (int s = mg_forest_of_graph(t, graph.vertices, edges.data(), edges.size(), &options, &forest)) return s;
        return finish(t, forest, found, !maximum);
      }));
      EXPECT_EQ(found, expected) << ranks;
    }
  }
}

TEST(ForestInC, merges_of_one_height_are_in_the_order_of_scikit_learn) {
  // Seven corners of a cube; labels of sklearn.cluster.HDBSCAN(2, 1) of scikit-learn 1.9.1.
  const std::vector<double> corners{0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1};
  for (const int ranks : {1, 2}) {
    std::vector<int32_t> labels(7, 99);
    int32_t exact = 0;
    EXPECT_OK(run_threads(ranks, [&](mg_transport* t) {
      int rank = 0;
      mg_transport_rank(t, &rank);
      const size_t count = ranks == 1 ? 7 : (rank == 0 ? 3 : 4);
      const double* mine = corners.data() + (rank == 0 ? 0 : 9);
      mg_forest* forest = nullptr;
      if (int s = mg_forest_of_points(t, 3, mine, nullptr, count, nullptr, &forest)) return s;
      mg_linkage* linkage = nullptr;
      int32_t all = 0;
      if (int s = mg_linkage_sequential(forest, 3, mine, nullptr, count, nullptr, &all, &linkage)) return s;
      mg_hdbscan_options options{};
      options.struct_size = sizeof options;
      options.min_cluster_size = 2;
      options.sequential = 1;
      if (rank == 0) {
        exact = all;
        if (int s = mg_hdbscan(linkage, &options, labels.data(), nullptr, labels.size(), nullptr)) return s;
        options.struct_size = offsetof(mg_hdbscan_options, sequential);  // as in the first version
        std::vector<int32_t> together(7);
        if (int s = mg_hdbscan(linkage, &options, together.data(), nullptr, together.size(), nullptr)) return s;
        EXPECT_NE(together, labels);
      }
      mg_linkage_free(linkage);
      EXPECT_EQ(mg_linkage_sequential(forest, 3, mine, nullptr, count - 1, nullptr, nullptr, &linkage), MG_INPUT);
      return mg_forest_free(forest);
    }));
    EXPECT_EQ(exact, 1);
    EXPECT_EQ(labels, (std::vector<int32_t>{0, -1, 0, 0, 1, 0, 1})) << ranks << " ranks";
  }
}

/// Labels by the C++ interface of the points that ForestInC.options_... passes, merges of one height in scikit-learn's order.
std::vector<std::int32_t> labels_by_cpp(double alpha, const msf::HdbscanOptions& options) {
  std::vector<std::int32_t> labels;
  comm::run({.backend = "threads", .ranks = 1}, [&](comm::Transport& t) {
    msf::EuclideanOptions how;
    how.min_samples = 6;
    how.alpha = alpha;
    msf::Report report;
    const auto points = make_points(0, 1, 2);
    const auto forest = msf::euclidean_forest(points, t, how, report);
    const auto growth = msf::grow(forest, msf::gather_points(points, t, how, report));
    labels = msf::hdbscan(msf::condense(msf::grown_dendrogram(growth.edges), options), options).labels;
  });
  return labels;
}

/// Merges on rank 0; none on the others.
std::vector<mg_merge_step> merges_of(mg_linkage* linkage) {
  const mg_merge_step* merges = nullptr;
  size_t count = 0;
  EXPECT_OK(mg_linkage_merges(linkage, &merges, &count));
  return {merges, merges + count};
}

/// Checks that points given to mg_linkage_sequential() in another order, or on other ranks, have the merges of those in the order of
/// mg_forest_of_points(), and that other coordinates are refused. Collective.
void expect_same_merges(mg_forest* forest, const mg_tree_options& how, int rank, int ranks) {
  std::vector<mg_merge_step> expected;
  for (const int turn :
       {0, 1, 2, 3}) {  // as given; from the last to the first; on the next rank; with other coordinates
    auto mine = make_points(turn == 2 ? (rank + 1) % ranks : rank, ranks, 2);
    if (turn == 1) {
      std::reverse(mine.ids.begin(), mine.ids.end());
      for (std::size_t i = 0, j = mine.ids.size() - 1; i < j; ++i, --j)
        std::swap_ranges(&mine.coordinates[2 * i], &mine.coordinates[2 * i] + 2, &mine.coordinates[2 * j]);
    }
    if (turn == 3)
      for (double& x : mine.coordinates) x *= 0.5;
    mg_linkage* linkage = nullptr;
    const int status = mg_linkage_sequential(forest, 2, mine.coordinates.data(), mine.ids.data(), mine.ids.size(), &how,
                                             nullptr, &linkage);
    EXPECT_EQ(status, turn == 3 ? MG_INPUT : MG_OK) << turn;
    if (status != MG_OK) continue;
    const auto found = merges_of(linkage);
    if (turn == 0) expected = found;
    const auto same = [](const mg_merge_step& x, const mg_merge_step& y) {
      return x.a == y.a && x.b == y.b && x.height == y.height && x.size == y.size;
    };
    EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end(), same)) << turn;
    mg_linkage_free(linkage);
  }
}

TEST(ForestInC, options_of_clusters_are_those_of_cpp_with_core_distances_that_the_forest_keeps) {
  std::vector<std::vector<std::int32_t>> seen;
  for (const double alpha : {0.0, 1.6})
    for (const double epsilon_max : {0.0, 0.02})
      for (const double persistence : {0.0, 40.0}) {
        msf::HdbscanOptions options;
        options.min_cluster_size = 12;
        options.ties = msf::HdbscanTies::sequential;
        if (epsilon_max > 0) options.epsilon_max = epsilon_max;
        options.persistence = persistence;
        const auto expected = labels_by_cpp(alpha > 0 ? alpha : 1, options);
        seen.push_back(expected);
        for (const int ranks : {1, 3}) {
          std::vector<std::int32_t> found(kPoints, 99);
          EXPECT_OK(run_threads(ranks, [&](mg_transport* t) {
            int rank = 0;
            mg_transport_rank(t, &rank);
            const auto mine = make_points(rank, ranks, 2);
            const mg_box box = {sizeof box, {0, 0, 0}, {1, 1, 1}, {1, 0, 0}, 0};
            mg_tree_options how{};
            how.struct_size = sizeof how;
            how.box = &box;
            how.min_samples = 6;
            how.alpha = alpha;
            const double* const at = mine.coordinates.data();
            const std::uint64_t* const ids = mine.ids.data();
            mg_forest* forest = nullptr;
            if (int s = mg_forest_of_points(t, 2, at, ids, mine.ids.size(), &how, &forest)) return s;
            mg_linkage* linkage = nullptr;
            if (int s = mg_linkage_sequential(forest, 2, at, ids, mine.ids.size(), &how, nullptr, &linkage)) return s;
            mg_hdbscan_options record{};
            record.struct_size = sizeof record;
            record.min_cluster_size = 12;
            record.sequential = 1;
            record.epsilon_max = epsilon_max;
            record.persistence = persistence;
            if (rank == 0)
              if (int s = mg_hdbscan(linkage, &record, found.data(), nullptr, found.size(), nullptr)) return s;
            record.persistence = -1;
            if (rank == 0) {
              EXPECT_EQ(mg_hdbscan(linkage, &record, found.data(), nullptr, found.size(), nullptr), MG_USAGE);
              EXPECT_STREQ(mg_error(), "options: persistence: -1; allowed: 0 and more");
            }
            mg_linkage_free(linkage);
            expect_same_merges(forest, how, rank, ranks);
            how.min_samples = 7;
            EXPECT_EQ(mg_linkage_sequential(forest, 2, at, ids, mine.ids.size(), &how, nullptr, &linkage), MG_USAGE);
            EXPECT_STREQ(mg_error(), "options: min_samples: 7; allowed: 6, as of the forest");
            how.min_samples = 6;
            how.alpha = 1.5;
            EXPECT_EQ(mg_linkage_sequential(forest, 2, at, ids, mine.ids.size(), &how, nullptr, &linkage), MG_USAGE);
            return mg_forest_free(forest);
          }));
          EXPECT_EQ(found, expected) << "alpha " << alpha << ", epsilon_max " << epsilon_max << ", persistence "
                                     << persistence << ", " << ranks << " ranks";
        }
      }
  for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_NE(seen[i], seen[0]) << i;  // or an option has no effect
  EXPECT_OK(run_threads(1, [](mg_transport* t) {
    const mg_edge edge = {0, 1, 2};
    mg_forest* forest = nullptr;
    if (int s = mg_forest_of_graph(t, 2, &edge, 1, nullptr, &forest)) return s;
    const double places[] = {0, 2};
    mg_linkage* linkage = nullptr;
    EXPECT_EQ(mg_linkage_sequential(forest, 1, places, nullptr, 2, nullptr, nullptr, &linkage), MG_USAGE);
    mg_tree_options how{};
    how.struct_size = sizeof how;
    how.alpha = -1;
    mg_forest* other = nullptr;
    EXPECT_EQ(mg_forest_of_points(t, 1, places, nullptr, 2, &how, &other), MG_USAGE);
    return mg_forest_free(forest);
  }));
}

TEST(ForestInC, of_points_of_any_dimension_and_metric_is_that_of_cpp) {
  for (const int dimension : {1, 5, 20})
    for (const auto& kind :
         {std::pair{msf::Distance::euclidean, MG_EUCLIDEAN}, std::pair{msf::Distance::chebyshev, MG_CHEBYSHEV},
          std::pair{msf::Distance::cosine, MG_COSINE}, std::pair{msf::Distance::correlation, MG_CORRELATION}}) {
      const msf::Distance metric = kind.first;
      const mg_metric name = kind.second;
      const bool directions = name == MG_COSINE || name == MG_CORRELATION;
      if (dimension == 1 && directions) continue;
      msf::Points points{{dimension, metric, msf::Angle::radians, {{0, 0, 1}}}, {}, {}};
      if (directions) points.periods.clear();
      for (int i = 0; i < 200 * dimension; ++i) {
        Random random(7, 0, static_cast<std::uint32_t>(i));
        points.coordinates.push_back(random.uniform());
      }
      std::string expected;
      comm::run({.backend = "threads", .ranks = 1}, [&](comm::Transport& t) {
        msf::Report report;
        expected = msf::totals(msf::euclidean_forest(points, t, {}, report), t).digest;
      });
      Outcome found;
      EXPECT_OK(run_threads(2, [&](mg_transport* t) {
        int rank = 0;
        mg_transport_rank(t, &rank);
        std::vector<double> period(static_cast<std::size_t>(dimension), 0);
        period[0] = 1;
        mg_tree_options options{};
        options.struct_size = sizeof options;
        options.metric = name;
        options.period = directions ? nullptr : period.data();
        mg_forest* forest = nullptr;
        const double* const mine = points.coordinates.data() + 100 * dimension * rank;
        if (int s = mg_forest_of_points(t, dimension, mine, nullptr, 100, &options, &forest)) return s;
        return finish(t, forest, found, false);
      }));
      EXPECT_EQ(found.digest, expected) << dimension << " dimensions";
    }
  EXPECT_OK(run_threads(1, [](mg_transport* t) {
    mg_tree_options options{};
    options.struct_size = sizeof options;
    options.most_distances = 5;
    const std::vector<double> zeros(std::size_t{4} * 17, 0);
    mg_forest* forest = nullptr;
    EXPECT_EQ(mg_forest_of_points(t, 17, zeros.data(), nullptr, 4, &options, &forest), MG_USAGE);
    options.metric = 7;
    EXPECT_EQ(mg_forest_of_points(t, 2, zeros.data(), nullptr, 4, &options, &forest), MG_USAGE);
    return MG_OK;
  }));
}

TEST(ForestInC, gives_every_edge_once_and_angles_of_points_in_degrees_in_radians) {
  EXPECT_OK(run_threads(1, [](mg_transport* t) {
    const double xy[] = {0, 0, 3, 4, 3, 5};
    mg_forest* forest = nullptr;
    EXPECT_OK(mg_forest_of_points(t, 2, xy, nullptr, 3, nullptr, &forest));
    const mg_edge* edges = nullptr;
    size_t count = 0;
    EXPECT_OK(mg_forest_edges(forest, &edges, &count));
    EXPECT_EQ(count, 2U);
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum += edges[i].weight;
    EXPECT_EQ(sum, 6);
    EXPECT_OK(mg_forest_free(forest));
    mg_tree_options options{};
    options.struct_size = sizeof options;
    options.metric = MG_GREAT_CIRCLE;
    options.degrees = 1;
    const double quarter[] = {0, 10, 0, 100};  // of the equator
    EXPECT_OK(mg_forest_of_points(t, 2, quarter, nullptr, 2, &options, &forest));
    EXPECT_OK(mg_forest_edges(forest, &edges, &count));
    EXPECT_NEAR(edges[0].weight, std::acos(0.0), 1e-15);
    return mg_forest_free(forest);
  }));
}

TEST(ForestInC, refuses_bad_data_on_one_rank_on_every_rank) {
  for (int bad = 0; bad < 2; ++bad) {
    const int status = run_threads(2, [&](mg_transport* t) {
      int rank = 0;
      mg_transport_rank(t, &rank);
      const double nan = std::numeric_limits<double>::quiet_NaN();
      const mg_edge edge = {0, 1, rank == bad ? nan : 1};
      mg_forest* forest = nullptr;
      const int s = mg_forest_of_graph(t, 2, &edge, 1, nullptr, &forest);
      EXPECT_EQ(s, MG_INPUT);
      EXPECT_EQ(forest, nullptr);
      const double xyz[] = {0, 0, 0};
      const auto id = static_cast<uint64_t>(rank);
      EXPECT_EQ(mg_forest_of_points(t, 3, rank == bad ? nullptr : xyz, &id, 1, nullptr, &forest), MG_USAGE);
      EXPECT_STREQ(mg_error(), "coordinates: a null pointer; allowed: the address of one");
      return s;
    });
    EXPECT_EQ(status, MG_INPUT);
  }
}

}  // namespace
