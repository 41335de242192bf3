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

/// Parcels in a batch.
inline constexpr std::size_t kBatch = 8;

/// Points at which eight parcels read and write node fields, in units of cells of the whole grid: a centre and two
/// offsets per parcel. The four points of a parcel are centre + first, centre + second and, opposite, centre - second,
/// centre - first.
struct alignas(64) Batch {
  double centre[3][kBatch];
  double first[3][kBatch];
  double second[3][kBatch];
};

/// Trilinear weights of four points (or one) of eight parcels: of the eight nodes of their cells, x slowest, and the index of
/// the lowest of these nodes.
struct alignas(64) Weights {
  double weight[4][8][kBatch];
  std::int32_t node[4][kBatch];
};

/// Position of a rank's cells in the grid, as doubles.
struct Cells {
  double lower[3];    ///< lower corner of the box, m
  double spacing[3];  ///< edges of a cell, m
  double all[3];      ///< number of cells of the whole grid
  double first[3];    ///< index of the rank's first cell
  double own[3];      ///< number of the rank's cells
};

/// Offsets, in doubles, of the attributes in a parcel's row of flow::schema().
struct Row {
  static constexpr std::size_t vorticity = 1;
  static constexpr std::size_t buoyancy = 4;
  static constexpr std::size_t shape = 5;
  static constexpr std::size_t registers = 10;  ///< rates of position 3, vorticity 3, B 5
  /// Batch::first and Batch::second, stored in the place of the registers between arrange() and the first stage.
  static constexpr std::size_t offsets = registers;
  static constexpr std::size_t width = 22;
};

/// Computes the index of the cell of every parcel among the rank's, z fastest. @return false if a parcel is not in the rank's
/// block, or more than one cell beyond a wall
bool find_cells(const Site* sites, std::size_t n, const Cells& cells, std::int32_t* cell);

/// Largest number of batches per call of find_points() and place_points().
inline constexpr std::size_t kMaxBatches = 8;
/// Part of the order of parcels by cell, from some position on; what follows the batches in work is prefetched.
struct Upcoming {
  const std::uint32_t* order;
  std::size_t size;
};
/// Computes centres and points of the first 8 count parcels, count <= kMaxBatches, from B. @return the index of the first
/// batch in which a parcel is no ellipsoid, or has a point farther than a cell from the centre's cell in x or y or more than
/// one cell beyond a wall, or a number that is not finite; count if none
std::size_t find_points(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                        const Cells& cells, Batch* batches);
/// Computes centres and points as find_points() does, from the offsets that rows hold; a batch in which an offset is not a
/// number is computed from B. @return the index of the first batch with a parcel that is not allowed; count if none
std::size_t place_points(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                         const Cells& cells, Batch* batches);

/// Range of parcels in the order of cells, with their points.
struct Run {
  const std::uint32_t* order;  ///< index of a parcel by its position in the order
  const Batch* batches;        ///< batch b holds positions 8 b .. 8 b + 7
  std::size_t begin;           ///< first position
  std::size_t end;             ///< position behind the last parcel
  std::size_t placed;          ///< number of parcels in the whole order, over all ranges
};

/// Distances in nodes from one line to the next in x and y; from one node to the next in z it is 1.
struct Lines {
  std::size_t x;
  std::size_t y;
};

/// Weights of one batch, kept from one range to the next, since a column of cells may end inside a batch.
struct Weighed {
  Weights weights;
  std::size_t batch = ~std::size_t{0};
};

/// Adds volume, and volume times vorticity and buoyancy, of the parcels of one column of cells to the nodes of a window
/// of 4 x 4 lines around it, CarriedFields::width numbers each.
void scatter_carried(const Site* sites, const double* rows, const Run& run, const Cells& cells, const Lines& lines,
                     Weighed& weighed, double* window);
/// Adds the volume alone of the parcels of one column of cells to the nodes of a window, one number per node.
void scatter_volume(const Site* sites, const Run& run, const Cells& cells, const Lines& lines, Weighed& weighed,
                    double* window);

/// Indices of the parcels that may have left the rank's block.
struct Leavers {
  double low[2];         ///< lower bounds along x and y; a parcel in [low, high) has not left
  double high[2];        ///< upper bounds along x and y
  std::uint32_t* index;  ///< indices of those that may have left; room for one more than all parcels
  std::size_t count;     ///< number of indices
};

/// Coefficients of one stage of a low-storage Runge-Kutta scheme: r <- a r + rates, y += b_dt r.
struct Push {
  double a;
  double b_dt;
};
/// Advances parcels by one stage: moves, rotates and stretches them by the flow in a rank's layout.
void advance_run(Site* sites, double* rows, const Run& run, const Cells& cells, const Lines& lines, const double* flow,
                 const Push& stage, Leavers& leavers);
/// Adds VectorNodes, interpolated at the centres, to the positions of parcels.
void displace_run(Site* sites, const Run& run, const Cells& cells, const Lines& lines, const double* displacement,
                  Leavers& leavers);

/// Parameters of Transfer::even_out(): displacement = -pull l d along an axis, within +- most l, where l = spacing f (1 - f)
/// at the fraction f of the cell and d is the difference of the excess across it.
struct Pull {
  double pull;
  double most;
};
/// Moves parcels down the gradient of ScalarNodes within their cells.
void even_out_run(Site* sites, const Run& run, const Cells& cells, const Lines& lines, const double* excess,
                  const Pull& pull, Leavers& leavers);

/// Computes to[n] = (from[0][n] + from[1][n]) + (from[2][n] + from[3][n]), or adds that to `to`.
void sum_four(const double* const (&from)[4], std::size_t n, double* to, bool add);
/// Computes to[n] = a[n] + b[n], or adds that to `to`.
void sum_two(const double* a, const double* b, std::size_t n, double* to, bool add);
/// Adds from[n] to to[n].
void add_line(const double* from, std::size_t n, double* to);
/// Turns the sums of volume, and of volume times what is carried, at the nodes -1 .. cells + 1 of a line in z into means:
/// folds them at the walls, divides by the volume, extrapolates. @return false if a mean is not finite
bool finish_line(std::size_t cells, double* line);

}  // namespace merganser::flow
