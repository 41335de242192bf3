#pragma once
/// Numbers that are no numbers any more: found where they arise.
#include <string>

#include "merganser/flow/nodes.hpp"

namespace merganser::flow {

/// What is not finite at this rank's own nodes, and where: "u is nan at x = 0.1, y = 0.2, z = 0.3". Empty: nothing.
[[nodiscard]] std::string not_finite(const CarriedNodes& carried, const FlowNodes& flow);

}  // namespace merganser::flow
