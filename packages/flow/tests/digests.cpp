// Digests of the flow's kernels and of whole steps, for tests/house/digests.cpp, which compares them between builds.
#include <cstddef>
#include <cstdint>
#include <string>

#include "merganser/flow/cases.hpp"
#include "merganser/flow/model.hpp"
#include "merganser/flow/transfer.hpp"
#include "merganser/parcels/statistics.hpp"

namespace merganser::test {
namespace {

using Tell = void (*)(const std::string& what, const std::string& digest);

flow::CaseOptions few_cells() {
  flow::CaseOptions initial;
  initial.cells = 8;
  return initial;
}

/// Fills a node field with numbers in [-scale, scale] of many digits, without the C library.
template <std::size_t kWidth>
void scatter_over(flow::Nodes<kWidth>& nodes, std::size_t count, double scale) {
  std::uint64_t state = 1;
  for (std::size_t n = 0; n < nodes.layout().size(); ++n)
    for (std::size_t c = 0; c < count; ++c) {
      state = state * 6364136223846793005 + 1442695040888963407;
      nodes.data()[kWidth * n + c] = scale * (static_cast<double>(state >> 11) * 0x1p-52 - 1);
    }
}

/// Tells the digests of what the transfer between parcels and nodes makes of spheres and then of ellipsoids. No number comes from
/// the C library, so the bits are the same on all processors.
void transfer(Tell tell, comm::Transport& transport) {
  const Decomposition blocks = flow::decompose(flow::case_grid(flow::Case::thermal, few_cells()), 1);
  Parcels parcels = flow::fill(blocks, 0, flow::case_fields(flow::Case::thermal, few_cells()));
  const flow::NodeLayout layout(blocks, 0);
  flow::Transfer transfer(transport, blocks, {});
  flow::CarriedNodes carried(layout);
  flow::ScalarNodes excess(layout);
  flow::FlowNodes flow(layout);
  flow::VectorNodes displacement(layout);
  scatter_over(flow, 14, 1);
  scatter_over(displacement, 3, 0.001);
  const auto tell_parcels = [&] { tell("flow:transfer", digest(flow::without_registers(parcels)).to_string()); };
  transfer.locate(parcels);
  tell_parcels();
  for (const double a : {0.0, -0.5, -0.7}) {
    transfer.locate(parcels);
    transfer.gather(parcels, carried);
    for (std::size_t n = 0; n < layout.size(); ++n)
      for (std::size_t c = 1; c < 5; ++c)
        flow.data()[flow::FlowNodes::kWidth * n + c] += carried.data()[flow::CarriedNodes::kWidth * n + c];
    transfer.advance(parcels, flow, a, 0.02);
    transfer.locate(parcels);
    transfer.gather_excess(parcels, excess);
    transfer.even_out(parcels, excess);
    transfer.locate(parcels);
    transfer.displace(parcels, displacement);
    tell_parcels();
  }
}

/// Tells the digest of the parcels after some steps of a case on few cells, with options under which parcels split and merge.
void steps(Tell tell, comm::Transport& transport, const std::string& name, flow::Case which) {
  flow::FlowOptions options;
  options.min_volume_ratio = 10;
  options.max_aspect_ratio = 1.5;
  options.alpha = 0.5;
  flow::apply_case(which, options);
  const Decomposition blocks = flow::decompose(flow::case_grid(which, few_cells()), 1);
  flow::Model model(transport, blocks, options);
  model.begin(flow::fill(blocks, 0, flow::case_fields(which, few_cells())));
  for (int step = 0; step < 9; ++step) model.step();
  // Of this family of processors: tables of the solver come from long double, which is another format on others.
  tell("of-this-family:flow:" + name, digest(flow::without_registers(model.parcels())).to_string());
}

}  // namespace

void tell_digests_of_flows(comm::Transport& transport, Tell tell);
void tell_digests_of_flows(comm::Transport& transport, Tell tell) {
  transfer(tell, transport);
  for (const auto& [name, which] : flow::cases().words) steps(tell, transport, name, which);
}

}  // namespace merganser::test
