#pragma once
/// One package from every block to every neighbouring block and step: what local exchange, multi-hop and the halos of
/// block codes ride on.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "merganser/blocks/block_grid.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::blocks {

/// Packages between blocks, bundled into at most one message per pair of ranks and step. Blocks of one rank exchange
/// without a message; a rank pair with nothing but empty packages sends an empty one. No collective once it is made.
class BlockExchange {
 public:
  /// Whom a rank may talk to.
  enum class Wiring : std::uint8_t {
    fixed,     ///< ranks that hold neighbouring blocks now; the placement stays
    any_rank,  ///< every rank, so that blocks may come and go; only pairs with neighbouring blocks take part in a step
  };

  /// Wires the blocks. Collective. `placement` must be the same on every rank as far as neighbours within `reach` are
  /// concerned.
  /// @throws InputError on every rank for a bad grid, a reach below 1, blocks out of order or not owned as told
  BlockExchange(comm::Transport& transport, BlockGrid grid, BlockPlacement placement, int reach,
                Wiring wiring = Wiring::fixed);

  /// As given.
  [[nodiscard]] const BlockGrid& grid() const noexcept { return grid_; }
  /// As given.
  [[nodiscard]] int reach() const noexcept { return reach_; }
  /// Blocks of this rank, ascending; `local` below is a position in this list.
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const noexcept { return placement_.mine; }
  /// Position of a block among those of this rank.
  [[nodiscard]] std::size_t local(std::int64_t block) const;  ///< @throws UsageError for a block of another rank
  /// Distinct neighbouring blocks that exist, ascending; `slot` below is a position in this list.
  [[nodiscard]] std::span<const std::int64_t> neighbours(std::size_t local) const { return sides_.at(local).blocks; }
  [[nodiscard]] std::size_t slot(std::size_t local, std::int64_t neighbour) const;  ///< kNoSlot if it is no neighbour
  static constexpr std::size_t kNoSlot = static_cast<std::size_t>(-1);

  /// The package that the next step takes to neighbours(local)[slot]: append to it freely. A step leaves it empty.
  [[nodiscard]] std::vector<std::byte>& package(std::size_t local, std::size_t slot) {
    return sides_.at(local).out.at(slot);
  }
  /// Sends all packages and waits for those of all neighbouring blocks. Called by every rank.
  /// @throws CommError if a message is not what this class writes
  void step();
  /// What neighbours(local)[slot] sent in the last step; valid until the next step.
  [[nodiscard]] std::span<const std::byte> received(std::size_t local, std::size_t slot) const {
    return sides_.at(local).in.at(slot);
  }

  /// Changes who holds what; only with Wiring::any_rank, on every rank after the same number of steps. Local. Packages
  /// written or received before are gone. @throws as the constructor, on this rank
  void place(BlockPlacement placement);

  /// Packages per step of this rank: one for each neighbour of each block, whether to this rank or another.
  [[nodiscard]] std::int64_t packages_per_step() const noexcept { return packages_; }
  /// Ranks that this rank exchanges messages with.
  [[nodiscard]] std::size_t partners() const noexcept { return partners_; }

 private:
  struct Side {  // of one block of this rank
    std::vector<std::int64_t> blocks;
    std::vector<std::vector<std::byte>> out;
    std::vector<std::vector<std::byte>> in;
  };
  struct Pair {  // block here and the position of the other one among its neighbours
    std::size_t local;
    std::size_t slot;
  };
  struct Incoming {
    std::int64_t from, to;
    Pair pair;
  };
  void check(const BlockPlacement& placement) const;
  void wire();
  void wire_block(std::size_t local, std::vector<std::vector<Incoming>>& incoming);
  void pack(std::size_t arc);
  void unpack(std::size_t arc);

  comm::Transport& transport_;
  BlockGrid grid_;
  BlockPlacement placement_;
  int reach_;
  Wiring wiring_;
  std::vector<Side> sides_;
  std::vector<int> ranks_;                // by arc, ascending
  std::vector<std::vector<Pair>> out_;    // by arc, in the order of (from, to)
  std::vector<std::vector<Pair>> in_;     // by arc, in the order of (from, to)
  std::vector<std::array<Pair, 2>> own_;  // pairs inside this rank: from, to
  std::vector<std::uint8_t> active_;      // by arc
  std::int64_t packages_ = 0;
  std::size_t partners_ = 0;
  std::unique_ptr<comm::Mailbox> mailbox_;
};

/// Appends one record to a package.
template <class T>
void append(std::vector<std::byte>& package, const T& record) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t at = package.size();
  package.resize(at + sizeof(T));
  std::memcpy(package.data() + at, &record, sizeof(T));
}

namespace detail {
[[noreturn]] void short_package(std::size_t have, std::size_t need);
}

/// Takes the first record off a package. @throws CommError if it is too short
template <class T>
T take(std::span<const std::byte>& package) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (package.size() < sizeof(T)) detail::short_package(package.size(), sizeof(T));
  T record;
  std::memcpy(&record, package.data(), sizeof(T));
  package = package.subspan(sizeof(T));
  return record;
}

}  // namespace merganser::blocks
