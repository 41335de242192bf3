#pragma once
/// What transports around transports share.
#include <memory>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"
#include "src/comm/detail/bytes.hpp"

namespace merganser::comm::detail {

/// Passes everything on; counts nothing itself.
class Decorator : public Transport {
 public:
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
  /// In a decorator of the same kind.
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
  [[nodiscard]] Transport& inner() noexcept { return inner_; }
  /// What subset() makes of a transport of some of the ranks, or of null. Collective.
  [[nodiscard]] virtual std::unique_ptr<Transport> wrapped(std::unique_ptr<Transport> part) = 0;

 private:
  Transport& inner_;
  std::unique_ptr<Transport> owned_;
};

/// A record of a Stream that is held back.
struct StreamRecord {
  std::size_t arc;
  std::size_t slot;
  std::uint32_t value;
};

/// While it lives, what a decorator does for itself is not counted.
class Uncounted : Pinned {
 public:
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

/// The words of a segment's owners, so that an operation that is held back is refused at once if it is wrong.
class WordLimits {
 public:
  /// Collective over every rank.
  WordLimits(Transport& transport, const Graph& graph, std::size_t words);
  /// @throws CommError
  void check(int rank, std::size_t index, std::size_t count) const;

 private:
  int here_;
  std::vector<std::size_t> words_;       // by rank
  std::vector<std::uint8_t> reachable_;  // by rank
};

/// The rules of sending on a Stream, with memory of every slot.
class SendRules {
 public:
  void open(std::span<const std::size_t> counts_out);
  void close() { open_ = false; }
  /// @throws CommError if the round is not open, there is no such slot, or it has been sent
  void send(std::size_t arc, std::size_t slot);

 private:
  bool open_ = false;
  std::vector<std::vector<std::uint8_t>> sent_;  // per out-arc and slot
};

}  // namespace merganser::comm::detail
