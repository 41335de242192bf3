// The decorator "checked": a transport around another one that detects violations of the communication contract.
#include <algorithm>
#include <memory>
#include <sstream>
#include <unordered_map>
#include <vector>

#include "merganser/base/error.hpp"
#include "src/comm/decorators/decorator.hpp"
#include "src/comm/decorators/decorators.hpp"
#include "src/comm/detail/message_objects.hpp"
#include "src/comm/detail/waiter.hpp"

namespace merganser::comm::detail {
namespace {

/// Number of Mailbox messages that this rank has exchanged with each rank, by rank, over all mailboxes of a checked transport.
using WaveLog = std::vector<std::int64_t>;

/// Mailbox of the decorator "checked": each message has a header with its number on the arc and the kind of its wave,
/// which the receiver compares with its own.
class CheckedMailbox final : public Mailbox {
 public:
  CheckedMailbox(std::unique_ptr<Mailbox> inner, Place place, std::shared_ptr<WaveLog> waves)
      : Mailbox(inner->graph()),
        inner_(std::move(inner)),
        place_(std::move(place)),
        waves_(std::move(waves)),
        sent_(graph_.out.size()),
        taken_(graph_.in.size()) {}
  void check_usable() const override { inner_->check_usable(); }

 protected:
  void step_all() override {
    step(Kind::full, std::vector<std::uint8_t>(outbox_.size(), 1), std::vector<std::uint8_t>(inbox_.size(), 1));
  }

  void step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) override {
    check_wave(graph_, outbox_, active_out, active_in);
    step(Kind::partial, active_out, active_in);
  }

 private:
  enum class Kind : std::uint64_t { full, partial };
  /// Header of a checked Mailbox message; as long as the alignment of records, so that these stay aligned.
  struct Header {
    std::uint64_t number;  // number of the message on its arc
    Kind kind;             // kind of the sender's wave
  };
  /// Makes a wave of the inner mailbox with headers before the messages, counts the messages without them, checks those received.
  void step(Kind kind, std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) {
    const std::vector<std::size_t> sizes = forward(kind, active_out);
    {
      const Uncounted quiet(*place_.counters, *place_.traffic);  // the inner mailbox would count the headers too
      if (kind == Kind::full) {
        inner_->step();
      } else {
        inner_->step(active_out, active_in);
      }
    }
    ++place_.counters->waves;
    for (std::size_t arc = 0; arc < sizes.size(); ++arc) {
      if (sizes[arc] == 0 || graph_.out[arc] == place_.rank) continue;
      place_.count(Move::message, sizes[arc], &place_.traffic->peer(graph_.out[arc]));
    }
    for (std::size_t arc = 0; arc < inbox_.size(); ++arc) {
      inbox_[arc].clear();
      if (active_in[arc] != 0) take_inbox(kind, arc);
    }
  }

  /// Moves the outboxes, each behind a header, into the inner mailbox. Returns their sizes in bytes, by out-arc.
  std::vector<std::size_t> forward(Kind kind, std::span<const std::uint8_t> active_out) {
    std::vector<std::size_t> sizes;
    for (const auto& box : outbox_) sizes.push_back(box.size());
    for (std::size_t arc = 0; arc < outbox_.size(); ++arc) {
      if (active_out[arc] == 0) continue;
      inner_->post(arc, Header{sent_[arc]++, kind});
      auto& box = inner_->outbox(arc);
      box.insert(box.end(), outbox_[arc].begin(), outbox_[arc].end());
      outbox_[arc].clear();
      ++(*waves_)[static_cast<std::size_t>(graph_.out[arc])];
    }
    return sizes;
  }

  /// Checks the header of an in-arc's message and copies the message. @throws CommError if the arc's ends disagree on the wave
  void take_inbox(Kind kind, std::size_t arc) {
    const auto message = inner_->inbox(arc);
    const auto header = read<Header>(message);
    const std::string from = "Mailbox::step: the message from rank " + std::to_string(graph_.in[arc]) + " to rank " +
                             std::to_string(place_.rank);
    if (header.kind != kind) {
      throw CommError(
          from + " belongs to a " +
          (kind == Kind::full ? "partial wave, but this wave is full" : "full wave, but this wave is partial") +
          ": the ends of the arc have not marked it in the same waves");
    }
    if (header.number != taken_[arc]++) {
      throw CommError(from + " is number " + std::to_string(header.number) + ", expected was " +
                      std::to_string(taken_[arc] - 1));
    }
    inbox_[arc].assign(message.begin() + sizeof header, message.end());
    ++(*waves_)[static_cast<std::size_t>(graph_.in[arc])];
  }

  std::unique_ptr<Mailbox> inner_;
  Place place_;
  std::shared_ptr<WaveLog> waves_;
  std::vector<std::uint64_t> sent_;   // per out-arc: number of messages sent
  std::vector<std::uint64_t> taken_;  // per in-arc: number of messages received
};

/// Stream of the decorator "checked": checks that every slot is sent once, that both ends of an arc pass the same count
/// (sent by a second Stream), and that a Mailbox step separates two rounds.
class CheckedStream final : public Stream {
 public:
  CheckedStream(std::unique_ptr<Stream> inner, std::unique_ptr<Stream> counts, Place place,
                std::shared_ptr<WaveLog> waves)
      : Stream(inner->graph()),
        inner_(std::move(inner)),
        counts_(std::move(counts)),
        place_(std::move(place)),
        waves_(std::move(waves)),
        waves_out_(graph_.out.size(), -1),
        waves_in_(graph_.in.size(), -1) {}
  /// Opens a round of records, and one of the second stream, in which each arc in use carries its count of records.
  void open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) override {
    inner_->open(counts_out, counts_in);  // also checks the lengths
    check_waves(counts_out, graph_.out, waves_out_);
    check_waves(counts_in, graph_.in, waves_in_);
    rules_.open(counts_out);
    expected_.assign(counts_in.begin(), counts_in.end());
    came_.assign(counts_in.size(), 0);
    const Uncounted quiet(*place_.counters, *place_.traffic);
    std::vector<std::size_t> out;
    std::vector<std::size_t> in;
    for (const std::size_t count : counts_out) out.push_back(count > 0 ? 1 : 0);
    for (const std::size_t count : counts_in) in.push_back(count > 0 ? 1 : 0);
    counts_->open(out, in);
    for (std::size_t arc = 0; arc < out.size(); ++arc) {
      if (out[arc] > 0) counts_->send(arc, 0, static_cast<std::uint32_t>(counts_out[arc]));
    }
    (void)take_counts();
  }

  void send(std::size_t arc, std::size_t slot, std::uint32_t value) override {
    rules_.send(arc, slot);
    inner_->send(arc, slot, value);
  }
  /// Compares the counts of records that have arrived, then passes on records: first those that wait() has received early.
  std::size_t take(const Take& callback) override {
    check_usable();
    (void)take_counts();
    const auto early = std::move(early_);
    early_.clear();
    for (const StreamRecord& record : early) callback(record.arc, record.slot, record.value);
    return inner_->take([&](std::size_t arc, std::size_t slot, std::uint32_t value) {
      ++came_[arc];
      callback(arc, slot, value);
    });
  }
  /// Waits for records, and for the counts of `checked`: the records of a sender that threw for a wrong count never arrive.
  void wait() override {
    check_usable();
    Waiter waiter([this] { return describe_wait(); });
    while (early_.empty()) {
      (void)take_counts();
      const std::size_t left = inner_->take([this](std::size_t arc, std::size_t slot, std::uint32_t value) {
        ++came_[arc];
        early_.push_back({arc, slot, value});
      });
      if (left == 0) return;
      if (early_.empty()) waiter.idle();
    }
  }
  /// Ends a round of records once the counts of all senders have arrived and been compared.
  void finish() override {
    inner_->finish();
    const Uncounted quiet(*place_.counters, *place_.traffic);
    while (take_counts() > 0) counts_->wait();
    counts_->finish();
    rules_.close();
  }
  void check_usable() const override { inner_->check_usable(); }

 private:
  /// Checks that a Mailbox step separates a round of records from the round before on each arc in use. @throws CommError if not
  void check_waves(std::span<const std::size_t> counts, const std::vector<int>& ranks,
                   std::vector<std::int64_t>& seen) {
    for (std::size_t arc = 0; arc < ranks.size(); ++arc) {
      if (counts[arc] == 0 || ranks[arc] == place_.rank) continue;
      const std::int64_t now = (*waves_)[static_cast<std::size_t>(ranks[arc])];
      if (now == seen[arc]) {
        throw CommError("Stream::open: the arc between ranks " + std::to_string(place_.rank) + " and " +
                        std::to_string(ranks[arc]) + " carries a second round without a Mailbox step in between");
      }
      seen[arc] = now;
    }
  }
  /// Compares the counts of records that senders have sent with those expected here. Returns the number of counts still to come.
  std::size_t take_counts() {
    const Uncounted quiet(*place_.counters, *place_.traffic);
    return counts_->take([this](std::size_t arc, std::size_t, std::uint32_t count) {
      if (count == expected_[arc]) return;
      throw CommError("Stream: rank " + std::to_string(graph_.in[arc]) + " sends " + std::to_string(count) +
                      " records in this round, but rank " + std::to_string(place_.rank) + " expects " +
                      std::to_string(expected_[arc]));
    });
  }

  /// Describes a wait for records of a checked stream, for the error of a wait that exceeds its limit.
  [[nodiscard]] std::string describe_wait() const {
    std::string text = "rank " + std::to_string(place_.rank) + " in Stream (checked):";
    for (std::size_t arc = 0; arc < expected_.size(); ++arc) {
      if (came_[arc] == expected_[arc]) continue;
      text += " " + std::to_string(came_[arc]) + " of " + std::to_string(expected_[arc]) +
              " records have come from rank " + std::to_string(graph_.in[arc]) + ",";
    }
    text.pop_back();
    return text;
  }

  std::unique_ptr<Stream> inner_;   // of the program's records
  std::unique_ptr<Stream> counts_;  // of the counts of records
  Place place_;
  std::shared_ptr<WaveLog> waves_;
  std::vector<std::int64_t> waves_out_;  // per out-arc: messages with that rank when the arc last carried a round
  std::vector<std::int64_t> waves_in_;   // per in-arc: messages with that rank when the arc last carried a round
  std::vector<std::size_t> expected_;    // per in-arc: records of the round
  std::vector<std::size_t> came_;        // per in-arc: of them, those taken
  std::vector<StreamRecord> early_;      // records that wait() has taken
  SendRules rules_;
};

/// Segment of the decorator "checked": sends a log of the operations to the owners at sync, which detect conflicts
/// between operations on one word in one phase: puts of different values, a put and a fetch_or, or a put and a local
/// write. Results of gets are delivered at sync, not before.
class CheckedSegment final : public SegmentBody {
 public:
  /// Parts of a checked segment, which are made collectively by Checked::segment_body().
  struct Parts {
    std::unique_ptr<SegmentBody> body;   // the inner segment
    std::unique_ptr<WordLimits> limits;  // numbers of words on the reachable ranks
    std::unique_ptr<Mailbox> logs;       // sends the logs of operations to the owners of the words
  };
  CheckedSegment(Place place, Parts parts, std::size_t words, std::size_t word_bytes)
      : place_(std::move(place)),
        parts_(std::move(parts)),
        words_(words),
        word_bytes_(word_bytes),
        out_arc_(parts_.logs->graph().out) {
    begin_phase();
  }

  void check_usable() const override { parts_.body->check_usable(); }
  [[nodiscard]] std::byte* local() override { return parts_.body->local(); }
  void put(int rank, std::size_t index, const void* word) override {
    parts_.limits->check(rank, index, 1);
    log(rank, {index, 0, 0}, word);
    parts_.body->put(rank, index, word);
  }
  void get(int rank, std::size_t index, std::size_t count, void* to) override {
    parts_.limits->check(rank, index, count);
    parts_.body->get(rank, index, count, defer(to, count * word_bytes_));
  }
  void fetch_or(int rank, std::size_t index, const void* word, void* old) override {
    parts_.limits->check(rank, index, 1);
    log(rank, {index, 0, 1}, word);
    parts_.body->fetch_or(rank, index, word, defer(old, word_bytes_));
  }
  void sync() override {
    exchange_logs();
    parts_.body->sync();
    deliver();
  }
  bool sync_any(bool mine) override {
    exchange_logs();
    const bool any = parts_.body->sync_any(mine);
    deliver();
    return any;
  }

 private:
  /// Logged put or fetch_or on a word of a checked segment, as sent to the owner of the word.
  struct LogEntry {
    std::uint64_t index;  // of the word on its owner
    std::uint64_t word;   // operand, in its first bytes
    std::uint64_t is_or;  // 1: fetch_or, 0: put
  };
  /// First logged operation on a word of a checked segment in this phase, and the rank that made it.
  struct FirstOperation {
    LogEntry entry;
    int from;
  };
  /// Result of a get or fetch_or that is delivered to the program at the sync.
  struct DeferredResult {
    Bytes bytes;  // memory that the inner segment fills
    void* to;     // destination in the program's memory
  };
  using Words = std::unordered_map<std::uint64_t, FirstOperation>;

  /// Logs a put or fetch_or on a word of `rank`, to be sent to that rank at the sync.
  void log(int rank, LogEntry entry, const void* word) {
    std::memcpy(&entry.word, word, word_bytes_);
    if (rank == place_.rank) {
      own_.push_back(entry);
    } else {
      parts_.logs->post(out_arc_(rank), entry);
    }
  }

  /// Returns memory for the result of a get or fetch_or, and fills the program's with a pattern that shows reads before the sync.
  void* defer(void* to, std::size_t bytes) {
    constexpr int kPattern = 0xA5;
    if (bytes > 0) std::memset(to, kPattern, bytes);
    wanted_.push_back(std::make_unique<DeferredResult>(DeferredResult{Bytes(bytes), to}));
    return wanted_.back()->bytes.data();
  }

  /// Compares a logged operation with the first one on its word in this phase, which it stores. @throws CommError on a conflict
  void check_conflict(Words& words, const LogEntry& entry, int from) const {
    const auto [at, first] = words.try_emplace(entry.index, FirstOperation{entry, from});
    if (first) return;
    const FirstOperation& known = at->second;
    if (known.entry.is_or != entry.is_or) {
      throw CommError(describe_word(entry.index) + " is put and or-ed, by ranks " + std::to_string(known.from) +
                      " and " + std::to_string(from));
    }
    if (entry.is_or == 0 && known.entry.word != entry.word) {
      std::ostringstream text;
      text << describe_word(entry.index) << " is put 0x" << std::hex << known.entry.word << std::dec << " by rank "
           << known.from << " and 0x" << std::hex << entry.word << std::dec << " by rank " << from;
      throw CommError(text.str());
    }
  }

  /// Detects words of this rank's segment that another rank put and this rank wrote in one phase. A word that has changed since the
  /// beginning of the phase was changed by the put only if it holds the value put. @throws CommError if there is one
  void check_local_writes(const Words& words) const {
    for (const auto& [index, known] : words) {
      if (known.from == place_.rank || known.entry.is_or != 0) continue;
      const std::size_t at = static_cast<std::size_t>(index) * word_bytes_;
      const std::byte* now = parts_.body->local() + at;
      const bool written = std::memcmp(now, before_.data() + at, word_bytes_) != 0;
      if (written && std::memcmp(now, &known.entry.word, word_bytes_) != 0) {
        throw CommError(describe_word(index) + " is put by rank " + std::to_string(known.from) +
                        " and written by its owner");
      }
    }
  }

  /// Sends the logs of a segment's phase to the owners of the words and checks those received for conflicts. @throws CommError
  void exchange_logs() {
    check_usable();
    const Uncounted quiet(*place_.counters, *place_.traffic);
    // Only the first operation on a word is stored, so the owner's own puts come last: check_local_writes() skips these.
    parts_.logs->step();
    Words words;
    for (std::size_t arc = 0; arc < parts_.logs->graph().in.size(); ++arc) {
      for (const LogEntry& entry : parts_.logs->records<LogEntry>(arc))
        check_conflict(words, entry, parts_.logs->graph().in[arc]);
    }
    for (const LogEntry& entry : own_) check_conflict(words, entry, place_.rank);
    check_local_writes(words);
  }

  /// Delivers the results of gets and fetch_ors to the program after a sync, and begins the next phase.
  void deliver() {
    for (const auto& wanted : wanted_) {
      if (!wanted->bytes.empty()) std::memcpy(wanted->to, wanted->bytes.data(), wanted->bytes.size());
    }
    wanted_.clear();
    begin_phase();
  }
  /// Stores this rank's words as they are when a phase begins, by which local writes are detected at the sync.
  void begin_phase() {
    before_.assign(local(), local() + words_ * word_bytes_);
    own_.clear();
  }
  /// Begins the text of an error about a word of this rank's segment.
  [[nodiscard]] std::string describe_word(std::uint64_t index) const {
    return "Segment: in one phase word " + std::to_string(index) + " of rank " + std::to_string(place_.rank);
  }

  Place place_;
  Parts parts_;
  std::size_t words_;
  std::size_t word_bytes_;
  ArcIndex out_arc_;                                     // from rank to out-arc of the logs' mailbox
  std::vector<LogEntry> own_;                            // operations of this rank on its own words in this phase
  Bytes before_;                                         // this rank's words when the phase began
  std::vector<std::unique_ptr<DeferredResult>> wanted_;  // results to deliver at the sync
};

/// Limit of waits under the decorator "checked" in s, since ends that disagree about an arc would leave a rank blocked for ever.
constexpr double kWaitLimitSeconds = 120;

/// Transport of the decorator "checked": wraps the mailboxes, streams and segments of an inner transport in checks.
class Checked final : public Decorator {
 public:
  Checked(Transport& inner, std::unique_ptr<Transport> owned)
      : Decorator(inner, std::move(owned)), waves_(std::make_shared<WaveLog>(static_cast<std::size_t>(size()))) {
    set_default_wait_limit(kWaitLimitSeconds);
  }

  [[nodiscard]] Capabilities capabilities() const noexcept override {
    Capabilities all = Decorator::capabilities();
    all.checked = true;
    return all;
  }
  [[nodiscard]] std::unique_ptr<Mailbox> mailbox(Graph graph) override {
    return std::make_unique<CheckedMailbox>(inner().mailbox(std::move(graph)), make_place(), waves_);
  }
  [[nodiscard]] std::unique_ptr<Stream> stream(Graph graph, StreamOptions options) override {
    auto records = inner().stream(graph, options);
    const Uncounted quiet(*this);
    auto counts = inner().stream(std::move(graph), {.slots_per_arc = 0});
    return std::make_unique<CheckedStream>(std::move(records), std::move(counts), make_place(), waves_);
  }
  [[nodiscard]] std::unique_ptr<SegmentBody> segment_body(Graph graph, std::size_t words, std::size_t word_bytes,
                                                          Epoch epoch) override {
    CheckedSegment::Parts parts;
    parts.body = inner().segment_body(graph, words, word_bytes, epoch);
    const Uncounted quiet(*this);
    parts.limits = std::make_unique<WordLimits>(inner(), graph, words);
    parts.logs = inner().mailbox(std::move(graph));
    return std::make_unique<CheckedSegment>(make_place(), std::move(parts), words, word_bytes);
  }

 private:
  [[nodiscard]] std::unique_ptr<Transport> wrapped(std::unique_ptr<Transport> part) override {
    if (!part) return nullptr;
    Transport& its = *part;
    return std::make_unique<Checked>(its, std::move(part));
  }
  /// Returns the context of a checked object; without a liveness token, which the inner object checks.
  Place make_place() { return {rank(), &counters(), &traffic(), nullptr, {}}; }

  std::shared_ptr<WaveLog> waves_;
};

}  // namespace

std::unique_ptr<Transport> make_checked(Transport& inner, std::unique_ptr<Transport> owned, std::uint64_t) {
  return std::make_unique<Checked>(inner, std::move(owned));
}

}  // namespace merganser::comm::detail
