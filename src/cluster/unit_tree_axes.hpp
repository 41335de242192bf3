#pragma once
/// Choice of the code for a number of axes in the tree of units of a merge policy.
#include <cstddef>
#include <type_traits>

#include "src/cluster/unit_tree.hpp"

namespace merganser::cluster {

/// Calls f with the number of axes of the metric, 3 to 6, as a constant.
template <class F>
void UnitTree::with_axes(std::size_t axes, const F& f) {
  static_assert(kMaxAxes == 6);
  if (axes == 3) return f(std::integral_constant<std::size_t, 3>());
  if (axes == 4) return f(std::integral_constant<std::size_t, 4>());
  if (axes == 5) return f(std::integral_constant<std::size_t, 5>());
  return f(std::integral_constant<std::size_t, 6>());
}

}  // namespace merganser::cluster
