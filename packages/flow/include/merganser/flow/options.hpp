#pragma once
/// What a flow is made of: the numbers of the elliptical parcel model. Source: EPIC 0.14.3; [frey2023].
#include <cstdint>
#include <string>

#include "merganser/base/language.hpp"

namespace merganser::flow {

/// Constants of the model. Defaults are those of the Rayleigh-Taylor runs of [frey2025].
struct FlowOptions {
  double alpha = 0.2;                  ///< time step = alpha / max(strain rate, buoyancy frequency)
  double max_aspect_ratio = 4;         ///< a parcel with a/c from here on is split
  double min_volume_ratio = 20;        ///< cell volume / smallest kept volume
  double coriolis_y = 0;               ///< f_y = 2 Omega cos(latitude), 1/s
  double coriolis_z = 1;               ///< f_z = 2 Omega sin(latitude), 1/s
  std::int64_t corrections = 2;        ///< volume corrections per step, >= 0
  double gradient_factor = 1.8;        ///< pull of the gradient correction
  double max_compression = 0.5;        ///< bound of its displacement
  double damping = 0.03;               ///< surface vorticity damping, 0: none
  bool keep_surface_vorticity = true;  ///< false: vertical vorticity is held at 0 on a wall where it begins as 0
  bool mean_vorticity_fixed = true;    ///< the volume mean of vorticity is held at its first value
  std::int64_t order = 4;              ///< Runge-Kutta: 3 or 4
  std::string fft = "auto";            ///< library of the Fourier transforms: auto, lanes, kiss, fftw
};

}  // namespace merganser::flow
