/// Benchmark, not a test: cost of the transfer between parcels and nodes, in ns per parcel and call, the least of several turns:
/// test_flow_transfer_cost [cells] [parcels per cell] [turns]. One rank; parcels in the order of cells, as after a merge, then
/// displaced by a third of a cell, as a time step does.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "merganser/base/timing.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/flow/migrate.hpp"
#include "merganser/flow/transfer.hpp"
#include "tests/flow/reference.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;

Parcels parcels_in(const Grid& grid, std::int64_t per_cell) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> u(0, 1);
  Parcels parcels(schema());
  parcels.resize(static_cast<std::size_t>(grid.cell_count() * per_cell));
  std::size_t n = 0;
  for (std::int64_t i = 0; i < grid.cells[0]; ++i)
    for (std::int64_t j = 0; j < grid.cells[1]; ++j)
      for (std::int64_t k = 0; k < grid.cells[2]; ++k)
        for (std::int64_t p = 0; p < per_cell; ++p, ++n) {
          const auto at = [&](int a, std::int64_t cell) {
            const double moved = static_cast<double>(cell) + u(random) + (u(random) - 0.5) / 3;
            return grid.box.lower[static_cast<std::size_t>(a)] + grid.spacing(a) * moved;
          };
          const double volume = grid.cell_volume() / static_cast<double>(per_cell) * (0.5 + u(random));
          const Vec3 x{at(0, i), at(1, j), at(2, k)};
          parcels.site(n) = {grid.box.wrap(0, x[0]), grid.box.wrap(1, x[1]), x[2], volume};
          double* const row = parcels.row(n);
          std::fill_n(row, parcels.schema().width(), 0.0);
          parcels.set_id(n, static_cast<std::int64_t>(2 * n));
          for (std::size_t c = 1; c < 5; ++c) row[c] = u(random) - 0.5;
          reference::random_shape(random, volume, {1 + 2 * u(random), 1 + u(random), 1}, row + 5);
        }
  return parcels;
}

/// Returns the CPU time of this thread, since other programs may share the processor.
double processor_now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Timer {
  std::size_t parcels;
  int turns;
  template <class Body>
  void operator()(const char* what, const Body& body) const {
    double least = 1e9;
    repeat(
        {.timed = turns}, processor_now, [](std::int64_t) {}, [&](std::int64_t) { body(); },
        [&](std::int64_t, double begin, double end) { least = std::min(least, end - begin); });
    std::printf("%-16s %7.1f ns\n", what, 1e9 * least / static_cast<double>(parcels));
    std::fflush(stdout);
  }
};

void measure(comm::Transport& t, std::int64_t cells, std::int64_t per_cell, int turns) {
  const Grid grid{{{0, 0, 0}, {1, 1, 1}, {true, true, false}}, {cells, cells, cells}};
  const Decomposition d(grid, 1, "1x1x1");
  const NodeLayout layout(d, 0);
  Parcels parcels = parcels_in(grid, per_cell);
  Transfer transfer(t, d, {});
  Migration migration(t, d);
  CarriedNodes carried(layout);
  ScalarNodes excess(layout);
  VectorNodes displacement(layout);
  FlowNodes flow(layout);
  for (std::size_t n = 0; n < layout.size() * FlowFields::width; ++n)
    flow.data()[n] = 1e-6 * static_cast<double>(n % 13);
  std::printf("%zu parcels, %lld^3 cells, %d turns\n", parcels.size(), static_cast<long long>(cells), turns);
  const Timer timer{parcels.size(), turns};
  timer("locate", [&] { transfer.locate(parcels); });
  timer("locate, gather", [&] {
    transfer.locate(parcels);
    transfer.gather(parcels, carried);
  });
  timer("gather", [&] { transfer.gather(parcels, carried); });
  timer("gather_excess", [&] { transfer.gather_excess(parcels, excess); });
  timer("locate, excess", [&] {
    transfer.locate(parcels);
    transfer.gather_excess(parcels, excess);
  });
  timer("advance", [&] { transfer.advance(parcels, flow, -0.5, 1e-9); });
  timer("migration", [&] { migration.send(parcels); });
  timer("damp", [&] { transfer.damp(parcels, carried, flow, 1e-3); });
  timer("locate, displace", [&] {
    transfer.locate(parcels);
    transfer.displace(parcels, displacement);
  });
  timer("locate, even_out", [&] {
    transfer.locate(parcels);
    transfer.even_out(parcels, excess);
  });
  timer("reflect", [&] { reflect(parcels, grid.box); });
  migration.send(parcels);
  timer("renumber", [&] { renumber(parcels, layout); });
  transfer.locate(parcels);
  timer("sums by cell", [&] { (void)transfer.vorticity_sums(parcels); });
  timer("vorticity sums", [&] { (void)vorticity_sums(parcels); });
  timer("split", [&] {
    FlowOptions options;
    options.max_aspect_ratio = 1e3;
    if (flow::split(parcels, {{{0, 0, 0}, {9, 9, 9}, {true, true, false}}, {3, 3, 3}}, options) > 0) std::abort();
  });
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) { return argc > i ? std::atoi(argv[i]) : otherwise; };
  comm::RunOptions options;
  options.backend = "threads";
  options.ranks = 1;
  comm::run(options, [&](comm::Transport& t) { measure(t, number(1, 32), number(2, 10), number(3, 20)); });
}
