#pragma once
/// Name, meaning and range of each CaseOptions, for the command and for checks: no part of the interface.
#include "merganser/base/options.hpp"
#include "merganser/flow/cases.hpp"

namespace merganser::flow {

/// Passes name, value, meaning and range of every parameter of the flow's initial conditions (CaseOptions) to option(...).
void describe(CaseOptions& o, auto&& option) {
  option("cells", o.cells, "cells along x; even, at least 4", between(4, 1 << 20));
  option("perturbation", o.perturbation, "rayleigh-taylor: amplitude of the perturbation", between(0, 1e6));
  option("amplitude", o.amplitude, "taylor-green: amplitude of the velocity", between(1e-6, 1e6));
  option("thermal-buoyancy", o.thermal_buoyancy, "thermal: buoyancy of the sphere", between(1e-6, 1e6));
  option("thermal-radius", o.thermal_radius, "thermal: its radius", between(1e-3, 1e3));
  option("thermal-height", o.thermal_height, "thermal: z of its centre, the middle of the box is 0",
         between(-1e3, 1e3));
}

}  // namespace merganser::flow
