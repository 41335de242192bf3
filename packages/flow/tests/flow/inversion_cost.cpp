// Benchmark, not a test: cost of the spectral solves. test_flow_inversion_cost [CELLS] [RANKS] [LIBRARY] [MODEL]
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "merganser/base/timer.hpp"
#include "merganser/comm/runtime.hpp"
#include "merganser/flow/inversion.hpp"
#include "tests/flow/fields.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;

struct Work {
  const char* name;
  std::function<void()> run;
};

void measure(comm::Transport& transport, std::int64_t cells, const std::string& library) {
  const Grid grid = test::flow_grid({cells, cells, cells}, {0, 0, 0}, {test::kPi, test::kPi, test::kPi});
  int in_x = 1;  // z stays whole, and what cuts y costs fewer exchanges
  for (int parts = 1; parts * parts <= transport.size(); ++parts)
    if (transport.size() % parts == 0) in_x = parts;
  const Decomposition d(grid, transport.size(),
                        std::to_string(in_x) + "x" + std::to_string(transport.size() / in_x) + "x1");
  const NodeLayout layout(d, transport.rank());
  FlowOptions options;
  options.fft = library;
  Inversion inversion(transport, d, options);
  HaloFill halo(transport, d);
  CarriedNodes carried(layout);
  FlowNodes flow(layout);
  ScalarNodes excess(layout);
  VectorNodes displacement(layout);
  const auto vorticity = [](double x, double y, double z) {
    return std::array<double, 3>{std::sin(2 * x) * std::cos(4 * y + z), std::cos(6 * x - z), std::sin(2 * (x + y)) * z};
  };
  const auto scalar = [](double x, double y, double z) {
    return std::array<double, 1>{std::sin(2 * x) * std::sin(4 * y) * z};
  };
  test::set_nodes(excess, 0, scalar);
  double sink = 0;
  const Work works[] = {
      {"velocity", [&] { inversion.velocity(carried, flow); }},
      {"tendency",
       [&] {
         inversion.tendency(carried, flow, {false, false});
       }},
      {"both",
       [&] {
         inversion.velocity_and_tendency(carried, flow, {false, false});
       }},
      {"halo of the flow", [&] { halo.fill(flow); }},
      {"displacement", [&] { inversion.displacement(excess, displacement); }},
      {"limits", [&] { sink += inversion.limits(carried, flow).strain; }},
  };
  for (const Work& work : works) {
    double best = 1e9;
    for (int repeat = 0; repeat < 60; ++repeat) {
      test::set_nodes(carried, CarriedFields::xi, vorticity);
      test::set_nodes(carried, CarriedFields::buoyancy, scalar);
      transport.barrier();
      const double start = now();
      work.run();
      double seconds[] = {now() - start};
      transport.all_reduce(seconds, comm::Op::max);
      best = std::min(best, seconds[0]);
    }
    if (transport.rank() == 0)
      std::printf("%-18s %8.3f ms  %6.1f ns per node\n", work.name, best * 1e3,
                  best * 1e9 / static_cast<double>(cells * cells * (cells + 1)));
  }
  if (sink < 0) std::printf("%g\n", sink);
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t cells = argc > 1 ? std::atoll(argv[1]) : 32;
  const int ranks = argc > 2 ? std::atoi(argv[2]) : 1;
  const std::string library = argc > 3 ? argv[3] : "auto";
  comm::RunOptions options;
  options.backend = argc > 4 ? argv[4] : "threads";
  options.ranks = ranks;
  comm::run(options, [&](comm::Transport& t) { measure(t, cells, library); });
}
