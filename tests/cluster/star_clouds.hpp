#pragma once
/// Points with a mask of small ones, and their stars by the serial reference.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"
#include "src/cluster/reference_stages.hpp"
#include "tests/cluster/block_kinds.hpp"

namespace merganser::test {

/// Points of a serial program, the same in every process.
struct Cloud {
  Grid grid{{{-1, 0.25, 2}, {4, 3, 2}, {true, true, false}}, {8, 6, 4}};
  std::vector<double> xyz;  // three numbers each
  std::vector<std::uint8_t> small;
  std::vector<std::int64_t> ids;
  [[nodiscard]] std::size_t size() const { return ids.size(); }
  [[nodiscard]] Vec3 at(std::size_t i) const { return {xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]}; }
  void add(const Vec3& p, bool is_small, std::int64_t id) {
    xyz.insert(xyz.end(), p.begin(), p.end());
    small.push_back(is_small);
    ids.push_back(id);
  }
};

/// @param coarse  not 0: positions on a lattice of so many points an axis, so that distances are often equal
inline Cloud random_cloud(std::size_t n, unsigned seed, double coarse = 0) {
  Cloud cloud;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> u(0, 1);
  std::vector<std::int64_t> ids(n);
  std::iota(ids.begin(), ids.end(), -static_cast<std::int64_t>(n) / 2);
  std::shuffle(ids.begin(), ids.end(), random);
  for (std::size_t i = 0; i < n; ++i) {
    Vec3 p;
    for (int a = 0; a < 3; ++a) {
      const double f = coarse > 0 ? std::floor(u(random) * coarse) / coarse : u(random);
      p[a] = cloud.grid.box.wrap(a, cloud.grid.box.lower[a] + f * cloud.grid.box.extent[a]);
    }
    cloud.add(p, u(random) < 0.6, ids[i]);
  }
  return cloud;
}

struct Partner {
  std::int64_t centre;
  double distance2;
  friend bool operator==(const Partner&, const Partner&) = default;
};
/// Partner of each source, by its id.
using Pairs = std::map<std::int64_t, Partner>;

/// Returns the stars by the serial reference, with volumes that stand for the mask.
inline Pairs oracle(const Cloud& cloud) {
  Parcels parcels((Schema()));
  std::vector<char> small(cloud.small.begin(), cloud.small.end());
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    const double row[2] = {std::bit_cast<double>(cloud.ids[i]), 0};
    parcels.append({cloud.at(i)[0], cloud.at(i)[1], cloud.at(i)[2], 1}, row);
  }
  reference::LinkGraph graph = reference::nearest(parcels, cloud.grid, small, Search::exact);
  reference::prune(graph, parcels);
  Pairs pairs;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    if (graph.target[i] < 0) continue;
    const auto centre = static_cast<std::size_t>(graph.target[i]);
    pairs[cloud.ids[i]] = {cloud.ids[centre], cloud.grid.box.distance2(cloud.at(i), cloud.at(centre))};
  }
  return pairs;
}

/// Points of one rank's block.
struct Share {
  Cloud cloud;
  explicit Share(const Cloud& all, const Decomposition& d, int rank) {
    cloud.grid = all.grid;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (d.owner(all.at(i)) == rank) cloud.add(all.at(i), all.small[i] != 0, all.ids[i]);
  }
};

}  // namespace merganser::test
