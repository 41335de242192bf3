#include <cmath>

#include "merganser/capi/transport.h"
#include "src/capi/objects.hpp"

namespace merganser::capi {
namespace {

Grid grid_of(const mg_box* box, const std::int64_t* cells) {
  Grid grid;
  grid.box = box_of(box);
  need(cells, "cells");
  for (std::size_t a = 0; a < 3; ++a) {
    within<std::int64_t>(cells[a], 1, std::int64_t{1} << 31, "cells");
    grid.cells[a] = cells[a];
  }
  return grid;
}

int owner_of(const Decomposition& d, const double* xyz, std::size_t i) {
  const Vec3 p{xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2]};
  if (!d.grid().box.contains(p))
    throw InputError("point " + std::to_string(i) + " at (" + std::to_string(p[0]) + ", " + std::to_string(p[1]) +
                     ", " + std::to_string(p[2]) + "); allowed: inside the box");
  return d.owner(p);
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

int mg_decomposition_ranks(mg_decomposition* decomposition, int* ranks) {
  return guard([&] {
    const auto object = object_of<DecompositionObject>(decomposition);
    need(ranks, "ranks");
    *ranks = object->value.ranks();
  });
}

int mg_decomposition_block(mg_decomposition* decomposition, int rank, double lower[3], double upper[3]) {
  return guard([&] {
    const auto object = object_of<DecompositionObject>(decomposition);
    within(rank, 0, object->value.ranks() - 1, "rank");
    need(lower, "lower");
    need(upper, "upper");
    const auto block = object->value.block(rank);
    std::copy(block.lower.begin(), block.lower.end(), lower);
    std::copy(block.upper.begin(), block.upper.end(), upper);
  });
}

int mg_decomposition_owners(mg_decomposition* decomposition, const double* xyz, size_t n, int32_t* owners) {
  return guard([&] {
    const auto object = object_of<DecompositionObject>(decomposition);
    within<std::size_t>(n, 0, PTRDIFF_MAX / 24, "n");
    need(xyz, n, "xyz");
    need(owners, n, "owners");
    for (std::size_t i = 0; i < n; ++i) owners[i] = owner_of(object->value, xyz, i);
  });
}

int mg_decomposition_free(mg_decomposition* decomposition) {
  return guard([&] { free_handle<DecompositionObject>(decomposition).reset(); });
}

}  // extern "C"
