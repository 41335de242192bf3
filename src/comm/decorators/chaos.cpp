// The decorator "chaos": a transport around another one that reorders, splits and delays what the communication contract leaves
// open, by random numbers from a seed, to find programs that depend on it.
#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "src/comm/decorators/decorator.hpp"
#include "src/comm/decorators/decorators.hpp"
#include "src/comm/detail/message_objects.hpp"

namespace merganser::comm::detail {
namespace {

/// Returns a hash of two numbers, from which the seeds and the colours of arcs of the decorator "chaos" are derived.
std::uint64_t mix(std::uint64_t a, std::uint64_t b) { return mix64(a * 0x9E3779B97F4A7C15U + b + 0x632BE59BD9B4E019U); }

/// Random choices of the decorator "chaos", which its seed determines, so that a failing run can be repeated.
class RandomChoices {
 public:
  explicit RandomChoices(std::uint64_t seed) : numbers_(seed) {}
  /// Returns true with a probability of 1 in n, to decide whether communication is disturbed.
  [[nodiscard]] bool one_in(unsigned n) { return numbers_() % n == 0; }
  /// Returns a random number in [0, n), for lengths, numbers and times of disturbances.
  [[nodiscard]] std::size_t below(std::size_t n) { return numbers_() % n; }
  /// Shuffles the buffered operations, records or chunks of a decorated object.
  template <class T>
  void shuffle(std::vector<T>& items) {
    std::shuffle(items.begin(), items.end(), numbers_);
  }
  /// Yields the core with a probability of 1/3, and sleeps for up to 100 us with one of 1/64, so that other ranks overtake.
  void pause() {
    if (one_in(3)) std::this_thread::yield();
    if (one_in(64)) std::this_thread::sleep_for(std::chrono::microseconds(below(100)));
  }

 private:
  std::mt19937_64 numbers_;
};

/// Mailbox of the decorator "chaos": full waves are sometimes split into two partial waves, along the arcs of one
/// colour, then of the other. The colour of an arc is a hash of its ends and the wave, so both ends compute the same
/// colour.
class ChaosMailbox final : public Mailbox {
 public:
  ChaosMailbox(std::unique_ptr<Mailbox> inner, Counters& counters, int rank, std::uint64_t shared, std::uint64_t own)
      : Mailbox(inner->graph()),
        inner_(std::move(inner)),
        counters_(counters),
        rank_(rank),
        shared_(shared),
        dice_(own) {}
  void check_usable() const override { inner_->check_usable(); }

 protected:
  /// Makes a full wave of the inner mailbox, or two partial ones, by a hash that is the same on every rank.
  void step_all() override {
    const std::uint64_t wave = mix(shared_, waves_++);
    if (wave % 2 == 0) {
      forward();
      inner_->step();
      for (std::size_t arc = 0; arc < inbox_.size(); ++arc) take_inbox(arc);
      dice_.pause();
      return;
    }
    const std::int64_t waves = counters_.waves;  // the program has made one wave, not two
    step_colour(wave, 0);
    step_colour(wave, 1);
    counters_.waves = waves + 1;
  }

  void step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) override {
    check_wave(graph_, outbox_, active_out, active_in);  // before outboxes are copied
    forward();
    inner_->step(active_out, active_in);
    for (std::size_t arc = 0; arc < inbox_.size(); ++arc) take_inbox(arc);
  }

 private:
  /// Moves the messages of all out-arcs to the inner mailbox, after a random pause.
  void forward() {
    dice_.pause();
    for (std::size_t arc = 0; arc < outbox_.size(); ++arc) forward(arc);
  }
  /// Moves the message of one out-arc to the inner mailbox.
  void forward(std::size_t arc) {
    inner_->outbox(arc).assign(outbox_[arc].begin(), outbox_[arc].end());
    outbox_[arc].clear();
  }
  /// Copies the message of an in-arc from the inner mailbox to the inbox of the decorated one.
  void take_inbox(std::size_t arc) {
    const auto came = inner_->inbox(arc);
    inbox_[arc].assign(came.begin(), came.end());
  }
  /// Makes a partial wave of the inner mailbox over the arcs of one colour, 0 or 1, by a hash of the arc's ends and the wave.
  void step_colour(std::uint64_t wave, std::uint64_t colour) {
    const auto has_colour = [&](int from, int to) {
      return mix(wave, (static_cast<std::uint64_t>(from) << 32) | static_cast<std::uint64_t>(to)) % 2 == colour;
    };
    std::vector<std::uint8_t> out(outbox_.size());
    std::vector<std::uint8_t> in(inbox_.size());
    for (std::size_t arc = 0; arc < out.size(); ++arc) {
      out[arc] = has_colour(rank_, graph_.out[arc]);
      if (out[arc] != 0) forward(arc);
    }
    for (std::size_t arc = 0; arc < in.size(); ++arc) in[arc] = has_colour(graph_.in[arc], rank_);
    dice_.pause();
    inner_->step(out, in);
    for (std::size_t arc = 0; arc < in.size(); ++arc) {
      if (in[arc] != 0) take_inbox(arc);
    }
  }

  std::unique_ptr<Mailbox> inner_;  // the decorated mailbox
  Counters& counters_;              // of the transport
  int rank_;
  std::uint64_t shared_;     // seed of the object, the same on every rank
  RandomChoices dice_;       // by a seed of this rank
  std::uint64_t waves_ = 0;  // full waves so far, alike on every rank
};

/// Stream of the decorator "chaos": records are sent late and in any order, and delivered late and in any order.
class ChaosStream final : public Stream {
 public:
  ChaosStream(std::unique_ptr<Stream> inner, std::uint64_t seed)
      : Stream(inner->graph()), inner_(std::move(inner)), dice_(seed) {}

  void open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) override {
    inner_->open(counts_out, counts_in);
    rules_.open(counts_out);
    left_ = 0;
    for (const std::size_t count : counts_in) left_ += count;
  }

  void send(std::size_t arc, std::size_t slot, std::uint32_t value) override {
    check_usable();
    rules_.send(arc, slot);
    held_.push_back({arc, slot, value});
    if (dice_.one_in(16)) release_held(4);
  }

  /// Passes some of the arrived records to the callback, at least one if there is one, in random order; sends some held ones.
  std::size_t take(const Take& callback) override {
    dice_.pause();
    release_held(2);
    (void)inner_->take([this](std::size_t arc, std::size_t slot, std::uint32_t value) {
      arrived_.push_back({arc, slot, value});
    });
    dice_.shuffle(arrived_);
    // At least one, so that repeated calls end.
    std::size_t now = arrived_.empty() ? 0 : 1 + dice_.below(arrived_.size());
    for (; now > 0; --now) {
      const StreamRecord record = arrived_.back();
      arrived_.pop_back();
      --left_;
      callback(record.arc, record.slot, record.value);
    }
    return left_;
  }

  void wait() override {
    check_usable();
    release_held(1);
    if (arrived_.empty() && left_ > 0) inner_->wait();
  }

  void check_usable() const override { inner_->check_usable(); }
  /// Ends a round of records: sends all held ones. @throws CommError if records have not been taken
  void finish() override {
    check_usable();
    if (left_ > 0) throw CommError("Stream::finish: " + std::to_string(left_) + " records have not been taken");
    release_held(1);
    inner_->finish();
    rules_.close();
  }

 private:
  /// Sends each buffered record of the stream with a probability of 1 in n, in random order.
  void release_held(unsigned n) {
    dice_.shuffle(held_);
    std::vector<StreamRecord> kept;
    for (const StreamRecord& record : held_) {
      if (dice_.one_in(n)) {
        inner_->send(record.arc, record.slot, record.value);
      } else {
        kept.push_back(record);
      }
    }
    held_.swap(kept);
  }

  std::unique_ptr<Stream> inner_;  // the decorated stream
  RandomChoices dice_;
  SendRules rules_;
  std::vector<StreamRecord> held_;     // records sent by the program and not by the inner stream yet
  std::vector<StreamRecord> arrived_;  // records that have arrived and are not passed to the program yet
  std::size_t left_ = 0;               // records of the round that the program has not taken
};

/// Segment of the decorator "chaos": operations are buffered and issued in any order, some early and all by the sync.
class ChaosSegment final : public SegmentBody {
 public:
  ChaosSegment(std::unique_ptr<SegmentBody> inner, WordLimits limits, std::size_t word_bytes, std::uint64_t seed)
      : inner_(std::move(inner)), limits_(std::move(limits)), word_bytes_(word_bytes), dice_(seed) {}

  void check_usable() const override { inner_->check_usable(); }
  [[nodiscard]] std::byte* local() override { return inner_->local(); }
  void put(int rank, std::size_t index, const void* word) override {
    operate(Kind::put, rank, index, 1, word, nullptr);
  }
  void get(int rank, std::size_t index, std::size_t count, void* to) override {
    operate(Kind::get, rank, index, count, nullptr, to);
  }
  void fetch_or(int rank, std::size_t index, const void* word, void* old) override {
    operate(Kind::fetch_or, rank, index, 1, word, old);
  }
  void sync() override {
    release_held();
    inner_->sync();
  }
  bool sync_any(bool mine) override {
    release_held();
    return inner_->sync_any(mine);
  }

 private:
  enum class Kind : std::uint8_t { put, get, fetch_or };
  /// Buffered one-sided operation on words of a segment under the decorator "chaos".
  struct Operation {
    Kind kind;
    int rank;            // target of the operation
    std::size_t index;   // first word at the target
    std::size_t count;   // number of words
    std::uint64_t word;  // word of a put or fetch_or, in its first bytes
    void* to;            // destination of a get or fetch_or on this rank
  };

  /// Buffers a one-sided operation on the segment after validating its target; with a probability of 1/4 issues all buffered ones.
  void operate(Kind kind, int rank, std::size_t index, std::size_t count, const void* word, void* to) {
    check_usable();
    limits_.check(rank, index, count);
    Operation operation{kind, rank, index, count, 0, to};
    if (word != nullptr) std::memcpy(&operation.word, word, word_bytes_);
    held_.push_back(operation);
    if (dice_.one_in(4)) release_held();
  }
  /// Issues all buffered one-sided operations on the inner segment, in random order.
  void release_held() {
    dice_.pause();
    dice_.shuffle(held_);
    for (const Operation& o : held_) {
      if (o.kind == Kind::put) inner_->put(o.rank, o.index, &o.word);
      if (o.kind == Kind::get) inner_->get(o.rank, o.index, o.count, o.to);
      if (o.kind == Kind::fetch_or) inner_->fetch_or(o.rank, o.index, &o.word, o.to);
    }
    held_.clear();
  }

  std::unique_ptr<SegmentBody> inner_;  // the decorated segment
  WordLimits limits_;
  std::size_t word_bytes_;  // 4 or 8
  RandomChoices dice_;
  std::vector<Operation> held_;  // operations called and not issued yet
};

/// Plan of the decorator "chaos": chunks are delivered in smaller parts and in any order, some after all others have
/// arrived.
class ChaosPlan final : public Plan {
 public:
  ChaosPlan(std::unique_ptr<Plan> inner, std::size_t element_bytes, std::uint64_t seed)
      : inner_(std::move(inner)), element_bytes_(element_bytes), dice_(seed) {}

  /// Performs one ghost exchange of the inner plan and delivers its chunks in two parts each, in random order.
  void pull(std::span<const std::byte> local, const Use& use) override {
    std::vector<HeldChunk> held;
    inner_->pull(local, [&](const Chunk& chunk) {
      dice_.pause();
      const std::size_t elements = chunk.data.size() / element_bytes_;
      const std::size_t cut = dice_.below(elements + 1);
      keep(held, chunk, 0, cut);
      keep(held, chunk, cut, elements);
      dice_.shuffle(held);
      if (dice_.one_in(2)) deliver(held, use);
    });
    while (!held.empty()) deliver(held, use);
  }

 private:
  /// Part of a chunk of ghosts that has arrived and is delivered later.
  struct HeldChunk {
    std::size_t arc;    // in-arc of the ghosts
    std::size_t first;  // position of the first ghost among those of the in-arc
    Bytes data;         // bytes of the ghosts
  };
  /// Copies ghosts begin .. end - 1 of a received chunk for later delivery.
  void keep(std::vector<HeldChunk>& held, const Chunk& chunk, std::size_t begin, std::size_t end) const {
    if (begin == end) return;
    const auto part = chunk.data.subspan(begin * element_bytes_, (end - begin) * element_bytes_);
    held.push_back({chunk.arc, chunk.first + begin, Bytes(part.begin(), part.end())});
  }
  /// Passes the last held part of a chunk of ghosts to the program's callback.
  static void deliver(std::vector<HeldChunk>& held, const Use& use) {
    const HeldChunk one = std::move(held.back());
    held.pop_back();
    use({one.arc, one.first, one.data});
  }

  std::unique_ptr<Plan> inner_;  // the decorated plan
  std::size_t element_bytes_;
  RandomChoices dice_;
};

/// Transport of the decorator "chaos": forwards all calls to an inner transport, and disturbs the objects it makes.
class Chaos final : public Decorator {
 public:
  Chaos(Transport& inner, std::unique_ptr<Transport> owned, std::uint64_t seed)
      : Decorator(inner, std::move(owned)), seed_(seed), dice_(mix(seed, static_cast<std::uint64_t>(rank()))) {}

  [[nodiscard]] std::unique_ptr<Mailbox> mailbox(Graph graph) override {
    const std::uint64_t shared = next_seed();
    return std::make_unique<ChaosMailbox>(inner().mailbox(std::move(graph)), counters(), rank(), shared,
                                          rank_seed(shared));
  }
  [[nodiscard]] std::unique_ptr<Stream> stream(Graph graph, StreamOptions options) override {
    return std::make_unique<ChaosStream>(inner().stream(std::move(graph), options), rank_seed(next_seed()));
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(Graph graph, Pattern pattern, PlanOptions options) override {
    auto plan = inner().plan(std::move(graph), std::move(pattern), options);
    return std::make_unique<ChaosPlan>(std::move(plan), options.element_bytes, rank_seed(next_seed()));
  }
  [[nodiscard]] std::unique_ptr<SegmentBody> segment_body(Graph graph, std::size_t words, std::size_t word_bytes,
                                                          Epoch epoch) override {
    auto body = inner().segment_body(graph, words, word_bytes, epoch);
    return std::make_unique<ChaosSegment>(std::move(body), WordLimits(inner(), graph, words), word_bytes,
                                          rank_seed(next_seed()));
  }

 protected:
  void do_barrier() override {
    dice_.pause();
    Decorator::do_barrier();
  }
  void do_reduce(std::span<std::uint64_t> words, Op op) override {
    dice_.pause();
    Decorator::do_reduce(words, op);
  }
  [[nodiscard]] std::vector<Bytes> do_all_gather(std::span<const std::byte> mine) override {
    dice_.pause();
    return Decorator::do_all_gather(mine);
  }

 private:
  [[nodiscard]] std::unique_ptr<Transport> wrapped(std::unique_ptr<Transport> part) override {
    const std::uint64_t seed = next_seed();
    if (!part) return nullptr;
    Transport& its = *part;
    return std::make_unique<Chaos>(its, std::move(part), seed);
  }
  /// Returns a seed for the next decorated object, the same on every rank since objects are made collectively.
  std::uint64_t next_seed() { return mix(seed_, ++objects_); }
  /// Returns this rank's seed of a decorated object, which differs between ranks.
  std::uint64_t rank_seed(std::uint64_t shared) const { return mix(shared, static_cast<std::uint64_t>(rank())); }

  std::uint64_t seed_;         // from the option "chaos:SEED"
  std::uint64_t objects_ = 0;  // objects and sub-transports made, alike on every rank
  RandomChoices dice_;
};

}  // namespace

std::unique_ptr<Transport> make_chaos(Transport& inner, std::unique_ptr<Transport> owned, std::uint64_t seed) {
  return std::make_unique<Chaos>(inner, std::move(owned), seed);
}

}  // namespace merganser::comm::detail
