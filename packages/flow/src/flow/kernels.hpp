#pragma once
/// Vectorised loops over parcels and over lines of nodes (Highway); private to the flow module.
///
/// Parcels are processed in batches of eight, the last one padded, so that the result for a parcel does not depend on its
/// position in the array.
#include <cstddef>
#include <cstdint>

#include "merganser/flow/nodes.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::flow {

/// Number of parcels in a batch of the flow's vectorised loops.
inline constexpr std::size_t kBatch = 8;

/// Points at which a batch of eight parcels reads and writes node fields, in units of cells of the whole grid: a centre and two
/// offsets per parcel. The four points of a parcel are centre + first, centre + second and, opposite, centre - second,
/// centre - first.
struct alignas(64) Batch {
  double centre[3][kBatch];  ///< centres, by axis and parcel
  double first[3][kBatch];   ///< first offsets of the points
  double second[3][kBatch];  ///< second offsets of the points
};

/// Trilinear interpolation weights of the points (or the centres) of a batch of eight parcels at the nodes of their cells.
struct alignas(64) Weights {
  double weight[4][8][kBatch];   ///< weights by point, node of the cell (x slowest) and parcel
  std::int32_t node[4][kBatch];  ///< index of the lowest of the eight nodes, by point and parcel
};

/// Place of a rank's block of cells in the whole grid, as doubles for the vectorised loops.
struct Cells {
  double lower[3];    ///< lower corner of the box, m
  double spacing[3];  ///< edges of a cell, m
  double inverse[3];  ///< 1 / spacing, 1/m
  double all[3];      ///< number of cells of the whole grid
  double first[3];    ///< index of the rank's first cell
  double own[3];      ///< number of the rank's cells
};

/// Offsets, in doubles, of the attributes in a flow parcel's row of flow::schema().
struct Row {
  static constexpr std::size_t vorticity = 1;
  static constexpr std::size_t buoyancy = 4;
  static constexpr std::size_t shape = 5;       ///< five components of the ellipsoid's matrix B
  static constexpr std::size_t registers = 10;  ///< rates of position 3, vorticity 3, B 5
  /// Batch::first and Batch::second, stored in the place of the registers between arrange() and the first stage.
  static constexpr std::size_t offsets = registers;
  static constexpr std::size_t width = 22;
};

/// Loop of Placement::locate(): computes the index of the cell of every parcel among the rank's cells, z fastest. @return false if
/// a parcel is not in the rank's block, or more than one cell below the lower wall, or one cell or more above the upper one
bool find_cells(const Site* sites, std::size_t n, const Cells& cells, std::int32_t* cell);

/// Largest number of batches per call of find_points() and place_points().
inline constexpr std::size_t kMaxBatches = 4;
/// Rest of the order of a rank's parcels by cell, from some position on; parcels behind the batches in work are prefetched.
struct Upcoming {
  const std::uint32_t* order;  ///< indices of the parcels in the container
  std::size_t size;            ///< number of parcels from there on
};
/// Loop of Placement::prepare() and piece() with Shapes::changed, and of arrange(): computes centres and points of the first 8 count parcels,
/// count <= kMaxBatches, from their ellipsoids B. @return the index of the first batch in which a parcel is no ellipsoid, or has a
/// point farther than a cell from the centre's cell in x or y or more than one cell beyond a wall, or a number that is not finite;
/// count if none
std::size_t find_points(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                        const Cells& cells, Batch* batches);
/// Loop of Placement::prepare() and piece() with Shapes::kept: computes centres and points of the first 8 count parcels from the point offsets
/// that their rows hold; a batch in which an offset is not a number is computed from B, as by find_points(). @return the index of
/// the first batch with a parcel that is not allowed; count if none
std::size_t place_points(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                         const Cells& cells, Batch* batches);

/// Range of a rank's parcels in the order of cells, with their points.
struct ParcelRange {
  /// Index of a parcel by its position in the order; to be read to whole batches where their points were
  /// computed: behind `placed` it then repeats the last parcel.
  const std::uint32_t* order;
  const Batch* batches;     ///< batch b holds positions 8 (first_batch + b) .. 8 (first_batch + b) + 7
  std::size_t first_batch;  ///< index of the first batch, counted from that of position 0
  std::size_t begin;        ///< position of the first parcel in the order of cells
  std::size_t end;          ///< position behind the last parcel
  std::size_t placed;       ///< number of parcels in the whole order, over all ranges
  /// Returns the points of the batch of a position.
  [[nodiscard]] const Batch& batch_of(std::size_t place) const noexcept {
    return batches[place / kBatch - first_batch];
  }
};

/// Distances, in nodes of a node field or window, from one line of nodes in z to the next; within a line it is 1.
struct Lines {
  std::size_t x;  ///< nodes to the next line in x
  std::size_t y;  ///< nodes to the next line in y
};

/// Trilinear weights of one batch of parcels relative to the windows of their columns, kept from one range to the next, since a
/// column of cells may end inside a batch; scatter_volume() keeps them times a quarter of the parcel's volume. Before the other
/// scatter, and after volumes changed, `batch` must be set to none.
struct alignas(64) WindowWeights {
  double weight[4][2][kBatch][4];       ///< by point, lower or upper four nodes in x, parcel, node
  std::int32_t node[4][kBatch];         ///< index of the lowest of the eight nodes, by point and parcel
  std::int32_t same_node[kBatch];       ///< that index where all points of a parcel are in one cell, else -1
  std::size_t batch = ~std::size_t{0};  ///< index of the batch that the weights are of; all bits set: none
};

/// Loop of Transfer::gather(): adds volume, and volume times vorticity and buoyancy, of the parcels of one column of cells to the
/// nodes of a window of 4 x 4 lines around it: four numbers for each node of the 16 lines, then buoyancy for each.
void scatter_carried(const Site* sites, const double* rows, const ParcelRange& run, const Cells& cells,
                     const Lines& lines, WindowWeights& weighed, double* window);
/// Loop of Transfer::gather_excess(): adds the volume alone of the parcels of one column of cells to the nodes of its window of
/// 4 x 4 lines, one number per node.
void scatter_volume(const Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines,
                    WindowWeights& weighed, double* window);

/// List of the parcels that a stage or correction may have moved out of the rank's block, as candidates of Migration::send().
struct Leavers {
  double low[2];         ///< lower bounds along x and y; a parcel in [low, high) has not left
  double high[2];        ///< upper bounds along x and y
  std::uint32_t* index;  ///< indices of those that may have left; room for one more than all parcels
  std::size_t count;     ///< number of parcels that may have left
};

/// Coefficients of one stage of a low-storage Runge-Kutta scheme with its time step: r <- a r + rates, y += b_dt r.
struct RungeKuttaUpdate {
  double a;     ///< factor of the register of rates
  double b_dt;  ///< coefficient b times the time step, s
};
/// Loop of Transfer::advance(): advances a range of parcels by one Runge-Kutta stage: moves, rotates and stretches them by the node
/// values `flow` (FlowNodes).
void advance_run(Site* sites, double* rows, const ParcelRange& run, const Cells& cells, const Lines& lines,
                 const double* flow, const RungeKuttaUpdate& stage, Leavers& leavers);
/// Loop of Transfer::displace(): adds the node field `displacement` (VectorNodes), interpolated at the centres, to the positions of
/// a range of parcels. Does not read their points.
void displace_run(Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines,
                  const double* displacement, Leavers& leavers);

/// Parameters of Transfer::even_out(): displacement = -pull l d along an axis, within +- most l, where l = spacing f (1 - f)
/// at the fraction f of the cell and d is the difference of the excess across it.
struct GradientCorrection {
  double pull;  ///< strength of the gradient correction [-]
  double most;  ///< bound of the displacement in units of l [-]
};
/// Loop of Transfer::even_out(): moves a range of parcels down the gradient of the excess of volume (ScalarNodes) within their
/// cells. Does not read their points.
void even_out_run(Site* sites, const ParcelRange& run, const Cells& cells, const Lines& lines, const double* excess,
                  const GradientCorrection& pull, Leavers& leavers);

/// Sums the windows of four columns at a line of nodes: to[i] = (from[0][i] + from[1][i]) + (from[2][i] + from[3][i]), i < n; or
/// adds that to `to`.
void sum_four(const double* const (&from)[4], std::size_t n, double* to, bool add);
/// Sums the windows of two columns, or two brackets, at a line of nodes: to[i] = a[i] + b[i], i < n; or adds that to `to`.
void sum_two(const double* a, const double* b, std::size_t n, double* to, bool add);
/// Adds partial sums of a neighbour to those at lines of nodes: to[i] += from[i], i < n.
void add_line(const double* from, std::size_t n, double* to);
/// Sums over parcels at the nodes -1 .. cells + 1 of a line in z: volume and volume times vorticity, four numbers for each node, and
/// volume times buoyancy.
struct CarriedLine {
  double* four;   ///< aligned to a cache line
  double* fifth;  ///< one number for each node
};
/// Turns the sums at a line in z into means at its nodes: folds them at the walls, divides by the volume, extrapolates, and writes
/// CarriedFields::width numbers for each node to `to`, which is aligned to a cache line. The sums are folded afterwards. @return
/// false if a mean is not finite
bool finish_line(std::size_t cells, const CarriedLine& sums, double* to);

}  // namespace merganser::flow
