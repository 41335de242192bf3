#pragma once
/// NodeValues conditions: fields given at the nodes, and the parcels that carry them.
#include <cstdint>
#include <functional>

#include "merganser/base/choices.hpp"
#include "merganser/flow/options.hpp"
#include "merganser/geometry/decomposition.hpp"
#include "merganser/parcels/parcels.hpp"

#include "merganser/base/language.hpp"

namespace merganser::flow {

/// What a run begins with.
enum class Case : std::uint8_t {
  rayleigh_taylor,  ///< heavy over light fluid in a cube of edge pi, as in [frey2025]
  taylor_green,     ///< vortices of the Taylor-Green flow in half a cube of edge 2 pi, no buoyancy
  thermal           ///< a light sphere at rest below the middle of a cube of edge pi
};

/// Names of the cases, as options have them.
[[nodiscard]] Choices<Case> cases();

/// Numbers of the cases. Each is used by the case that it is named for.
struct CaseOptions {
  std::int64_t cells = 32;        ///< along x; y as many; z as many, taylor_green half as many
  double perturbation = 0.1;      ///< rayleigh_taylor: amplitude of the buoyancy that breaks the layers
  double amplitude = 1;           ///< taylor_green: of the velocity
  double thermal_buoyancy = 1;    ///< thermal: within the sphere, m/s^2
  double thermal_radius = 0.5;    ///< thermal: of the sphere, in units of the box
  double thermal_height = -0.75;  ///< thermal: z of its centre; the box reaches from -pi/2 to pi/2
};

/// Vorticity and buoyancy at a point.
struct NodeValues {
  double xi = 0;        ///< vorticity along x, 1/s
  double eta = 0;       ///< along y
  double zeta = 0;      ///< along z
  double buoyancy = 0;  ///< m/s^2
};
/// Gives them at a node.
using InitialFields = std::function<NodeValues(const Vec3& node)>;

/// Box and cells of a case. @throws InputError for an odd number of cells
[[nodiscard]] Grid case_grid(Case which, const CaseOptions& options);
/// Fields of a case.
[[nodiscard]] InitialFields case_fields(Case which, const CaseOptions& options);
/// Sets what goes with a case: rotation for rayleigh_taylor, none for the others.
void apply_case(Case which, FlowOptions& options);

/// Eight spheres in every cell of a rank, at its quarter points, with the trilinear mean of what the nodes of the cell have;
/// flow::schema(), ids as renumber() gives them. The same parcels for any number of ranks. Local.
/// @throws UsageError unless the decomposition is by cells
[[nodiscard]] Parcels fill(const Decomposition& decomposition, int rank, const InitialFields& fields);

}  // namespace merganser::flow
