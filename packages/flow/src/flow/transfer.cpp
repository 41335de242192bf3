// Transfer of the flow model between parcels and nodes: gather of volume, vorticity and buoyancy column by column, interpolation
// back in the Runge-Kutta stages and corrections, and damping of vorticity at the walls.
#include "merganser/flow/transfer.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/flow/migrate.hpp"
#include "src/flow/kernels.hpp"
#include "src/flow/node_sums.hpp"
#include "src/flow/placement.hpp"

namespace merganser::flow {

namespace {

/// Returns the strain rate of the flow at a node, 1/s, for the damping at walls: sqrt(2 S:S), S the symmetric part of the
/// velocity gradient.
double strain(const double* f) {
  const double w_z = -(f[FlowFields::u_x] + f[FlowFields::v_y]);
  const double xy = 0.5 * (f[FlowFields::u_y] + f[FlowFields::v_x]);
  const double xz = 0.5 * (f[FlowFields::u_z] + f[FlowFields::w_x]);
  const double yz = 0.5 * (f[FlowFields::v_z] + f[FlowFields::w_y]);
  const double diagonal = f[FlowFields::u_x] * f[FlowFields::u_x] + f[FlowFields::v_y] * f[FlowFields::v_y] + w_z * w_z;
  return std::sqrt(2 * (diagonal + 2 * (xy * xy + xz * xz + yz * yz)));
}

}  // namespace

// Schema of the flow's parcels: EPIC's attributes and the registers of the Runge-Kutta scheme.
const Schema& schema() {
  static const Schema all = [] {
    std::vector<Attribute> attributes = Schema::epic().attributes();
    attributes.push_back({"registers",
                          11,
                          Rule::centre,
                          {"x_rate", "y_rate", "z_rate", "x_vorticity_rate", "y_vorticity_rate", "z_vorticity_rate",
                           "B11_rate", "B12_rate", "B13_rate", "B22_rate", "B23_rate"},
                          ""});
    return Schema(std::move(attributes));
  }();
  return all;
}

/// State of the transfer between parcels and nodes on one rank: placement of the parcels, sums at nodes, damping.
struct Transfer::Impl {
  NodeLayout layout;
  FlowOptions options;
  Placement placement;
  NodeSums carried_sums;
  NodeSums volume_sums;
  HaloFill halo;
  WindowWeights weighed;
  bool moved = false;  // whether positions have been advanced or corrected since locate()
  std::vector<double, AlignedAllocator<double>> line;
  std::array<std::vector<double>, 2> share;  // 1 - exp(-damping strain dt), at the nodes of the walls
  std::vector<std::uint32_t>
      left;  // indices of parcels that may have left; one more, as watch() writes before it counts
  Leavers watched{};

  Impl(comm::Transport& transport, const Decomposition& decomposition, const FlowOptions& o)
      : layout(decomposition, transport.rank()),
        options(o),
        placement(layout),
        carried_sums(transport, decomposition, layout, 5),
        volume_sums(transport, decomposition, layout, 1),
        halo(transport, decomposition),
        line(std::max(carried_sums.line_length(), volume_sums.line_length())) {
    const InteriorBounds sure = interior_bounds(decomposition, transport.rank());
    watched = {{sure.low[0], sure.low[1]}, {sure.high[0], sure.high[1]}, nullptr, 0};
  }

  /// Returns the distances between lines of nodes in the layout of this rank's node fields.
  [[nodiscard]] Lines lines() const { return {layout.stride_i(), layout.stride_j()}; }
  /// Returns an empty list, with room for all parcels, of those that may leave the rank's block.
  Leavers& leavers() {
    left.resize(placement.size() + 1);
    watched.index = left.data();
    watched.count = 0;
    return watched;
  }
  /// Returns the number of nodes of a line in z, with one level beyond each wall.
  [[nodiscard]] std::size_t nodes_in_line() const { return static_cast<std::size_t>(layout.cells(2)) + 3; }
  /// Validates that there are as many flow parcels as when locate() found their cells. @throws UsageError
  void require_located(const Parcels& parcels) const {
    if (parcels.size() != placement.size())
      throw UsageError("a transfer with " + std::to_string(parcels.size()) + " parcels after locate() of " +
                       std::to_string(placement.size()) + "; call locate() after parcels came or went");
  }

  /// Validates that the parcels are as many as at locate(), and computes their order. @throws UsageError
  void require_order(const Parcels& parcels) {
    require_located(parcels);
    placement.prepare_order(parcels);
  }
  /// Validates that the parcels are as many as at locate() and have not moved since, and computes their order. @throws UsageError
  void require_positions(const Parcels& parcels) {
    require_order(parcels);
    if (moved) throw UsageError("a correction of positions that have moved since locate(); call locate() first");
    moved = true;
  }
  /// Validates that the parcels are as many as at locate(), and computes the four points of each. @throws UsageError, InputError
  void require_points(const Parcels& parcels) {
    require_located(parcels);
    placement.prepare(parcels, placement.size());
  }

  /// Calls scatter(parcels, window of their column) for parcels of all columns of cells, in their order, and sums the windows at the
  /// nodes. Called by every rank. @param keep  true: points are stored for advance()
  void accumulate_columns(const Parcels& parcels, bool keep, NodeSums& sums, const auto& scatter) {
    weighed.batch = ~std::size_t{0};
    const auto height = static_cast<std::size_t>(layout.cells(2));
    const auto columns = static_cast<std::size_t>(layout.cells(0) * layout.cells(1));
    std::size_t at = 0;
    sums.begin();
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t end = placement.first()[(column + 1) * height];
      double* const window = sums.open();
      while (at < end) {
        const ParcelRange run = placement.piece(parcels, at, end, keep);
        scatter(run, window);
        at = run.end;
      }
      sums.close();
    }
    sums.finish();
  }

  /// Finds this rank's first parcel whose volume, vorticity or buoyancy is not finite, and throws InputError with its id.
  [[noreturn]] void throw_bad_parcel(const Parcels& parcels) const {
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      const double* const row = parcels.row(i);
      for (std::size_t c = Row::vorticity; c <= Row::buoyancy; ++c)
        if (!std::isfinite(row[c]) || !std::isfinite(parcels.site(i).volume))
          throw InputError("parcel " + std::to_string(parcels.id(i)) + " has volume " +
                           std::to_string(parcels.site(i).volume) + ", vorticity (" + std::to_string(row[1]) + ", " +
                           std::to_string(row[2]) + ", " + std::to_string(row[3]) + "), buoyancy " +
                           std::to_string(row[4]) + "; allowed: finite numbers");
    }
    throw InputError(
        "sums at nodes are not finite, by a parcel of another rank or by overflow; allowed: finite numbers");
  }

  /// Computes, at the nodes of both walls, the share in [0, 1] by which damping relaxes parcel vorticity towards that of the wall
  /// within dt.
  void compute_damping_shares(const FlowNodes& flow, double dt) {
    for (const std::size_t wall : {0U, 1U}) {
      share[wall].clear();
      const std::int64_t k = wall == 0 ? 0 : layout.cells(2);
      for (std::int64_t i = -1; i <= layout.cells(0) + 1; ++i)
        for (std::int64_t j = -1; j <= layout.cells(1) + 1; ++j)
          share[wall].push_back(1 - std::exp(-options.damping * strain(flow.at(i, j, k)) * dt));
    }
  }

  /// Damps the vorticity of the parcel at position `place` towards that of the wall: each of its four points contributes at the
  /// wall nodes of its cell.
  void damp_parcel(Parcels& parcels, const CarriedNodes& carried, std::size_t place) const {
    const Batch& batch = placement.all().batches[place / kBatch];
    const std::size_t lane = place % kBatch;
    double* const vorticity = parcels.row(placement.order()[place]) + Row::vorticity;
    double change[3] = {0, 0, 0};
    for (int point = 0; point < 4; ++point) {
      std::int64_t node[3];
      double share_of[3][2];
      const auto find = [&](int a) {
        const double offset = point == 0 || point == 3 ? batch.first[a][lane] : batch.second[a][lane];
        const double x = point < 2 ? batch.centre[a][lane] + offset : batch.centre[a][lane] - offset;
        node[a] = static_cast<std::int64_t>(std::floor(x)) - layout.first(a);
        share_of[a][1] = x - std::floor(x);
        share_of[a][0] = 1 - share_of[a][1];
      };
      find(2);
      if (node[2] > 0 && node[2] + 1 < layout.cells(2)) continue;  // no node of a wall
      find(0);
      find(1);
      for (const std::size_t wall : {0U, 1U}) {
        const std::int64_t k = wall == 0 ? 0 : layout.cells(2);
        if (k < node[2] || k > node[2] + 1) continue;
        for (int n = 0; n < 4; ++n) {
          const std::int64_t i = node[0] + n / 2;
          const std::int64_t j = node[1] + n % 2;
          const double weight = 0.25 * share_of[0][n / 2] * share_of[1][n % 2] * share_of[2][k - node[2]];
          const double by = weight * share[wall][static_cast<std::size_t>((i + 1) * (layout.cells(1) + 3) + j + 1)];
          const double* const wanted = carried.at(i, j, k) + CarriedFields::xi;
          for (int c = 0; c < 3; ++c) change[c] += by * (wanted[c] - vorticity[c]);
        }
      }
    }
    for (int c = 0; c < 3; ++c) vorticity[c] += change[c];
  }
};

Transfer::Transfer(comm::Transport& transport, const Decomposition& decomposition, const FlowOptions& options)
    : impl_(std::make_unique<Impl>(transport, decomposition, options)) {}
Transfer::~Transfer() = default;
Transfer::Transfer(Transfer&&) noexcept = default;

void Transfer::locate(const Parcels& parcels, Shapes shapes, IdOrder ids) {
  if (parcels.schema() != schema()) throw UsageError("parcels of another schema; allowed: that of flow::schema()");
  impl_->placement.locate(parcels, shapes, ids);
  impl_->moved = false;
}

void Transfer::arrange(Parcels& parcels) {
  impl_->require_located(parcels);
  impl_->placement.arrange(parcels);
}

// Transfer from parcels to nodes: volume-weighted means of vorticity and buoyancy.
void Transfer::gather(const Parcels& parcels, CarriedNodes& carried) {
  Impl& m = *impl_;
  m.require_located(parcels);
  m.accumulate_columns(parcels, true, m.carried_sums, [&](const ParcelRange& run, double* window) {
    scatter_carried(parcels.sites(), parcels.rows(), run, m.placement.cells(), m.carried_sums.window_lines(), m.weighed,
                    window);
  });
  bool good = true;
  for (std::int64_t i = 0; i < m.layout.cells(0); ++i)
    for (std::int64_t j = 0; j < m.layout.cells(1); ++j) {
      m.carried_sums.sum_at_line(i, j, m.line.data());
      const CarriedLine sums{m.line.data(), m.line.data() + 4 * m.carried_sums.line_nodes()};
      good = finish_line(static_cast<std::size_t>(m.layout.cells(2)), sums, carried.at(i, j, -1)) && good;
    }
  if (!good) m.throw_bad_parcel(parcels);
  m.halo.fill(carried);
}

// Excess of volume at nodes, which the correction of positions evens out.
void Transfer::gather_excess(const Parcels& parcels, ScalarNodes& excess) {
  Impl& m = *impl_;
  m.require_located(parcels);
  m.accumulate_columns(parcels, false, m.volume_sums, [&](const ParcelRange& run, double* window) {
    scatter_volume(parcels.sites(), run, m.placement.cells(), m.volume_sums.window_lines(), m.weighed, window);
  });
  const auto top = static_cast<std::size_t>(m.layout.cells(2)) + 1;  // place of the upper wall in a line
  const double cell_volume = m.layout.grid().cell_volume();
  double* const line = m.line.data();
  for (std::int64_t i = 0; i < m.layout.cells(0); ++i)
    for (std::int64_t j = 0; j < m.layout.cells(1); ++j) {
      m.volume_sums.sum_at_line(i, j, line);
      line[1] *= 2;
      line[top] *= 2;
      line[2] += line[0];
      line[top - 1] += line[top + 1];
      for (std::size_t k = 1; k <= top; ++k) line[k] = line[k] / cell_volume - 1;
      line[0] = 2 * line[1] - line[2];
      line[top + 1] = 2 * line[top] - line[top - 1];
      std::copy_n(line, m.nodes_in_line(), excess.at(i, j, -1));
    }
  m.halo.fill(excess);
}

// Transfer from nodes to parcels: one Runge-Kutta stage of each parcel.
void Transfer::advance(Parcels& parcels, const FlowNodes& flow, double a, double b_dt) {
  Impl& m = *impl_;
  m.require_points(parcels);
  m.moved = true;
  advance_run(parcels.sites(), parcels.rows(), m.placement.all(), m.placement.cells(), m.lines(), flow.data(),
              {a, b_dt}, m.leavers());
}

// Correction of positions by a displacement field.
void Transfer::displace(Parcels& parcels, const VectorNodes& displacement) {
  Impl& m = *impl_;
  m.require_positions(parcels);
  displace_run(parcels.sites(), m.placement.all(), m.placement.cells(), m.lines(), displacement.data(), m.leavers());
}

// Correction of positions within cells, down the gradient of the excess of volume.
void Transfer::even_out(Parcels& parcels, const ScalarNodes& excess) {
  Impl& m = *impl_;
  m.require_positions(parcels);
  even_out_run(parcels.sites(), m.placement.all(), m.placement.cells(), m.lines(), excess.data(),
               {m.options.gradient_factor, m.options.max_compression}, m.leavers());
}

std::span<const std::uint32_t> Transfer::may_have_left() const noexcept {
  return {impl_->left.data(), impl_->watched.count};
}

// Relaxation of vorticity near walls towards that of the wall.
void Transfer::damp(Parcels& parcels, const CarriedNodes& carried, const FlowNodes& flow, double dt) {
  Impl& m = *impl_;
  m.require_points(parcels);
  if (m.options.damping == 0) return;
  m.compute_damping_shares(flow, dt);
  // Parcels whose centres are within two cells of a wall.
  const std::vector<std::uint32_t>& first = m.placement.first();
  const auto height = static_cast<std::size_t>(m.layout.cells(2));
  for (std::size_t column = 0; column + 1 < first.size(); column += height)
    for (std::size_t k = 0; k < height; ++k)
      if (k < 2 || k + 2 >= height)
        for (std::size_t n = first[column + k]; n < first[column + k + 1]; ++n) m.damp_parcel(parcels, carried, n);
}

VorticitySums Transfer::vorticity_sums(const Parcels& parcels) {
  impl_->require_located(parcels);
  impl_->placement.prepare_order(parcels);
  return flow::vorticity_sums(parcels, impl_->placement);
}

// Numbers of parcels and of small ones by cell, for the fields file.
void Transfer::count(const Parcels& parcels, double small_volume, std::vector<std::int32_t>& all,
                     std::vector<std::int32_t>& small) const {
  const Impl& m = *impl_;
  m.require_located(parcels);
  const std::vector<std::uint32_t>& first = m.placement.first();
  all.assign(first.size() - 1, 0);
  small.assign(first.size() - 1, 0);
  for (std::size_t cell = 0; cell + 1 < first.size(); ++cell) {
    all[cell] = static_cast<std::int32_t>(first[cell + 1] - first[cell]);
    for (std::size_t n = first[cell]; n < first[cell + 1]; ++n)
      if (parcels.site(m.placement.order()[n]).volume <= small_volume) ++small[cell];
  }
}

}  // namespace merganser::flow
