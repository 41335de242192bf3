#pragma once
/// Point-to-point layer beneath the message-based Mailbox, Stream and Plan: messages along the arcs of one process graph.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"
#include "src/comm/detail/waiter.hpp"

namespace merganser::comm::detail {

/// Channel for messages of any size along this rank's arcs of one process graph, delivered whole and in order on each arc. No call
/// is collective, and none but idle() blocks. Arcs of a rank to itself are not served; the objects above short-circuit them.
class Link : Pinned {
 public:
  virtual ~Link() = default;

  /// Starts sending a message along out-arc `arc`. The caller must not change `message` until sent() has returned true.
  virtual void send(std::size_t arc, std::span<const std::byte> message) = 0;
  /// Returns true if all sends of this link are complete locally, so that their buffers may be reused. Makes progress.
  [[nodiscard]] virtual bool sent() = 0;
  /// Moves a message that has arrived whole into `message` and returns its in-arc; returns nothing if none has. Makes progress.
  [[nodiscard]] virtual std::optional<std::size_t> receive(std::vector<std::byte>& message) = 0;
  /// Hints, before each call of receive(), that the caller only receives until `messages` messages have arrived, so that
  /// simulated ranks block once instead of once per message. The hint holds until sent() is called.
  virtual void expect([[maybe_unused]] std::size_t messages) {}
  /// Blocks for a short time; called after send(), sent() and receive() made no progress. @throws CommError after the wait limit
  virtual void idle(Waiter& waiter) { waiter.idle(); }
};

/// Index from neighbouring ranks to arcs: the positions of ranks in this rank's list of out- or in-neighbours.
class ArcIndex {
 public:
  /// Value in place of an arc of the process graph: the rank is no neighbour.
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  /// Makes the index from ranks to arcs of this rank's list of out- or in-neighbours, distinct ranks.
  explicit ArcIndex(std::span<const int> ranks);
  /// Returns the arc to or from `rank`, its position in the list of neighbours; kNone if it is no neighbour. O(1), or O(log n) for
  /// sparse lists.
  [[nodiscard]] std::size_t operator()(int rank) const noexcept;

 private:
  /// Entry of the sorted index: a neighbouring rank and the arc to or from it.
  struct Entry {
    int rank;
    std::size_t arc;
  };
  std::vector<std::size_t> dense_;  // by rank: its arc; used where the table is not much longer than the list
  std::vector<Entry> sorted_;       // neighbours ascending by rank; used otherwise
};

}  // namespace merganser::comm::detail
