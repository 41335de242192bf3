// Link of the one-sided models (rma, shmem): messages through ring buffers in the receivers' memory.
#include <algorithm>
#include <deque>

#include "src/comm/detail/one_sided.hpp"

namespace merganser::comm::detail {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kShort = 4096;  // longest message in bytes that is copied behind its length, for one put of both

/// Returns the space in bytes that a message of `bytes` bytes takes in a ring: rounded up to whole words of 8 bytes.
std::size_t padded(std::size_t bytes) { return (bytes + kWord - 1) / kWord * kWord; }

/// Link over one-sided memory: a ring buffer per arc in the receiver's block, with one writer and one reader. Flow
/// control is by a head word at the receiver and a credit word at the sender; both only grow, modulo 2^64. In the ring
/// a message is its length in 8 bytes, then its bytes padded to a multiple of 8. Messages longer than the ring pass
/// through it in parts.
class RingLink final : public Link {
 public:
  /// Makes the link with the places of the remote rings, head and credit words from the handshake.
  RingLink(std::shared_ptr<Memory> memory, const Graph& graph, const RingLayout& layout,
           const RemoteDescriptors& remote)
      : memory_(std::move(memory)), layout_(layout), out_(graph.out.size()), in_(graph.in.size()) {
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      out_[arc].rank = graph.out[arc];
      out_[arc].to = read<RingAddress>(remote.from_out[arc]);
    }
    for (std::size_t arc = 0; arc < in_.size(); ++arc) {
      in_[arc].rank = graph.in[arc];
      in_[arc].credit = read<RingAddress>(remote.from_in[arc]).credit;
    }
  }

  /// Queues a message for an out-arc's ring; push() puts it there.
  void send(std::size_t arc, std::span<const std::byte> message) override {
    if (out_[arc].queue.empty()) busy_.push_back(arc);
    out_[arc].queue.push_back(message);
  }
  [[nodiscard]] bool sent() override {
    push();
    return busy_.empty();
  }
  /// Polls the rings of the in-arcs, from another one first in each call, until a message is complete; returns its in-arc.
  [[nodiscard]] std::optional<std::size_t> receive(std::vector<std::byte>& message) override {
    push();
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < in_.size() && !found; ++i) {
      const std::size_t arc = (next_ + i) % in_.size();
      if (pull(arc)) found = arc;
    }
    if (uncommitted_) {
      memory_->commit();
      uncommitted_ = false;
    }
    if (!found) {
      memory_->progress();
      return std::nullopt;
    }
    next_ = (*found + 1) % in_.size();
    message.swap(in_[*found].message);
    return found;
  }

  void idle(Waiter& waiter) override {
    if (moved_) waiter.reset();  // a part of a long message is progress, though no message is complete
    moved_ = false;
    waiter.idle();
  }

 private:
  /// Sender's end of an arc of a ring link: the ring at the receiver and the messages that are not completely in it.
  struct Sending {
    int rank = 0;                                  // the receiver
    RingAddress to;                                // offsets of ring and head word in the receiver's block
    std::uint64_t written = 0;                     // bytes put into the ring so far
    std::deque<std::span<const std::byte>> queue;  // messages not completely in the ring
    bool inside = false;                           // the length of the first queued message is in the ring
    std::size_t at = 0;                            // number of the first queued message's bytes that are in the ring
    Bytes staging;                                 // length, and bytes if short, of the message begun in this push
  };
  /// Receiver's end of an arc of a ring link: the read position in the ring and the message being assembled.
  struct Receiving {
    int rank = 0;                // the sender
    std::uint64_t credit = 0;    // offset of the credit word in the sender's block
    std::uint64_t taken = 0;     // bytes copied out of the ring so far
    std::uint64_t returned = 0;  // of the bytes taken, those that have been returned to the sender as credit
    Bytes message;               // the message being received
    std::size_t length = 0;      // length of the message being received
    std::size_t at = 0;          // number of bytes of the message received
    bool inside = false;         // the length of the message has been read
  };

  /// Puts as much of the queued messages of all busy arcs as fits into their rings. order() separates the data from the
  /// head words, so a receiver that reads a head word finds all bytes before that position in its ring.
  void push() {
    if (busy_.empty()) return;
    pushed_.clear();
    for (const std::size_t arc : busy_) {
      if (push(arc)) pushed_.push_back(arc);
    }
    if (pushed_.empty()) return;
    moved_ = true;
    memory_->order();
    for (const std::size_t arc : pushed_) memory_->put_word(out_[arc].rank, out_[arc].to.head, out_[arc].written);
    memory_->commit();
    uncommitted_ = false;
    std::erase_if(busy_, [this](std::size_t arc) { return out_[arc].queue.empty(); });
  }

  /// Puts the length of an out-arc's first queued message into the ring, and its bytes too if the message is short and fits.
  /// @param space  free bytes of the ring
  void begin_message(std::size_t number, std::size_t space) {
    auto& arc = out_[number];
    const auto message = arc.queue.front();
    const std::uint64_t length = message.size();
    const bool whole = message.size() <= kShort && kWord + padded(message.size()) <= space;
    arc.staging.resize(kWord + (whole ? message.size() : 0));
    std::memcpy(arc.staging.data(), &length, kWord);
    if (whole && length > 0) std::memcpy(arc.staging.data() + kWord, message.data(), message.size());
    put_into_ring(arc, arc.staging.data(), arc.staging.size());
    arc.written += whole ? kWord + padded(message.size()) : kWord;
    arc.inside = !whole;
    arc.at = 0;
    if (whole) arc.queue.pop_front();
  }

  /// Puts as much of the queued messages of one out-arc as fits into its ring, and begins at most one message; returns false if
  /// nothing fits.
  bool push(std::size_t number) {
    auto& arc = out_[number];
    const std::uint64_t before = arc.written;
    const std::uint64_t taken = memory_->word(layout_.credit(number));
    bool begun = false;
    while (!arc.queue.empty()) {
      // Free bytes of the ring; both counters only grow, so their difference is right across the wrap-around at 2^64.
      const std::size_t space = arc.to.ring_bytes - static_cast<std::size_t>(arc.written - taken);
      if (space < kWord) break;
      if (!arc.inside) {
        if (begun) break;  // the staging memory is in use until order()
        begin_message(number, space);
        begun = true;
        continue;
      }
      const auto message = arc.queue.front();
      // Whole words until the end, so that `written` stays a multiple of 8 and a length never wraps around the ring's end.
      const std::size_t part = std::min(space / kWord * kWord, message.size() - arc.at);
      put_into_ring(arc, message.data() + arc.at, part);
      arc.at += part;
      const bool whole = arc.at == message.size();
      arc.written += whole ? padded(part) : part;
      arc.inside = !whole;
      if (whole) arc.queue.pop_front();
    }
    return arc.written != before;
  }

  /// Puts bytes at the write position of an out-arc's ring at the receiver, in two parts where they wrap around the ring's end.
  void put_into_ring(Sending& arc, const std::byte* from, std::size_t bytes) {
    const std::size_t start = arc.written % arc.to.ring_bytes;
    const std::size_t first = std::min<std::size_t>(bytes, arc.to.ring_bytes - start);
    memory_->put(arc.rank, arc.to.ring + start, from, first);
    if (bytes > first) memory_->put(arc.rank, arc.to.ring, from + first, bytes - first);
  }

  /// Copies bytes that have arrived in an in-arc's ring to the message being assembled, up to its end; returns true if the message
  /// is complete.
  bool pull(std::size_t number) {
    auto& arc = in_[number];
    const std::uint64_t head = memory_->word(layout_.head(number));
    if (head == arc.taken) return false;
    moved_ = true;
    if (!arc.inside) {
      std::uint64_t length = 0;
      copy_from_ring(number, reinterpret_cast<std::byte*>(&length), kWord);
      arc.taken += kWord;
      arc.length = static_cast<std::size_t>(length);
      arc.message.resize(arc.length);
      arc.at = 0;
      arc.inside = true;
    }
    // A message longer than the ring, or one whose end is not put yet, is assembled over several calls.
    const auto available = static_cast<std::size_t>(head - arc.taken);
    const std::size_t part = std::min(available, arc.length - arc.at);
    copy_from_ring(number, arc.message.data() + arc.at, part);
    arc.at += part;
    const bool whole = arc.at == arc.length;
    arc.taken += whole ? padded(part) : part;
    arc.inside = !whole;
    return_credit(arc);
    return whole;
  }

  /// Copies bytes from the read position of an in-arc's ring, in two parts where they wrap around the ring's end.
  void copy_from_ring(std::size_t number, std::byte* to, std::size_t bytes) {
    const std::size_t start = in_[number].taken % layout_.ring_bytes;
    const std::byte* ring = memory_->data() + layout_.ring(number);
    const std::size_t first = std::min(bytes, layout_.ring_bytes - start);
    if (first > 0) std::memcpy(to, ring + start, first);
    if (bytes > first) std::memcpy(to + first, ring, bytes - first);
  }

  /// Returns credit for the bytes taken from an in-arc's ring to the sender, a quarter of the ring at a time: few puts, and the
  /// sender still has room for the rest. order(): if the credit before arrived last, the sender would take the difference for more
  /// room than there is.
  void return_credit(Receiving& arc) {
    if (arc.taken - arc.returned < layout_.ring_bytes / 4) return;
    arc.returned = arc.taken;
    memory_->order();
    memory_->put_word(arc.rank, arc.credit, arc.taken);
    uncommitted_ = true;
  }

  std::shared_ptr<Memory> memory_;
  RingLayout layout_;
  std::vector<Sending> out_;         // per out-arc
  std::vector<Receiving> in_;        // per in-arc
  std::vector<std::size_t> busy_;    // out-arcs with queued messages
  std::vector<std::size_t> pushed_;  // out-arcs into whose ring this push() has put bytes
  std::size_t next_ = 0;             // in-arc to poll first (round robin, so that none starves)
  bool uncommitted_ = false;         // credit words have been put since the last commit()
  bool moved_ = false;               // progress since the last idle()
};

}  // namespace

// Handshake of message rings, receiver's side: the places where the sender of an in-arc puts its data and head word.
std::vector<Bytes> receiver_descriptors(const RingLayout& layout) {
  std::vector<Bytes> descriptors;
  for (std::size_t arc = 0; arc < layout.in_arcs; ++arc) {
    descriptors.push_back(
        to_bytes(RingAddress{.head = layout.head(arc), .ring = layout.ring(arc), .ring_bytes = layout.ring_bytes}));
  }
  return descriptors;
}

// Handshake of message rings, sender's side: the place where the receiver of an out-arc puts its credit word.
std::vector<Bytes> sender_descriptors(const RingLayout& layout) {
  std::vector<Bytes> descriptors;
  for (std::size_t arc = 0; arc < layout.out_arcs; ++arc) {
    descriptors.push_back(to_bytes(RingAddress{.credit = layout.credit(arc)}));
  }
  return descriptors;
}

std::unique_ptr<Link> ring_link(std::shared_ptr<Memory> memory, const Graph& graph, const RingLayout& layout,
                                const RemoteDescriptors& remote) {
  return std::make_unique<RingLink>(std::move(memory), graph, layout, remote);
}

}  // namespace merganser::comm::detail
