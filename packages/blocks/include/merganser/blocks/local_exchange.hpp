#pragma once
/// Local exchange: additive properties of small moving objects, kept equal in every block that holds a part of one, by one
/// package per step to each neighbouring block. Source: [berghoff2018], section II-B.
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "merganser/blocks/block_exchange.hpp"

namespace merganser::blocks {

/// Distributed table of objects (cells, droplets, grains) that spread over blocks and move. Each has a key and a number of
/// additive values (volume, surface, sums of coordinates). A block reports how its own part changed; after step() every block
/// that holds a part stores the values of the whole object, and so do common neighbours of all its blocks, which it may enter.
///
/// A package holds, for each object, the change and the value before it. The new value is the old one plus all
/// changes, added in the order of block numbers: the same bits in every block, for any number of ranks.
///
/// Neighbours suffice under one condition: the blocks that an object touches before or after a step fit, along every axis, into
/// reach + 1 consecutive blocks. It holds if no object is longer than `reach` block edges. A violation is detected in the step
/// in which it happens, by the block in between, as long as objects enter blocks from neighbouring ones; that too is checked.
/// Keys are the user's; two objects with one key are detected when they come near each other.
///
/// T is std::int64_t or double. No call is collective but the constructor; memory: the objects near this rank's blocks.
template <class T>
class LocalExchange {
 public:
  /// Creates the local exchange of moving objects, without objects. Collective. @param values  numbers per object, at least 1
  /// @throws InputError on every rank as BlockExchange does, or if a block of the grid has no owner
  LocalExchange(comm::Transport& transport, BlockGrid grid, BlockPlacement placement, std::size_t values,
                int reach = 1);

  /// Returns the numbers of the blocks that this rank holds, ascending. Local.
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const noexcept { return exchange_.blocks(); }
  /// Returns the grid of blocks over which the objects of the local exchange move. Local.
  [[nodiscard]] const BlockGrid& grid() const noexcept { return exchange_.grid(); }

  /// Adds a part of a new object to block blocks()[local]; several blocks may add parts of one object in one step. Local.
  /// @throws InputError if an object with this key is stored here
  void create(std::size_t local, std::uint64_t key, std::span<const T> part);
  /// Reports that the part in this block has changed by `change` since the last step (several calls add up). Local.
  /// @param holds  true if the block still holds, or now holds, a part
  /// @throws InputError if neither this block nor a neighbour held the object after the last step
  void report(std::size_t local, std::uint64_t key, std::span<const T> change, bool holds);
  /// Exchanges the changes of objects with neighbouring blocks and applies them. Called by every rank; waits for neighbours only.
  /// @throws InputError, on a rank that detects it, if an object is too long, or two have one key
  void step();

  /// Returns true if this block or a neighbour of it held a part of the object after the last step. Local.
  [[nodiscard]] bool contains(std::size_t local, std::uint64_t key) const;
  /// Returns true if this block held a part of the object after the last step. Local.
  [[nodiscard]] bool holds(std::size_t local, std::uint64_t key) const;
  /// Returns the values of the whole object after the last step: exact if the block holds a part, or if all blocks that held
  /// one before or after the step are its neighbours. Local. @throws UsageError for an object that is not stored here
  [[nodiscard]] std::span<const T> values(std::size_t local, std::uint64_t key) const;
  /// Returns the keys of the objects that the block holds parts of, ascending. Local.
  [[nodiscard]] std::vector<std::uint64_t> held_keys(std::size_t local) const;

  /// Numbers of operations of the local exchange on this rank so far.
  struct Counts {
    std::int64_t steps = 0;     ///< calls of step()
    std::int64_t packages = 0;  ///< packages sent: one per block, neighbour and step, to any rank
    std::int64_t entries = 0;   ///< entries of objects in the packages sent
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  /// Returns the numbers of operations of the local exchange on this rank so far. Local.
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  /// Returns the exchange of packages between blocks that this one is built on. Local.
  [[nodiscard]] const BlockExchange& exchange() const noexcept { return exchange_; }

 private:
  /// State of a moving object, as stored for every block that holds a part of it or has a neighbour that does.
  struct Object {
    std::vector<T> value;
    std::vector<T> change;  // since the last step
    bool held = false;      // the block held a part after the last step
    bool holds = false;     // the block will hold a part after the next one
    bool created = false;   // since the last step
    bool touched = false;   // since the last step
  };
  using Table = std::map<std::uint64_t, Object>;
  struct Part {  // an entry of a package: an object as one block reports it
    std::uint64_t key;
    std::int64_t block;
    std::uint8_t flags;
    std::vector<T> change, value;
  };
  [[nodiscard]] const Object& object(std::size_t local, std::uint64_t key) const;
  void add(Object& object, std::span<const T> change) const;
  void write(std::size_t local);
  void read(std::size_t local, std::size_t slot, std::vector<Part>& parts) const;
  [[nodiscard]] Object join(std::int64_t block, std::span<const Part> parts) const;
  void check_extent(std::span<const Part> parts) const;

  std::size_t values_;
  BlockExchange exchange_;
  std::vector<Table> tables_;  // by block of this rank
  Counts counts_;
};

extern template class LocalExchange<std::int64_t>;
extern template class LocalExchange<double>;

}  // namespace merganser::blocks
