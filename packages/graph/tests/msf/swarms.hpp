#pragma once
/// Test data: point sets of any dimension and metric, with reference spanning trees from all pairs.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "merganser/base/random.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/msf/euclidean.hpp"
#include "tests/msf/oracle.hpp"
#include "tests/support/point_shapes.hpp"

namespace merganser::test {

/// A whole set of points; point i has the id i.
struct Swarm {
  std::string name;
  msf::PointSpace space;
  std::vector<std::vector<double>> at;

  /// What is compared, from the definition: separations added from the left. Not for great circles.
  [[nodiscard]] double compared(std::size_t i, std::size_t j) const {
    double sum = 0;
    for (std::size_t a = 0; a < at[i].size(); ++a) {
      double s = std::fabs(at[i][a] - at[j][a]);
      for (const auto& period : space.periods)
        if (period.axis == static_cast<int>(a)) s = std::min(s, period.length - s);
      if (space.metric == msf::Distance::euclidean) s *= s;
      sum = space.metric == msf::Distance::chebyshev ? std::max(sum, s) : sum + s;
    }
    return sum;
  }
  [[nodiscard]] double weight(double compared) const {
    return space.metric == msf::Distance::euclidean ? std::sqrt(compared) : compared;
  }
};

/// Returns a set of points of a shape that make_points() knows.
inline Swarm make_swarm(const std::string& shape, int dimension, std::size_t n, std::uint64_t seed) {
  Swarm swarm{shape + ", " + std::to_string(dimension) + " axes, " + std::to_string(n), {}, {}};
  swarm.space.dimension = dimension;
  swarm.at = make_points(shape, dimension, n, seed);
  return swarm;
}

/// Returns this rank's share in a random distribution and order, which depend on `seed`.
inline msf::Points distribute(const Swarm& swarm, const comm::Transport& transport, std::uint64_t seed) {
  msf::Points points{swarm.space, {}, {}};
  std::vector<std::uint64_t> ids(swarm.at.size());
  std::iota(ids.begin(), ids.end(), 0);
  Random random(seed, 3, 0);
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.below(i)]);
  for (const auto id : ids) {
    if (random.below(static_cast<std::uint64_t>(transport.size())) != static_cast<std::uint64_t>(transport.rank()))
      continue;
    points.ids.push_back(id);
    points.coordinates.insert(points.coordinates.end(), swarm.at[id].begin(), swarm.at[id].end());
  }
  return points;
}

/// What is compared between each point and its k-th nearest, itself being the first.
inline std::vector<double> compute_cores(const Swarm& swarm, int k) {
  std::vector<double> cores;
  for (std::size_t i = 0; i < swarm.at.size(); ++i) {
    std::vector<double> all;
    for (std::size_t j = 0; j < swarm.at.size(); ++j) all.push_back(swarm.compared(i, j));
    std::sort(all.begin(), all.end());
    cores.push_back(all.at(static_cast<std::size_t>(k) - 1));
  }
  return cores;
}

inline Edges compute_tree(const Swarm& swarm, int min_samples) {
  const auto core = compute_cores(swarm, min_samples);
  Edges all;
  for (std::size_t a = 0; a < swarm.at.size(); ++a)
    for (std::size_t b = a + 1; b < swarm.at.size(); ++b)
      all.push_back({a, b, graphs::ordered_bits(std::max({swarm.compared(a, b), core[a], core[b]}))});
  Edges tree = plain_kruskal(std::move(all), swarm.at.size());
  for (auto& e : tree)
    e.weight = graphs::ordered_bits(swarm.weight(graphs::weight_from_bits(graphs::WeightKind::float64, e.weight)));
  return sorted(std::move(tree));
}

/// Runs `body` on ranks that are threads; not under a launcher of several processes, since the plain process of the test does.
inline void on_threads(int ranks, const std::function<void(comm::Transport&)>& body) {
  if (comm::launcher_world().size > 1) return;
  comm::RunOptions options;
  options.backend = "threads";
  options.ranks = ranks;
  comm::run(options, body);
}

}  // namespace merganser::test
