#pragma once
/// Test data: point sets of many shapes in up to three dimensions, with reference spanning trees from all pairs.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "merganser/base/random.hpp"
#include "merganser/geometry/box.hpp"
#include "merganser/msf/euclidean.hpp"
#include "tests/msf/oracle.hpp"

namespace merganser::test {

/// A whole set of points; point i has the id i. Those with periods lie in the unit box.
struct Cloud {
  std::string name;
  int dimension = 3;
  std::array<bool, 3> periodic{false, false, false};
  std::vector<Vec3> at;

  [[nodiscard]] Box box() const { return {{0, 0, 0}, {1, 1, 1}, periodic}; }
};

inline Cloud make_cloud(const std::string& shape, int dimension, std::size_t n, std::uint64_t seed) {
  Cloud cloud{shape + " " + std::to_string(dimension) + "D of " + std::to_string(n), dimension, {}, {}};
  for (std::size_t i = 0; i < n; ++i) {
    Random random(seed, i, 0);
    Vec3 p{random.uniform(), random.uniform(), random.uniform()};
    const double which = random.uniform();
    if (shape == "lattice" || shape == "heaps")
      for (auto& x : p) x = std::floor(x * (shape == "lattice" ? 8 : 3)) / 8;
    if (shape == "line") p = {p[0], p[0], 0.5};
    if (shape == "steps") p = {static_cast<double>(i) / 1024, 0, 0};
    if (shape == "equal") p = {0.25, 0.5, 0.75};
    if (shape == "outlier" && i == n / 2) p[0] = 0x1p40;
    if (shape == "plates") p[2] = i % 2 == 0 ? 0.125 : 0.875;
    if (shape == "clusters")
      for (auto& x : p) x = 0.3 * std::floor(which * 4) * (x < 0.5 ? 1 : 0.9) + 0.01 * x;
    if (shape == "scales")
      for (auto& x : p) x *= std::exp2(-40 * which);
    if (dimension == 2) p[2] = 0;
    cloud.at.push_back(p);
  }
  return cloud;
}

/// Returns this rank's share in a random distribution and order, which depend on `seed`.
inline msf::Points distribute(const Cloud& cloud, const comm::Transport& transport, std::uint64_t seed) {
  msf::Points points;
  points.dimension = cloud.dimension;
  points.periods = msf::periodic_axes(cloud.box(), cloud.dimension);
  std::vector<std::uint64_t> ids(cloud.at.size());
  std::iota(ids.begin(), ids.end(), 0);
  Random random(seed, 3, 0);
  for (std::size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random.below(i)]);
  for (const auto id : ids) {
    const auto owner = random.below(static_cast<std::uint64_t>(transport.size()));
    if (owner != static_cast<std::uint64_t>(transport.rank())) continue;
    points.ids.push_back(id);
    for (std::size_t a = 0; a < static_cast<std::size_t>(cloud.dimension); ++a)
      points.coordinates.push_back(cloud.at[id][a]);
  }
  return points;
}

/// Squared distances to the k-th nearest, a point itself being the first.
inline std::vector<double> compute_core_squares(const Cloud& cloud, int k) {
  std::vector<double> cores;
  for (const auto& p : cloud.at) {
    std::vector<double> all;
    for (const auto& q : cloud.at) all.push_back(cloud.box().distance2(p, q));
    std::sort(all.begin(), all.end());
    cores.push_back(all.at(static_cast<std::size_t>(k) - 1));
  }
  return cores;
}

inline Edges compute_tree(const Cloud& cloud, int min_samples) {
  std::vector<double> core(cloud.at.size(), 0);
  if (!cloud.at.empty()) core = compute_core_squares(cloud, min_samples);
  Edges all;
  for (std::size_t a = 0; a < cloud.at.size(); ++a)
    for (std::size_t b = a + 1; b < cloud.at.size(); ++b) {
      const double d2 = std::max({cloud.box().distance2(cloud.at[a], cloud.at[b]), core[a], core[b]});
      all.push_back({a, b, graphs::ordered_bits(d2)});
    }
  Edges tree = plain_kruskal(std::move(all), cloud.at.size());
  for (auto& e : tree)
    e.weight = graphs::ordered_bits(std::sqrt(graphs::weight_from_bits(graphs::WeightKind::float64, e.weight)));
  return sorted(std::move(tree));
}

}  // namespace merganser::test
