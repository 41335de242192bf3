// Block directory: the rule by which announced events change it, and each rank's copy of it over an announcement network.
#include "merganser/blocks/block_ownership.hpp"

#include <algorithm>
#include <memory>
#include <tuple>

#include "merganser/base/error.hpp"

namespace merganser::blocks {

BlockDirectory::BlockDirectory(BlockGrid grid, int ranks, Owner rule) : grid_(grid), rule_(rule) {
  grid_.check();
  if (ranks < 1) throw UsageError("block directory: " + std::to_string(ranks) + " ranks; allowed: at least 1");
  loads_.resize(static_cast<std::size_t>(ranks));
}

void BlockDirectory::insert(std::int64_t block, int owner) {
  const auto ranks = static_cast<int>(loads_.size());
  if (block < 0 || block >= grid_.count() || owner < 0 || owner >= ranks) {
    throw UsageError("block directory: block " + std::to_string(block) + " of rank " + std::to_string(owner) +
                     "; allowed: 0 to " + std::to_string(grid_.count() - 1) + " and 0 to " + std::to_string(ranks - 1));
  }
  if (!blocks_.emplace(block, Block{owner, generations_}).second) {
    throw UsageError("block directory: block " + grid_.name(block) + " is there already");
  }
  ++generations_;
  ++loads_[static_cast<std::size_t>(owner)];
}

/// Validates an announced event: a known kind, a rank and a block that exist. @throws CommError
void BlockDirectory::check(const BlockEvent& e) const {
  const bool kind = e.kind == BlockEvent::Kind::create || e.kind == BlockEvent::Kind::remove;
  const bool rank = e.rank >= 0 && static_cast<std::size_t>(e.rank) < loads_.size();
  if (kind && rank && e.block >= 0 && e.block < grid_.count()) return;
  throw CommError("block directory: event of kind " + std::to_string(static_cast<int>(e.kind)) + " for block " +
                  std::to_string(e.block) + " by rank " + std::to_string(e.rank) + "; there are " +
                  std::to_string(grid_.count()) + " positions and " + std::to_string(loads_.size()) + " ranks");
}

/// Returns the rank that is to hold a proposed block, by the rule of the directory: the proposer, or the rank with the fewest
/// blocks.
int BlockDirectory::choose_owner(const BlockEvent& event) const {
  if (rule_ == Owner::proposer) return event.rank;
  return static_cast<int>(std::min_element(loads_.begin(), loads_.end()) - loads_.begin());
}

// Rule of the replicated block directory: equal events give equal directories on all ranks.
std::vector<BlockChange> BlockDirectory::apply(std::vector<BlockEvent> events) {
  // A total order on events: whatever their order on arrival, every rank applies them in this one. Removals sort first, so a
  // position that becomes free may be taken in the same step.
  const auto order = [](const BlockEvent& e) { return std::tie(e.kind, e.block, e.by, e.rank, e.value); };
  for (const auto& e : events) check(e);
  std::sort(events.begin(), events.end(), [&](const auto& a, const auto& b) { return order(a) < order(b); });
  std::vector<BlockChange> changes;
  for (const auto& e : events) {
    const auto found = blocks_.find(e.block);
    if (e.kind == BlockEvent::Kind::remove) {
      if (found == blocks_.end() || found->second.owner != e.rank || found->second.generation != e.by) {
        ++counts_.refused;
        continue;
      }
      changes.push_back({BlockChange::Kind::removed, e.block, e.by, e.rank, e.value});
      --loads_[static_cast<std::size_t>(e.rank)];
      blocks_.erase(found);
      ++counts_.removed;
    } else if (found != blocks_.end()) {
      ++counts_.lost;
    } else {
      const int owner = choose_owner(e);
      changes.push_back({BlockChange::Kind::created, e.block, generations_, owner, e.value});
      insert(e.block, owner);
      ++counts_.created;
    }
  }
  return changes;
}

int BlockDirectory::owner(std::int64_t block) const {
  const auto found = blocks_.find(block);
  return found == blocks_.end() ? -1 : found->second.owner;
}

// Placement for a BlockExchange, with a copy of the directory that later events do not change.
BlockPlacement BlockDirectory::placement(int rank) const {
  BlockPlacement out;
  const auto owners = std::make_shared<std::map<std::int64_t, Block>>(blocks_);
  for (const auto& [block, entry] : blocks_)
    if (entry.owner == rank) out.mine.push_back(block);
  out.owner = [owners](std::int64_t block) {
    const auto found = owners->find(block);
    return found == owners->end() ? -1 : found->second.owner;
  };
  return out;
}

BlockOwnership::BlockOwnership(announce::AnnouncementNetwork& network, BlockGrid grid, BlockDirectory::Owner rule,
                               announce::Topic topic)
    : network_(network), directory_(grid, network.size(), rule), topic_(topic) {}

// Announced proposal of a block, at most one by this rank until it is decided.
bool BlockOwnership::propose(std::int64_t block, std::int64_t by, std::uint64_t value) {
  if (!is_mine(by)) {
    throw UsageError("block " + std::to_string(block) + " is proposed for block " + std::to_string(by) +
                     ", which is not of rank " + std::to_string(network_.rank()));
  }
  if (directory_.exists(block) || asked_.contains(block)) return false;
  const BlockEvent event{BlockEvent::Kind::create, network_.rank(), block, by, value};
  network_.announce_value(topic_, event);
  asked_[block] = network_.now() + network_.time_to_live();
  return true;
}

// Announced removal of a block of this rank, identified by its generation.
bool BlockOwnership::remove(std::int64_t block, std::uint64_t value) {
  if (!is_mine(block)) {
    throw UsageError("block " + std::to_string(block) + " is to be removed by rank " + std::to_string(network_.rank()) +
                     ", which does not hold it");
  }
  if (is_leaving(block)) return false;
  const std::int64_t generation = directory_.all_blocks().at(block).generation;
  network_.announce_value(topic_, BlockEvent{BlockEvent::Kind::remove, network_.rank(), block, generation, value});
  leaving_.push_back(generation);
  return true;
}

bool BlockOwnership::is_leaving(std::int64_t block) const {
  const auto found = directory_.all_blocks().find(block);
  return found != directory_.all_blocks().end() &&
         std::find(leaving_.begin(), leaving_.end(), found->second.generation) != leaving_.end();
}

// Update of this rank's block directory by the events that the network delivered in this step, on all ranks the same.
std::vector<BlockChange> BlockOwnership::update() {
  std::vector<BlockEvent> events;
  for (const announce::Announcement& a : network_.received()) {
    if (a.topic != topic_) continue;
    events.push_back(a.as<BlockEvent>());
    if (events.back().rank != a.id.origin) {
      throw CommError("block directory: rank " + std::to_string(a.id.origin) + " announced an event of rank " +
                      std::to_string(events.back().rank));
    }
  }
  auto changes = directory_.apply(std::move(events));
  for (const auto& c : changes)
    if (c.kind == BlockChange::Kind::removed) std::erase(leaving_, c.generation);
  std::erase_if(asked_, [&](const auto& entry) { return entry.second <= network_.now(); });
  return changes;
}

}  // namespace merganser::blocks
