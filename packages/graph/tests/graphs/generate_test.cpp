/// Tests of the generators of synthetic graphs: properties of each family, independence of the number of ranks.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "src/graphs/generate/spec.hpp"
#include "tests/graphs/whole_graph.hpp"

namespace {

using namespace merganser;
using namespace merganser::test;
using graphs::Edge24;

using Ends = std::pair<std::uint64_t, std::uint64_t>;
std::vector<Ends> ends(const WholeGraph& g) {
  std::vector<Ends> out;
  for (const Edge24& e : g.edges) out.emplace_back(e.low, e.high);
  return out;
}
std::vector<std::uint64_t> degrees(const WholeGraph& g) {
  std::vector<std::uint64_t> d(g.vertices, 0);
  for (const Edge24& e : g.edges) ++d[e.low], ++d[e.high];
  return d;
}
std::size_t trees(const WholeGraph& g) {
  std::vector<std::uint64_t> up(g.vertices);
  std::iota(up.begin(), up.end(), 0U);
  const auto root = [&](std::uint64_t v) {
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
  };
  std::size_t count = g.vertices;
  for (const Edge24& e : g.edges) {
    const auto a = root(e.low), b = root(e.high);
    if (a == b) continue;
    up[a] = b;
    --count;
  }
  return count;
}
double share(std::size_t part, std::size_t all) { return static_cast<double>(part) / static_cast<double>(all); }

TEST(Generate, every_graph_is_the_same_on_any_number_of_ranks) {
  for (const std::string spec :
       {"rmat:9:5", "rmat:7:2.5", "rgg2d:9:4", "rgg3d:9:6", "rgg3d:100:3", "gnm:8:7", "gnm:70:2", "ba:8:3", "grid:13x7",
        "grid:5x4x3:periodic", "path:20", "star:20", "complete:15"}) {
    const WholeGraph one = made(spec, {7, "uniform"});
    for (const int ranks : {2, 3, 4, 7, 8}) {
      const WholeGraph more = made(spec, {7, "uniform"}, ranks);
      EXPECT_EQ(more.vertices, one.vertices);
      EXPECT_EQ(more.edges, one.edges) << spec << " on " << ranks;
    }
    EXPECT_NE(made(spec, {8, "uniform"}).edges, one.edges) << spec << ": another seed, the same weights";
  }
}

TEST(Generate, every_rank_makes_its_part) {
  for (const std::string spec : {"rmat:12:8", "rgg2d:12:8", "rgg3d:12:8", "gnm:12:8", "ba:12:8", "grid:64x64"}) {
    const WholeGraph g = made(spec, {}, 4);
    for (const std::size_t mine : g.shares) EXPECT_NEAR(share(mine, g.edges.size()), 0.25, 0.05) << spec;
  }
}

TEST(Generate, rmat_goes_into_the_quadrants_as_often_as_it_should_on_every_level) {
  for (const int levels : {4, 10, 12, 23}) {
    const std::uint64_t n = std::uint64_t{1} << levels;
    const std::string spec =
        "rmat:" + std::to_string(levels) + ":" + std::to_string(std::max(1.0, 65536.0 / double(n)));
    const WholeGraph g = made(levels == 23 ? "rmat:23:0.01" : spec);
    EXPECT_EQ(g.vertices, n);
    std::vector<std::map<int, std::size_t>> seen(static_cast<std::size_t>(levels));
    for (const Edge24& e : g.edges) {
      EXPECT_LT(e.low, e.high);
      for (int level = 0; level < levels; ++level)
        ++seen[static_cast<std::size_t>(level)][static_cast<int>((e.low >> level & 1) + (e.high >> level & 1))];
    }
    // Without loops, which are .62^levels of all, and of which 0.05 / 0.62 take the lower quadrant.
    const double loops = std::pow(.62, levels);
    for (const auto& level : seen) {
      EXPECT_NEAR(share(level.count(1) != 0 ? level.at(1) : 0, g.edges.size()), .38 / (1 - loops), .015) << levels;
      EXPECT_NEAR(share(level.count(2) != 0 ? level.at(2) : 0, g.edges.size()),
                  .05 * (1 - std::pow(.62, levels - 1)) / (1 - loops), .015);
    }
    const double wanted = levels == 23 ? 0.01 * double(n) : std::max(1.0, 65536.0 / double(n)) * double(n);
    EXPECT_NEAR(double(g.edges.size()), wanted * (1 - loops), 5 * std::sqrt(wanted * loops) + 1);
  }
}

TEST(Generate, rmat_has_hubs_and_vertices_without_edges_and_parallel_edges_of_equal_weight) {
  const WholeGraph g = made("rmat:12:8");
  const auto d = degrees(g);
  EXPECT_GT(*std::max_element(d.begin(), d.end()), 20U * 16U);
  EXPECT_GT(std::count(d.begin(), d.end(), 0U), 400);
  const auto e = ends(g);
  EXPECT_LT(std::set<Ends>(e.begin(), e.end()).size(), e.size());
  for (std::size_t i = 1; i < g.edges.size(); ++i)
    EXPECT_TRUE(e[i] != e[i - 1] || g.edges[i].weight == g.edges[i - 1].weight);
}

/// Figures of graphs with 2^14 vertices and 16 edges per vertex that KaGen 1.3.0 made (Python module kagen: generate_rmat
/// with .57, .19, .19; generate_rgg2d_nm, generate_rgg3d_nm, generate_ba, generate_undirected_gnm), without loops and
/// parallel edges: different edges, vertices without any, degrees that 10, 50 and 90 percent of the vertices do not pass.
struct KaGenFigures {
  std::string spec;
  double edges, isolated, tenth, half, nine_tenths, greatest_at_least, greatest_at_most;
};

TEST(Generate, graphs_have_the_degrees_of_those_that_kagen_makes) {
  for (const KaGenFigures& k : {KaGenFigures{"rmat:14:16", 212855, 3859, 0, 3, 42, 3200, 4100},
                                {"rgg2d:14:16", 261505, 0, 24, 32, 40, 50, 65},
                                {"rgg3d:14:16", 260687, 0, 21, 32, 41, 52, 72},
                                {"ba:14:16", 260039, 0, 16, 22, 51, 2000, 5500},
                                {"gnm:14:16", 262144, 0, 25, 32, 39, 52, 70}}) {
    WholeGraph g = made(k.spec, {}, 2);
    const auto last = std::unique(g.edges.begin(), g.edges.end());
    g.edges.erase(last, g.edges.end());
    EXPECT_NEAR(static_cast<double>(g.edges.size()) / k.edges, 1, .015) << k.spec;
    auto d = degrees(g);
    std::sort(d.begin(), d.end());
    const auto at = [&](double q) { return static_cast<double>(d[static_cast<std::size_t>(q * 16383)]); };
    EXPECT_NEAR(static_cast<double>(std::count(d.begin(), d.end(), 0U)), k.isolated, .03 * k.isolated) << k.spec;
    EXPECT_NEAR(at(.1), k.tenth, 1) << k.spec;
    EXPECT_NEAR(at(.5), k.half, 1) << k.spec;
    EXPECT_NEAR(at(.9), k.nine_tenths, 1) << k.spec;
    EXPECT_GE(at(1), k.greatest_at_least) << k.spec;
    EXPECT_LE(at(1), k.greatest_at_most) << k.spec;
  }
}

TEST(Generate, gnm_has_exactly_so_many_different_edges_and_no_loops) {
  for (const std::string spec : {"gnm:10:16", "gnm:100:3", "gnm:7:63.5", "gnm:67:33"}) {
    const WholeGraph g = made(spec);
    const auto e = ends(g);
    EXPECT_EQ(std::set<Ends>(e.begin(), e.end()).size(), e.size()) << spec;
    for (const auto& [low, high] : e) ASSERT_LT(low, high);
    EXPECT_EQ(e.size(), graphs::forecast_generated(spec, {}, 1).edges);
  }
  EXPECT_EQ(ends(made("gnm:4:7.5")), ends(made("complete:16"))) << "all the pairs there are";
}

TEST(Generate, gnm_draws_evenly) {
  const WholeGraph g = made("gnm:12:16");
  const auto d = degrees(g);
  double variance = 0;
  for (const auto x : d) variance += (double(x) - 32) * (double(x) - 32) / double(d.size());
  EXPECT_NEAR(variance, 32, 4) << "degrees are nearly Poisson";
  std::map<std::uint64_t, std::size_t> blocks;
  for (const Edge24& e : g.edges) ++blocks[(e.low >> 10) * 4 + (e.high >> 10)];
  for (const auto& [block, count] : blocks)
    EXPECT_NEAR(share(count, g.edges.size()), block % 5 == 0 ? 1 / 16.0 : 1 / 8.0, 0.006) << block;
}

TEST(Generate, points_nearer_than_the_radius_are_joined_and_no_others) {
  for (const std::string text : {"rgg2d:300:5", "rgg3d:300:8", "rgg2d:70:0.2", "rgg3d:10:30", "rgg2d:5:14"}) {
    for (const std::uint64_t seed : {1, 2}) {
      const auto spec = graphs::detail::parse_spec(text);
      const auto points = graphs::detail::generate_points(spec, seed);
      const double radius = graphs::detail::connection_radius(spec);
      ASSERT_EQ(points.size(), spec.vertices);
      std::vector<Edge24> wanted;
      for (std::uint64_t i = 0; i < points.size(); ++i) {
        for (std::uint64_t j = i + 1; j < points.size(); ++j) {
          const auto &p = points[i], &q = points[j];
          const double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2];
          const double d2 = x * x + y * y + z * z;
          if (d2 < radius * radius) wanted.push_back({i, j, graphs::ordered_bits(static_cast<float>(std::sqrt(d2)))});
        }
      }
      const WholeGraph g = made(text, {seed, "euclidean"}, 3);
      EXPECT_EQ(g.edges, wanted) << text;
      EXPECT_EQ(ends(made(text, {seed, "uniform"})), ends(g));
    }
  }
}

TEST(Generate, points_lie_everywhere_alike_and_near_those_of_near_ids) {
  for (const std::string text : {"rgg2d:13:8", "rgg3d:13:8"}) {
    const auto spec = graphs::detail::parse_spec(text);
    std::map<int, std::size_t> octants;
    for (const auto& p : graphs::detail::generate_points(spec, 5)) {
      int octant = 0;
      for (const double x : p) {
        ASSERT_GE(x, 0);
        ASSERT_LT(x, 1);
        octant = 2 * octant + (x >= .5 ? 1 : 0);
      }
      ++octants[octant];
    }
    EXPECT_EQ(octants.size(), spec.dimension == 2 ? 4U : 8U);
    for (const auto& [octant, count] : octants) EXPECT_NEAR(share(count, 8192), 1.0 / double(octants.size()), .02);
    const WholeGraph g = made(text, {5, "uniform"});
    EXPECT_NEAR(share(g.edges.size(), 8 * 8192), 1, .04) << text;
    double apart = 0;
    for (const Edge24& e : g.edges) apart += double(e.high - e.low) / double(g.edges.size());
    EXPECT_LT(apart, 8192 / 8.0);
    EXPECT_LT(trees(g), 40U);
  }
}

TEST(Generate, preferential_attachment_is_connected_with_a_least_degree_and_hubs) {
  const WholeGraph g = made("ba:12:4", {}, 3);
  EXPECT_EQ(g.edges.size(), 4U * 4095U);
  EXPECT_EQ(trees(g), 1U);
  const auto d = degrees(g);
  EXPECT_GE(*std::min_element(d.begin() + 1, d.end()), 4U);
  EXPECT_GT(*std::max_element(d.begin(), d.end()), 100U);
  const auto sum = [&](std::size_t a, std::size_t b) {
    return std::accumulate(d.begin() + static_cast<std::ptrdiff_t>(a), d.begin() + static_cast<std::ptrdiff_t>(b), 0.0);
  };
  // The degree of vertex v grows as sqrt(n / v), so the first quarter of the vertices has half of all ends.
  EXPECT_NEAR(sum(0, 1024) / sum(0, 4096), 0.5, .03);
}

TEST(Generate, grids_join_neighbours) {
  const auto grid = [](std::array<std::uint64_t, 3> extent, bool periodic) {
    std::vector<Ends> out;
    const auto id = [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
      return (a * extent[1] + b) * extent[2] + c;
    };
    const auto join = [&](std::uint64_t v, std::uint64_t w) { out.emplace_back(std::min(v, w), std::max(v, w)); };
    for (std::uint64_t a = 0; a < extent[0]; ++a)
      for (std::uint64_t b = 0; b < extent[1]; ++b)
        for (std::uint64_t c = 0; c < extent[2]; ++c) {
          if (a + 1 < extent[0] || (periodic && extent[0] > 2)) join(id(a, b, c), id((a + 1) % extent[0], b, c));
          if (b + 1 < extent[1] || (periodic && extent[1] > 2)) join(id(a, b, c), id(a, (b + 1) % extent[1], c));
          if (c + 1 < extent[2] || (periodic && extent[2] > 2)) join(id(a, b, c), id(a, b, (c + 1) % extent[2]));
        }
    std::sort(out.begin(), out.end());
    return out;
  };
  EXPECT_EQ(ends(made("grid:4x5")), grid({4, 5, 1}, false));
  EXPECT_EQ(ends(made("grid:4x5:periodic", {}, 3)), grid({4, 5, 1}, true));
  EXPECT_EQ(ends(made("grid:3x2x4:periodic")), grid({3, 2, 4}, true));
  EXPECT_EQ(ends(made("grid:1x1")), std::vector<Ends>{});
  for (const auto d : degrees(made("grid:3x4x5:periodic"))) EXPECT_EQ(d, 6U);
}

TEST(Generate, simple_shapes_are_what_they_are_called) {
  EXPECT_EQ(ends(made("path:4")), (std::vector<Ends>{{0, 1}, {1, 2}, {2, 3}}));
  EXPECT_EQ(ends(made("star:4", {}, 2)), (std::vector<Ends>{{0, 1}, {0, 2}, {0, 3}}));
  EXPECT_EQ(ends(made("complete:4", {}, 5)), (std::vector<Ends>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}));
  for (const std::string shape : {"path:", "star:", "complete:"}) {
    EXPECT_EQ(made(shape + "0", {}, 2).vertices, 0U);
    EXPECT_EQ(made(shape + "1", {}, 2).vertices, 1U);
    EXPECT_TRUE(made(shape + "1").edges.empty());
  }
}

TEST(Generate, weights_are_of_the_kind_and_range_asked_for) {
  const auto weights = [](const std::string& name) {
    const WholeGraph g = made("gnm:11:8", {3, name});
    std::vector<double> out;
    for (const Edge24& e : g.edges) out.push_back(graphs::weight_from_bits(g.kind, e.weight));
    std::sort(out.begin(), out.end());
    return std::tuple(out, g.kind, g.edge_bytes);
  };
  const auto mean = [](const std::vector<double>& w) {
    return std::accumulate(w.begin(), w.end(), 0.0) / double(w.size());
  };
  using graphs::WeightKind;
  const auto [any, any_kind, any_bytes] = weights("uniform");
  EXPECT_EQ(any_kind, WeightKind::unsigned_integer);
  EXPECT_EQ(any_bytes, 12U);
  EXPECT_NEAR(mean(any), 0x1p31, 0x1p31 * .03);
  EXPECT_LT(any.back(), 0x1p32);
  EXPECT_GT(any.back(), 0x1p32 * .99);
  const auto [few, few_kind, few_bytes] = weights("uniform:3");
  EXPECT_EQ(std::set<double>(few.begin(), few.end()), (std::set<double>{1, 2, 3}));
  EXPECT_NEAR(mean(few), 2, .03);
  const auto [both, both_kind, both_bytes] = weights("signed");
  EXPECT_EQ(both_kind, WeightKind::signed_integer);
  EXPECT_EQ(both_bytes, 16U);
  EXPECT_LT(both.front(), -0x1p31 * .99);
  EXPECT_NEAR(mean(both), 0, 0x1p31 * .03);
  for (const auto& [name, kind, bytes] :
       {std::tuple("float32", WeightKind::float32, 12U), {"float64", WeightKind::float64, 16U}}) {
    const auto [w, w_kind, w_bytes] = weights(name);
    EXPECT_EQ(w_kind, kind);
    EXPECT_EQ(w_bytes, bytes);
    EXPECT_GE(w.front(), 0);
    EXPECT_LT(w.back(), 1);
    EXPECT_NEAR(mean(w), .5, .02);
  }
  const auto [one, one_kind, one_bytes] = weights("unit");
  EXPECT_EQ(one.front(), 1);
  EXPECT_EQ(one.back(), 1);
}

TEST(Generate, ids_beyond_32_bits_take_wide_edges) {
  const WholeGraph g = made("rmat:40:0.00000001", {}, 3);
  EXPECT_EQ(g.edge_bytes, 24U);
  EXPECT_EQ(g.edges.size(), 10995U);
  EXPECT_GT(g.edges.back().high, std::uint64_t{1} << 38);
  EXPECT_EQ(g.edges, made("rmat:40:0.00000001").edges);
}

TEST(Generate, names_without_sense_are_refused_with_what_is_allowed) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "allowed: rmat:N:DEG"},
      {"rmta:10:4", "none that is known"},
      {"rmat", "rmat:N:DEG"},
      {"rmat:10", "rmat:N:DEG"},
      {"rmat:10:4:2", "rmat:N:DEG"},
      {"rmat:ten:4", "\"ten\"; allowed: 0 to"},
      {"rmat:-1:4", "\"-1\""},
      {"rmat:1000000:16", "a power of two, as 524288 or 1048576"},
      {"rmat:50:4", "at most 2^48"},
      {"rmat:40:1000", "at most 2^48"},
      {"gnm:4:100", "at most one for each of the 120 pairs"},
      {"gnm:33:1", "at most 2^32 vertices"},
      {"gnm:4:nan", "\"nan\" edges per vertex"},
      {"gnm:4:-1", "edges per vertex"},
      {"ba:4:0.5", "a whole number"},
      {"ba:4:0", "a whole number"},
      {"rgg2d:0:1", "at most 0"},
      {"rgg2d:4:100", "at most"},
      {"grid:4", "two or three extents"},
      {"grid:4x4x4x4", "two or three extents"},
      {"grid:0x4", "\"0\"; allowed: 1 to"},
      {"grid:4x4:open", ":periodic"},
      {"grid:99999999x99999999", "allowed: 1 to"},
      {"path", "path:V"},
      {"path:x", "\"x\""},
      {"complete:99999999", "allowed: 0 to"},
  };
  for (const auto& [spec, part] : cases) {
    try {
      static_cast<void>(graphs::forecast_generated(spec, {}, 1));
      ADD_FAILURE() << spec;
    } catch (const UsageError& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  }
  for (const std::string weights : {"uniform:0", "uniform:4294967296", "uniform:x", "heavy", "", "euclidean"})
    EXPECT_THROW(static_cast<void>(graphs::forecast_generated("path:3", {1, weights}, 1)), UsageError) << weights;
}

TEST(Generate, forecasts_tell_what_comes) {
  const auto f = graphs::forecast_generated("rgg2d:20:16", {1, "float64"}, 4);
  EXPECT_EQ(f.vertices, 1U << 20);
  EXPECT_EQ(f.edges, 16U << 20);
  EXPECT_FALSE(f.exact);
  EXPECT_EQ(f.edge_bytes, 16U);
  EXPECT_GE(f.bytes_per_rank, 4 * 16ULL << 20);
  EXPECT_LT(f.bytes_per_rank, 5 * 16ULL << 20);
  EXPECT_EQ(graphs::forecast_generated("path:10000000000", {}, 1).edge_bytes, 24U);
  for (const std::string spec :
       {"gnm:6:3", "ba:6:3", "grid:5x6:periodic", "grid:2x2:periodic", "star:9", "complete:9"}) {
    const auto forecast = graphs::forecast_generated(spec, {}, 1);
    EXPECT_TRUE(forecast.exact);
    EXPECT_EQ(forecast.edges, made(spec).edges.size()) << spec;
  }
}

}  // namespace
