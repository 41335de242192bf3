#pragma once
/// Replicated directory of blocks that are created and removed at run time: every position has at most one block, no block is
/// created twice, and no rank sends a query to another.
///
/// A rank that needs a block proposes it; the owner of a block may remove it. Both are announced, and take effect in the same
/// step on every rank: all ranks receive the same events in the same step and apply them by the same rule, so all have the
/// same directory at all times. The price is latency: a block exists time_to_live() steps after it was proposed.
#include <cstdint>
#include <map>
#include <vector>

#include "merganser/announce/announcement_network.hpp"
#include "merganser/blocks/block_grid.hpp"

namespace merganser::blocks {

/// Event of the block directory that a rank announces: proposal of a block, or removal of one.
struct BlockEvent {
  /// Kind of the announced event: removal or proposal of a block.
  enum class Kind : std::int32_t { remove, create };
  Kind kind = Kind::create;
  std::int32_t rank = 0;   ///< rank that announced the event
  std::int64_t block = 0;  ///< block that is proposed or removed
  std::int64_t by =
      0;  ///< of a proposal: the block that needs it, which decides conflicts; of a removal: the generation that ends
  std::uint64_t value = 0;  ///< user data: initial state of a new block, or what a removed one leaves behind
};

/// Change of the block directory by one event, as BlockDirectory::apply() returns it. Generations are numbered from 0 over all
/// blocks.
struct BlockChange {
  /// Kind of the change of the block directory.
  enum class Kind : std::uint8_t { removed, created };
  Kind kind;
  std::int64_t block;       ///< number of the block created or removed
  std::int64_t generation;  ///< generation that begins or ends
  int owner;                ///< rank that holds, or held, the block
  std::uint64_t value;      ///< user data of the removal, or of the proposal that won
  friend bool operator==(const BlockChange&, const BlockChange&) = default;
};

/// Directory of all blocks and their owners, and the rule by which events change it. Equal events in equal steps give equal
/// directories on all ranks, whatever the order of the events of one step. Local.
class BlockDirectory {
 public:
  /// Rule by which the block directory chooses the rank that owns a new block.
  enum class Owner : std::uint8_t {
    proposer,     ///< the rank whose proposal wins
    least_loaded  ///< the rank with the fewest blocks, the lowest of several
  };
  /// An existing block: its owner, and the number that tells successive blocks at one position apart.
  struct Block {
    int owner = 0;
    std::int64_t generation = 0;
    friend bool operator==(const Block&, const Block&) = default;
  };

  /// Creates an empty table of blocks and their owners for `ranks` ranks.
  /// @throws UsageError unless ranks >= 1; InputError for a bad grid
  BlockDirectory(BlockGrid grid, int ranks, Owner rule);

  /// Inserts a block that exists from the start into the directory. @throws UsageError if it exists already, or a number is out
  /// of range
  void insert(std::int64_t block, int owner);

  /// Applies all announced events of one step to the directory, given in any order. Removals come first; one counts if the owner
  /// announced it and it names the present generation of the block. Then proposals in the order of (block, by, rank): the first
  /// for a free position wins, the others are lost. @return the changes, in the order in which they were made
  /// @throws CommError for a block, rank or kind that does not exist
  std::vector<BlockChange> apply(std::vector<BlockEvent> events);

  /// Returns the grid of positions that blocks of the directory may have.
  [[nodiscard]] const BlockGrid& grid() const noexcept { return grid_; }
  /// Returns true if the block exists in the directory.
  [[nodiscard]] bool exists(std::int64_t block) const { return blocks_.contains(block); }
  /// Returns the rank that holds a block; -1 if it does not exist.
  [[nodiscard]] int owner(std::int64_t block) const;
  /// Returns all existing blocks of all ranks with their owners, by block number.
  [[nodiscard]] const std::map<std::int64_t, Block>& all_blocks() const noexcept { return blocks_; }
  /// Returns the number of existing blocks that a rank owns.
  [[nodiscard]] std::int64_t load(int rank) const { return loads_.at(static_cast<std::size_t>(rank)); }
  /// Returns the placement for a BlockExchange of `rank`, with a copy of the owners.
  [[nodiscard]] BlockPlacement placement(int rank) const;

  /// Numbers of events of the block directory, by their outcome.
  struct Counts {
    std::int64_t created = 0;  ///< proposals by which a block was created
    std::int64_t removed = 0;  ///< removals of blocks by their owners
    std::int64_t lost = 0;     ///< proposals for a position that was taken, or that another proposal won
    std::int64_t refused = 0;  ///< removals by a rank other than the owner, or of another generation
    friend bool operator==(const Counts&, const Counts&) = default;
  };
  /// Returns the numbers of events applied to the directory so far, by their outcome; the same on every rank.
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  friend bool operator==(const BlockDirectory&, const BlockDirectory&) = default;

 private:
  void check(const BlockEvent& event) const;
  [[nodiscard]] int choose_owner(const BlockEvent& event) const;

  BlockGrid grid_;
  Owner rule_;
  std::vector<std::int64_t> loads_;  // number of blocks by rank
  std::map<std::int64_t, Block> blocks_;
  std::int64_t generations_ = 0;
  Counts counts_;
};

/// One rank's copy of the block directory, updated from an announcement network. All ranks make the same calls of update().
class BlockOwnership {
 public:
  /// Creates this rank's empty copy of the block directory. Local; grid, rule and topic must be equal on every rank. `network`
  /// must outlive it.
  BlockOwnership(announce::AnnouncementNetwork& network, BlockGrid grid, BlockDirectory::Owner rule,
                 announce::Topic topic = 1);

  /// Returns this rank's copy of the block directory; blocks may be inserted before the first step, the same on every rank. Local.
  [[nodiscard]] BlockDirectory& directory() noexcept { return directory_; }
  /// Returns this rank's copy of the block directory for reading. Local.
  [[nodiscard]] const BlockDirectory& directory() const noexcept { return directory_; }
  /// Returns true if the block exists and this rank holds it. Local.
  [[nodiscard]] bool is_mine(std::int64_t block) const { return directory_.owner(block) == network_.rank(); }

  /// Announces a proposal of a block that `by`, a block of this rank, needs. Local. Does nothing if the block exists, or if a
  /// proposal by this rank is still to be decided.
  /// @return true if it was announced. @throws UsageError if this rank does not hold `by`
  bool propose(std::int64_t block, std::int64_t by, std::uint64_t value);
  /// Announces the removal of a block of this rank; it exists until the announcement has reached every rank. Local. Does
  /// nothing if its removal has been announced already.
  /// @return true if it was announced. @throws UsageError if this rank does not hold the block
  bool remove(std::int64_t block, std::uint64_t value = 0);
  /// Returns true if this rank has announced the removal of the block, and it still exists. Local.
  [[nodiscard]] bool is_leaving(std::int64_t block) const;

  /// Applies the block events that the last network.step() delivered to this rank's directory. Called by every rank after every
  /// step of the network. Local.
  /// @return the changes, the same on every rank. @throws CommError for an event that no rank can have announced
  std::vector<BlockChange> update();

 private:
  announce::AnnouncementNetwork& network_;
  BlockDirectory directory_;
  announce::Topic topic_;
  std::map<std::int64_t, std::int64_t> asked_;  // block, step in which its proposal is decided
  std::vector<std::int64_t> leaving_;           // generations whose removal is announced
};

}  // namespace merganser::blocks
