// Halo exchange of fields at nodes between the blocks of the flow model.
#include <algorithm>
#include <cstring>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/flow/nodes.hpp"

namespace merganser::flow {
namespace {

/// Range of nodes along one axis that the halo of a node field receives from the block `offset` (-1, 0, 1) blocks further on.
struct HaloRange {
  std::int64_t from;  ///< first node, in local indices of the sending block
  std::int64_t to;    ///< first node, in local indices of the receiving block
  std::int64_t count;
};

/// Returns the range of nodes along one axis in a halo exchange of node fields. The sending and the receiving block may differ in
/// size, and each uses its own: a sender reads `from`, which counts from its own end, a receiver uses `to`, which counts from its
/// own.
/// @param cells  of this rank along the axis
HaloRange halo_range(int offset, std::int64_t cells) {
  if (offset < 0) return {cells - 1, -1, 1};
  if (offset > 0) return {0, cells, 2};
  return {0, 0, cells};
}

/// Returns this rank's layout of nodes. @throws UsageError for a decomposition for another number of ranks
NodeLayout checked_layout(const comm::Transport& transport, const Decomposition& decomposition) {
  if (transport.size() != decomposition.ranks())
    throw UsageError("nodes of a decomposition for " + std::to_string(decomposition.ranks()) +
                     " ranks on a transport of " + std::to_string(transport.size()) + "; they must be equal");
  return {decomposition, transport.rank()};
}

}  // namespace

// Halo exchange of node fields: one mailbox to the ranks around, and the ranges of nodes that go along each arc.
HaloFill::HaloFill(comm::Transport& transport, const Decomposition& decomposition)
    : layout_(checked_layout(transport, decomposition)) {
  const int me = transport.rank();
  const std::vector<int> neighbours = decomposition.neighbours(me);
  const std::array<int, 3>& shape = decomposition.shape();
  const std::array<int, 3> here = decomposition.coordinates(me);
  // Index of the arc to the rank dx, dy blocks away; -1 for this rank itself.
  const auto arc_at = [&](int dx, int dy) {
    const int rank =
        decomposition.rank_at({(here[0] + dx + shape[0]) % shape[0], (here[1] + dy + shape[1]) % shape[1], 0});
    if (rank == me) return -1;
    return static_cast<int>(std::lower_bound(neighbours.begin(), neighbours.end(), rank) - neighbours.begin());
  };
  // Sender and receiver visit the parts in the same order, so a message needs no headers.
  for (int dx = -1; dx <= 1; ++dx)
    for (int dy = -1; dy <= 1; ++dy) {
      if (dx == 0 && dy == 0) continue;
      const HaloRange x = halo_range(dx, layout_.cells(0));
      const HaloRange y = halo_range(dy, layout_.cells(1));
      parts_.push_back({{x.from, y.from}, {x.to, y.to}, {x.count, y.count}, arc_at(dx, dy), arc_at(-dx, -dy)});
    }
  mailbox_ = transport.mailbox(comm::Graph::symmetric(neighbours));
  read_.resize(neighbours.size());
}

// One halo exchange: own nodes go to the halos of the blocks around, in one wave.
void HaloFill::fill(double* values, std::size_t width) {
  const std::size_t column = layout_.stride_j() * width * sizeof(double);
  const auto node = [&](std::int64_t i, std::int64_t j) {
    return reinterpret_cast<std::byte*>(values + layout_.index(i, j, -1) * width);
  };
  for (const Part& part : parts_) {
    const std::size_t bytes = static_cast<std::size_t>(part.sizes[1]) * column;
    for (std::int64_t i = 0; i < part.sizes[0]; ++i) {
      const std::byte* const from = node(part.from[0] + i, part.from[1]);
      if (part.target < 0) {
        std::memcpy(node(part.to[0] + i, part.to[1]), from, bytes);
      } else {
        auto& box = mailbox_->outbox(static_cast<std::size_t>(part.target));
        box.insert(box.end(), from, from + bytes);
      }
    }
  }
  if (read_.empty()) return;
  mailbox_->step();
  std::fill(read_.begin(), read_.end(), 0);
  for (const Part& part : parts_) {
    if (part.source < 0) continue;
    const auto arc = static_cast<std::size_t>(part.source);
    const std::span<const std::byte> message = mailbox_->inbox(arc);
    const std::size_t bytes = static_cast<std::size_t>(part.sizes[1]) * column;
    for (std::int64_t i = 0; i < part.sizes[0]; ++i) {
      if (message.size() - read_[arc] < bytes)
        throw CommError("a halo's message of " + std::to_string(message.size()) + " bytes; awaited: more");
      std::memcpy(node(part.to[0] + i, part.to[1]), message.data() + read_[arc], bytes);
      read_[arc] += bytes;
    }
  }
}

}  // namespace merganser::flow
