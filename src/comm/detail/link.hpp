#pragma once
/// What the message-based objects need of a machine: messages along the arcs of one graph.
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"
#include "src/comm/detail/waiter.hpp"

namespace merganser::comm::detail {

/// Messages of any size along the arcs of one graph, whole and in order on each arc. Nothing here is collective and
/// nothing but idle() blocks for long. Arcs of a rank to itself are not served; the objects above short-circuit them.
class Link : Pinned {
 public:
  virtual ~Link() = default;

  /// Starts sending along out-arc `arc`. `message` must stay as it is until sent() has said true.
  virtual void send(std::size_t arc, std::span<const std::byte> message) = 0;
  /// True if no message is being read any more. Drives progress.
  [[nodiscard]] virtual bool sent() = 0;
  /// Takes a message that has arrived whole into `message` and returns its in-arc, if there is one. Drives progress.
  [[nodiscard]] virtual std::optional<std::size_t> receive(std::vector<std::byte>& message) = 0;
  /// The caller will do nothing but receive before so many messages have come, and says so before each call of receive(). A hint,
  /// with which simulated ranks wait once instead of once a message; it holds until sent().
  virtual void expect([[maybe_unused]] std::size_t messages) {}
  /// Called between fruitless calls.
  virtual void idle(Waiter& waiter) { waiter.idle(); }
};

/// Arc of a rank in a list of ranks.
class ArcOf {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  explicit ArcOf(std::span<const int> ranks);
  [[nodiscard]] std::size_t operator()(int rank) const noexcept;

 private:
  struct Entry {
    int rank;
    std::size_t arc;
  };
  std::vector<std::size_t> dense_;  // by rank, where that is not much longer than the list
  std::vector<Entry> sorted_;       // by rank, else
};

}  // namespace merganser::comm::detail
