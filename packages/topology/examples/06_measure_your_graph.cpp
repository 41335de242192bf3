// Measures what an exchange costs on a process graph of your own, in every communication model: ./06_measure_your_graph 4, or
// mpirun -n 4 ./06_measure_your_graph.
#include <cstdio>
#include <vector>

#include <merganser/kernels/exchange.hpp>
#include <merganser/topology/measure.hpp>

#include "start.hpp"

using namespace merganser;

// Every rank sends 8 KiB to the next rank, 1 KiB to the one before, and 64 bytes to rank 0.
graphs::ProcessGraph my_graph(int ranks) {
  if (ranks < 2) throw UsageError("nobody to send to; allowed: 2 ranks or more");
  std::vector<std::vector<graphs::ProcessGraph::Arc>> rows(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    auto& row = rows[static_cast<std::size_t>(r)];
    row = {{(r + 1) % ranks, 8192}, {(r + ranks - 1) % ranks, 1024}};
    if (r != 0) row.push_back({0, 64});
  }
  return graphs::ProcessGraph(std::move(rows));  // equal heads are joined, their bytes are added
}

void measure(comm::Transport& transport) {
  topology::MeasureOptions options;
  options.graphs = {{"mine", my_graph(transport.size())}};
  options.sizes = {{.bytes = 1, .weights = true}};  // the weights of the arcs are bytes
  options.seconds = 1;                              // a longer time narrows the intervals
  for (const auto& kernel : kernels::kernels())     // all of this build; unusable ones are reported
    if (kernel.completion == kernels::Completion::notified) options.kernels.emplace_back(kernel.name);
  const topology::Measurement found = topology::measure(transport, options);
  if (transport.rank() != 0) return;
  std::printf("%-28s %12s   95 %% interval of the median\n", "kernel", "median us");
  const topology::CellResult* fastest = nullptr;
  for (const auto& cell : found.cells) {
    const auto p50 = cell.p50();
    std::printf("%-28s %12.2f   %.2f to %.2f\n", cell.kernel.c_str(), p50.value / 1e3, p50.low / 1e3, p50.high / 1e3);
    if (fastest == nullptr || p50.value < fastest->p50().value) fastest = &cell;
  }
  for (const auto& none : found.unusable) std::printf("%-28s %s\n", none.kernel.c_str(), none.reason.c_str());
  if (fastest != nullptr) std::printf("fastest: %s\n", fastest->kernel.c_str());
}

int main(int argc, char** argv) { return start(argc, argv, measure); }
