#pragma once
/// How much of the queues in shared memory one process of a job may fill. UCX 1.13 delivers other bytes, or none, when the
/// queue of a process has no room.
#include <algorithm>
#include <cstddef>

namespace merganser::comm::detail {

/// Elements of the shorter one of the queues that UCX may use between processes of a host: UCX_POSIX_FIFO_SIZE and
/// UCX_SYSV_FIFO_SIZE, or what UCX takes itself (64) for one that is not set or no number from 2 on.
[[nodiscard]] long queue_elements();

/// The part of one process. Where none has more on its way, nothing is put into a full queue; half of it is for answers.
class QueuePart {
 public:
  static constexpr std::size_t kElement = 8192;  // bytes that UCX has behind an element

  QueuePart(long queue, int ranks) : most_(std::max(1L, queue / 2 / ranks)) {}

  /// Elements, at least one.
  [[nodiscard]] long most() const noexcept { return most_; }
  /// What so many bytes take.
  [[nodiscard]] static long elements_of(std::size_t bytes) noexcept { return 1 + static_cast<long>(bytes / kElement); }
  /// Bytes of the longest piece that fits, 64 KiB at most.
  [[nodiscard]] std::size_t piece() const noexcept {
    constexpr std::size_t kLongest = std::size_t{64} << 10;
    constexpr std::size_t kLine = 64;  // so that all but the last piece are whole lines
    if (most_ >= elements_of(kLongest)) return kLongest;
    return static_cast<std::size_t>(most_) * kElement - kLine;
  }

 private:
  long most_;
};

/// Calls each(at, bytes) for pieces of at most so many bytes, in order.
template <class Each>
void in_pieces(std::size_t bytes, std::size_t piece, const Each& each) {
  for (std::size_t at = 0; at < bytes; at += piece) each(at, std::min(piece, bytes - at));
}

}  // namespace merganser::comm::detail
