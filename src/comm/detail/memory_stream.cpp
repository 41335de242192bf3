// Stream of the one-sided models (rma, shmem): records are puts into slots at the receiver.
#include <algorithm>
#include <numeric>

#include "merganser/base/detail/shared_word.hpp"
#include "src/comm/detail/one_sided.hpp"

namespace merganser::comm::detail {
namespace {

constexpr unsigned kRoundShift = 32;  // bits of a slot's word below the number of the round: the value

/// Loads the word of a Stream's slot in this rank's one-sided memory, with acquire order; slot -1 is the arc's word of round and
/// count, which is before the slots.
std::uint64_t load(const std::byte* slots, std::ptrdiff_t slot) {
  const auto* word = reinterpret_cast<const std::uint64_t*>(slots) + slot;
  return merganser::detail::load_word(*word, std::memory_order_acquire);
}

/// Returns the number of Stream rounds by which a slot's word is ahead of `round`, negative if the word is of an earlier round. The
/// signed difference is right across the wrap-around of round numbers.
std::int32_t rounds_ahead(std::uint32_t round, std::uint64_t word) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> kRoundShift) - round);
}

/// Stream over one-sided memory: a record is one put into its slot at the receiver, of the round of the arc and the value in
/// one word. So slots need no reset between rounds and records need no notification. Records beyond the slots are sent as
/// messages. A word before the slots of an arc has the round and the number of its records, so that ends whose counts
/// differ are detected.
class MemoryStream final : public MessageStream {
 public:
  MemoryStream(Place place, Graph graph, std::unique_ptr<Link> link, std::shared_ptr<Memory> memory, StreamSlots slots)
      : MessageStream(std::move(place), std::move(graph), std::move(link)),
        memory_(std::move(memory)),
        slots_(std::move(slots)),
        slots_data_(memory_->data() + slots_.mine),
        pending_(graph_.in.size()) {}

  /// Opens a round of the stream: puts the round's number and count of records before the slots of each out-arc at the receiver.
  void open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) override {
    MessageStream::open(counts_out, counts_in);
    const auto beyond_slots = [this](std::size_t count) { return count > slots_.per_arc; };
    uses_messages_ = std::any_of(counts_out.begin(), counts_out.end(), beyond_slots) ||
                     std::any_of(counts_in.begin(), counts_in.end(), beyond_slots);
    for (std::size_t arc = 0; arc < pending_.size(); ++arc) {
      pending_[arc].resize(arc == self_in_ ? 0 : std::min(in_[arc].count, slots_.per_arc));
      std::iota(pending_[arc].begin(), pending_[arc].end(), 0U);
    }
    for (std::size_t arc = 0; arc < out_.size(); ++arc) {
      if (out_[arc].count == 0 || arc == self_out_) continue;
      const auto word = (static_cast<std::uint64_t>(out_[arc].round) << kRoundShift) | out_[arc].count;
      memory_->put_word(graph_.out[arc], slots_.theirs[arc], word);
      uncommitted_ = true;
    }
  }

  /// Sends a record of the stream by one put into its slot at the receiver; beyond the slots, by a message.
  void send(std::size_t arc, std::size_t slot, std::uint32_t value) override {
    if (slot >= slots_.per_arc || arc == self_out_) {
      MessageStream::send(arc, slot, value);
      return;
    }
    check_send(arc, slot);
    const auto word = (static_cast<std::uint64_t>(out_[arc].round) << kRoundShift) | value;
    memory_->put_word(graph_.out[arc], slots_.theirs[arc] + StreamSlots::slot_at(slot), word);
    place_.count(Move::put, sizeof word, peers_[arc]);
    uncommitted_ = true;
  }

  /// Passes the records that have arrived in slots, then those in messages, to the callback. Returns the number of records of the
  /// round still to come.
  std::size_t take(const Take& callback) override {
    check_usable();
    commit();
    const std::size_t before = left_;
    for (std::size_t arc = 0; arc < pending_.size(); ++arc) {
      if (pending_[arc].empty()) continue;
      check_count(arc);
      take_slots(arc, callback);
    }
    if (left_ == before) memory_->progress();
    if (uses_messages_ || something_queued()) MessageStream::take(callback);
    commit();
    return left_;
  }

  /// Blocks until a record of the round is in a slot of this rank or a message has arrived.
  void wait() override {
    check_usable();
    commit();
    flush_all();
    Waiter waiter([this] { return describe_wait(); });
    while (left_ > 0 && !something_arrived()) {
      memory_->progress();
      link_->idle(waiter);
    }
  }

  void finish() override {
    check_usable();
    commit();
    MessageStream::finish();
    for (std::size_t arc = 0; arc < in_.size(); ++arc) check_count(arc);
  }

 private:
  /// Returns the address of an in-arc's first slot in this rank's block of one-sided memory.
  [[nodiscard]] const std::byte* slots_begin(std::size_t arc) const {
    return slots_data_ + arc * slots_.arc_bytes() + StreamSlots::slot_at(0);
  }
  /// Compares the number of records that an in-arc's sender has put for the round with the one expected here. @throws CommError if
  /// they differ, or if the sender has begun its next round before records of this one were taken
  void check_count(std::size_t arc) const {
    if (in_[arc].count == 0 || arc == self_in_) return;
    const std::uint64_t word = load(slots_begin(arc), -1);
    const auto ahead = rounds_ahead(in_[arc].round, word);
    if (ahead > 0 && in_[arc].left > 0) throw_ahead(arc);
    const auto count = static_cast<std::uint32_t>(word);
    if (ahead == 0 && count != in_[arc].count) throw_other_count(arc, count);
  }

  /// Throws CommError: the sender of an in-arc has begun its next round of the stream before this rank took all records.
  [[noreturn]] void throw_ahead(std::size_t arc) const {
    throw CommError("Stream: rank " + std::to_string(graph_.in[arc]) +
                    " has sent records of its next round over records not taken on rank " +
                    std::to_string(place_.rank) + "; rounds must be separated by a Mailbox step");
  }

  /// Passes the records in an in-arc's slots that belong to the current round and have not been passed yet to the callback.
  void take_slots(std::size_t arc, const Take& callback) {
    auto& pending = pending_[arc];
    const std::byte* slots = slots_begin(arc);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pending.size(); ++i) {
      const std::uint32_t slot = pending[i];
      const std::uint64_t word = load(slots, slot);
      const auto ahead = rounds_ahead(in_[arc].round, word);
      if (ahead < 0) {  // still the word of an earlier round
        pending[kept++] = slot;
        continue;
      }
      if (ahead > 0) throw_ahead(arc);
      --in_[arc].left;
      --left_;
      callback(arc, slot, static_cast<std::uint32_t>(word));
    }
    pending.resize(kept);
  }

  /// Returns true if a record of the current round is in a slot of this rank or a message with records has arrived.
  [[nodiscard]] bool something_arrived() {
    for (std::size_t arc = 0; arc < pending_.size(); ++arc) {
      if (pending_[arc].empty()) continue;
      check_count(arc);
      const std::byte* slots = slots_begin(arc);
      for (const std::uint32_t slot : pending_[arc]) {
        if (static_cast<std::uint32_t>(load(slots, slot) >> kRoundShift) == in_[arc].round) return true;
      }
    }
    return something_queued() || (uses_messages_ && collect());
  }

  /// Issues the puts of records and counts since the last commit, if any.
  void commit() {
    if (!uncommitted_) return;
    memory_->commit();
    uncommitted_ = false;
  }

  std::shared_ptr<Memory> memory_;
  StreamSlots slots_;
  std::byte* slots_data_;                            // memory of in-arc 0 in this rank's block
  std::vector<std::vector<std::uint32_t>> pending_;  // per in-arc: slots of the round that have not been taken
  bool uncommitted_ = false;                         // puts have been called since the last commit
  bool uses_messages_ = false;                       // an arc has more records in this round than slots
};

}  // namespace

std::unique_ptr<Stream> memory_stream(Place place, Graph graph, std::unique_ptr<Link> link,
                                      std::shared_ptr<Memory> memory, StreamSlots slots) {
  return std::make_unique<MemoryStream>(std::move(place), std::move(graph), std::move(link), std::move(memory),
                                        std::move(slots));
}

}  // namespace merganser::comm::detail
