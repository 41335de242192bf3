#pragma once
/// Transfer between parcels and nodes in the flow model: what parcels carry is gathered at the nodes, and the flow there
/// moves, rotates and stretches the parcels.
///
/// An ellipsoid stands for four points of a quarter of its volume each; a point sees the eight nodes of its cell with
/// trilinear weights. Sums at nodes are made in an order that depends on the parcels' ids and cells only, so they have the
/// same bits for any number of ranks. Source: EPIC 0.14.3; [frey2023].
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "merganser/base/exact_sum.hpp"
#include "merganser/flow/nodes.hpp"
#include "merganser/flow/options.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::flow {

/// Returns the attributes of flow parcels: EPIC's, and "registers" of the Runge-Kutta scheme, 11 doubles (rates of position
/// 3, vorticity 3, B 5) with rule centre, whose contents between steps are undefined.
[[nodiscard]] const Schema& schema();

/// Exact sums over flow parcels of the volume, and of volume times vorticity. They do not depend on the order of addition.
struct VorticitySums {
  ExactSum volume;                 ///< sum of the parcel volumes, m^3
  std::array<ExactSum, 3> moment;  ///< sum of volume times vorticity, m^3/s
  /// Adds the sums of volume, and of volume times vorticity, over other parcels.
  void add(const VorticitySums& o);
  /// Returns the volume mean of the parcels' vorticity, 1/s; 0 without volume.
  [[nodiscard]] Vec3 mean() const;
};

/// Extent of the changes to flow parcels since Transfer::arrange(): decides whether locate() may reuse the stored point offsets.
enum class Shapes : std::uint8_t {
  changed,  ///< anything may have changed: points are computed from the shape B
  kept,     ///< positions alone, by displacements and reflect(); registers are as arrange() left them
};

/// Order of flow parcels in their container: decides whether locate() must sort those of a cell by id.
enum class IdOrder : std::uint8_t {
  any,        ///< ids in any order
  ascending,  ///< ids ascend with the index in the container, as arrange() leaves them; not checked
};

/// Interpolation of the flow model between the parcels of a rank and the nodes of its grid block, in both directions.
class Transfer {
 public:
  /// Creates the node sums and halo exchanges of the parcel-grid transfer on one rank. Collective.
  Transfer(comm::Transport& transport, const Decomposition& decomposition, const FlowOptions& options);
  ~Transfer();
  Transfer(Transfer&&) noexcept;

  /// Finds the grid cell of every flow parcel, and orders the parcels of each cell by id. The four points by which a parcel is interpolated are
  /// computed by the first later call that uses them. Local. To be called after parcels moved, came or went, or changed their
  /// shape. Centres may lie beyond the walls, as between the stages of a step.
  /// @throws InputError, naming the id, for a parcel that is not in this rank's block or not at a finite position. The first
  /// call that needs the points throws it for one that is no ellipsoid, or one of whose points lies more than a cell beyond
  /// a wall, or beyond the cells beside its own in x or y (about a > 1.6 cells)
  /// @throws UsageError for parcels of another schema than flow::schema()
  void locate(const Parcels& parcels, Shapes shapes = Shapes::changed, IdOrder ids = IdOrder::any);
  /// Sorts the flow parcels by cell, and by id within one, gives them the ids of renumber(), and stores the offsets of their
  /// points in their registers, where locate() with Shapes::kept reads them. They are located then. Local, after locate().
  /// @throws InputError as renumber(), and as locate() for points
  void arrange(Parcels& parcels);
  /// Gathers volume, vorticity and buoyancy of parcels at the grid nodes: volume-weighted means, folded at the walls,
  /// extrapolated one level beyond them; halo in x and y included. Where no parcel reaches, all is 0. Called by every rank after
  /// locate(); communicates with neighbours only.
  /// @throws InputError where the result is not finite, naming the id of this rank's first parcel that is not
  void gather(const Parcels& parcels, CarriedNodes& carried);
  /// Gathers the excess of parcel volume, volume / cell volume - 1, at the grid nodes, halo and extrapolated levels included.
  /// Called by every rank after locate(); communicates with neighbours only.
  void gather_excess(const Parcels& parcels, ScalarNodes& excess);
  /// Advances this rank's parcels by one stage of a low-storage Runge-Kutta scheme, fused: rates r <- a r + f(flow at the
  /// parcel), then position, vorticity and B += b_dt r; with a = 0 the registers need not hold numbers. Parcels may leave the
  /// block and the box: Migration sends them to their owners. Local.
  void advance(Parcels& parcels, const FlowNodes& flow, double a, double b_dt);
  /// Adds the node field `displacement`, interpolated at the centres of this rank's parcels, to their positions. Local; after
  /// locate(), anew for each correction. @throws UsageError if positions have moved since
  void displace(Parcels& parcels, const VectorNodes& displacement);
  /// Makes the gradient correction of parcel positions: moves each of this rank's parcels down the gradient of `excess` within its cell.
  /// Local; after locate(), as displace().
  /// @param excess  gridded volume / cell volume - 1, as gather_excess() computes it, at the nodes of this rank's block, halo included
  void even_out(Parcels& parcels, const ScalarNodes& excess);
  /// Returns the indices of the parcels that the last advance(), displace() or even_out() may have moved out of the block,
  /// for Migration::send(). Local; valid until parcels come, go or are sorted.
  [[nodiscard]] std::span<const std::uint32_t> may_have_left() const noexcept;
  /// Relaxes the vorticity of parcels within two cells of a wall towards that of the wall, at the strain rate there. Local.
  /// @param dt  length of the time step, s
  void damp(Parcels& parcels, const CarriedNodes& carried, const FlowNodes& flow, double dt);
  /// Returns the sums of volume and of volume times vorticity over this rank's parcels, rounded cell by cell: faster than
  /// flow::vorticity_sums(), and with the same bits for any number of ranks too, but with other bits than that. Local, after
  /// locate(). @throws InputError for numbers that are not finite, naming the id
  [[nodiscard]] VorticitySums vorticity_sums(const Parcels& parcels);
  /// Counts the located parcels, and those with at most `small_volume` m^3, in each grid cell of this rank, in the order x, y, z
  /// with z fastest. Local, after locate().
  void count(const Parcels& parcels, double small_volume, std::vector<std::int32_t>& all,
             std::vector<std::int32_t>& small) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Mirrors flow parcels beyond the lower or upper wall, centre and shape, back into the box. Local.
void reflect(Parcels& parcels, const Box& box);

/// Assigns every flow parcel the id 2 (index of its cell * 2^20 + its position in the cell by its old id): the same for any number
/// of ranks, and even, so that the second child of a split takes id + 1. Local. @throws InputError if a cell holds more than 2^20,
/// or a parcel is not in this rank's block
void renumber(Parcels& parcels, const NodeLayout& layout);

/// Splits flow parcels whose aspect ratio or longest semi-axis is too large, each once: the children get the parent's id and id +
/// 1. Local.
/// @return number of splits
std::int64_t split(Parcels& parcels, const Grid& grid, const FlowOptions& options);

/// Returns the exact sums of volume and of volume times vorticity over this rank's flow parcels. Local.
/// @throws InputError for numbers that are not finite, naming the id
[[nodiscard]] VorticitySums vorticity_sums(const Parcels& parcels);
/// Returns the volume mean of vorticity over the parcels of all ranks, 1/s, from the sums of each. Collective.
[[nodiscard]] Vec3 mean_vorticity(comm::Transport& transport, const VorticitySums& mine);
/// Returns the volume mean of vorticity over the parcels of all ranks, 1/s. Collective.
[[nodiscard]] Vec3 mean_vorticity(comm::Transport& transport, const Parcels& parcels);
/// Adds the vector `by`, 1/s, to the vorticity of each of this rank's parcels. Local.
void add_vorticity(Parcels& parcels, const Vec3& by);

}  // namespace merganser::flow
