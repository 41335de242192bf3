#pragma once
/// Messages over one-sided memory: a ring of bytes per arc in the receiver's block.
#include <deque>
#include <memory>

#include "src/comm/detail/link.hpp"
#include "src/comm/detail/memory.hpp"

namespace merganser::comm::detail {

/// Where the rings of a rank lie in its block, from `offset` on: a head word per in-arc (written by the sender: bytes
/// sent so far), a credit word per out-arc (written by the receiver: bytes taken so far), then the rings.
struct RingLayout {
  std::size_t offset = 0;
  std::size_t in_arcs = 0;
  std::size_t out_arcs = 0;
  std::size_t ring_bytes = 0;

  [[nodiscard]] std::size_t head(std::size_t arc) const { return offset + 8 * arc; }
  [[nodiscard]] std::size_t credit(std::size_t arc) const { return offset + 8 * (in_arcs + arc); }
  [[nodiscard]] std::size_t ring(std::size_t arc) const { return offset + 8 * (in_arcs + out_arcs) + ring_bytes * arc; }
  [[nodiscard]] std::size_t end() const { return ring(in_arcs); }
};

/// What the ends of an arc tell each other about the sender's and the receiver's block.
struct RingAddress {
  std::uint64_t head = 0;
  std::uint64_t ring = 0;
  std::uint64_t ring_bytes = 0;
  std::uint64_t credit = 0;
};

/// A message is its length in 8 bytes and its bytes padded to a multiple of 8. Messages longer than the ring flow
/// through it, both ends working. No limit on the length.
class RingLink final : public Link {
 public:
  struct Ends {
    std::vector<RingAddress> out;  ///< per out-arc: the receiver's
    std::vector<RingAddress> in;   ///< per in-arc: the sender's
  };
  RingLink(std::shared_ptr<Memory> memory, const Graph& graph, const RingLayout& layout, Ends ends);

  void send(std::size_t arc, std::span<const std::byte> message) override;
  [[nodiscard]] bool sent() override;
  [[nodiscard]] std::optional<std::size_t> receive(std::vector<std::byte>& message) override;
  void idle(Waiter& waiter) override;

 private:
  struct Sending {
    int rank = 0;
    RingAddress to;
    std::uint64_t written = 0;
    std::deque<std::span<const std::byte>> queue;
    bool inside = false;  // the length of the first message is in the ring
    std::size_t at = 0;   // and so many of its bytes
    Bytes staging;        // a short message with its length, put at once
  };
  struct Receiving {
    int rank = 0;
    std::uint64_t credit = 0;  // where the sender looks
    std::uint64_t taken = 0;
    std::uint64_t returned = 0;
    Bytes message;
    std::size_t length = 0;
    std::size_t at = 0;
    bool inside = false;  // the length has been read
  };

  void push();
  void begin_message(std::size_t arc, std::size_t space);
  bool push(std::size_t arc);
  void put_into_ring(Sending& arc, const std::byte* from, std::size_t bytes);
  bool pull(std::size_t arc);
  void take_from_ring(std::size_t arc, std::byte* to, std::size_t bytes);
  void give_credit(Receiving& arc);

  std::shared_ptr<Memory> memory_;
  RingLayout layout_;
  std::vector<Sending> out_;
  std::vector<Receiving> in_;
  std::vector<std::size_t> busy_;    // out-arcs with something queued
  std::vector<std::size_t> pushed_;  // those of them that moved in this push
  std::size_t next_ = 0;             // in-arc to look at first, so that none starves
  bool uncommitted_ = false;
  bool moved_ = false;
};

}  // namespace merganser::comm::detail
