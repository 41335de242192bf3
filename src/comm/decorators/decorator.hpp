#pragma once
/// Base class and tools of decorators: transports that wrap another transport to check or disturb its use.
#include <memory>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"
#include "src/comm/detail/bytes.hpp"

namespace merganser::comm::detail {

/// Base of the decorators "checked" and "chaos": a transport that forwards every call to an inner transport, whose counters it
/// shares.
class Decorator : public Transport {
 public:
  /// Wraps the transport `inner`. @param owned  the object of `inner` if the decorator is to own it, else null
  Decorator(Transport& inner, std::unique_ptr<Transport> owned) : inner_(inner), owned_(std::move(owned)) {}

  [[nodiscard]] int rank() const noexcept override { return inner_.rank(); }
  [[nodiscard]] int size() const noexcept override { return inner_.size(); }
  [[nodiscard]] std::string_view name() const noexcept override { return inner_.name(); }
  [[nodiscard]] std::string_view choice() const noexcept override { return inner_.choice(); }
  [[nodiscard]] Capabilities capabilities() const noexcept override { return inner_.capabilities(); }
  [[nodiscard]] Counters& counters() noexcept override { return inner_.counters(); }
  [[nodiscard]] TrafficCount& traffic() noexcept override { return inner_.traffic(); }

  [[nodiscard]] std::unique_ptr<Mailbox> mailbox(Graph graph) override { return inner_.mailbox(std::move(graph)); }
  [[nodiscard]] std::unique_ptr<Stream> stream(Graph graph, StreamOptions options) override {
    return inner_.stream(std::move(graph), options);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(Graph graph, Pattern pattern, PlanOptions options) override {
    return inner_.plan(std::move(graph), std::move(pattern), options);
  }
  [[nodiscard]] std::unique_ptr<SegmentBody> segment_body(Graph graph, std::size_t words, std::size_t word_bytes,
                                                          Epoch epoch) override {
    return inner_.segment_body(std::move(graph), words, word_bytes, epoch);
  }
  /// Makes a transport of the ranks that pass true, inside a decorator of the same kind; null on the others. Collective.
  [[nodiscard]] std::unique_ptr<Transport> subset(bool take_part) override { return wrapped(inner_.subset(take_part)); }

 protected:
  void do_barrier() override { inner_.do_barrier(); }
  void do_reduce(std::span<std::uint64_t> words, Op op) override { inner_.do_reduce(words, op); }
  [[nodiscard]] std::vector<Bytes> do_gather(std::span<const std::byte> mine) override {
    return inner_.do_gather(mine);
  }
  [[nodiscard]] Bytes do_broadcast(std::span<const std::byte> mine) override { return inner_.do_broadcast(mine); }
  [[nodiscard]] std::vector<Bytes> do_all_gather(std::span<const std::byte> mine) override {
    return inner_.do_all_gather(mine);
  }
  [[nodiscard]] std::vector<Bytes> do_all_to_all(std::span<const BytesView> to) override {
    return inner_.do_all_to_all(to);
  }
  /// Returns the decorated transport.
  [[nodiscard]] Transport& inner() noexcept { return inner_; }
  /// Wraps a transport of some of the ranks into a decorator of the same kind; `part` is null on the other ranks. Called on
  /// every rank by subset().
  [[nodiscard]] virtual std::unique_ptr<Transport> wrapped(std::unique_ptr<Transport> part) = 0;

 private:
  Transport& inner_;
  std::unique_ptr<Transport> owned_;
};

/// Record of a Stream that a decorator buffers before it is sent, or before it is passed to the program.
struct StreamRecord {
  std::size_t arc;      ///< out-arc of a record to send, in-arc of a received one
  std::size_t slot;     ///< slot of the Stream record on its arc
  std::uint32_t value;  ///< value of the Stream record
};

/// Guard that restores the communication counters of a transport at its end, so that a decorator's own communication is
/// not counted.
class Uncounted : Pinned {
 public:
  /// Stores the operation counts of a transport, to restore them at the end.
  Uncounted(Counters& counters, TrafficCount& traffic)
      : counters_(counters), before_(counters), traffic_(traffic), traffic_before_(traffic) {}
  explicit Uncounted(Transport& transport) : Uncounted(transport.counters(), transport.traffic()) {}
  ~Uncounted() {
    counters_ = before_;
    traffic_.restore(traffic_before_);
  }

 private:
  Counters& counters_;
  Counters before_;
  TrafficCount& traffic_;
  TrafficCount traffic_before_;
};

/// Numbers of words of a decorated Segment on the reachable ranks, so that a decorator validates a buffered operation when it is
/// called.
class WordLimits {
 public:
  /// Gathers the number of words of a Segment on every rank; `words` is that on this rank. Collective; not counted.
  WordLimits(Transport& transport, const Graph& graph, std::size_t words);
  /// Validates the target of an operation on a Segment. @throws CommError for a rank that is neither this one nor an
  /// out-neighbour, or words out of range
  void check(int rank, std::size_t index, std::size_t count) const;

 private:
  int here_;                             // this rank
  std::vector<std::size_t> words_;       // by rank: number of words of the Segment
  std::vector<std::uint8_t> reachable_;  // by rank: 1 for this rank and its out-neighbours
};

/// Checker of the records that one rank sends on a decorated Stream: each slot of a round exactly once.
class SendRules {
 public:
  /// Begins a round of records on a decorated Stream, with counts_out[arc] records along each out-arc.
  void open(std::span<const std::size_t> counts_out);
  /// Ends a round of records on a decorated Stream; sends are errors until the next open().
  void close() { open_ = false; }
  /// Validates and marks a record sent on a decorated Stream. @throws CommError if no round is open, the slot is out of range, or
  /// it was sent before in this round
  void send(std::size_t arc, std::size_t slot);

 private:
  bool open_ = false;                            // between open() and close()
  std::vector<std::vector<std::uint8_t>> sent_;  // per out-arc and slot: 1 if the record has been sent
};

}  // namespace merganser::comm::detail
