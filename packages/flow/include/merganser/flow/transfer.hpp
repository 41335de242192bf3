#pragma once
/// Between parcels and nodes: what parcels carry is gathered at the nodes, the flow there moves, turns and stretches them.
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

/// EPIC's attributes and the registers of the Runge-Kutta scheme: "registers", 11 doubles (rates of position 3, vorticity
/// 3, B 5), rule centre: what they hold between steps is of no use.
[[nodiscard]] const Schema& schema();

/// Sums over parcels: volume, and volume times vorticity. What is added is added without rounding, in any order.
struct VorticitySums {
  ExactSum volume;                 ///< m^3
  std::array<ExactSum, 3> moment;  ///< m^3/s
  /// Adds those of other parcels.
  void add(const VorticitySums& o);
  /// The volume mean of vorticity; 0 without volume.
  [[nodiscard]] Vec3 mean() const;
};

/// What became of the parcels' shapes since Transfer::arrange().
enum class Shapes : std::uint8_t {
  changed,  ///< anything
  kept,     ///< nothing, but that parcels were moved, by reflect() too, and registers are untouched
};

/// Moves numbers between the parcels of a rank and its nodes.
class Transfer {
 public:
  /// Collective.
  Transfer(comm::Transport& transport, const Decomposition& decomposition, const FlowOptions& options);
  ~Transfer();
  Transfer(Transfer&&) noexcept;

  /// Takes note of where the parcels are: their cells, the order within these (by id), the four points of each. To be
  /// called after parcels moved, came or went, or changed their shape. Centres may lie beyond the walls, as between the
  /// stages of a step. Local. The points are found by the first call that needs them, while a parcel is in the cache.
  /// @throws InputError, naming the id, for a parcel that is not in this rank's block or not at a finite position. The first
  /// call that needs the points throws it for one that is no ellipsoid, or one of whose points lies more than a cell beyond
  /// a wall, or beyond the cells beside its own in x or y (about a > 1.6 cells)
  /// @throws UsageError for parcels of another schema than flow::schema()
  void locate(const Parcels& parcels, Shapes shapes = Shapes::changed);
  /// Sorts the parcels by cell, and by id within one, gives ids as renumber() does, and leaves in their registers what
  /// locate() needs of shapes that are kept. They are located then. Local, after locate(). @throws InputError as renumber(),
  /// and as locate() for points
  void arrange(Parcels& parcels);
  /// Gathers volume, vorticity and buoyancy at the nodes: volume-weighted means, folded at the walls, extrapolated one
  /// level beyond them; halo in x and y included. Where no parcel reaches, all is 0. Called by every rank after locate();
  /// talks to neighbours only.
  /// @throws InputError where the result is not finite, naming the id of this rank's first parcel that is not
  void gather(const Parcels& parcels, CarriedNodes& carried);
  /// Gathered volume / cell volume - 1, halo and extrapolated levels included. Called by every rank after locate().
  void gather_excess(const Parcels& parcels, ScalarNodes& excess);
  /// One stage of a low-storage Runge-Kutta scheme, fused: rates r <- a r + f(flow at the parcel), then position,
  /// vorticity and B += b_dt r; with a = 0 the registers need not hold numbers. Parcels may leave the block and the box:
  /// Migration sends them to their owners. Local.
  void advance(Parcels& parcels, const FlowNodes& flow, double a, double b_dt);
  /// Adds `displacement`, read at the parcels' centres, to their positions. Local.
  void displace(Parcels& parcels, const VectorNodes& displacement);
  /// Moves parcels down the gradient of `excess` within their cells. Local.
  void even_out(Parcels& parcels, const ScalarNodes& excess);
  /// Indices of the parcels that the last advance(), displace() or even_out() may have moved out of the block, for
  /// Migration::send(). Local, until parcels come, go or are sorted.
  [[nodiscard]] std::span<const std::uint32_t> may_have_left() const noexcept;
  /// Draws the vorticity of parcels within two cells of a wall to that of the wall, by the strain there. Local.
  /// @param dt  length of the time step
  void damp(Parcels& parcels, const CarriedNodes& carried, const FlowNodes& flow, double dt);
  /// The sums of vorticity_sums() below, made cell by cell: faster, with the same bits for any number of ranks too, but
  /// other bits than those. Local, after locate(). @throws InputError for numbers that are not finite, naming the id
  [[nodiscard]] VorticitySums vorticity_sums(const Parcels& parcels);
  /// Parcels, and parcels not above `small_volume`, of each cell of this rank, in the order x, y, z with z fastest. Local.
  void count(const Parcels& parcels, double small_volume, std::vector<std::int32_t>& all,
             std::vector<std::int32_t>& small) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Mirrors parcels beyond a wall, centre and shape, back into the box. Local.
void reflect(Parcels& parcels, const Box& box);

/// Gives every parcel the id 2 (number of its cell * 2^20 + its place in the cell by its old id): the same for any number
/// of ranks, and even, so that the second child of a split takes id + 1. Local. @throws InputError if a cell holds 2^20, or
/// a parcel is not in this rank's block
void renumber(Parcels& parcels, const NodeLayout& layout);

/// Splits parcels that are too long or too large, once: the children keep the parent's id and take id + 1. Local.
/// @return number of splits
std::int64_t split(Parcels& parcels, const Grid& grid, const FlowOptions& options);

/// The sums over this rank's parcels. Local. @throws InputError for numbers that are not finite, naming the id
[[nodiscard]] VorticitySums vorticity_sums(const Parcels& parcels);
/// The volume mean of vorticity over the parcels of all ranks, from their sums. Collective.
[[nodiscard]] Vec3 mean_vorticity(comm::Transport& transport, const VorticitySums& mine);
/// The same of vorticity_sums(parcels). Collective.
[[nodiscard]] Vec3 mean_vorticity(comm::Transport& transport, const Parcels& parcels);
/// Adds a vector to every parcel's vorticity. Local.
void add_vorticity(Parcels& parcels, const Vec3& by);

}  // namespace merganser::flow
