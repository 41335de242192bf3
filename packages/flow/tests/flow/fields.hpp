#pragma once
/// Analytic fields at nodes, and comparisons with them, for tests of the flow.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "merganser/flow/nodes.hpp"

namespace merganser::test {

inline constexpr double kPi = std::numbers::pi;

/// Mixes the bits of x (the finaliser of SplitMix64), for digests.
inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

inline Grid flow_grid(std::array<std::int64_t, 3> cells, Vec3 lower, Vec3 extent) {
  return {{lower, extent, {true, true, false}}, cells};
}

/// Calls use(i, j, k, x, y, z) for a rank's own nodes; with `beyond`, for all nodes that it stores.
template <class Use>
void for_nodes(const flow::NodeLayout& layout, bool beyond, Use&& use) {
  const Grid& grid = layout.grid();
  const std::int64_t low = beyond ? -1 : 0;
  const std::int64_t high = beyond ? 2 : 0;
  const auto at = [&](std::size_t axis, std::int64_t i) {
    return grid.box.lower[axis] +
           static_cast<double>(layout.first(static_cast<int>(axis)) + i) * layout.spacing(static_cast<int>(axis));
  };
  for (std::int64_t i = low; i < layout.cells(0) + high; ++i)
    for (std::int64_t j = low; j < layout.cells(1) + high; ++j)
      for (std::int64_t k = low; k <= layout.cells(2) + high / 2; ++k) use(i, j, k, at(0, i), at(1, j), at(2, k));
}

/// Sets components `first` .. of own nodes to the elements of f(x, y, z).
template <std::size_t kWidth, class F>
void set_nodes(flow::Nodes<kWidth>& nodes, std::size_t first, F&& f) {
  for_nodes(nodes.layout(), false, [&](auto i, auto j, auto k, double x, double y, double z) {
    const auto values = f(x, y, z);
    std::copy(values.begin(), values.end(), nodes.at(i, j, k) + first);
  });
}

/// Returns the largest difference from f(x, y, z) over own nodes and components.
template <std::size_t kWidth, class F>
double largest_error(const flow::Nodes<kWidth>& nodes, std::size_t first, F&& f) {
  double most = 0;
  for_nodes(nodes.layout(), false, [&](auto i, auto j, auto k, double x, double y, double z) {
    const auto values = f(x, y, z);
    for (std::size_t c = 0; c < values.size(); ++c) {
      const double error = std::fabs(nodes.at(i, j, k)[first + c] - values[c]);
      if (!(error <= most)) most = error;
    }
  });
  return most;
}

}  // namespace merganser::test
