// The spectral solves over numbers of ranks and communication models: the same bits as on one rank.
#include <gtest/gtest.h>

#include <bit>

#include "merganser/flow/inversion.hpp"
#include "tests/flow/every_target.hpp"
#include "tests/flow/fields.hpp"
#include "tests/support/ranks.hpp"

namespace {

using namespace merganser;
using namespace merganser::flow;
using namespace merganser::test;

const Grid kGrid = flow_grid({16, 14, 5}, {-1, 2, 0}, {4, 4, 1.5});

/// Returns a pseudo-random number in [-1, 1] for a node of the whole grid.
double scatter(double x, double y, double z, double seed) {
  const double v = std::sin(12.9898 * x + 78.233 * y + 37.719 * z + seed) * 43758.5453;
  return 2 * (v - std::floor(v)) - 1;
}

/// Returns the sum of hashes of positions and values of own nodes and of those beyond the walls.
template <std::size_t kWidth>
std::int64_t digest(const Nodes<kWidth>& nodes, std::size_t first, std::size_t count) {
  const NodeLayout& layout = nodes.layout();
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < layout.cells(0); ++i)
    for (std::int64_t j = 0; j < layout.cells(1); ++j)
      for (std::int64_t k = -1; k <= layout.cells(2) + 1; ++k)
        for (std::size_t c = first; c < first + count; ++c) {
          const auto x = static_cast<std::uint64_t>(layout.first(0) + i);
          const auto y = static_cast<std::uint64_t>(layout.first(1) + j);
          const std::uint64_t place = ((x * 1000 + y) * 1000 + static_cast<std::uint64_t>(k + 1)) * 100 + c;
          sum += mixed(mixed(place) ^ std::bit_cast<std::uint64_t>(nodes.at(i, j, k)[c]));
        }
  return static_cast<std::int64_t>(sum);
}

/// Returns true if the halo has the values of the owners.
template <std::size_t kWidth>
bool halo_is_filled(HaloFill& halo, const Nodes<kWidth>& nodes) {
  Nodes<kWidth> filled = nodes;
  halo.fill(filled);
  return std::equal(nodes.data(), nodes.data() + nodes.layout().size() * kWidth, filled.data());
}

struct Digests {
  std::vector<std::int64_t> sums;
  std::vector<double> limits;
};

template <std::size_t kWidth>
void scatter_over(Nodes<kWidth>& nodes, std::size_t first, std::size_t count) {
  for_nodes(nodes.layout(), false, [&](auto i, auto j, auto k, double, double, double) {
    const NodeLayout& layout = nodes.layout();
    for (std::size_t c = 0; c < count; ++c)
      nodes.at(i, j, k)[first + c] =
          scatter(static_cast<double>(layout.first(0) + i), static_cast<double>(layout.first(1) + j),
                  static_cast<double>(k), static_cast<double>(c));
  });
}

Digests solved(comm::Transport& t, const std::string& shape, const std::string& library) {
  const Decomposition d(kGrid, t.size(), shape);
  const NodeLayout layout(d, t.rank());
  FlowOptions options;
  options.fft = library;
  Inversion inversion(t, d, options);
  HaloFill halo(t, d);
  CarriedNodes carried(layout);
  FlowNodes flow(layout);
  ScalarNodes excess(layout);
  VectorNodes displacement(layout);
  scatter_over(carried, CarriedFields::xi, 4);
  scatter_over(excess, 0, 1);
  Digests result;
  for (int turn = 0; turn < 2; ++turn) {  // what is left in buffers must not matter
    inversion.velocity(carried, flow);
    EXPECT_TRUE(halo_is_filled(halo, flow));
    inversion.tendency(carried, flow, {turn == 0, false});
    EXPECT_TRUE(halo_is_filled(halo, flow));
    inversion.displacement(excess, displacement);
    EXPECT_TRUE(halo_is_filled(halo, displacement));
    halo.fill(carried);
    result.sums.push_back(digest(carried, CarriedFields::xi, 4));
    result.sums.push_back(digest(flow, FlowFields::u, 14));
    result.sums.push_back(digest(displacement, 0, 3));
    const StepLimits limits = inversion.limits(carried, flow);
    result.limits.insert(result.limits.end(), {limits.strain, limits.frequency});
  }
  t.all_reduce(result.sums, comm::Op::sum);
  t.all_reduce(result.limits, comm::Op::max);
  return result;
}

Digests alone(const std::string& library) {
  Digests result;
  comm::RunOptions one;
  one.backend = "threads";
  one.ranks = 1;
  one.within_process = true;
  comm::run(one, [&](comm::Transport& t) { result = solved(t, "auto", library); });
  return result;
}

class FlowRanksTest : public testing::TestWithParam<Setup> {};
INSTANTIATE_TEST_SUITE_P(Models, FlowRanksTest, testing::ValuesIn(setups({"", "checked"}, {"chaos:5"})),
                         setup_name<testing::TestParamInfo<Setup>>);

TEST_P(FlowRanksTest, all_solves_have_the_bits_of_one_rank) {
  for (const std::string& library : fft_libraries()) {
    const Digests want = alone(library);
    on_ranks(GetParam(), [&](comm::Transport& t) {
      const std::string n = std::to_string(t.size());
      for (const std::string& shape : {std::string("2d"), n + "x1x1", "1x" + n + "x1"}) {
        SCOPED_TRACE(library + " " + shape);
        const Digests got = solved(t, shape, library);
        EXPECT_EQ(got.sums, want.sums);
        EXPECT_EQ(got.limits, want.limits);
      }
    });
  }
}

TEST(FlowTargets, all_kinds_of_vectors_give_the_same_bits) {
  const Digests want = alone("lanes");
  for_every_target([&](const char* name) {
    const Digests got = alone("lanes");
    EXPECT_EQ(got.sums, want.sums) << name;
    EXPECT_EQ(got.limits, want.limits) << name;
  });
}

TEST_P(FlowRanksTest, both_solves_in_one_have_the_bits_of_one_after_the_other) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(kGrid, t.size(), "2d");
    const NodeLayout layout(d, t.rank());
    FlowOptions options;
    options.coriolis_y = 0.4;
    Inversion inversion(t, d, options);
    CarriedNodes carried(layout);
    scatter_over(carried, CarriedFields::xi, 4);
    CarriedNodes again = carried;
    FlowNodes flow(layout);
    FlowNodes at_once(layout);
    inversion.velocity(carried, flow);
    inversion.tendency(carried, flow, {true, false});
    inversion.velocity_and_tendency(again, at_once, {true, false});
    EXPECT_TRUE(std::equal(flow.data(), flow.data() + layout.size() * FlowFields::width, at_once.data()));
    EXPECT_EQ(digest(again, CarriedFields::xi, 4), digest(carried, CarriedFields::xi, 4));
  });
}

TEST_P(FlowRanksTest, solves_make_no_collective) {
  on_ranks(GetParam(), [&](comm::Transport& t) {
    const Decomposition d(kGrid, t.size(), "2d");
    const NodeLayout layout(d, t.rank());
    Inversion inversion(t, d, {});
    CarriedNodes carried(layout);
    FlowNodes flow(layout);
    ScalarNodes excess(layout);
    VectorNodes displacement(layout);
    const comm::Counters before = t.counters();
    inversion.velocity(carried, flow);
    inversion.tendency(carried, flow, {false, false});
    inversion.displacement(excess, displacement);
    EXPECT_EQ((t.counters() - before).collectives, 0);
    // Velocity and displacement take six exchanges each, the tendency four; each of the three takes one halo exchange.
    const auto& shape = d.shape();
    const int rows = (shape[0] > 1 ? 4 : 0) + (shape[1] > 1 ? 2 : 0);
    const int derivatives = (shape[0] > 1 ? 2 : 0) + (shape[1] > 1 ? 2 : 0);
    EXPECT_EQ((t.counters() - before).waves, 2 * rows + derivatives + (t.size() > 1 ? 3 : 0));
  });
}

}  // namespace
