// Spectral inversion of the flow: moves columns of nodes in and out of the distributed transform, derives the remaining gradients,
// the fluxes of vorticity and the rates that bound the time step.
#include "merganser/flow/inversion.hpp"

#include <algorithm>
#include <cmath>

#include "merganser/base/error.hpp"
#include "src/flow/spectral.hpp"

namespace merganser::flow {
namespace {

using C = CarriedFields;
using F = FlowFields;

/// Splits every `stride`-th value of a column of nodes in z into its parts symmetric and antisymmetric about mid-height.
void fold(const Fold& f, const double* column, std::size_t stride, double* folded) {
  const double* const top = column + f.cells * stride;
  for (std::size_t k = 0; k < f.symmetric; ++k) folded[k] = 0.5 * (column[k * stride] + *(top - k * stride));
  for (std::size_t k = 0; k < f.antisymmetric; ++k)
    folded[f.symmetric + k] = 0.5 * (column[k * stride] - *(top - k * stride));
}

/// Joins the symmetric and the antisymmetric part into every `stride`-th value of a column of nodes in z: the inverse of fold().
void unfold(const Fold& f, const double* folded, double* column, std::size_t stride) {
  double* const top = column + f.cells * stride;
  const double* const odd = folded + f.symmetric;
  if (f.symmetric > f.antisymmetric) column[(f.symmetric - 1) * stride] = folded[f.symmetric - 1];
  for (std::size_t k = 0; k < f.antisymmetric; ++k) {
    column[k * stride] = folded[k] + odd[k];
    *(top - k * stride) = folded[k] - odd[k];
  }
}

/// Extrapolates `count` field values of a column of nodes to one level beyond each wall, by the line through the two nodes next
/// to it.
template <std::size_t kWidth>
void extrapolate(double* column, std::size_t cells, std::size_t first, std::size_t count) {
  for (std::size_t c = first; c < first + count; ++c) {
    double* const low = column + c;
    *(low - kWidth) = 2 * low[0] - low[kWidth];
    double* const high = column + cells * kWidth + c;
    high[kWidth] = 2 * high[0] - *(high - kWidth);
  }
}

/// Extrapolates one flow component of a column of nodes beyond the walls, for components that are 0 there and change their sign.
void reflect(double* column, std::size_t cells, std::size_t component) {
  double* const low = column + component;
  *(low - F::width) = -low[F::width];
  double* const high = column + cells * F::width + component;
  high[F::width] = -*(high - F::width);
}

/// Prefetches `count` doubles of a node field for writing.
void prefetch(const double* begin, std::size_t count) {
#ifdef __GNUC__
  for (std::size_t i = 0; i < count; i += 8) __builtin_prefetch(begin + i, 1);
#endif
}

/// Validates a grid for the spectral inversion: at least 4 cells on each axis, even numbers in x and y, edges within a
/// factor of 2. @throws InputError
void check_spectral_grid(const Grid& grid) {
  for (int a = 0; a < 3; ++a) {
    const std::int64_t cells = grid.cells[static_cast<std::size_t>(a)];
    if (cells < 4 || (a < 2 && cells % 2 != 0))
      throw InputError(std::string("a flow on a grid with ") + std::to_string(cells) + " cells on axis " + "xyz"[a] +
                       "; allowed: at least 4, in x and y an even number");
  }
  const auto [least, most] = std::minmax({grid.spacing(0), grid.spacing(1), grid.spacing(2)});
  if (most > 2 * least)
    throw InputError("a flow on a grid whose cells have edges from " + std::to_string(least) + " to " +
                     std::to_string(most) + "; allowed: a ratio of at most 2");
}

/// Returns this rank's layout of nodes after validating grid and decomposition. @throws InputError, UsageError
NodeLayout checked_layout(comm::Transport& transport, const Decomposition& decomposition) {
  check_spectral_grid(decomposition.grid());
  if (transport.size() != decomposition.ranks())
    throw UsageError("a decomposition for " + std::to_string(decomposition.ranks()) + " ranks on a transport of " +
                     std::to_string(transport.size()) + "; they must be equal");
  return {decomposition, transport.rank()};
}

/// Returns the numbers of cells of a grid along its axes, as unsigned integers.
std::array<std::size_t, 3> num_cells(const Grid& grid) {
  return {static_cast<std::size_t>(grid.cells[0]), static_cast<std::size_t>(grid.cells[1]),
          static_cast<std::size_t>(grid.cells[2])};
}

/// Returns the strain rate at a node, 1/s: the magnitude of the largest eigenvalue of the symmetric part of the velocity gradient,
/// whose trace is 0; or 0 if it is below `known`, the largest so far.
double largest_strain(const double* flow, double known) {
  const double xx = flow[F::u_x];
  const double yy = flow[F::v_y];
  const double zz = -(xx + yy);
  const double xy = 0.5 * (flow[F::u_y] + flow[F::v_x]);
  const double xz = 0.5 * (flow[F::u_z] + flow[F::w_x]);
  const double yz = 0.5 * (flow[F::v_z] + flow[F::w_y]);
  const double p2 = (xx * xx + yy * yy + zz * zz + 2 * (xy * xy + xz * xz + yz * yz)) / 6;
  if (!(p2 > 0)) return p2;              // 0 or not a number
  if (8 * p2 < known * known) return 0;  // the eigenvalue is at most 2 p; the rest is for rounding
  const double p = std::sqrt(p2);
  const double determinant = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz);
  // The largest root of y^3 - 3 y - 2 q = 0 is the eigenvalue over p: in [sqrt(3), 2], where Newton converges from above.
  const double q = std::min(1.0, std::fabs(determinant) / (2 * p2 * p));
  double y = 2;
  for (int step = 0; step < 6; ++step) y -= ((y * y - 3) * y - 2 * q) / (3 * (y * y - 1));
  return p * y;
}

}  // namespace

/// State of the inversion of vorticity on one rank: spectral transforms, tables of columns, fluxes.
struct Inversion::Impl {
  Impl(comm::Transport& transport, const Decomposition& decomposition, const FlowOptions& options)
      : layout(checked_layout(transport, decomposition)),
        halo(transport, decomposition),
        spectral(transport, decomposition, layout, options.fft),
        columns(layout.grid().box.extent, num_cells(layout.grid())),
        coriolis{0, options.coriolis_y, options.coriolis_z} {
    const OwnWaves own = spectral.waves();
    columns.prepare(own.first_k, own.count_k, own.first_l, own.count_l);
  }

  /// Computes velocity and its gradient at this rank's own nodes by the spectral inversion; calls after(i, j) when a column is
  /// complete but for its halo.
  void velocity(CarriedNodes& carried, FlowNodes& flow, auto&& after) {
    const Fold& f = columns.fold();
    const auto pack = [&](std::int64_t i, std::int64_t j, double* values) {
      for (std::size_t c = 0; c < 3; ++c) fold(f, carried.at(i, j, 0) + C::xi + c, C::width, values + c * f.levels());
    };
    const auto unpack = [&](std::int64_t i, std::int64_t j, const double* values) {
      // The next column is written next: it is fetched from memory while this one is computed.
      prefetch(flow.at(i + 1, j, 0), f.levels() * F::width);
      prefetch(carried.at(i + 1, j, 0), f.levels() * C::width);
      unfold_column(values, carried.at(i, j, 0), flow.at(i, j, 0));
      after(i, j);
    };
    spectral.solve(
        3, pack, [&](std::size_t k, std::size_t l, InColumn in, OutColumn out) { columns.velocity(k, l, in, out); },
        Solved::count, unpack);
  }

  /// Unfolds the inverted fields of Solved into a column of nodes, extrapolates them beyond the walls, and derives the remaining
  /// velocity gradients: three follow from the definition of vorticity, so they need no transform.
  void unfold_column(const double* values, double* vorticity, double* to) const {
    const Fold& f = columns.fold();
    const std::size_t levels = f.levels();
    constexpr std::size_t places[] = {F::u, F::v, F::w, F::u_x, F::u_y, F::v_y, F::w_x, F::w_y};
    for (std::size_t c = 0; c < 3; ++c) unfold(f, values + c * levels, vorticity + C::xi + c, C::width);
    for (std::size_t c = 0; c < 8; ++c) unfold(f, values + (Solved::u + c) * levels, to + places[c], F::width);
    extrapolate<C::width>(vorticity, f.cells, C::xi, 3);
    for (const std::size_t c : {F::u, F::v, F::u_x, F::u_y, F::v_y}) extrapolate<F::width>(to, f.cells, c, 1);
    for (const std::size_t c : {F::w, F::w_x, F::w_y}) reflect(to, f.cells, c);
    double* node = to - F::width;
    const double* turn = vorticity - C::width;
    for (std::size_t k = 0; k < levels + 2; ++k, node += F::width, turn += C::width) {
      node[F::u_z] = node[F::w_x] + turn[C::eta];
      node[F::v_x] = node[F::u_y] + turn[C::zeta];
      node[F::v_z] = node[F::w_y] - turn[C::xi];
    }
  }

  /// Computes the fluxes whose divergence is the tendency of vorticity, along each axis at a column of nodes: absolute vorticity
  /// component times velocity, and the terms of buoyancy.
  void compute_fluxes(const CarriedNodes& carried, const FlowNodes& flow, std::int64_t i, std::int64_t j) {
    const std::size_t levels = columns.fold().levels();
    for (fft::Field& f : flux) f.resize(static_cast<std::size_t>(layout.cells(0) * layout.cells(1)) * 3 * levels);
    double* const x = line(flux[0], true, i, j);
    double* const y = line(flux[1], false, i, j);
    double* const z = line(flux[2], false, i, j);
    const double* turn = carried.at(i, j, 0);
    const double* at = flow.at(i, j, 0);
    const double apart = 2 * layout.spacing(2);
    const auto upward = [&](std::size_t k, std::size_t c) {
      return (turn[k * C::width + C::zeta] + coriolis[2]) * at[k * F::width + F::u + c];
    };
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t k = 0; k < levels; ++k) {
        const double velocity = at[k * F::width + F::u + c];
        x[c * levels + k] = (turn[k * C::width + C::xi] + coriolis[0]) * velocity;
        y[c * levels + k] = (turn[k * C::width + C::eta] + coriolis[1]) * velocity;
      }
      double* const up = z + c * levels;
      up[0] = (upward(1, c) - upward(0, c)) / layout.spacing(2);
      up[levels - 1] = (upward(levels - 1, c) - upward(levels - 2, c)) / layout.spacing(2);
      for (std::size_t k = 1; k + 1 < levels; ++k) up[k] = (upward(k + 1, c) - upward(k - 1, c)) / apart;
    }
    for (std::size_t k = 0; k < levels; ++k) {
      x[levels + k] -= turn[k * C::width + C::buoyancy];
      y[k] += turn[k * C::width + C::buoyancy];
    }
  }

  /// Computes the tendency of vorticity, the divergence of the fluxes, on all own columns, and fills its halo. Called by every
  /// rank.
  void tendency(FlowNodes& flow, const std::array<bool, 2>& hold) {
    const std::size_t levels = columns.fold().levels();
    const std::size_t size = 3 * levels;
    spectral.derivative(
        0, 3, [&](auto i, auto j, double* values) { std::copy_n(line(flux[0], true, i, j), size, values); },
        [&](auto i, auto j, const double* values) { std::copy_n(values, size, line(flux[0], true, i, j)); });
    spectral.derivative(
        1, 3, [&](auto i, auto j, double* values) { std::copy_n(line(flux[1], false, i, j), size, values); },
        [&](auto i, auto j, const double* values) {
          const double* const x = line(flux[0], true, i, j);
          const double* const z = line(flux[2], false, i, j);
          double* const column = flow.at(i, j, 0);
          for (std::size_t k = 0; k < levels; ++k)
            for (std::size_t c = 0; c < 3; ++c) {
              const std::size_t at = c * levels + k;
              column[k * F::width + F::xi_t + c] = (x[at] + values[at]) + z[at];
            }
          if (hold[0]) column[F::zeta_t] = 0;
          if (hold[1]) column[(levels - 1) * F::width + F::zeta_t] = 0;
          extrapolate<F::width>(column, levels - 1, F::xi_t, 3);
        });
    halo.fill(flow);
  }

  /// Returns the flux values of column (i, j): stored with i fastest for derivatives along x, with j fastest for those along y.
  [[nodiscard]] double* line(fft::Field& field, bool in_x, std::int64_t i, std::int64_t j) const {
    const std::int64_t at = in_x ? j * layout.cells(0) + i : i * layout.cells(1) + j;
    return field.data() + static_cast<std::size_t>(at) * 3 * columns.fold().levels();
  }

  NodeLayout layout;
  HaloFill halo;
  Spectral spectral;
  Columns columns;
  std::array<double, 3> coriolis;
  // Three components at own nodes: fluxes along x and y, and the vertical derivative of the flux along z.
  std::array<fft::Field, 3> flux;
};

Inversion::Inversion(comm::Transport& transport, const Decomposition& decomposition, const FlowOptions& options)
    : impl_(std::make_unique<Impl>(transport, decomposition, options)) {}
Inversion::~Inversion() = default;
Inversion::Inversion(Inversion&&) noexcept = default;

void Inversion::velocity(CarriedNodes& carried, FlowNodes& flow) {
  impl_->velocity(carried, flow, [](std::int64_t, std::int64_t) {});
  impl_->halo.fill(flow);
}

void Inversion::tendency(const CarriedNodes& carried, FlowNodes& flow, const std::array<bool, 2>& hold) {
  for (std::int64_t i = 0; i < impl_->layout.cells(0); ++i)
    for (std::int64_t j = 0; j < impl_->layout.cells(1); ++j) impl_->compute_fluxes(carried, flow, i, j);
  impl_->tendency(flow, hold);
}

// Inversion and tendency in one pass: fluxes of a column are computed while it is in the cache.
void Inversion::velocity_and_tendency(CarriedNodes& carried, FlowNodes& flow, const std::array<bool, 2>& hold) {
  impl_->velocity(carried, flow, [&](std::int64_t i, std::int64_t j) { impl_->compute_fluxes(carried, flow, i, j); });
  impl_->tendency(flow, hold);
}

// Input of the time step: the largest strain and gradient of buoyancy at this rank's nodes.
StepLimits Inversion::limits(const CarriedNodes& carried, const FlowNodes& flow) const {
  const NodeLayout& layout = impl_->layout;
  const std::array<double, 3> twice{2 * layout.spacing(0), 2 * layout.spacing(1), 2 * layout.spacing(2)};
  const std::size_t step[3] = {layout.stride_i() * C::width, layout.stride_j() * C::width, C::width};
  double strain = 0;
  double square = 0;
  for (std::int64_t i = 0; i < layout.cells(0); ++i)
    for (std::int64_t j = 0; j < layout.cells(1); ++j)
      for (std::int64_t k = 0; k <= layout.cells(2); ++k) {
        const double here = largest_strain(flow.at(i, j, k), strain);
        const double* const b = carried.at(i, j, k) + C::buoyancy;
        double gradient = 0;
        for (std::size_t a = 0; a < 3; ++a) {
          const double slope = (b[step[a]] - *(b - step[a])) / twice[a];
          gradient += slope * slope;
        }
        // Not a number compares false with everything: it is kept explicitly, so that callers find it.
        if (here > strain || here != here) strain = here;
        if (gradient > square || gradient != gradient) square = gradient;
      }
  return {strain, std::sqrt(std::sqrt(square))};
}

// Displacement field by which parcels are moved until their volume is even, a potential flow from the excess of volume.
void Inversion::displacement(const ScalarNodes& excess, VectorNodes& displacement) {
  const Fold& f = impl_->columns.fold();
  const std::size_t levels = f.levels();
  const double twice = 2 * impl_->layout.spacing(2);
  constexpr std::size_t kWidth = VectorNodes::kWidth;
  std::vector<double> chi(levels);
  const auto unpack = [&](std::int64_t i, std::int64_t j, const double* values) {
    double* const to = displacement.at(i, j, 0);
    unfold(f, values, chi.data(), 1);
    unfold(f, values + levels, to, kWidth);
    unfold(f, values + 2 * levels, to + 1, kWidth);
    to[2] = to[f.cells * kWidth + 2] = 0;
    for (std::size_t k = 1; k < f.cells; ++k) to[k * kWidth + 2] = (chi[k + 1] - chi[k - 1]) / twice;
    extrapolate<kWidth>(to, f.cells, 0, 3);
  };
  impl_->spectral.solve(
      1, [&](std::int64_t i, std::int64_t j, double* values) { fold(f, excess.at(i, j, 0), 1, values); },
      [&](std::size_t k, std::size_t l, InColumn in, OutColumn out) { impl_->columns.potential(k, l, in, out); }, 3,
      unpack);
  impl_->halo.fill(displacement);
}

}  // namespace merganser::flow
