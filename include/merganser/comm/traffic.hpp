#pragma once
/// How much a rank moves to and from each other rank. Counted always; a few additions per operation.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::comm {

/// How bytes move between two ranks.
enum class Move : std::uint8_t {
  message,  ///< a message sent
  put,      ///< written into the other's memory
  get,      ///< read from the other's memory
};
inline constexpr std::size_t kMoves = 3;

/// Number of size classes: 0 holds nothing but empty operations, c holds 2^(c-1) to 2^c - 1 bytes, the last one
/// everything above.
inline constexpr std::size_t kSizeClasses = 48;
/// The size class of an operation of so many bytes.
[[nodiscard]] constexpr std::size_t size_class(std::uint64_t bytes) noexcept {
  const auto width = static_cast<std::size_t>(std::bit_width(bytes));
  return width < kSizeClasses ? width : kSizeClasses - 1;
}

/// Operations of one kind on one arc.
struct MoveCount {
  std::int64_t operations = 0;
  std::int64_t bytes = 0;
  std::array<std::int64_t, kSizeClasses> sizes{};  ///< operations by size class

  /// Counts one operation of so many bytes.
  void add(std::size_t moved) noexcept {
    ++operations;
    bytes += static_cast<std::int64_t>(moved);
    ++sizes[size_class(moved)];
  }
  MoveCount& operator+=(const MoveCount& o) noexcept;
  MoveCount& operator-=(const MoveCount& o) noexcept;
  friend bool operator==(const MoveCount&, const MoveCount&) = default;
};

/// What one rank has moved to (message, put) or from (get) another.
struct PeerTraffic {
  std::array<MoveCount, kMoves> moves;

  /// Counts one operation.
  void add(Move move, std::size_t bytes) noexcept { moves[static_cast<std::size_t>(move)].add(bytes); }
  [[nodiscard]] const MoveCount& operator[](Move move) const noexcept { return moves[static_cast<std::size_t>(move)]; }
  /// True if nothing was counted.
  [[nodiscard]] bool empty() const noexcept;
  friend bool operator==(const PeerTraffic&, const PeerTraffic&) = default;
};

/// Traffic of one rank, by other rank. Over all peers the bytes of messages and puts add up to Counters::bytes, the
/// operations to Counters::messages and Counters::puts. A get of n words is one operation here and n in Counters::gets.
/// A message that carries nothing but the puts and gets of a Segment counts as an empty one: its bytes are theirs.
/// Memory: O(ranks talked to).
class TrafficCount {
 public:
  /// Another rank, and what was moved to and from it.
  struct Peer {
    int rank;
    PeerTraffic traffic;
  };

  /// The counts of a peer, made where missing. Its address stays the same for the life of this object.
  [[nodiscard]] PeerTraffic& peer(int rank) { return peers_[rank]; }
  /// Peers with at least one operation, ascending by rank.
  [[nodiscard]] std::vector<Peer> peers() const;
  /// What has come since `before`, an earlier copy of this.
  [[nodiscard]] TrafficCount since(const TrafficCount& before) const;
  TrafficCount& operator+=(const TrafficCount& o);
  /// Sets every count to that of `before`; addresses of peers stay.
  void restore(const TrafficCount& before);

 private:
  std::unordered_map<int, PeerTraffic> peers_;
};

}  // namespace merganser::comm
