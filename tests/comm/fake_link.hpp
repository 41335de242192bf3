#pragma once
/// A Link whose other ends are played by the test, so that objects over messages are tested without ranks.
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "merganser/base/error.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/message_objects.hpp"

namespace merganser::test {

/// Messages of a FakeLink in both directions, which outlives it.
struct FakeWire {
  using Message = std::pair<std::size_t, comm::detail::Bytes>;  ///< arc and bytes

  std::deque<Message> incoming;     ///< messages that have arrived, in-arcs first to last
  std::vector<Message> sent;        ///< messages that have left, out-arcs first to last
  int polls_until_sent = 0;         ///< calls of Link::sent() that return false before what was started has left
  std::function<void()> when_idle;  ///< called when the object waits; without it waiting is an error
  std::size_t idled = 0;            ///< number of such waits
  std::size_t probes = 0;           ///< calls of Link::receive()

  /// Lets a message of these values arrive on an in-arc.
  template <class... T>
  void arrive(std::size_t arc, const T&... values) {
    comm::detail::Bytes bytes;
    (comm::detail::append(bytes, values), ...);
    incoming.emplace_back(arc, std::move(bytes));
  }
};

/// Link over a FakeWire. It reads a message as late as the contract allows: when sent() returns true.
class FakeLink final : public comm::detail::Link {
 public:
  explicit FakeLink(std::shared_ptr<FakeWire> wire) : wire_(std::move(wire)) {}

  void send(std::size_t arc, std::span<const std::byte> message) override { started_.emplace_back(arc, message); }
  bool sent() override {
    if (!started_.empty() && wire_->polls_until_sent > 0) {
      --wire_->polls_until_sent;
      return false;
    }
    for (const auto& [arc, message] : started_)
      wire_->sent.emplace_back(arc, comm::detail::Bytes(message.begin(), message.end()));
    started_.clear();
    return true;
  }
  std::optional<std::size_t> receive(std::vector<std::byte>& message) override {
    ++wire_->probes;
    if (wire_->incoming.empty()) return std::nullopt;
    const std::size_t arc = wire_->incoming.front().first;
    message = std::move(wire_->incoming.front().second);
    wire_->incoming.pop_front();
    return arc;
  }
  void idle(comm::detail::Waiter&) override {
    ++wire_->idled;
    if (!started_.empty() && wire_->polls_until_sent > 0) return;
    if (!wire_->when_idle) throw CommError("the object waits for a message that nobody sends");
    wire_->when_idle();
  }

 private:
  std::shared_ptr<FakeWire> wire_;
  std::vector<std::pair<std::size_t, std::span<const std::byte>>> started_;
};

/// What an object over a FakeLink counts into.
struct FakePlace {
  comm::Counters counters;
  comm::TrafficCount traffic;
  std::shared_ptr<comm::detail::LivenessToken> liveness = std::make_shared<comm::detail::LivenessToken>();

  /// Place of rank `rank`; this object must outlive what uses it.
  [[nodiscard]] comm::detail::Place place(int rank, const std::string& name) {
    return {rank, &counters, &traffic, liveness, name};
  }
};

}  // namespace merganser::test
