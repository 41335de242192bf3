#pragma once
/// Who holds which block, where blocks come and go: every position has at most one block, no block is created twice, and
/// no rank asks another.
///
/// Whoever needs a block proposes it; whoever holds one may remove it. Both are announced, for the same step everywhere.
/// So every rank sees the same proposals and removals in the same step, decides them by the same rule, and all ranks have
/// the same directory at all times. What it costs is time: a block is there time_to_live() steps after it was proposed.
#include <cstdint>
#include <map>
#include <vector>

#include "merganser/announce/announcement_network.hpp"
#include "merganser/blocks/block_grid.hpp"

namespace merganser::blocks {

/// A proposal or a removal.
struct BlockEvent {
  /// What is asked for.
  enum class Kind : std::int32_t { remove, create };
  Kind kind = Kind::create;
  std::int32_t rank = 0;   ///< that announced it
  std::int64_t block = 0;  ///< what is proposed or removed
  std::int64_t by =
      0;  ///< proposal: the block that needs it, which decides conflicts; removal: the generation that ends
  std::uint64_t value = 0;  ///< for the user: what a new block starts with, or an old one leaves behind
};

/// What a step did to one block, generations numbered from 0 over all blocks.
struct BlockChange {
  /// What became of the block.
  enum class Kind : std::uint8_t { removed, created };
  Kind kind;
  std::int64_t block;
  std::int64_t generation;
  int owner;
  std::uint64_t value;  ///< of the removal, or the proposal that won
  friend bool operator==(const BlockChange&, const BlockChange&) = default;
};

/// The directory of all blocks and their owners, the same on every rank, and the rule by which events change it. Equal events in equal steps give equal directories, in
/// whatever order those of one step are given.
class BlockDirectory {
 public:
  /// Who gets a block that is created.
  enum class Owner : std::uint8_t {
    proposer,     ///< the rank whose proposal wins
    least_loaded  ///< the rank with the fewest blocks, of these the lowest
  };
  /// A block that is there.
  struct Block {
    int owner = 0;
    std::int64_t generation = 0;
    friend bool operator==(const Block&, const Block&) = default;
  };

  /// @throws UsageError unless ranks >= 1; InputError for a bad grid
  BlockDirectory(BlockGrid grid, int ranks, Owner rule);

  /// Puts a block that is there from the start. @throws UsageError if it is there already or a number is out of range
  void put(std::int64_t block, int owner);

  /// All events of one step, in any order. Removals come first: one counts if it is the owner's and names the present
  /// generation of the block. Then proposals, by (block, by, rank): the first for a free position wins, the others are lost.
  /// @throws CommError for a block, rank or kind that does not exist
  std::vector<BlockChange> apply(std::vector<BlockEvent> events);

  /// As given.
  [[nodiscard]] const BlockGrid& grid() const noexcept { return grid_; }
  /// True if the block is there.
  [[nodiscard]] bool exists(std::int64_t block) const { return blocks_.contains(block); }
  [[nodiscard]] int owner(std::int64_t block) const;  ///< -1 where there is no block
  /// All blocks of all ranks, by number.
  [[nodiscard]] const std::map<std::int64_t, Block>& all_blocks() const noexcept { return blocks_; }
  /// Blocks that a rank holds.
  [[nodiscard]] std::int64_t load(int rank) const { return loads_.at(static_cast<std::size_t>(rank)); }
  /// Owner and own blocks, for a BlockExchange; holds a copy of the owners.
  [[nodiscard]] BlockPlacement placement(int rank) const;

  /// What became of all events so far.
  struct Counts {
    std::int64_t created = 0;
    std::int64_t removed = 0;
    std::int64_t lost = 0;     ///< proposals for a position that was taken, or won by another proposal
    std::int64_t refused = 0;  ///< removals by another rank than the owner, or of another generation
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  /// What became of all events so far.
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  friend bool operator==(const BlockDirectory&, const BlockDirectory&) = default;

 private:
  void check(const BlockEvent& event) const;
  [[nodiscard]] int choose(const BlockEvent& event) const;

  BlockGrid grid_;
  Owner rule_;
  std::vector<std::int64_t> loads_;  // by rank
  std::map<std::int64_t, Block> blocks_;
  std::int64_t generations_ = 0;
  Counts counts_;
};

/// The directory of one rank, fed by an announcement network.
class BlockOwnership {
 public:
  /// Begins with an empty directory. Local, but of the same grid, rule and topic on every rank. `network` must outlive it.
  BlockOwnership(announce::AnnouncementNetwork& network, BlockGrid grid, BlockDirectory::Owner rule,
                 announce::Topic topic = 1);

  /// The directory; put() blocks into it before the first step, the same on every rank.
  [[nodiscard]] BlockDirectory& directory() noexcept { return directory_; }
  /// The directory, to look at.
  [[nodiscard]] const BlockDirectory& directory() const noexcept { return directory_; }
  /// True if the block is there and this rank holds it.
  [[nodiscard]] bool mine(std::int64_t block) const { return directory_.owner(block) == network_.rank(); }

  /// Asks for a block that `by`, a block of this rank, needs. Nothing happens if it is there or has been asked for by
  /// this rank and not been decided. @return true if it was announced. @throws UsageError if `by` is not of this rank
  bool propose(std::int64_t block, std::int64_t by, std::uint64_t value);
  /// Ends a block of this rank: it is there until the removal is known everywhere. Nothing happens the second time.
  /// @return true if it was announced. @throws UsageError if the block is not of this rank
  bool remove(std::int64_t block, std::uint64_t value = 0);
  /// True if this rank has asked to remove the block, and it is still there.
  [[nodiscard]] bool leaving(std::int64_t block) const;

  /// Decides what the last network.step() handed over. Called by every rank after every step of the network.
  std::vector<BlockChange> update();

 private:
  announce::AnnouncementNetwork& network_;
  BlockDirectory directory_;
  announce::Topic topic_;
  std::map<std::int64_t, std::int64_t> asked_;  // block, step by which it is decided
  std::vector<std::int64_t> leaving_;           // generations
};

}  // namespace merganser::blocks
