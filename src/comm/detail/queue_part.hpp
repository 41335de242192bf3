#pragma once
/// Bound on the operations in flight between processes of a host, a workaround: UCX 1.13 delivers wrong bytes, or none, when
/// the shared-memory queue of a process is full.
#include <algorithm>
#include <cstddef>

namespace merganser::comm::detail {

/// Returns the length in elements of the shorter one of the queues that UCX may use between processes of a host: the values
/// of UCX_POSIX_FIFO_SIZE and UCX_SYSV_FIFO_SIZE, with UCX's default of 64 for one that is not set or no number >= 2. Local.
[[nodiscard]] long queue_elements();

/// Share of one process in the UCX shared-memory queue of another one. If no process has more operations in flight, no queue is
/// ever full; half of the queue is left for replies.
class QueuePart {
 public:
  static constexpr std::size_t kElement = 8192;  ///< bytes that one element of a UCX queue carries

  /// Divides a UCX queue of `queue` elements among `ranks` processes of a host, >= 1.
  QueuePart(long queue, int ranks) : most_(std::max(1L, queue / 2 / ranks)) {}

  /// Returns the number of elements of another process's queue that one process may have in flight, at least 1.
  [[nodiscard]] long max_elements() const noexcept { return most_; }
  /// Returns an upper bound of the number of queue elements that a put or get of `bytes` bytes occupies.
  [[nodiscard]] static long num_elements(std::size_t bytes) noexcept { return 1 + static_cast<long>(bytes / kElement); }
  /// Returns the size in bytes of the largest piece of a put or get that fits into a process's share of the queue, at most 64 KiB.
  [[nodiscard]] std::size_t piece_bytes() const noexcept {
    constexpr std::size_t kLongest = std::size_t{64} << 10;
    constexpr std::size_t kLine = 64;  // so that all but the last piece are whole lines
    if (most_ >= num_elements(kLongest)) return kLongest;
    return static_cast<std::size_t>(most_) * kElement - kLine;
  }

 private:
  long most_;  // elements that one process may have in flight
};

/// Calls each(at, bytes) for the consecutive pieces, of at most `piece` bytes, of a put or get of `bytes` bytes, in order.
template <class Each>
void for_each_piece(std::size_t bytes, std::size_t piece, const Each& each) {
  for (std::size_t at = 0; at < bytes; at += piece) each(at, std::min(piece, bytes - at));
}

}  // namespace merganser::comm::detail
