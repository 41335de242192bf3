/// Kernels of the flow with every vector target of this processor: equal bits where promised, close values elsewhere.
#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <cstring>

#include "tests/flow/alone.hpp"
#include "tests/flow/reference.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;

/// Calls body(name of the target) with every vector target that this processor has.
template <class Body>
void for_targets(const Body& body) {
  const auto use = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    use(target);
    body(hwy::TargetName(target));
  }
  use(0);
}

/// Results of all kernels for the same parcels.
struct Outcome {
  std::vector<double> nodes;
  std::vector<double> parcels;
};

Outcome outcome_of(const Parcels& given, const Grid& grid) {
  Outcome outcome;
  {
    test::Alone t;
    const Decomposition d(grid, 1, "1x1x1");
    const NodeLayout layout(d, 0);
    Parcels parcels = given;
    for (std::size_t i = 0; i < parcels.size(); ++i) std::fill_n(parcels.row(i) + 10, 12, 0.0);
    Transfer transfer(t, d, {});
    CarriedNodes carried(layout);
    ScalarNodes excess(layout);
    FlowNodes flow(layout);
    VectorNodes displacement(layout);
    transfer.locate(parcels);
    transfer.gather(parcels, carried);
    transfer.gather_excess(parcels, excess);
    for (std::size_t n = 0; n < layout.size(); ++n) {
      for (std::size_t c = 0; c < 14; ++c) flow.data()[16 * n + c] = std::sin(static_cast<double>(n + 5 * c));
      for (std::size_t c = 0; c < 3; ++c) displacement.data()[4 * n + c] = 0.01 * std::cos(static_cast<double>(n + c));
      for (std::size_t c = 0; c < 5; ++c) outcome.nodes.push_back(carried.data()[8 * n + c]);
      outcome.nodes.push_back(excess.data()[n]);
    }
    transfer.damp(parcels, carried, flow, 0.1);
    transfer.even_out(parcels, excess);
    transfer.displace(parcels, displacement);
    transfer.advance(parcels, flow, 0, 0.01);
    transfer.advance(parcels, flow, -0.5, 0.01);
    for (std::size_t i = 0; i < parcels.size(); ++i) {
      const Site& s = parcels.site(i);
      outcome.parcels.insert(outcome.parcels.end(), {s.x, s.y, s.z, s.volume});
      outcome.parcels.insert(outcome.parcels.end(), parcels.row(i) + 1, parcels.row(i) + 21);
    }
  }
  return outcome;
}

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return 1;
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::fabs(a[i] - b[i]) / (1 + std::fabs(b[i])));
  return worst;
}

TEST(Vectors, of_every_kind_give_the_same_but_for_rounding) {
  const Grid grid = reference::grid_of(8, 7, 5);
  const Parcels parcels = reference::random_parcels(grid, 1501, 30, 0.2);
  const Outcome expected = outcome_of(parcels, grid);
  int kinds = 0;
  for_targets([&](const char* name) {
    const Outcome outcome = outcome_of(parcels, grid);
    EXPECT_LT(difference(outcome.nodes, expected.nodes), 1e-13) << name;
    EXPECT_LT(difference(outcome.parcels, expected.parcels), 1e-13) << name;
    ++kinds;
  });
  EXPECT_GT(kinds, 0);
}

}  // namespace
