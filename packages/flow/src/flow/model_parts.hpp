#pragma once
/// Private parts of flow::Model: the Runge-Kutta schemes, exact sums over ranks, conversion of schemas, and the search for
/// values that are not finite.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/base/exact_sum.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/flow/nodes.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::flow {

/// Coefficients of one stage of a low-storage Runge-Kutta scheme: r <- a r + f(y), y <- y + b dt r.
struct RungeKuttaStage {
  double a;
  double b;
};
/// Returns the stages of the low-storage Runge-Kutta scheme of order 3 (three stages) or 4 (five stages).
[[nodiscard]] std::span<const RungeKuttaStage> stages(std::int64_t order);

/// Returns the sums over all ranks of each element of `mine`, exact until the final rounding. Collective.
[[nodiscard]] std::vector<double> sum_over_ranks(const std::vector<ExactSum>& mine, comm::Transport& transport);

/// Converts parcels to flow::schema(), which has Runge-Kutta registers; attributes that they lack become 0. Local.
[[nodiscard]] Parcels with_registers(Parcels parcels);

/// Describes the first value of the flow's fields that is not finite at this rank's own nodes: "u is nan at the node x = 0.1, y =
/// 0.2, z = 0.3"; empty if all are finite. Local.
[[nodiscard]] std::string find_not_finite(const CarriedNodes& carried, const FlowNodes& flow);

}  // namespace merganser::flow
