#pragma once
/// Multi-hop messages: rare messages that are forwarded from block to block, up to a given distance. Source: [berghoff2018],
/// section II-C.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/blocks/block_exchange.hpp"

namespace merganser::blocks {

/// Flooding of messages over blocks without duplicates. A message is sent to all (8 or 26) neighbours in the first step. A block
/// that it reaches, travelling in a direction, forwards it in the next step along that direction and the directions that keep
/// some of its components: 1 message from a side, 3 from an edge (a corner in a plane), 7 from a corner; 16 in all in a plane,
/// 98 in space. Every block within `reach` blocks along each axis receives it once, after as many steps as it is blocks away
/// along the axis where it is farthest.
///
/// No call is collective but the constructor; only messages to forward in the next step are stored between steps.
class MultiHop {
 public:
  /// Routing of multi-hop messages on a periodic axis with an even number of blocks, whose farthest block lies in both directions.
  enum class Farthest : std::uint8_t {
    one_way,   ///< reached in the positive direction only: no copy is ever sent
    both_ways  ///< reached in both; of up to 8 copies, which arrive in the same step, all but one are dropped
  };

  /// Creates the exchange of multi-hop messages between blocks. Collective. @throws InputError on every rank as BlockExchange
  /// does, or if a block of the grid has no owner
  MultiHop(comm::Transport& transport, BlockGrid grid, BlockPlacement placement, Farthest farthest = Farthest::one_way);

  /// Returns the numbers of the blocks that this rank holds, ascending. Local.
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const noexcept { return exchange_.blocks(); }
  /// Returns the grid of blocks over which multi-hop messages travel. Local.
  [[nodiscard]] const BlockGrid& grid() const noexcept { return exchange_.grid(); }

  /// Sends a message from block blocks()[local] to every other block within `reach` blocks along each axis; the next step()
  /// makes the first hop. Local.
  /// @throws UsageError if reach is below 1
  void send(std::size_t local, std::span<const std::byte> payload, int reach);
  /// Forwards all messages in transit by one hop, to neighbouring blocks. Called by every rank; waits for neighbours only.
  void step();

  /// Multi-hop message that has reached a block.
  struct Delivery {
    std::int64_t origin;   ///< number of the block that sent it
    std::uint64_t number;  ///< index among the messages of that block, from 0
    BlockIndex offset;     ///< offset in blocks from the origin to this block, along the way it was forwarded
    int hops;              ///< steps since the message was sent
    std::vector<std::byte> payload;
  };
  /// Returns the messages that reached block blocks()[local] in the last step, in the order of (origin, number). Local.
  [[nodiscard]] const std::vector<Delivery>& delivered(std::size_t local) const { return delivered_.at(local); }

  /// Numbers of multi-hop messages of this rank's blocks so far.
  struct Counts {
    std::int64_t sent = 0;       ///< messages to neighbours in a first hop
    std::int64_t forwarded = 0;  ///< messages to neighbours in later hops
    std::int64_t delivered = 0;  ///< messages that reached a block of this rank
    std::int64_t dropped = 0;    ///< copies of messages delivered in the same step
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  /// Returns the numbers of multi-hop messages of this rank's blocks so far. Local.
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  /// Returns the exchange of packages between blocks that messages are sent over. Local.
  [[nodiscard]] const BlockExchange& exchange() const noexcept { return exchange_; }
  /// Returns true if the next step has nothing to forward from this rank. Local.
  [[nodiscard]] bool is_idle() const noexcept;

 private:
  /// Multi-hop message to forward in the next step: its direction of travel and its reach.
  struct InTransit {
    Delivery message;
    BlockIndex direction;
    int reach;
  };
  [[nodiscard]] bool can_forward(const InTransit& m, const BlockIndex& direction) const;
  void forward(std::size_t local, const InTransit& m);
  void receive(std::size_t local);

  BlockExchange exchange_;
  Farthest farthest_;
  std::vector<BlockIndex> directions_;
  std::vector<std::vector<InTransit>> waiting_;  // by local block, for the next step
  std::vector<std::vector<Delivery>> delivered_;
  std::vector<std::uint64_t> numbers_;
  Counts counts_;
};

}  // namespace merganser::blocks
