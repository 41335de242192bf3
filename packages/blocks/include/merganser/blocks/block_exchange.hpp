#pragma once
/// Packages between neighbouring blocks: one from every block to every neighbour and step. Local exchange, multi-hop messages
/// and halo exchanges of block codes are built on it.
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

/// Sparse exchange of packages between blocks, bundled into at most one message per pair of ranks and step. Blocks of one rank
/// exchange without a message; a rank pair whose packages are all empty sends an empty message. No collective call once it
/// is made.
class BlockExchange {
 public:
  /// Set of ranks that an exchange of packages between blocks has arcs to.
  enum class Wiring : std::uint8_t {
    fixed,     ///< ranks that hold neighbouring blocks at construction; the placement is fixed
    any_rank,  ///< every rank, so that the placement may change; only pairs with neighbouring blocks take part in a step
  };

  /// Creates the packages between neighbouring blocks and the mailbox to the ranks that hold them. Collective. `placement` must
  /// agree on all ranks about the owners of blocks within `reach` (1 to 8) of each other.
  /// @throws InputError on every rank for a bad grid, a reach out of range, blocks out of order or owned by another rank
  BlockExchange(comm::Transport& transport, BlockGrid grid, BlockPlacement placement, int reach,
                Wiring wiring = Wiring::fixed);

  /// Returns the grid of blocks whose neighbours exchange packages. Local.
  [[nodiscard]] const BlockGrid& grid() const noexcept { return grid_; }
  /// Returns the distance, in blocks along every axis, within which blocks are neighbours. Local.
  [[nodiscard]] int reach() const noexcept { return reach_; }
  /// Returns the numbers of the blocks that this rank holds, ascending; a parameter `local` is an index into this list. Local.
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const noexcept { return placement_.mine; }
  /// Returns the index of a block among those of this rank. Local. @throws UsageError for a block of another rank
  [[nodiscard]] std::size_t local(std::int64_t block) const;
  /// Returns the distinct existing blocks within reach of block blocks()[local], ascending; a parameter `slot` is an index into
  /// this list. Local.
  [[nodiscard]] std::span<const std::int64_t> neighbours(std::size_t local) const { return sides_.at(local).blocks; }
  /// Returns the index of a block among neighbours(local); kNoSlot if it is not a neighbour. Local.
  [[nodiscard]] std::size_t slot(std::size_t local, std::int64_t neighbour) const;
  static constexpr std::size_t kNoSlot =
      static_cast<std::size_t>(-1);  ///< result of slot() for blocks that are no neighbours

  /// Returns the package that the next step sends to neighbours(local)[slot], to append to; the step leaves it empty. Local.
  [[nodiscard]] std::vector<std::byte>& package(std::size_t local, std::size_t slot) {
    return sides_.at(local).out.at(slot);
  }
  /// Sends the packages of this rank's blocks and receives those of all neighbouring blocks. Called by every rank; waits for
  /// ranks with neighbouring blocks only.
  /// @throws CommError if a message has another format
  void step();
  /// Returns the package of neighbours(local)[slot] from the last step; valid until the next step. Local.
  [[nodiscard]] std::span<const std::byte> received(std::size_t local, std::size_t slot) const {
    return sides_.at(local).in.at(slot);
  }

  /// Changes the placement of blocks on ranks; only with Wiring::any_rank, on every rank after the same number of steps. Local.
  /// Packages written or received before are discarded. @throws as the constructor, on this rank
  void set_placement(BlockPlacement placement);

  /// Returns the number of packages per step of this rank: one for each neighbour of each block, on any rank. Local.
  [[nodiscard]] std::int64_t packages_per_step() const noexcept { return packages_; }
  /// Returns the number of ranks that this rank exchanges messages with. Local.
  [[nodiscard]] std::size_t partners() const noexcept { return partners_; }

 private:
  struct Side {  // neighbouring blocks of one block of this rank, with the packages to and from each
    std::vector<std::int64_t> blocks;
    std::vector<std::vector<std::byte>> out;
    std::vector<std::vector<std::byte>> in;
  };
  struct Pair {  // a block of this rank, and the index of the other block among its neighbours
    std::size_t local;
    std::size_t slot;
  };
  /// Pair of blocks, `from` on another rank and `to` on this one, whose packages arrive here.
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
  std::vector<int> ranks_;                // by arc: rank, ascending
  std::vector<std::vector<Pair>> out_;    // by arc, in the order of (from, to): the same at both ends
  std::vector<std::vector<Pair>> in_;     // by arc
  std::vector<std::array<Pair, 2>> own_;  // pairs of blocks of this rank: from, to
  std::vector<std::uint8_t> active_;      // by arc: 1 if it has a pair
  std::int64_t packages_ = 0;
  std::size_t partners_ = 0;
  std::unique_ptr<comm::Mailbox> mailbox_;
};

/// Appends the bytes of a value to a package between blocks.
template <class T>
void append(std::vector<std::byte>& package, const T& record) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t at = package.size();
  package.resize(at + sizeof(T));
  std::memcpy(package.data() + at, &record, sizeof(T));
}

namespace detail {
/// Throws CommError for a package between blocks of `have` remaining bytes where `need` are to be read.
[[noreturn]] void throw_short_package(std::size_t have, std::size_t need);
}  // namespace detail

/// Reads the first value of a received package between blocks, and removes it from the front. @throws CommError if the package is
/// too short
template <class T>
T extract(std::span<const std::byte>& package) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (package.size() < sizeof(T)) detail::throw_short_package(package.size(), sizeof(T));
  T record;
  std::memcpy(&record, package.data(), sizeof(T));
  package = package.subspan(sizeof(T));
  return record;
}

}  // namespace merganser::blocks
