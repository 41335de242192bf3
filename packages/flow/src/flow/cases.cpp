// Initial conditions of the flow model: fields of the three cases, and the eight parcels per cell that sample them.
#include "merganser/flow/cases.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/flow/transfer.hpp"
#include "merganser/parcels/detail/ellipsoid.hpp"

namespace merganser::flow {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr std::int64_t kIdsPerCell = std::int64_t{1} << 20;  // ids per cell, as renumber() gives them

/// Evaluates the Rayleigh-Taylor initial condition of [frey2025] at p: unstable stratification with a perturbation that is 0 at
/// the walls.
NodeValues rayleigh_taylor(const CaseOptions& o, const Vec3& p) {
  const double h =
      std::cos(4 * p[0]) * std::cos(2 * p[1] + kPi / 6) + std::sin(2 * p[0] + kPi / 6) * std::sin(4 * p[1]);
  const double c = std::cos(p[2]);
  return {0, 0, 0, -std::sin(p[2]) + o.perturbation * (c * c) * h};
}

/// Evaluates the Taylor-Green initial condition at p: the vorticity of u = sin x cos y cos z, v = -cos x sin y cos z, w = 0.
NodeValues taylor_green(const CaseOptions& o, const Vec3& p) {
  const double sx = std::sin(p[0]), cx = std::cos(p[0]);
  const double sy = std::sin(p[1]), cy = std::cos(p[1]);
  const double sz = std::sin(p[2]), cz = std::cos(p[2]);
  return {-o.amplitude * cx * sy * sz, -o.amplitude * sx * cy * sz, 2 * o.amplitude * sx * sy * cz, 0};
}

/// Evaluates the initial condition of a buoyant thermal at p: full buoyancy within four fifths of the radius, falling to 0 at its
/// end; a little wider along x than along y, so that the rise does not stay symmetric about its axis.
NodeValues thermal(const CaseOptions& o, const Vec3& p) {
  const double x = p[0] / 1.05, y = p[1] / 0.95, z = p[2] - o.thermal_height;
  const double r = std::sqrt((x * x + y * y) + z * z) / o.thermal_radius;
  const double s = std::clamp((1 - r) / 0.2, 0.0, 1.0);
  return {0, 0, 0, o.thermal_buoyancy * (s * s * (3 - 2 * s))};
}

/// Vorticity and buoyancy of an initial condition at the eight nodes of a cell, x slowest.
using Corners = std::array<NodeValues, 8>;

/// Evaluates an initial condition at the eight nodes of a cell. Node indices wrap along periodic axes, so that the last cell
/// reads the very position of the first node and ranks on both sides of the boundary agree to the bit.
Corners evaluate_corners(const Grid& grid, const InitialFields& fields, const std::array<std::int64_t, 3>& cell) {
  Corners out;
  for (std::size_t n = 0; n < out.size(); ++n) {
    Vec3 at{};
    for (std::size_t a = 0; a < 3; ++a) {
      std::int64_t i = cell[a] + static_cast<std::int64_t>(n >> (2 - a) & 1);
      if (grid.box.periodic[a]) i %= grid.cells[a];
      at[a] = grid.box.lower[a] + static_cast<double>(i) * grid.spacing(static_cast<int>(a));
    }
    out[n] = fields(at);
  }
  return out;
}

/// Interpolates an initial condition trilinearly at quarter point `place` of a cell, whose weights are 3/4 and 1/4 along each axis.
NodeValues at_quarter(const Corners& corners, std::size_t place) {
  NodeValues out;
  for (std::size_t n = 0; n < corners.size(); ++n) {
    double weight = 1;
    for (std::size_t a = 0; a < 3; ++a) weight *= (n >> a & 1) == (place >> a & 1) ? 0.75 : 0.25;
    out.xi += weight * corners[n].xi;
    out.eta += weight * corners[n].eta;
    out.zeta += weight * corners[n].zeta;
    out.buoyancy += weight * corners[n].buoyancy;
  }
  return out;
}

/// Builder of a rank's parcels of an initial condition of the flow: appends the eight spheres of one cell after the other.
class Filler {
 public:
  Filler(const Grid& grid, const InitialFields& fields)
      : grid_(grid),
        fields_(fields),
        out_(schema()),
        row_(out_.schema().width(), 0.0),
        volume_(grid.cell_volume() / 8),
        vorticity_(out_.schema().offset("vorticity")),
        buoyancy_(out_.schema().offset("buoyancy")) {
    const double abc = detail::semi_axes_product(volume_);
    double* const b = row_.data() + out_.schema().offset("B");
    b[0] = b[3] = cube_root(abc * abc);
  }

  /// Makes room for the parcels of a number of cells.
  void reserve(std::int64_t cells) { out_.reserve(8 * static_cast<std::size_t>(cells)); }

  /// Appends the eight initial parcels of a grid cell, with ids that do not depend on the number of ranks.
  void cell(const std::array<std::int64_t, 3>& c) {
    const Corners corners = evaluate_corners(grid_, fields_, c);
    const std::int64_t number = (c[0] * grid_.cells[1] + c[1]) * grid_.cells[2] + c[2];
    for (std::size_t place = 0; place < corners.size(); ++place) {
      Vec3 at{};
      for (std::size_t a = 0; a < 3; ++a)
        at[a] = grid_.box.lower[a] + (static_cast<double>(c[a]) + ((place >> (2 - a) & 1) != 0 ? 0.75 : 0.25)) *
                                         grid_.spacing(static_cast<int>(a));
      const NodeValues v = at_quarter(corners, place);
      row_[vorticity_] = v.xi;
      row_[vorticity_ + 1] = v.eta;
      row_[vorticity_ + 2] = v.zeta;
      row_[buoyancy_] = v.buoyancy;
      out_.append({at[0], at[1], at[2], volume_}, row_.data());
      out_.set_id(out_.size() - 1, 2 * (number * kIdsPerCell + static_cast<std::int64_t>(place)));
    }
  }
  /// Returns the parcels appended so far and leaves the builder empty.
  Parcels release() { return std::move(out_); }

 private:
  const Grid& grid_;
  const InitialFields& fields_;
  Parcels out_;
  std::vector<double> row_;
  double volume_;
  std::size_t vorticity_, buoyancy_;
};

}  // namespace

Choices<Case> cases() {
  return {
      {{"rayleigh-taylor", Case::rayleigh_taylor}, {"taylor-green", Case::taylor_green}, {"thermal", Case::thermal}}};
}

// Box and cells of an initial condition; other limits of the spectral inversion are checked when the model is made.
Grid case_grid(Case which, const CaseOptions& options) {
  const std::int64_t n = options.cells;
  if (n % 2 != 0)
    throw InputError("a flow on " + std::to_string(n) + " cells along x; allowed: an even number of cells");
  if (which == Case::taylor_green)
    return {{{-kPi, -kPi, 0}, {2 * kPi, 2 * kPi, kPi}, {true, true, false}}, {n, n, n / 2}};
  return {{{-kPi / 2, -kPi / 2, -kPi / 2}, {kPi, kPi, kPi}, {true, true, false}}, {n, n, n}};
}

// Fields of an initial condition as a function, which copies the options.
InitialFields case_fields(Case which, const CaseOptions& options) {
  const auto fields = which == Case::rayleigh_taylor ? rayleigh_taylor
                      : which == Case::taylor_green  ? taylor_green
                                                     : thermal;
  return [fields, options](const Vec3& node) { return fields(options, node); };
}

void apply_case(Case which, FlowOptions& options) {
  options.coriolis_y = 0;
  options.coriolis_z = which == Case::rayleigh_taylor ? 1 : 0;
}

// Initial parcels of one rank: the cells of its block, each filled by itself, so that no communication is needed.
Parcels fill(const Decomposition& decomposition, int rank, const InitialFields& fields) {
  decomposition.require_cells("an initial condition");
  const std::array<int, 3> at = decomposition.coordinates(rank);
  std::array<std::int64_t, 3> first{}, end{};
  for (int a = 0; a < 3; ++a) {
    const auto s = static_cast<std::size_t>(a);
    first[s] = decomposition.cut(a, at[s]);
    end[s] = decomposition.cut(a, at[s] + 1);
  }
  Filler filler(decomposition.grid(), fields);
  filler.reserve((end[0] - first[0]) * (end[1] - first[1]) * (end[2] - first[2]));
  std::array<std::int64_t, 3> c{};
  for (c[0] = first[0]; c[0] < end[0]; ++c[0])
    for (c[1] = first[1]; c[1] < end[1]; ++c[1])
      for (c[2] = first[2]; c[2] < end[2]; ++c[2]) filler.cell(c);
  return filler.release();
}

}  // namespace merganser::flow
