// Exchange of packages between neighbouring blocks: lists of pairs of blocks by rank, and the messages that bundle their packages.
#include "merganser/blocks/block_exchange.hpp"

#include <algorithm>
#include <limits>

#include "merganser/base/error.hpp"

namespace merganser::blocks {
namespace {

/// Header of a package between blocks in a message between ranks. `pair` is an index into the list of pairs, which both ends have
/// in the same order.
struct PackageHeader {
  std::uint32_t pair;   ///< index of the pair of blocks
  std::uint32_t bytes;  ///< length of the package that follows
};

/// Returns all ranks of a transport but this one, ascending.
std::vector<int> other_ranks(const comm::Transport& t) {
  std::vector<int> all;
  for (int r = 0; r < t.size(); ++r)
    if (r != t.rank()) all.push_back(r);
  return all;
}

}  // namespace

namespace detail {
void throw_short_package(std::size_t have, std::size_t need) {
  throw CommError("block package: " + std::to_string(have) + " bytes left, a record needs " + std::to_string(need));
}
}  // namespace detail

BlockExchange::BlockExchange(comm::Transport& transport, BlockGrid grid, BlockPlacement placement, int reach,
                             Wiring wiring)
    : transport_(transport), grid_(grid), placement_(std::move(placement)), reach_(reach), wiring_(wiring) {
  comm::agree(transport_, [&] {
    grid_.check();
    if (reach_ < 1 || reach_ > 8) {
      throw InputError("block exchange: reach " + std::to_string(reach_) + "; allowed: 1 to 8");
    }
    check(placement_);
  });
  if (wiring_ == Wiring::any_rank) {
    ranks_ = other_ranks(transport_);
  } else {
    for (const std::int64_t block : placement_.mine)
      for (const std::int64_t other : grid_.neighbours(block, reach_)) ranks_.push_back(placement_.owner(other));
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
    std::erase_if(ranks_, [&](int r) { return r < 0 || r == transport_.rank(); });
  }
  wire();
  mailbox_ = transport_.mailbox(comm::Graph::symmetric(ranks_));
}

/// Validates this rank's placement of blocks: its blocks ascending, in the grid and owned by it, neighbouring blocks owned by ranks
/// that exist. @throws InputError
void BlockExchange::check(const BlockPlacement& placement) const {
  const auto& mine = placement.mine;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const std::int64_t block = mine[i];
    const std::string what = "block placement: block " + std::to_string(block);
    if (block < 0 || block >= grid_.count()) {
      throw InputError(what + "; allowed: 0 to " + std::to_string(grid_.count() - 1));
    }
    if (i > 0 && mine[i - 1] >= block) {
      throw InputError(what + " follows " + std::to_string(mine[i - 1]) + "; allowed: ascending ones");
    }
    if (placement.owner(block) != transport_.rank()) {
      throw InputError(what + " is listed by rank " + std::to_string(transport_.rank()) + " but owned by rank " +
                       std::to_string(placement.owner(block)));
    }
    for (const std::int64_t other : grid_.neighbours(block, reach_)) {
      const int owner = placement.owner(other);
      if (owner < -1 || owner >= transport_.size()) {
        throw InputError("block placement: block " + std::to_string(other) + " is owned by rank " +
                         std::to_string(owner) + "; allowed: 0 to " + std::to_string(transport_.size() - 1) +
                         ", or -1 for no block");
      }
      if (owner == transport_.rank() && !std::binary_search(mine.begin(), mine.end(), other)) {
        throw InputError("block placement: block " + std::to_string(other) + " is owned by rank " +
                         std::to_string(owner) + ", which does not list it");
      }
    }
  }
}

// Change of the placement while blocks are created and removed: the arcs stay, the lists of pairs are built anew.
void BlockExchange::set_placement(BlockPlacement placement) {
  if (wiring_ != Wiring::any_rank)
    throw UsageError("BlockExchange::set_placement with another wiring; allowed: with any_rank");
  check(placement);
  placement_ = std::move(placement);
  wire();
}

/// Builds the lists of pairs of neighbouring blocks by arc from the placement. Sender and receiver compute them from the
/// placement alone, in the order of (from, to), so an index into the list identifies a package.
void BlockExchange::wire() {
  const auto& mine = placement_.mine;
  sides_.assign(mine.size(), {});
  out_.assign(ranks_.size(), {});
  in_.assign(ranks_.size(), {});
  own_.clear();
  packages_ = 0;
  std::vector<std::vector<Incoming>> incoming(ranks_.size());
  for (std::size_t i = 0; i < mine.size(); ++i) {
    for (const std::int64_t other : grid_.neighbours(mine[i], reach_))
      if (placement_.owner(other) >= 0) sides_[i].blocks.push_back(other);
    sides_[i].out.resize(sides_[i].blocks.size());
    sides_[i].in.resize(sides_[i].blocks.size());
    packages_ += static_cast<std::int64_t>(sides_[i].blocks.size());
  }
  for (std::size_t i = 0; i < mine.size(); ++i) wire_block(i, incoming);
  active_.assign(ranks_.size(), 0);
  partners_ = 0;
  for (std::size_t arc = 0; arc < ranks_.size(); ++arc) {
    std::sort(incoming[arc].begin(), incoming[arc].end(),
              [](const Incoming& a, const Incoming& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
    for (const Incoming& p : incoming[arc]) in_[arc].push_back(p.pair);
    active_[arc] = out_[arc].empty() ? 0 : 1;
    partners_ += active_[arc];
  }
}

/// Adds the pairs of one block of this rank and its neighbouring blocks to the lists of pairs by arc, or to those within the rank.
void BlockExchange::wire_block(std::size_t local, std::vector<std::vector<Incoming>>& incoming) {
  const std::int64_t block = placement_.mine[local];
  for (std::size_t s = 0; s < sides_[local].blocks.size(); ++s) {
    const std::int64_t other = sides_[local].blocks[s];
    const int owner = placement_.owner(other);
    if (owner == transport_.rank()) {
      const std::size_t there = this->local(other);
      own_.push_back({Pair{local, s}, Pair{there, slot(there, block)}});
      continue;
    }
    const auto arc = static_cast<std::size_t>(std::lower_bound(ranks_.begin(), ranks_.end(), owner) - ranks_.begin());
    out_[arc].push_back({local, s});
    incoming[arc].push_back({other, block, {local, s}});
  }
}

std::size_t BlockExchange::local(std::int64_t block) const {
  const auto& mine = placement_.mine;
  const auto found = std::lower_bound(mine.begin(), mine.end(), block);
  if (found == mine.end() || *found != block) {
    throw UsageError("block " + std::to_string(block) + " is not of rank " + std::to_string(transport_.rank()) +
                     "; allowed: blocks that it holds");
  }
  return static_cast<std::size_t>(found - mine.begin());
}

std::size_t BlockExchange::slot(std::size_t local, std::int64_t neighbour) const {
  const auto& all = sides_.at(local).blocks;
  const auto found = std::lower_bound(all.begin(), all.end(), neighbour);
  return found == all.end() || *found != neighbour ? kNoSlot : static_cast<std::size_t>(found - all.begin());
}

/// Appends the packages of blocks that are not empty to the message of an arc, each after its header, and clears them.
void BlockExchange::pack(std::size_t arc) {
  auto& message = mailbox_->outbox(arc);
  for (std::size_t p = 0; p < out_[arc].size(); ++p) {
    auto& package = sides_[out_[arc][p].local].out[out_[arc][p].slot];
    if (package.empty()) continue;
    if (package.size() > std::numeric_limits<std::uint32_t>::max()) {
      throw CommError("block package of " + std::to_string(package.size()) + " bytes; allowed: below 2^32");
    }
    append(message, PackageHeader{static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(package.size())});
    message.insert(message.end(), package.begin(), package.end());
    package.clear();
  }
}

/// Splits the message of an arc into the packages of pairs of blocks. Packages that are absent stay empty. @throws CommError
void BlockExchange::unpack(std::size_t arc) {
  auto message = mailbox_->inbox(arc);
  while (!message.empty()) {
    const auto head = extract<PackageHeader>(message);
    if (head.pair >= in_[arc].size() || head.bytes > message.size()) {
      throw CommError("message of rank " + std::to_string(ranks_[arc]) + ": package " + std::to_string(head.pair) +
                      " of " + std::to_string(head.bytes) + " bytes; expected one of " +
                      std::to_string(in_[arc].size()) + " pairs of blocks and at most " +
                      std::to_string(message.size()) + " bytes");
    }
    const Pair& pair = in_[arc][head.pair];
    const auto body = message.first(head.bytes);
    sides_[pair.local].in[pair.slot].assign(body.begin(), body.end());
    message = message.subspan(head.bytes);
  }
}

// One exchange of packages: within the rank by swapping, between ranks in one message per pair of ranks.
void BlockExchange::step() {
  for (auto& side : sides_)
    for (auto& in : side.in) in.clear();
  for (const auto& [from, to] : own_) {
    sides_[to.local].in[to.slot].swap(sides_[from.local].out[from.slot]);
  }
  for (std::size_t arc = 0; arc < ranks_.size(); ++arc) pack(arc);
  if (wiring_ == Wiring::fixed) {
    mailbox_->step();
  } else if (partners_ > 0) {
    mailbox_->step(active_, active_);
  } else {
    return;
  }
  for (std::size_t arc = 0; arc < ranks_.size(); ++arc)
    if (active_[arc] != 0) unpack(arc);
}

}  // namespace merganser::blocks
