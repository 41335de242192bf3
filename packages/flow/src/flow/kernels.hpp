#pragma once
/// The loops over parcels and over lines of nodes, with the vectors that the processor has.
///
/// Parcels are worked on in batches of eight, the last one filled up, so that what becomes of a parcel does not depend on
/// its place in the array.
#include <cstddef>
#include <cstdint>

#include "merganser/flow/nodes.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser::flow {

inline constexpr std::size_t kBatch = 8;

/// The points of eight parcels, in cells of the whole grid: centre, and two offsets; the points are centre + first,
/// centre + second and, opposite, centre - second, centre - first.
struct alignas(64) Batch {
  double centre[3][kBatch];
  double first[3][kBatch];
  double second[3][kBatch];
};

/// Of four points (or one) of eight parcels: the weights of the eight nodes of their cells, x slowest, and the number of
/// the lowest of these nodes.
struct alignas(64) Weights {
  double weight[4][8][kBatch];
  std::int32_t node[4][kBatch];
};

/// Where the cells of a rank are, as doubles.
struct Cells {
  double lower[3];    ///< of the box
  double spacing[3];  ///< of the cells
  double all[3];      ///< cells of the whole grid
  double first[3];    ///< first cell of the rank
  double own[3];      ///< cells of the rank
};

/// Positions in a parcel's row.
struct Row {
  static constexpr std::size_t vorticity = 1;
  static constexpr std::size_t buoyancy = 4;
  static constexpr std::size_t shape = 5;
  static constexpr std::size_t registers = 10;  ///< position 3, vorticity 3, B 5
  /// Between the arrangement of parcels and the first stage, in the place of registers: Batch::first, Batch::second.
  static constexpr std::size_t offsets = registers;
  static constexpr std::size_t width = 22;
};

/// Number of the rank's cell of every parcel, z fastest. @return false if a parcel is not in the rank's block or more
/// than one cell beyond a wall
bool find_cells(const Site* sites, std::size_t n, const Cells& cells, std::int32_t* cell);

inline constexpr std::size_t kMaxBatches = 8;
/// Parcels in the order of cells, from some place on.
struct Upcoming {
  const std::uint32_t* order;
  std::size_t size;
};
/// Centres and points of the first 8 count parcels, count <= kMaxBatches. @return the first batch in which one
/// has no shape, or a point farther than a cell from the centre's cell in x or y or more than one cell beyond a wall, or no
/// number; count if none
std::size_t find_points(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                        const Cells& cells, Batch* batches);
/// The same with the offsets that rows hold; made anew for a batch in which one begins with no number.
std::size_t place_points(const Site* sites, const double* rows, const Upcoming& index, std::size_t count,
                         const Cells& cells, Batch* batches);

/// The parcels begin .. end - 1 in the order of cells, as they were placed.
struct Run {
  const std::uint32_t* order;  ///< index of parcel by place
  const Batch* batches;        ///< places 8 b .. 8 b + 7
  std::size_t begin;
  std::size_t end;
  std::size_t placed;  ///< places of all runs
};

/// Nodes from one line to the next in x and y, and eight times a number from one node to the next in z.
struct Lines {
  std::size_t x;
  std::size_t y;
};

/// The weights of one batch, kept from one run to the next.
struct Weighed {
  Weights weights;
  std::size_t batch = ~std::size_t{0};
};

/// Adds volume, and volume times vorticity and buoyancy, of the parcels of one column of cells to the nodes of a window
/// of 4 x 4 lines around it, CarriedFields::width numbers each.
void scatter_carried(const Site* sites, const double* rows, const Run& run, const Cells& cells, const Lines& lines,
                     Weighed& weighed, double* window);
/// Adds the volume alone, one number per node.
void scatter_volume(const Site* sites, const Run& run, const Cells& cells, const Lines& lines, Weighed& weighed,
                    double* window);

/// Makes note of parcels that may have left the rank's block.
struct Leavers {
  double low[2];  ///< along x and y; who is in [low, high) has not left
  double high[2];
  std::uint32_t* index;  ///< of those who may have, room for all parcels
  std::size_t count;
};

/// One stage of a Runge-Kutta scheme: r <- a r + rates, y += b_dt r.
struct Push {
  double a;
  double b_dt;
};
/// Moves, turns and stretches parcels by the flow in a rank's layout.
void advance_run(Site* sites, double* rows, const Run& run, const Cells& cells, const Lines& lines, const double* flow,
                 const Push& stage, Leavers& leavers);
/// Adds VectorNodes read at the centres to positions.
void displace_run(Site* sites, const Run& run, const Cells& cells, const Lines& lines, const double* displacement,
                  Leavers& leavers);

/// How Transfer::even_out pulls: displacement = -pull l d along an axis, within +- most l, where l = spacing f (1 - f) at
/// the fraction f of the cell and d is the difference of the excess across it.
struct Pull {
  double pull;
  double most;
};
/// Moves parcels down the gradient of ScalarNodes within their cells.
void even_out_run(Site* sites, const Run& run, const Cells& cells, const Lines& lines, const double* excess,
                  const Pull& pull, Leavers& leavers);

/// to[n] = (from[0][n] + from[1][n]) + (from[2][n] + from[3][n]), or that added to `to`.
void sum_four(const double* const (&from)[4], std::size_t n, double* to, bool add);
/// to[n] = a[n] + b[n], or that added to `to`.
void sum_two(const double* a, const double* b, std::size_t n, double* to, bool add);
/// to[n] += from[n]
void add_line(const double* from, std::size_t n, double* to);
/// Sums of volume and volume times what is carried, at the nodes -1 .. cells + 1 of a line in z, become means: folded at
/// the walls, divided, extrapolated. @return false if one was not finite
bool finish_line(std::size_t cells, double* line);

}  // namespace merganser::flow
