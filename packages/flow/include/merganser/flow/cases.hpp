#pragma once
/// Initial conditions of the flow model: vorticity and buoyancy as functions of position, and parcels that sample them.
#include <cstdint>
#include <functional>

#include "merganser/base/choices.hpp"
#include "merganser/flow/options.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

#include "merganser/base/language.hpp"

namespace merganser::flow {

/// Built-in initial conditions of the flow model.
enum class Case : std::uint8_t {
  rayleigh_taylor,  ///< heavy over light fluid in a cube of edge pi, as in [frey2025]
  taylor_green,     ///< vortices of the Taylor-Green flow in half a cube of edge 2 pi, no buoyancy
  thermal           ///< a light sphere at rest below the middle of a cube of edge pi
};

/// Returns the built-in initial conditions of the flow model with their names on the command line (CASE of `merganser flow`).
/// Local.
[[nodiscard]] Choices<Case> cases();

/// Parameters of the flow model's initial conditions; each is used only by the case that its comment names.
struct CaseOptions {
  /// Cells along x and y, an even number; as many along z, in taylor_green half as many. case_grid() refuses odd
  /// numbers only; a flow needs at least 4 cells on every axis, which the spectral inversion checks when the model is
  /// made.
  std::int64_t cells = 32;
  double perturbation = 0.1;      ///< rayleigh_taylor: amplitude of the buoyancy perturbation of the layers, m/s^2
  double amplitude = 1;           ///< taylor_green: amplitude of the velocity, m/s
  double thermal_buoyancy = 1;    ///< thermal: buoyancy inside the sphere, m/s^2
  double thermal_radius = 0.5;    ///< thermal: radius of the sphere, in the length unit of the box
  double thermal_height = -0.75;  ///< thermal: z of the centre of the sphere; the box reaches from -pi/2 to pi/2
};

/// Vorticity and buoyancy of an initial condition of the flow at one node of the grid.
struct NodeValues {
  double xi = 0;        ///< vorticity along x, 1/s
  double eta = 0;       ///< vorticity along y, 1/s
  double zeta = 0;      ///< vorticity along z, 1/s
  double buoyancy = 0;  ///< buoyancy, m/s^2
};
/// Function that evaluates an initial condition of the flow at the position of a node; called concurrently by ranks that are
/// threads.
using InitialFields = std::function<NodeValues(const Vec3& node)>;

/// Returns the grid (box and numbers of cells) of an initial condition of the flow. Local.
/// @throws InputError if options.cells is odd; a number too small for a flow is refused when the model is made
[[nodiscard]] Grid case_grid(Case which, const CaseOptions& options);
/// Returns vorticity and buoyancy of an initial condition of the flow as a function of position. Local.
[[nodiscard]] InitialFields case_fields(Case which, const CaseOptions& options);
/// Sets the Coriolis parameters of the flow options to those of an initial condition: f_z = 1 for rayleigh_taylor, 0 for the
/// others; f_y = 0. Local.
void apply_case(Case which, FlowOptions& options);

/// Creates the initial parcels of a flow in one rank's block: eight spheres per cell at its quarter points, with the trilinear
/// mean of the vorticity and buoyancy at the eight nodes of the cell. Local; the union over ranks does not depend on their
/// number.
/// @return parcels with flow::schema() and the ids that renumber() gives
/// @throws UsageError unless the decomposition is by cells
[[nodiscard]] Parcels fill(const Decomposition& decomposition, int rank, const InitialFields& fields);

}  // namespace merganser::flow
