#pragma once
/// Spectral solver of the flow model on a grid: velocity, its gradient and the tendency of vorticity from vorticity and
/// buoyancy, and the displacement that evens out parcel volumes. Fourier series in x and y, harmonic functions with sine
/// and cosine series in z. Source: EPIC 0.14.3; [frey2023].
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "merganser/flow/nodes.hpp"
#include "merganser/flow/options.hpp"

namespace merganser::flow {

/// Largest rates of the flow at one rank's nodes, which bound the time step; filled by Inversion::limits(). The limits of the
/// whole grid are the maxima over ranks.
struct StepLimits {
  double strain = 0;     ///< largest absolute eigenvalue of the symmetric velocity gradient, 1/s
  double frequency = 0;  ///< largest buoyancy frequency, sqrt(|grad b|), 1/s
};

/// Returns the names of the libraries of Fourier transforms in this build: "lanes" (of this module, always present), then "fftw"
/// and "kiss" where they were found. "auto" stands for the first, "lanes". Local.
[[nodiscard]] std::vector<std::string> fft_libraries();

/// Spectral solver of the flow model: inverts vorticity for velocity on a grid whose columns of nodes are distributed over ranks.
/// Every result has the same bits for any number of ranks and any communication model.
class Inversion {
 public:
  /// Prepares the Fourier transforms and the tables of harmonic functions for the spectral inversion on a grid. Collective.
  /// @throws InputError if the grid has an odd number of cells in x or y, fewer than 4 along an axis, or an aspect ratio of
  /// cells above 2; UsageError for an FFT library that this build lacks, with those that it has
  Inversion(comm::Transport& transport, const Decomposition& decomposition, const FlowOptions& options);
  ~Inversion();
  Inversion(Inversion&&) noexcept;

  /// Computes the velocity of the flow and its gradient at the nodes from vorticity. Called by every rank; communicates along
  /// rows and columns of ranks.
  /// @param carried  vorticity at own nodes, k = 0 .. nz; overwritten by the filtered vorticity without divergence, and on the ghost
  ///                 level beyond each wall by its extrapolation; its halo in x and y is not changed
  /// @param flow     output: velocity and its derivatives, FlowFields::u to w_y, at all nodes, halo and ghost levels included
  void velocity(CarriedNodes& carried, FlowNodes& flow);
  /// Computes the tendency of vorticity into FlowFields::xi_t .. zeta_t at all nodes, from vorticity and buoyancy in
  /// `carried` and the velocity in `flow` as velocity() left them. Called by every rank; communicates along rows and
  /// columns of ranks.
  /// @param hold  for the lower and the upper wall: true sets zeta_t to 0 on it
  void tendency(const CarriedNodes& carried, FlowNodes& flow, const std::array<bool, 2>& hold);
  /// Computes velocity, its gradient and the tendency of vorticity at the nodes: the same bits as velocity() followed by
  /// tendency(), with fewer passes over the nodes and one wave for the halo. Called by every rank; communicates along rows and
  /// columns of ranks.
  /// @param hold  for the lower and the upper wall: true sets zeta_t to 0 on it
  void velocity_and_tendency(CarriedNodes& carried, FlowNodes& flow, const std::array<bool, 2>& hold);
  /// Returns the largest strain rate and buoyancy frequency at this rank's own nodes, which bound the time step; not a number if
  /// a field is not. Local.
  /// @param carried  buoyancy at all nodes, halo included
  [[nodiscard]] StepLimits limits(const CarriedNodes& carried, const FlowNodes& flow) const;
  /// Computes the displacement that evens out parcel volumes, grad(chi) where Laplace(chi) = excess, at all nodes, halo included;
  /// the horizontal mean of excess counts as 0. Called by every rank; communicates along rows and columns of ranks.
  /// @param excess  at own nodes, k = 0 .. nz: gathered volume / cell volume - 1
  void displacement(const ScalarNodes& excess, VectorNodes& displacement);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace merganser::flow
