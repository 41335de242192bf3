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

/// Kind of communication operation that moves bytes between two ranks, by which traffic is counted.
enum class Move : std::uint8_t {
  message,  ///< a two-sided message sent to the other rank
  put,      ///< bytes written into the other rank's memory (one-sided)
  get,      ///< bytes read from the other rank's memory (one-sided)
};
inline constexpr std::size_t kMoves = 3;  ///< number of kinds of communication operation in Move

/// Number of size classes by which communication operations are counted: class 0 holds operations of 0 bytes, class c those of
/// 2^(c-1) to 2^c - 1 bytes, the last one all larger ones too.
inline constexpr std::size_t kSizeClasses = 48;
/// Returns the size class of a communication operation that moves `bytes` bytes, 0 to kSizeClasses - 1.
[[nodiscard]] constexpr std::size_t size_class(std::uint64_t bytes) noexcept {
  const auto width = static_cast<std::size_t>(std::bit_width(bytes));
  return width < kSizeClasses ? width : kSizeClasses - 1;
}

/// Counts of the communication operations of one kind (messages, puts or gets) between this rank and one other.
struct MoveCount {
  std::int64_t operations = 0;                     ///< number of operations of this kind with the other rank
  std::int64_t bytes = 0;                          ///< payload of all operations of this kind in bytes
  std::array<std::int64_t, kSizeClasses> sizes{};  ///< number of operations of this kind by size class

  /// Counts one operation of this kind that moves `moved` bytes to or from the other rank.
  void add(std::size_t moved) noexcept {
    ++operations;
    bytes += static_cast<std::int64_t>(moved);
    ++sizes[size_class(moved)];
  }
  MoveCount& operator+=(const MoveCount& o) noexcept;
  MoveCount& operator-=(const MoveCount& o) noexcept;
  friend bool operator==(const MoveCount&, const MoveCount&) = default;
};

/// Counts of the communication of one rank with another one, by kind: messages and puts to it, gets from it.
struct PeerTraffic {
  std::array<MoveCount, kMoves> moves;  ///< counts with the other rank by kind of operation, indexed by Move

  /// Counts one operation of kind `move` with the other rank, of `bytes` bytes.
  void add(Move move, std::size_t bytes) noexcept { moves[static_cast<std::size_t>(move)].add(bytes); }
  /// Returns the counts of one kind of operation with the other rank.
  [[nodiscard]] const MoveCount& operator[](Move move) const noexcept { return moves[static_cast<std::size_t>(move)]; }
  /// Returns true if no operation with the other rank was counted.
  [[nodiscard]] bool empty() const noexcept;
  friend bool operator==(const PeerTraffic&, const PeerTraffic&) = default;
};

/// Row of the communication matrix that one rank counts: its operations by other rank. Over all peers the bytes of messages
/// and puts add up to Counters::bytes, the operations to Counters::messages and Counters::puts. A get of n words is one
/// operation here and n in Counters::gets. A message that carries nothing but the puts and gets of a Segment counts as an
/// empty one, since its bytes are counted as theirs. Memory: O(peers with traffic).
class TrafficCount {
 public:
  /// Entry of a rank's communication matrix row: another rank and the counts of operations with it; filled by peers().
  struct Peer {
    int rank;             ///< the other rank, in the transport
    PeerTraffic traffic;  ///< counts of operations between this rank and the other one
  };

  /// Returns this rank's operation counts with `rank`, inserted where missing. The address is stable for the life of this
  /// object, so backends keep pointers to it.
  [[nodiscard]] PeerTraffic& peer(int rank) { return peers_[rank]; }
  /// Returns the ranks with which this rank has counted at least one operation, with their counts, ascending by rank.
  [[nodiscard]] std::vector<Peer> peers() const;
  /// Returns the operations counted since `before`, an earlier copy of this object, by other rank.
  [[nodiscard]] TrafficCount since(const TrafficCount& before) const;
  /// Adds the operation counts of `o` to those of this object, peer by peer.
  TrafficCount& operator+=(const TrafficCount& o);
  /// Resets every operation count to that of `before`, an earlier copy of this object; addresses of peers stay valid.
  void restore(const TrafficCount& before);

 private:
  std::unordered_map<int, PeerTraffic> peers_;
};

}  // namespace merganser::comm
