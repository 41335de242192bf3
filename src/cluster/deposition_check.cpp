// Weight deposited on grid nodes at shape order 1, before and after a merge step.
#include "merganser/cluster/deposition_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <span>
#include <vector>

#include "merganser/comm/collectives.hpp"
#include "merganser/comm/questions.hpp"

namespace merganser {
namespace {

/// Change of the weight of one node, as a rank sends it to the rank that adds it up.
struct NodeChange {
  std::int64_t node;
  std::int64_t change;
};

/// Returns the sum of all ranks' sums, rounded once. Collective. Limbs of 32 bits, so that ranks up to 2^31 add them without carries.
double total(comm::Transport& transport, const ExactSum& mine) {
  std::vector<std::int64_t> words = mine.words();
  transport.all_reduce(words, comm::Op::sum);
  return ExactSum::from_words(words.data()).value();
}

}  // namespace

DepositionCheck::DepositionCheck(comm::Transport& transport, const Grid& grid, const Parcels& before)
    : transport_(transport), grid_(grid) {
  double largest = 0;
  for (std::size_t i = 0; i < before.size(); ++i) largest = std::max(largest, before.site(i).volume);
  transport_.all_reduce(std::span(&largest, 1), comm::Op::max);
  parcels_ = transport_.all_reduce(static_cast<std::int64_t>(before.size()), comm::Op::sum);
  // A bound of the sum that has the same bits on any ranks; a step conserves the weight, levelling thinning in expectation.
  const double bound = 4 * largest * static_cast<double>(parcels_);
  if (bound > 0) unit_ = std::ldexp(1, std::ilogb(bound) + 1 - 62);
  deposit(before, true);
}

/// Returns the number of nodes along an axis.
std::int64_t DepositionCheck::nodes_along(int axis) const {
  const auto a = static_cast<std::size_t>(axis);
  return grid_.cells[a] + (grid_.box.periodic[a] ? 0 : 1);
}

/// Adds what parcels of this rank deposit, or subtracts it. Local.
void DepositionCheck::deposit(const Parcels& parcels, bool subtract) {
  if (unit_ == 0) return;
  const std::int64_t ny = nodes_along(1);
  const std::int64_t nz = nodes_along(2);
  for (std::size_t i = 0; i < parcels.size(); ++i) {
    const Site& s = parcels.site(i);
    const double x[3] = {s.x, s.y, s.z};
    std::array<std::array<std::int64_t, 2>, 3> node{};
    std::array<std::array<double, 2>, 3> share{};
    for (int axis = 0; axis < 3; ++axis) {
      const auto a = static_cast<std::size_t>(axis);
      const std::int64_t cell = grid_.cell(axis, x[axis]);
      const double at = (x[axis] - grid_.box.lower[a]) / grid_.spacing(axis) - static_cast<double>(cell);
      share[a][1] = std::clamp(at, 0.0, 1.0);
      share[a][0] = 1 - share[a][1];
      node[a] = {cell, cell + 1 < nodes_along(axis) ? cell + 1 : 0};
    }
    const double weight = s.volume / unit_;
    for (unsigned corner = 0; corner < 8; ++corner) {
      const std::size_t a = corner & 1U;
      const std::size_t b = corner >> 1U & 1U;
      const std::size_t c = corner >> 2U;
      const auto part = static_cast<std::int64_t>(std::round(weight * share[0][a] * share[1][b] * share[2][c]));
      change_[(node[0][a] * ny + node[1][b]) * nz + node[2][c]] += subtract ? -part : part;
    }
    if (subtract) weight_.add(s.volume);
  }
}

DepositionError DepositionCheck::compare(const Parcels& after) {
  deposit(after, false);
  std::vector<NodeChange> mine;
  for (const auto& [node, change] : change_)
    if (change != 0) mine.push_back({node, change});
  change_.clear();
  const auto ranks = static_cast<std::size_t>(transport_.size());
  const auto received =
      comm::send_to_owners<NodeChange>(transport_, std::span<const NodeChange>(mine), [ranks](const NodeChange& n) {
        return comm::hash_to_rank(static_cast<std::uint64_t>(n.node), ranks);
      }).flat();
  std::unordered_map<std::int64_t, std::int64_t> all;
  for (const NodeChange& n : received) all[n.node] += n.change;
  DepositionError error;
  error.nodes = nodes_along(0) * nodes_along(1) * nodes_along(2);
  // Rounding of each deposit changes a node by half a unit at most.
  std::int64_t largest = 0;
  ExactSum squares;
  for (const auto& [node, change] : all) {
    largest = std::max(largest, std::abs(change));
    const double d = static_cast<double>(change) * unit_;
    squares.add(d * d);
  }
  largest = transport_.all_reduce(largest, comm::Op::max);
  const double weight = total(transport_, weight_);
  const double square = total(transport_, squares);
  if (!(weight > 0)) return error;
  const double mean = weight / static_cast<double>(error.nodes);
  error.largest = static_cast<double>(largest) * unit_ / mean;
  error.rms = std::sqrt(square / static_cast<double>(error.nodes)) / mean;
  return error;
}

}  // namespace merganser
