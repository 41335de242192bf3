#pragma once
/// Name, meaning and range of each FlowOptions, for the command and for checks: no part of the interface.
#include "merganser/base/options.hpp"
#include "merganser/flow/options.hpp"

namespace merganser::flow {

/// Passes name, value, meaning and range of every option of the flow model (FlowOptions) to option(...).
void describe(FlowOptions& o, auto&& option) {
  option("alpha", o.alpha, "time step = this / max(strain rate, buoyancy frequency)", between(1e-6, 10));
  option("max-aspect-ratio", o.max_aspect_ratio, "a/c of a parcel from which on it is split", between(1.01, 1e6));
  option("min-volume-ratio", o.min_volume_ratio, "cell volume / smallest kept volume", between(1e-3, 1e12));
  option("coriolis-y", o.coriolis_y, "horizontal Coriolis parameter, 1/s", between(-1e6, 1e6));
  option("coriolis-z", o.coriolis_z, "vertical Coriolis parameter, 1/s", between(-1e6, 1e6));
  option("corrections", o.corrections, "volume corrections per step", between(0, 100));
  option("gradient-factor", o.gradient_factor, "pull of the gradient correction", between(0, 1e3));
  option("max-compression", o.max_compression, "bound of its displacement", between(0, 1));
  option("damping", o.damping, "damping of vorticity at the walls; 0: none", between(0, 1e6));
  option("keep-surface-vorticity", o.keep_surface_vorticity, "do not hold vertical vorticity at 0 on walls");
  option("mean-vorticity-fixed", o.mean_vorticity_fixed, "hold the mean vorticity at its first value");
  option("rk-order", o.order, "order of the Runge-Kutta scheme", between(3, 4));
  option("fft", o.fft, "library of the Fourier transforms: auto, lanes, kiss, fftw");
}

}  // namespace merganser::flow
