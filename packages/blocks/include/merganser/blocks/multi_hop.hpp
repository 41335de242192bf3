#pragma once
/// Rare messages that travel from block to block, at most so many blocks far. Source: [berghoff2018], section II-C.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/blocks/block_exchange.hpp"

namespace merganser::blocks {

/// A message goes to all (8 or 26) neighbours in the first step. Whoever it reaches, travelling in a direction, passes
/// it on in the next step along that direction and the parts of it: 1 message from a side, 3 from an edge (a corner in
/// a plane), 7 from a corner; 16 in all in a plane, 98 in space. Every block within `reach` blocks along each axis gets
/// it once, after as many steps as it is blocks away along the axis where it is farthest.
///
/// Nothing is collective once it is made; what is kept between steps is what must be passed on in the next.
class MultiHop {
 public:
  /// What happens on a periodic axis with an even number of blocks, whose farthest block lies in both directions.
  enum class Farthest : std::uint8_t {
    one_way,   ///< reached in the positive direction only: no copy is ever sent
    both_ways  ///< reached in both; of up to 8 copies, which arrive in the same step, all but one are dropped
  };

  /// Makes it together. Collective. @throws InputError on every rank as BlockExchange does, or if a block of the grid
  /// has no owner
  MultiHop(comm::Transport& transport, BlockGrid grid, BlockPlacement placement, Farthest farthest = Farthest::one_way);

  /// Blocks of this rank, ascending.
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const noexcept { return exchange_.blocks(); }
  /// As given.
  [[nodiscard]] const BlockGrid& grid() const noexcept { return exchange_.grid(); }

  /// Sends to every other block within `reach` blocks along each axis; the next step() takes the first hop.
  /// @throws UsageError if reach is below 1
  void send(std::size_t local, std::span<const std::byte> payload, int reach);
  /// Takes everything one hop further. Called by every rank.
  void step();

  /// A message that has reached a block.
  struct Delivery {
    std::int64_t origin;   ///< block that sent it
    std::uint64_t number;  ///< counts the messages of that block
    BlockIndex offset;     ///< from the origin to here, as it has travelled
    int hops;              ///< steps since it was sent
    std::vector<std::byte> payload;
  };
  /// What reached block blocks()[local] in the last step, by (origin, number).
  [[nodiscard]] const std::vector<Delivery>& delivered(std::size_t local) const { return delivered_.at(local); }

  /// What this rank has done so far.
  struct Counts {
    std::int64_t sent = 0;       ///< messages to neighbours in a first hop
    std::int64_t forwarded = 0;  ///< messages to neighbours in later hops
    std::int64_t delivered = 0;
    std::int64_t dropped = 0;  ///< copies of what had been delivered in the same step
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  /// What this rank has done so far.
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  /// What carries the messages.
  [[nodiscard]] const BlockExchange& exchange() const noexcept { return exchange_; }
  /// True if the next step has nothing to pass on from this rank.
  [[nodiscard]] bool idle() const noexcept;

 private:
  struct InTransit {
    Delivery message;
    BlockIndex direction;
    int reach;
  };
  [[nodiscard]] bool may_go(const InTransit& m, const BlockIndex& direction) const;
  void pass_on(std::size_t local, const InTransit& m);
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
