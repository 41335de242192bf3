// Segment over messages: one-sided operations are logged, and sent to the owners of the words when a phase ends.
#include <cstring>

#include "src/comm/detail/message_objects.hpp"

namespace merganser::comm::detail {
namespace {

constexpr unsigned kKindBits = 2;  // of the first word of a log entry; the index has 62, more than memory has words
constexpr std::uint64_t kKindMask = (1U << kKindBits) - 1;

/// Returns a Segment's word of 4 or 8 bytes as an operand of a log entry: in the first bytes of 8, in memory order, as
/// apply_logs() copies it back.
std::uint64_t widen(const void* word, std::size_t word_bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, word, word_bytes);
  return value;
}

/// Replaces a Segment's word at `target` by its bitwise OR with the word at `operand`; neither need be aligned.
template <class T>
void or_into(void* target, const void* operand) {
  T a;
  T b;
  std::memcpy(&a, target, sizeof a);
  std::memcpy(&b, operand, sizeof b);
  a = static_cast<T>(a | b);
  std::memcpy(target, &a, sizeof a);
}

/// Counts the messages that carry a Segment's logs or replies as empty by peer: their bytes are counted as puts and gets.
void count_carriers(Mailbox& logs, const std::vector<PeerTraffic*>& peers) {
  for (std::size_t arc = 0; arc < peers.size(); ++arc) {
    if (peers[arc] != nullptr && !logs.outbox(arc).empty()) peers[arc]->add(Move::message, 0);
  }
}

/// Segment over messages: puts, gets and fetch_ors are logged per neighbour and sent at sync; owners apply the logged
/// operations and reply to gets and fetch_ors in a second wave, only along arcs with such operations.
class MessageSegment final : public SegmentBody {
 public:
  MessageSegment(Place place, SegmentLogs parts, std::size_t words, std::size_t word_bytes, Bytes memory)
      : place_(std::move(place)),
        parts_(std::move(parts)),
        out_peers_(find_peers(place_, parts_.forward->graph().out)),
        in_peers_(find_peers(place_, parts_.forward->graph().in)),
        out_arc_(parts_.forward->graph().out),
        words_(words),
        word_bytes_(word_bytes),
        memory_(std::move(memory)),
        wanted_(parts_.forward->graph().out.size()),
        asked_(parts_.forward->graph().out.size()),
        answers_(parts_.forward->graph().in.size()) {}

  void check_usable() const override { place_.liveness->check("Segment"); }
  [[nodiscard]] std::byte* local() override {
    check_usable();
    return memory_.data();
  }
  /// Logs a put of one word of `rank` for the next sync; a word of this rank is copied at once.
  void put(int rank, std::size_t index, const void* value) override {
    const auto to = arc(rank, index, 1);
    if (rank == place_.rank) {
      std::memcpy(word(index), value, word_bytes_);
      return;
    }
    place_.count(Move::put, word_bytes_, out_peers_[to]);
    log(to, kPut, index, widen(value, word_bytes_));
  }

  /// Logs a get of words of `rank` for the next sync, with the destination of the reply; words of this rank are copied at once.
  void get(int rank, std::size_t index, std::size_t count, void* to) override {
    const auto from = arc(rank, index, count);
    if (rank == place_.rank) {
      if (count > 0) std::memcpy(to, word(index), count * word_bytes_);
      return;
    }
    if (count > 0) place_.count(Move::get, count * word_bytes_, out_peers_[from], count);
    log(from, kGet, index, count);
    wanted_[from].push_back({to, count * word_bytes_});
  }

  /// Logs a fetch_or on one word of `rank` for the next sync, with the destination of the reply; one of this rank is done at once.
  void fetch_or(int rank, std::size_t index, const void* operand, void* old) override {
    const auto to = arc(rank, index, 1);
    if (rank == place_.rank) {
      apply_or(index, operand, old);
      return;
    }
    for (const Move move : {Move::put, Move::get}) place_.count(move, word_bytes_, out_peers_[to]);
    log(to, kOr, index, widen(operand, word_bytes_));
    wanted_[to].push_back({old, word_bytes_});
  }

  /// Ends a phase of the segment in two Mailbox waves: logs of operations to the owners of the words, replies back.
  void sync() override {
    check_usable();
    ++place_.counters->syncs;
    // Owners mark the same arcs from the logs, so both ends of an arc agree on whether the second wave uses it.
    for (std::size_t arc = 0; arc < wanted_.size(); ++arc) asked_[arc] = wanted_[arc].empty() ? 0 : 1;
    const Counters before = *parts_.scratch;
    count_carriers(*parts_.forward, out_peers_);
    parts_.forward->step();
    apply_logs();
    count_carriers(*parts_.backward, in_peers_);
    parts_.backward->step(answers_, asked_);
    collect_answers();
    place_.counters->messages += parts_.scratch->messages - before.messages;
  }

  /// Ends a phase of the segment between all ranks and returns the logical OR of their `mine`.
  bool sync_any(bool mine) override {
    sync();  // each rank has its neighbours' operations; the reduction then adds all ranks
    ++place_.counters->collectives;
    return parts_.any(mine);
  }

 private:
  /// Destination on this rank of the reply to a get or fetch_or on a segment over messages.
  struct ReplyTarget {
    void* to;
    std::size_t bytes;
  };
  enum Kind : std::uint64_t { kPut, kGet, kOr };
  /// Logged put, get or fetch_or on words of another rank, as sent to the owner of the words.
  struct LogEntry {
    std::uint64_t index_and_kind;  // index in words << kKindBits | Kind
    std::uint64_t operand;         // word of a put or fetch_or, number of words of a get
  };

  /// Validates the target of a segment operation and returns the out-arc to it; no arc is needed for this rank itself.
  /// @throws CommError for a rank that is neither this one nor an out-neighbour, or words out of range
  std::size_t arc(int rank, std::size_t index, std::size_t count) const {
    check_usable();
    const std::size_t arc = out_arc_(rank);
    const bool own = rank == place_.rank;
    if (!own && arc == ArcIndex::kNone) throw_no_neighbour(rank, place_.rank);
    check_words(rank, index, count, own ? words_ : parts_.remote_words[arc]);
    return arc;
  }

  /// Logs an operation on words of the rank at an out-arc, to be sent to that rank at the next sync.
  void log(std::size_t arc, Kind kind, std::size_t index, std::uint64_t operand) {
    parts_.forward->post(arc, LogEntry{(static_cast<std::uint64_t>(index) << kKindBits) | kind, operand});
  }
  /// Returns the address of one of this rank's words of the segment.
  [[nodiscard]] std::byte* word(std::size_t index) { return memory_.data() + index * word_bytes_; }
  /// Performs a fetch_or on one of this rank's words: stores the word in `old` and replaces it by its OR with `operand`.
  void apply_or(std::size_t index, const void* operand, void* old) {
    std::memcpy(old, word(index), word_bytes_);
    if (word_bytes_ == sizeof(std::uint32_t)) {
      or_into<std::uint32_t>(word(index), operand);
    } else {
      or_into<std::uint64_t>(word(index), operand);
    }
  }

  /// Applies the operations that in-neighbours have logged to this rank's words, and posts replies to gets and fetch_ors.
  void apply_logs() {
    for (std::size_t arc = 0; arc < answers_.size(); ++arc) {
      answers_[arc] = 0;
      for (const LogEntry& entry : parts_.forward->records<LogEntry>(arc)) {
        const auto index = static_cast<std::size_t>(entry.index_and_kind >> kKindBits);
        const auto kind = entry.index_and_kind & kKindMask;
        if (kind == kPut) {
          std::memcpy(word(index), &entry.operand, word_bytes_);
          continue;
        }
        answers_[arc] = 1;
        auto& answer = parts_.backward->outbox(arc);
        const std::size_t bytes = kind == kGet ? static_cast<std::size_t>(entry.operand) * word_bytes_ : word_bytes_;
        const auto at = answer.size();
        answer.resize(at + bytes);
        if (kind == kGet) {
          if (bytes > 0) std::memcpy(answer.data() + at, word(index), bytes);
        } else {
          apply_or(index, &entry.operand, answer.data() + at);
        }
      }
    }
  }

  /// Stores the received replies to gets and fetch_ors at their destinations. Replies come in the order of the log, so their
  /// positions are not sent.
  void collect_answers() {
    for (std::size_t arc = 0; arc < wanted_.size(); ++arc) {
      const auto answer = parts_.backward->inbox(arc);
      std::size_t at = 0;
      for (const ReplyTarget& wanted : wanted_[arc]) {
        if (wanted.bytes > 0) std::memcpy(wanted.to, answer.data() + at, wanted.bytes);
        at += wanted.bytes;
      }
      wanted_[arc].clear();
    }
  }

  Place place_;
  SegmentLogs parts_;
  std::vector<PeerTraffic*> out_peers_;           // per out-arc: traffic counts with that rank
  std::vector<PeerTraffic*> in_peers_;            // per in-arc: traffic counts with that rank
  ArcIndex out_arc_;                              // from rank to out-arc
  std::size_t words_;                             // number of words on this rank
  std::size_t word_bytes_;                        // 4 or 8
  Bytes memory_;                                  // the words of this rank
  std::vector<std::vector<ReplyTarget>> wanted_;  // per out-arc: destinations of replies, in log order
  std::vector<std::uint8_t> asked_;               // per out-arc: 1 if a reply is expected
  std::vector<std::uint8_t> answers_;             // per in-arc: 1 if a reply is sent
};

}  // namespace

void check_words(int rank, std::size_t index, std::size_t count, std::size_t words) {
  if (count <= words && index <= words - count) return;
  throw CommError("Segment: " + std::to_string(count) + " words from word " + std::to_string(index) +
                  " on asked of rank " + std::to_string(rank) + ", which has " + std::to_string(words));
}

void throw_no_neighbour(int rank, int here) {
  throw CommError("Segment: rank " + std::to_string(rank) + " is no out-neighbour of rank " + std::to_string(here));
}

std::unique_ptr<SegmentBody> message_segment(Place place, SegmentLogs logs, std::size_t words, std::size_t word_bytes,
                                             Bytes memory) {
  return std::make_unique<MessageSegment>(std::move(place), std::move(logs), words, word_bytes, std::move(memory));
}

}  // namespace merganser::comm::detail
