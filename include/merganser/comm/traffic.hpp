#pragma once
/// Counters of the operations and bytes between one rank and each other rank. Always on; a few additions per operation.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::comm {

/// Kind of operation that moves bytes between two ranks.
enum class Move : std::uint8_t {
  message,  ///< a message sent
  put,      ///< written into the other's memory
  get,      ///< read from the other's memory
};
inline constexpr std::size_t kMoves = 3;

/// Number of size classes: class 0 holds operations of 0 bytes, class c those of 2^(c-1) to 2^c - 1 bytes, the last one
/// all larger ones too.
inline constexpr std::size_t kSizeClasses = 48;
/// Returns the size class of an operation of `bytes` bytes, 0 to kSizeClasses - 1.
[[nodiscard]] constexpr std::size_t size_class(std::uint64_t bytes) noexcept {
  const auto width = static_cast<std::size_t>(std::bit_width(bytes));
  return width < kSizeClasses ? width : kSizeClasses - 1;
}

/// Counts of operations of one kind between this rank and one other.
struct MoveCount {
  std::int64_t operations = 0;                     ///< number of operations
  std::int64_t bytes = 0;                          ///< payload of all operations
  std::array<std::int64_t, kSizeClasses> sizes{};  ///< number of operations by size class

  /// Counts one operation of `moved` bytes.
  void add(std::size_t moved) noexcept {
    ++operations;
    bytes += static_cast<std::int64_t>(moved);
    ++sizes[size_class(moved)];
  }
  MoveCount& operator+=(const MoveCount& o) noexcept;
  MoveCount& operator-=(const MoveCount& o) noexcept;
  friend bool operator==(const MoveCount&, const MoveCount&) = default;
};

/// Counts of one rank towards another, by kind: messages and puts to it, gets from it.
struct PeerTraffic {
  std::array<MoveCount, kMoves> moves;  ///< indexed by Move

  /// Counts one operation of `bytes` bytes.
  void add(Move move, std::size_t bytes) noexcept { moves[static_cast<std::size_t>(move)].add(bytes); }
  [[nodiscard]] const MoveCount& operator[](Move move) const noexcept { return moves[static_cast<std::size_t>(move)]; }
  /// Returns true if no operation was counted.
  [[nodiscard]] bool empty() const noexcept;
  friend bool operator==(const PeerTraffic&, const PeerTraffic&) = default;
};

/// Row of the communication matrix that one rank counts: its operations by other rank. Over all peers the bytes of messages
/// and puts add up to Counters::bytes, the operations to Counters::messages and Counters::puts. A get of n words is one
/// operation here and n in Counters::gets. A message that carries nothing but the puts and gets of a Segment counts as an
/// empty one, since its bytes are counted as theirs. Memory: O(peers with traffic).
class TrafficCount {
 public:
  /// Counts towards one other rank.
  struct Peer {
    int rank;             ///< the other rank
    PeerTraffic traffic;  ///< operations of this rank towards it
  };

  /// Returns the counts towards `rank`, inserted where missing. The address is stable for the life of this object, so
  /// backends keep pointers to it.
  [[nodiscard]] PeerTraffic& peer(int rank) { return peers_[rank]; }
  /// Returns the peers with at least one operation, ascending by rank.
  [[nodiscard]] std::vector<Peer> peers() const;
  /// Returns the difference to `before`, an earlier copy of this object: the operations since then.
  [[nodiscard]] TrafficCount since(const TrafficCount& before) const;
  /// Adds the counts of `o`, peer by peer.
  TrafficCount& operator+=(const TrafficCount& o);
  /// Resets every count to that of `before`, an earlier copy of this object; addresses of peers stay valid.
  void restore(const TrafficCount& before);

 private:
  std::unordered_map<int, PeerTraffic> peers_;
};

}  // namespace merganser::comm
