/// Kernels of the flow, and whole steps, with every vector target of this processor: the same bits.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/comm/runtime.hpp"
#include "merganser/flow/cases.hpp"
#include "merganser/flow/model.hpp"
#include "merganser/parcels/statistics.hpp"
#include "tests/flow/alone.hpp"
#include "tests/flow/every_target.hpp"
#include "tests/flow/reference.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;

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
    transfer.locate(parcels);
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

/// Returns the number of values that differ in a bit.
std::size_t differences(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    count += std::bit_cast<std::uint64_t>(a[i]) != std::bit_cast<std::uint64_t>(b[i]) ? 1 : 0;
  return count;
}

/// Expects that all kernels have the same results with every kind of vectors.
void expect_same_bits(const Parcels& parcels, const Grid& grid) {
  const Outcome expected = outcome_of(parcels, grid);
  int kinds = 0;
  test::for_every_target([&](const char* name) {
    const Outcome outcome = outcome_of(parcels, grid);
    EXPECT_EQ(differences(outcome.nodes, expected.nodes), 0U) << name;
    EXPECT_EQ(differences(outcome.parcels, expected.parcels), 0U) << name;
    ++kinds;
  });
  EXPECT_GT(kinds, 0);
}

TEST(Vectors, of_every_kind_give_the_same_bits) {
  const Grid grid = reference::grid_of(8, 7, 5);
  const Parcels parcels = reference::random_parcels(grid, 1501, 30, 0.2);
  expect_same_bits(parcels, grid);
}

// B33 = det B / minor, where the minor B11 B22 - B12^2 cancels: such parcels are computed one by one, whatever their places in a group.
TEST(Vectors, of_flat_parcels_whose_minors_cancel_give_the_same_bits) {
  const Grid grid = reference::grid_of(8, 7, 5);
  Parcels parcels = reference::random_parcels(grid, 501, 31, 0.2);
  reference::flatten_some(parcels, grid);
  expect_same_bits(parcels, grid);
}

/// What some whole steps on one rank make: the parcels, and how many were split and merged.
struct AfterSteps {
  std::string digest;
  std::int64_t splits = 0;
  std::int64_t merges = 0;
};

AfterSteps after_steps() {
  AfterSteps after;
  comm::RunOptions one;
  one.backend = "threads";
  one.ranks = 1;
  one.within_process = true;
  comm::run(one, [&](comm::Transport& t) {
    CaseOptions initial;
    initial.cells = 8;
    FlowOptions options;  // with which few cells split and merge parcels within some steps
    options.min_volume_ratio = 10;
    options.max_aspect_ratio = 1.5;
    options.alpha = 0.5;
    apply_case(Case::rayleigh_taylor, options);
    const Decomposition blocks = flow::decompose(case_grid(Case::rayleigh_taylor, initial), 1);
    Model model(t, blocks, options);
    model.begin(fill(blocks, 0, case_fields(Case::rayleigh_taylor, initial)));
    for (int step = 0; step < 9; ++step) {
      model.step();
      after.splits += model.state().counts.splits;
      after.merges += model.state().counts.merges;
    }
    after.digest = digest(without_registers(model.parcels())).to_string();
  });
  return after;
}

TEST(Vectors, of_every_kind_make_the_same_steps) {
  const AfterSteps expected = after_steps();
  EXPECT_GT(expected.splits, 0);
  EXPECT_GT(expected.merges, 0);
  test::for_every_target([&](const char* name) { EXPECT_EQ(after_steps().digest, expected.digest) << name; });
}

}  // namespace
