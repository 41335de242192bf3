#pragma once
/// List of the arcs of a graph file on one rank, in blocks: it grows without copying and is freed as it is used up.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/aligned_memory.hpp"

namespace merganser::graphs::detail {

/// Directed entry of a graph file, with ids from 0 on.
struct Arc {
  std::uint64_t from;    ///< tail, a vertex id
  std::uint64_t to;      ///< head, a vertex id
  std::uint64_t weight;  ///< bits of the type Raw::numbers of the Raw that holds it
};

/// Arcs of a graph file on one rank, in the order in which its reader added them, in blocks of growing size. A vector would copy them
/// while it grows, and hold the copy beside them.
class ArcList {
 public:
  ArcList() = default;
  ArcList(ArcList&&) = default;
  ArcList& operator=(ArcList&&) = default;

  /// Returns the number of arcs in the list.
  [[nodiscard]] std::size_t size() const { return before_ + (blocks_.empty() ? 0 : blocks_.back().used(at_)); }
  /// Returns true if the next arc needs a new block, which add_block() makes.
  [[nodiscard]] bool is_full() const { return at_ == end_; }
  /// Appends an arc to the list, which must not be full.
  void append(const Arc& arc) { *at_++ = arc; }
  /// Returns the number of arcs of the block that add_block() makes, unless it is called with fewer.
  [[nodiscard]] std::size_t next_block() const {
    constexpr std::size_t kFirst = 1024,
                          kMax = (std::size_t{1} << 23) / sizeof(Arc);  // from 8 MiB on huge pages are used
    return std::clamp(2 * (blocks_.empty() ? 0 : blocks_.back().room()), kFirst, kMax);
  }
  /// Appends a block of at most `most` (not 0) arcs to a list that is full. @throws std::bad_alloc
  void add_block(std::size_t most) {
    before_ = size();
    const std::size_t arcs = std::min(next_block(), most);
    blocks_.push_back({RawBuffer(arcs * sizeof(Arc)), arcs});
    at_ = blocks_.back().begin();
    end_ = at_ + arcs;
  }
  /// Makes the list full after `most` arcs at the latest, which must not be fewer than it has.
  void clip(std::size_t most) {
    const std::size_t left = most - size();
    if (left < static_cast<std::size_t>(end_ - at_)) end_ = at_ + left;
  }
  /// Calls `use` with every arc of the list in its order; it may change them.
  template <class Use>
  void for_each(const Use& use) {
    for (std::size_t block = 0; block < blocks_.size(); ++block)
      for (Arc& arc : part(block)) use(arc);
  }
  /// Calls `use` with every part of the list in its order, and frees the memory of each behind it; the list is empty then.
  template <class Use>
  void use_up(const Use& use) {
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      use(std::span<const Arc>(part(block)));
      if (block + 1 < blocks_.size()) blocks_[block].memory = RawBuffer();
    }
    *this = ArcList();
  }

 private:
  /// Memory of consecutive arcs of the list.
  struct Block {
    RawBuffer memory;
    std::size_t arcs;  ///< that were asked for; the memory may have room for some more
    [[nodiscard]] Arc* begin() const { return reinterpret_cast<Arc*>(memory.data()); }
    [[nodiscard]] std::size_t room() const { return arcs; }
    [[nodiscard]] std::size_t used(const Arc* at) const { return static_cast<std::size_t>(at - begin()); }
  };
  /// Returns the arcs of a block of the list: blocks before the last one are full.
  [[nodiscard]] std::span<Arc> part(std::size_t block) const {
    const Block& b = blocks_[block];
    return {b.begin(), block + 1 < blocks_.size() ? b.arcs : b.used(at_)};
  }

  std::vector<Block> blocks_;
  std::size_t before_ = 0;  // arcs in the blocks before the last
  Arc* at_ = nullptr;       // place of the next arc
  Arc* end_ = nullptr;      // end of the last block, or of the arcs that are allowed
};

}  // namespace merganser::graphs::detail
