#pragma once
/// Options of the elliptical parcel model, its physical constants and numerical parameters. Source: EPIC 0.14.3; [frey2023].
#include <cstdint>
#include <string>

#include "merganser/base/language.hpp"

namespace merganser::flow {

/// Options of the flow model. Defaults are those of the Rayleigh-Taylor runs of [frey2025].
struct FlowOptions {
  double alpha = 0.2;                  ///< factor of the time step = alpha / max(strain rate, buoyancy frequency)
  double max_aspect_ratio = 4;         ///< a parcel whose aspect ratio a/c reaches this is split, > 1
  double min_volume_ratio = 20;        ///< cell volume / smallest kept volume
  double coriolis_y = 0;               ///< f_y = 2 Omega cos(latitude), 1/s
  double coriolis_z = 1;               ///< f_z = 2 Omega sin(latitude), 1/s
  std::int64_t corrections = 2;        ///< corrections of parcel positions per step that even out volume, >= 0
  double gradient_factor = 1.8;        ///< strength of the gradient correction [-], >= 0
  double max_compression = 0.5;        ///< bound of the displacement by the gradient correction [-], in [0, 1]
  double damping = 0.03;               ///< damping of vorticity at the walls [-], 0: none
  bool keep_surface_vorticity = true;  ///< false: vertical vorticity is held at 0 on a wall where it begins as 0
  bool mean_vorticity_fixed = true;    ///< true: the volume mean of vorticity is held at its first value
  std::int64_t order = 4;              ///< order of the Runge-Kutta scheme: 3 or 4
  std::string fft = "auto";            ///< library of the Fourier transforms: auto, lanes, kiss, fftw
};

}  // namespace merganser::flow
