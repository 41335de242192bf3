#pragma once
/// Properties of small moving objects, kept equal in every block that holds a part of one, by one package per step to
/// each neighbouring block. Source: [berghoff2018], section II-B.
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "merganser/blocks/block_exchange.hpp"

namespace merganser::blocks {

/// Objects (cells, droplets, grains) that spread over blocks and move. Each has a key and a number of additive values
/// (volume, surface, sums of coordinates). A block reports how its own part changed; after step() every block that
/// holds a part knows the values of the whole object. So do common neighbours of all its blocks: what moves in is known.
///
/// A package holds, for each object, the change and the value before it. The new value is the old one plus all
/// changes, added in the order of block numbers: the same bits in every block, for any number of ranks.
///
/// The rule that makes neighbours enough: the blocks that an object touches before or after a step fit, along every
/// axis, into reach + 1 consecutive blocks. It holds if no object is longer than `reach` block edges. What breaks it is
/// found in the step in which it happens, by the block between, as long as objects enter blocks from neighbouring ones;
/// that too is enforced. Keys are the user's; two objects of one key are found when they come near each other.
///
/// T is std::int64_t or double. Nothing is collective once it is made; memory holds the objects near this rank's blocks.
template <class T>
class LocalExchange {
 public:
  /// Makes the exchange together, without objects. Collective. @param values  numbers per object, at least 1
  /// @throws InputError on every rank as BlockExchange does, or if a block of the grid has no owner
  LocalExchange(comm::Transport& transport, BlockGrid grid, BlockPlacement placement, std::size_t values,
                int reach = 1);

  /// Blocks of this rank, ascending.
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const noexcept { return exchange_.blocks(); }
  /// As given.
  [[nodiscard]] const BlockGrid& grid() const noexcept { return exchange_.grid(); }

  /// A part of a new object in block blocks()[local]; several blocks may begin parts of one object in one step.
  /// @throws InputError if an object of this key is known here
  void create(std::size_t local, std::uint64_t key, std::span<const T> part);
  /// The part in this block has changed by `change` since the last step (several calls add up); `holds`: the block
  /// still holds, or now holds, a part. @throws InputError if no block near held the object after the last step
  void report(std::size_t local, std::uint64_t key, std::span<const T> change, bool holds);
  /// Tells the changes to neighbouring blocks and takes in theirs. Called by every rank.
  /// @throws InputError, on the rank that sees it, if an object is too long, or two have one key
  void step();

  /// True if this block or a neighbour of it held a part after the last step.
  [[nodiscard]] bool knows(std::size_t local, std::uint64_t key) const;
  /// True if this block held a part after the last step.
  [[nodiscard]] bool holds(std::size_t local, std::uint64_t key) const;
  /// Values of the whole object after the last step: exact if the block holds a part, or if all blocks that held one
  /// before or after the step are its neighbours (what may enter it). @throws UsageError for an object not known here
  [[nodiscard]] std::span<const T> values(std::size_t local, std::uint64_t key) const;
  /// Keys that the block holds parts of, ascending.
  [[nodiscard]] std::vector<std::uint64_t> held(std::size_t local) const;

  /// What this rank has done so far.
  struct Counts {
    std::int64_t steps = 0;
    std::int64_t packages = 0;  ///< one per block, neighbour and step, whether it crossed ranks or not
    std::int64_t entries = 0;   ///< objects in packages
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  /// What this rank has done so far.
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  /// What carries the packages.
  [[nodiscard]] const BlockExchange& exchange() const noexcept { return exchange_; }

 private:
  struct Object {
    std::vector<T> value;
    std::vector<T> change;
    bool held = false;     // after the last step
    bool holds = false;    // after the next one
    bool created = false;  // since the last step
    bool touched = false;  // since the last step
  };
  using Table = std::map<std::uint64_t, Object>;
  struct Part {  // of an object, as one block tells it
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
  std::vector<Table> tables_;  // by local block
  Counts counts_;
};

extern template class LocalExchange<std::int64_t>;
extern template class LocalExchange<double>;

}  // namespace merganser::blocks
