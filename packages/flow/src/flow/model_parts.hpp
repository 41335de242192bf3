#pragma once
/// What a Model is put together from: the scheme in time, sums over all ranks, parcels with registers, numbers that are
/// no numbers any more.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/base/exact_sum.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/flow/nodes.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::flow {

/// One of a low-storage scheme: r <- a r + f(y), y <- y + b dt r.
struct Stage {
  double a;
  double b;
};
/// Those of the scheme of order 3 or 4.
[[nodiscard]] std::span<const Stage> stages(std::int64_t order);

/// Sums of all ranks, exact until rounded. Collective.
[[nodiscard]] std::vector<double> totals(const std::vector<ExactSum>& mine, comm::Transport& transport);

/// The parcels with the attributes of flow::schema(); what they lack is 0.
[[nodiscard]] Parcels with_registers(Parcels parcels);

/// What is not finite at this rank's own nodes, and where: "u is nan at x = 0.1, y = 0.2, z = 0.3". Empty: nothing.
[[nodiscard]] std::string not_finite(const CarriedNodes& carried, const FlowNodes& flow);

}  // namespace merganser::flow
