#pragma once
/// Test data: sets of points of named shapes in the unit box, in any dimension.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/base/random.hpp"

namespace merganser::test {

/// Returns n points of a shape in the unit box: uniform, lattice, equal, line, clusters or heaps (few places).
inline std::vector<std::vector<double>> make_points(const std::string& shape, int dimension, std::size_t n,
                                                    std::uint64_t seed) {
  std::vector<std::vector<double>> points;
  for (std::size_t i = 0; i < n; ++i) {
    Random random(seed, i, 0);
    const double which = random.uniform();
    std::vector<double> p(static_cast<std::size_t>(dimension));
    for (double& x : p) {
      x = random.uniform();
      if (shape == "lattice") x = std::floor(x * 3) / 4;
      if (shape == "heaps") x = std::floor(which * 5) / 8;
      if (shape == "equal") x = 0.25;
      if (shape == "line") x = which;
      if (shape == "clusters") x = 0.3 * std::floor(which * 4) * (x < 0.5 ? 1 : 0.9) + 0.01 * x;
    }
    points.push_back(std::move(p));
  }
  return points;
}

}  // namespace merganser::test
