#pragma once
/// From the vorticity at the nodes to the flow: velocity, its gradient, the tendency of vorticity, and the potential that
/// evens out volumes. Fourier series in x and y, harmonic functions with sine and cosine series in z.
/// Source: EPIC 0.14.3; [frey2023].
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "merganser/flow/nodes.hpp"
#include "merganser/flow/options.hpp"

namespace merganser::flow {

/// What bounds the time step, over all nodes of all ranks once reduced with max.
struct StepLimits {
  double strain = 0;     ///< largest absolute eigenvalue of the symmetric velocity gradient, 1/s
  double frequency = 0;  ///< largest sqrt(|grad b|), 1/s
};

/// The libraries of Fourier transforms in this build, best first: "lanes" (the one of this module, always there), "kiss" and
/// "fftw" where they were found. "auto" is the first.
[[nodiscard]] std::vector<std::string> fft_libraries();

/// Solves on the nodes. Every result has the same bits for any number of ranks and any model of communication.
class Inversion {
 public:
  /// Collective. @throws InputError if the grid has an odd number of cells in x or y, or fewer than 4 in an axis, or an
  /// aspect ratio of cells above 2; UsageError for an FFT library that is not there, with those that are
  Inversion(comm::Transport& transport, const Decomposition& decomposition, const FlowOptions& options);
  ~Inversion();
  Inversion(Inversion&&) noexcept;

  /// Velocity and gradients from vorticity; called by every rank, talks along rows and columns of ranks.
  /// @param carried  vorticity at own nodes, k = 0 .. nz; replaced there by what is filtered and free of divergence,
  ///                 with the levels beyond the walls extrapolated; its halo in x and y is left as it was
  /// @param flow     gets FlowFields::u .. w_y at all nodes, halo and levels beyond the walls included
  void velocity(CarriedNodes& carried, FlowNodes& flow);
  /// The tendency of vorticity, into FlowFields::xi_t .. zeta_t at all nodes, from vorticity and buoyancy in `carried` and the
  /// velocity in `flow` as velocity() left them. Called by every rank.
  /// @param hold  lower and upper wall: zeta_t is 0 there
  void tendency(const CarriedNodes& carried, FlowNodes& flow, const std::array<bool, 2>& hold);
  /// velocity(), then tendency(): the same bits with fewer passes over the nodes and one wave for the halo. Called by every
  /// rank.
  void velocity_and_tendency(CarriedNodes& carried, FlowNodes& flow, const std::array<bool, 2>& hold);
  /// What bounds the time step on this rank's nodes. Local.
  /// @param carried  buoyancy at all nodes, halo included
  [[nodiscard]] StepLimits limits(const CarriedNodes& carried, const FlowNodes& flow) const;
  /// grad(chi) where Laplace(chi) = excess, at all nodes, halo included; the horizontal mean of excess counts as 0.
  /// Called by every rank.
  /// @param excess  at own nodes, k = 0 .. nz: gathered volume / cell volume - 1
  void displacement(const ScalarNodes& excess, VectorNodes& displacement);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser::flow
