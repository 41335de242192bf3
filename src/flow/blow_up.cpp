#include "src/flow/blow_up.hpp"

#include <array>
#include <cmath>

#include "merganser/base/options.hpp"

namespace merganser::flow {
namespace {

constexpr std::array<const char*, 5> kCarried{"the volume", "x vorticity", "y vorticity", "z vorticity", "buoyancy"};
constexpr std::array<const char*, 14> kFlow{"u",   "v",   "w",   "u_x", "u_y",  "u_z",   "v_x",
                                            "v_y", "v_z", "w_x", "w_y", "xi_t", "eta_t", "zeta_t"};

/// True if all the values are finite: x - x is 0 for those and for no other.
bool all_finite(const double* values, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i] - values[i];
  return sum == 0;
}

template <std::size_t kValues, std::size_t kNames>
std::string look(const Nodes<kValues>& nodes, const std::array<const char*, kNames>& names) {
  const NodeLayout& layout = nodes.layout();
  for (std::int64_t i = 0; i < layout.cells(0); ++i)
    for (std::int64_t j = 0; j < layout.cells(1); ++j)
      for (std::int64_t k = 0; k <= layout.cells(2); ++k) {
        const double* const values = nodes.at(i, j, k);
        if (all_finite(values, kNames)) continue;
        std::size_t which = 0;
        while (std::isfinite(values[which])) ++which;
        const std::array<std::int64_t, 3> n{i, j, k};
        std::string text = std::string(names[which]) + " is " + number_text(values[which]) + " at the node";
        for (std::size_t a = 0; a < 3; ++a)
          text +=
              std::string(a == 0 ? " " : ", ") + "xyz"[a] + " = " +
              number_text(layout.grid().box.lower[a] + static_cast<double>(layout.first(static_cast<int>(a)) + n[a]) *
                                                           layout.spacing(static_cast<int>(a)));
        return text;
      }
  return {};
}

}  // namespace

std::string not_finite(const CarriedNodes& carried, const FlowNodes& flow) {
  std::string wrong = look(carried, kCarried);
  return wrong.empty() ? look(flow, kFlow) : wrong;
}

}  // namespace merganser::flow
