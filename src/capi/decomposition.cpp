/// C interface of decompositions (mg_decomposition_...): which rank owns which block of a box. Declared in capi/transport.h.
#include "merganser/base/indexed_text.hpp"
#include "merganser/capi/detail/objects.hpp"
#include "merganser/capi/transport.h"
#include "merganser/cluster/cartesian.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/geometry/box_checks.hpp"

namespace merganser::capi {
namespace {

/// Converts the box and the numbers of cells of a C caller to a grid. @param one  null cells are accepted and stand for one cell
/// @throws UsageError for null or numbers of cells out of range, InputError for a box that is none
Grid to_grid(const mg_box* box, const std::int64_t* cells, bool one = false) {
  Grid grid;
  grid.box = to_box(box);
  if (one && cells == nullptr) return grid;
  check_not_null(cells, "cells");
  for (std::size_t a = 0; a < 3; ++a) {
    check_range<std::int64_t>(cells[a], 1, kMaxAxisCells, "cells");
    grid.cells[a] = cells[a];
  }
  return grid;
}

/// Returns the rank whose block contains point i of the caller's array xyz, wrapped on periodic axes. @throws InputError naming
/// the point if it is outside of a wall
int checked_owner(const Decomposition& d, const double* xyz, std::size_t i) {
  const Vec3 p{xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]};
  const Box& box = d.grid().box;
  if (!is_between_walls(box, p))
    throw Indexed<InputError>(IndexedText("point ") + Index{i} + " at " + point_text(p) + " is outside of the box " +
                              box_text(box) + "; allowed: finite numbers between the walls");
  return d.owner(wrapped(box, p));
}

/// Returns the block of a decomposition with these corners, three coordinates each.
Decomposition::Block to_block(const double* lower, const double* upper) {
  return {{lower[0], lower[1], lower[2]}, {upper[0], upper[1], upper[2]}};
}

/// Makes the decomposition of mg_decomposition_of_ranks(), whose block r is the one that rank r passes. Collective.
/// @throws UsageError or InputError on every rank if an argument of one is invalid
Decomposition gather_decomposition(comm::Transport& transport, const mg_box* box, const std::int64_t* cells,
                                   const double* lower, const double* upper) {
  Grid grid;
  Decomposition::Block mine;
  comm::agree(transport, [&] {
    grid = to_grid(box, cells, true);
    check_not_null(lower, "lower");
    check_not_null(upper, "upper");
    mine = to_block(lower, upper);
  });
  return Decomposition::from_boxes(grid, comm::all_gather_value(transport, mine));
}

}  // namespace
}  // namespace merganser::capi

using namespace merganser;
using namespace merganser::capi;

extern "C" {

int mg_decomposition_new(const mg_box* box, const int64_t cells[3], int ranks, const char* shape,
                         mg_decomposition** decomposition) {
  return guard([&] {
    check_range(ranks, 1, 1 << 24, "ranks");
    make_handle<DecompositionObject>(decomposition,
                                     Decomposition(to_grid(box, cells), ranks, string_or(shape, "auto")));
  });
}

int mg_decomposition_from_cuts(const mg_box* box, const int64_t cells[3], const double* const cuts[3],
                               const size_t counts[3], mg_decomposition** decomposition) {
  return guard([&] {
    const Grid grid = to_grid(box, cells, true);
    check_not_null(cuts, "cuts");
    check_not_null(counts, "counts");
    std::array<std::vector<double>, 3> all;
    for (std::size_t a = 0; a < 3; ++a) {
      check_range<std::size_t>(counts[a], 0, 1 << 24, "counts");
      const auto axis = checked_array(cuts[a], counts[a], "cuts");
      all[a].assign(axis.begin(), axis.end());
    }
    make_handle<DecompositionObject>(decomposition, Decomposition::from_cuts(grid, all));
  });
}

int mg_decomposition_from_boxes(const mg_box* box, const int64_t cells[3], const double* lower, const double* upper,
                                int ranks, mg_decomposition** decomposition) {
  return guard([&] {
    const Grid grid = to_grid(box, cells, true);
    check_range(ranks, 1, 1 << 24, "ranks");
    check_not_null(lower, "lower");
    check_not_null(upper, "upper");
    std::vector<Decomposition::Block> blocks;
    for (std::ptrdiff_t r = 0; r < ranks; ++r) blocks.push_back(to_block(lower + 3 * r, upper + 3 * r));
    make_handle<DecompositionObject>(decomposition, Decomposition::from_boxes(grid, std::move(blocks)));
  });
}

int mg_decomposition_of_ranks(mg_transport* transport, const mg_box* box, const int64_t cells[3], const double lower[3],
                              const double upper[3], mg_decomposition** decomposition) {
  return guard([&] {
    const auto over = object_from<TransportObject>(transport);
    make_handle<DecompositionObject>(decomposition, gather_decomposition(over->get(), box, cells, lower, upper));
  });
}

int mg_decomposition_cartesian(int communicator, const mg_box* box, const int64_t cells[3], const int32_t axes[3],
                               mg_decomposition** decomposition) {
  return guard([&] {
    check_not_null(decomposition, "decomposition");
    std::array<int, 3> of_box{0, 1, 2};
    if (axes != nullptr) std::copy_n(axes, 3, of_box.begin());
    make_handle<DecompositionObject>(
        decomposition, cartesian_decomposition(to_grid(box, cells), comm::cartesian(communicator), of_box));
  });
}

int mg_decomposition_ranks(mg_decomposition* decomposition, int* ranks) {
  return guard_get<DecompositionObject>(decomposition, ranks, "ranks",
                                        [](auto& object) { return object.value.ranks(); });
}

int mg_decomposition_block(mg_decomposition* decomposition, int rank, double lower[3], double upper[3]) {
  return guard<DecompositionObject>(decomposition, [&](DecompositionObject& object) {
    check_range(rank, 0, object.value.ranks() - 1, "rank");
    check_not_null(lower, "lower");
    check_not_null(upper, "upper");
    const auto block = object.value.block(rank);
    std::copy(block.lower.begin(), block.lower.end(), lower);
    std::copy(block.upper.begin(), block.upper.end(), upper);
  });
}

int mg_decomposition_owners(mg_decomposition* decomposition, const double* xyz, size_t n, int32_t* owners) {
  return guard<DecompositionObject>(decomposition, [&](DecompositionObject& object) {
    check_range<std::size_t>(n, 0, PTRDIFF_MAX / 24, "n");
    check_not_null(xyz, n, "xyz");
    check_not_null(owners, n, "owners");
    for (std::size_t i = 0; i < n; ++i) owners[i] = checked_owner(object.value, xyz, i);
  });
}

int mg_decomposition_free(mg_decomposition* decomposition) { return guard_free<DecompositionObject>(decomposition); }

}  // extern "C"
