#include "merganser/base/indexed_text.hpp"
#include "merganser/capi/detail/objects.hpp"
#include "merganser/capi/transport.h"
#include "merganser/cluster/cartesian.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/geometry/box_checks.hpp"

namespace merganser::capi {
namespace {

/// @param one  whether null stands for one cell
Grid grid_of(const mg_box* box, const std::int64_t* cells, bool one = false) {
  Grid grid;
  grid.box = box_of(box);
  if (one && cells == nullptr) return grid;
  need(cells, "cells");
  for (std::size_t a = 0; a < 3; ++a) {
    within<std::int64_t>(cells[a], 1, kMaxAxisCells, "cells");
    grid.cells[a] = cells[a];
  }
  return grid;
}

int owner_of(const Decomposition& d, const double* xyz, std::size_t i) {
  const Vec3 p{xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]};
  const Box& box = d.grid().box;
  if (!between_walls(box, p))
    throw Indexed<InputError>(IndexedText("point ") + Index{i} + " at " + point_text(p) + " is outside of the box " +
                              box_text(box) + "; allowed: finite numbers between the walls");
  return d.owner(wrapped(box, p));
}

Decomposition::Block block_of(const double* lower, const double* upper) {
  return {{lower[0], lower[1], lower[2]}, {upper[0], upper[1], upper[2]}};
}

/// Every rank's own block. Collective.
Decomposition of_ranks(comm::Transport& transport, const mg_box* box, const std::int64_t* cells, const double* lower,
                       const double* upper) {
  Grid grid;
  Decomposition::Block mine;
  comm::agree(transport, [&] {
    grid = grid_of(box, cells, true);
    need(lower, "lower");
    need(upper, "upper");
    mine = block_of(lower, upper);
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
    within(ranks, 1, 1 << 24, "ranks");
    make<DecompositionObject>(decomposition, Decomposition(grid_of(box, cells), ranks, text_or(shape, "auto")));
  });
}

int mg_decomposition_from_cuts(const mg_box* box, const int64_t cells[3], const double* const cuts[3],
                               const size_t counts[3], mg_decomposition** decomposition) {
  return guard([&] {
    const Grid grid = grid_of(box, cells, true);
    need(cuts, "cuts");
    need(counts, "counts");
    std::array<std::vector<double>, 3> all;
    for (std::size_t a = 0; a < 3; ++a) {
      within<std::size_t>(counts[a], 0, 1 << 24, "counts");
      const auto axis = array(cuts[a], counts[a], "cuts");
      all[a].assign(axis.begin(), axis.end());
    }
    make<DecompositionObject>(decomposition, Decomposition::from_cuts(grid, all));
  });
}

int mg_decomposition_from_boxes(const mg_box* box, const int64_t cells[3], const double* lower, const double* upper,
                                int ranks, mg_decomposition** decomposition) {
  return guard([&] {
    const Grid grid = grid_of(box, cells, true);
    within(ranks, 1, 1 << 24, "ranks");
    need(lower, "lower");
    need(upper, "upper");
    std::vector<Decomposition::Block> blocks;
    for (std::ptrdiff_t r = 0; r < ranks; ++r) blocks.push_back(block_of(lower + 3 * r, upper + 3 * r));
    make<DecompositionObject>(decomposition, Decomposition::from_boxes(grid, std::move(blocks)));
  });
}

int mg_decomposition_of_ranks(mg_transport* transport, const mg_box* box, const int64_t cells[3], const double lower[3],
                              const double upper[3], mg_decomposition** decomposition) {
  return guard([&] {
    const auto over = object_of<TransportObject>(transport);
    make<DecompositionObject>(decomposition, of_ranks(over->get(), box, cells, lower, upper));
  });
}

int mg_decomposition_cartesian(int communicator, const mg_box* box, const int64_t cells[3], const int32_t axes[3],
                               mg_decomposition** decomposition) {
  return guard([&] {
    need(decomposition, "decomposition");
    std::array<int, 3> of_box{0, 1, 2};
    if (axes != nullptr) std::copy_n(axes, 3, of_box.begin());
    make<DecompositionObject>(decomposition,
                              decomposition_of(grid_of(box, cells), comm::cartesian(communicator), of_box));
  });
}

int mg_decomposition_ranks(mg_decomposition* decomposition, int* ranks) {
  return guard_get<DecompositionObject>(decomposition, ranks, "ranks",
                                        [](auto& object) { return object.value.ranks(); });
}

int mg_decomposition_block(mg_decomposition* decomposition, int rank, double lower[3], double upper[3]) {
  return guard<DecompositionObject>(decomposition, [&](DecompositionObject& object) {
    within(rank, 0, object.value.ranks() - 1, "rank");
    need(lower, "lower");
    need(upper, "upper");
    const auto block = object.value.block(rank);
    std::copy(block.lower.begin(), block.lower.end(), lower);
    std::copy(block.upper.begin(), block.upper.end(), upper);
  });
}

int mg_decomposition_owners(mg_decomposition* decomposition, const double* xyz, size_t n, int32_t* owners) {
  return guard<DecompositionObject>(decomposition, [&](DecompositionObject& object) {
    within<std::size_t>(n, 0, PTRDIFF_MAX / 24, "n");
    need(xyz, n, "xyz");
    need(owners, n, "owners");
    for (std::size_t i = 0; i < n; ++i) owners[i] = owner_of(object.value, xyz, i);
  });
}

int mg_decomposition_free(mg_decomposition* decomposition) { return guard_free<DecompositionObject>(decomposition); }

}  // extern "C"
