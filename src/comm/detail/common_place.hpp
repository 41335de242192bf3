#pragma once
/// Distributed allocator of symmetric memory: blocks at the same offset on some of the ranks, each of which stores only its
/// own allocations.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>

namespace merganser::comm::detail {

/// Free list of one rank's part of symmetric memory: its allocations within a range of bytes. Offsets and sizes are
/// multiples of kLine; sizes are rounded up.
class Ranges {
 public:
  static constexpr std::size_t kLine = 64;  ///< unit of allocation of symmetric memory in bytes, a cache line
  /// Value in place of an offset in symmetric memory: no free piece is large enough.
  static constexpr std::uint64_t kNowhere = std::numeric_limits<std::int64_t>::max();

  /// Makes the free list of `bytes` bytes of symmetric memory, rounded down to whole lines, without allocations.
  explicit Ranges(std::size_t bytes = 0) : bytes_(bytes / kLine * kLine) {}

  /// Returns the size of this rank's part of symmetric memory in bytes, free or not.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Returns the lowest offset >= `from` in this rank's symmetric memory at which `bytes` bytes are free (first fit); kNowhere if
  /// no free piece is large enough.
  [[nodiscard]] std::uint64_t lowest(std::uint64_t bytes, std::uint64_t from = 0) const;
  /// Returns the size of the largest free piece of this rank's symmetric memory in bytes.
  [[nodiscard]] std::size_t largest() const;
  /// Marks `bytes` free bytes of symmetric memory from offset `at` on as allocated, rounded up to whole lines.
  void reserve(std::uint64_t at, std::uint64_t bytes);
  /// Frees the allocation of symmetric memory that reserve() made at offset `at`.
  void release(std::uint64_t at);

 private:
  std::size_t bytes_;
  std::map<std::uint64_t, std::uint64_t> taken_;  // begin and end offsets of the allocations
};

/// Callback of find_common_offset() and find_common_capacity() that replaces each word of a span by its maximum over the calling
/// ranks; words are at most Ranges::kNowhere. Collective over these ranks.
using Highest = std::function<void(std::span<std::uint64_t>)>;

/// Finds the lowest offset at which `bytes` bytes of symmetric memory are free on every member; kNowhere if there is
/// none. The result is the same on all ranks; nothing is reserved. Collective over the ranks of `highest`, which pass
/// the same `bytes`.
/// @param ranges  allocations of this rank; null on ranks that are no members and take part in the reductions only
/// Cost: reductions of two words, at most the number of allocations of all members and two more.
[[nodiscard]] std::uint64_t find_common_offset(const Ranges* ranges, std::uint64_t bytes, const Highest& highest);

/// Returns the minimum over members of the largest free piece of symmetric memory in bytes; the same on all ranks. Collective over
/// the ranks of `highest`; `ranges` is null on ranks that are no members.
[[nodiscard]] std::uint64_t find_common_capacity(const Ranges* ranges, const Highest& highest);

}  // namespace merganser::comm::detail
