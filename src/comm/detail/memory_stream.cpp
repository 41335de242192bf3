#include <algorithm>
#include <numeric>

#include "merganser/base/detail/shared_word.hpp"
#include "src/comm/detail/one_sided.hpp"

namespace merganser::comm::detail {
namespace {

constexpr unsigned kRoundShift = 32;

std::uint64_t load(const std::byte* slots, std::ptrdiff_t slot) {
  const auto* word = reinterpret_cast<const std::uint64_t*>(slots) + slot;
  return merganser::detail::load_word(*word, std::memory_order_acquire);
}

std::int32_t ahead_of(std::uint32_t round, std::uint64_t word) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> kRoundShift) - round);
}

/// A record is one put into the slot that its receiver assigned: the round of the arc and the value in one word. So
/// no slot needs a reset and a record needs no notice. Records beyond the slots go as messages. Ahead of the slots of an
/// arc stands a word with the round and the number of its records, so that ends that disagree find out.
class MemoryStream final : public MessageStream {
 public:
  MemoryStream(Place place, Graph graph, std::unique_ptr<Link> link, std::shared_ptr<Memory> memory, StreamSlots slots)
      : MessageStream(std::move(place), std::move(graph), std::move(link)),
        memory_(std::move(memory)),
        slots_(std::move(slots)),
        slots_data_(memory_->data() + slots_.mine),
        pending_(graph_.in.size()) {}

  void open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) override {
    MessageStream::open(counts_out, counts_in);
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

  std::size_t take(const Take& callback) override {
    check_usable();
    commit();
    memory_->progress();
    for (std::size_t arc = 0; arc < pending_.size(); ++arc) {
      if (pending_[arc].empty()) continue;
      check_count(arc);
      take_slots(arc, callback);
    }
    const std::size_t left = MessageStream::take(callback);
    commit();
    return left;
  }

  void wait() override {
    check_usable();
    commit();
    ship_all();
    Waiter waiter([this] { return missing(); });
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
  [[nodiscard]] const std::byte* slots_of(std::size_t arc) const {
    return slots_data_ + arc * slots_.arc_bytes() + StreamSlots::slot_at(0);
  }
  /// @throws CommError if the sender has told another number of records than is expected here
  void check_count(std::size_t arc) const {
    if (in_[arc].count == 0 || arc == self_in_) return;
    const std::uint64_t word = load(slots_of(arc), -1);
    const auto ahead = ahead_of(in_[arc].round, word);
    if (ahead > 0 && in_[arc].left > 0) throw_ahead(arc);
    const auto count = static_cast<std::uint32_t>(word);
    if (ahead == 0 && count != in_[arc].count) throw_other_count(arc, count);
  }

  [[noreturn]] void throw_ahead(std::size_t arc) const {
    throw CommError("Stream: rank " + std::to_string(graph_.in[arc]) +
                    " has sent records of its next round over records not taken on rank " +
                    std::to_string(place_.rank) + "; rounds must be separated by a Mailbox step");
  }

  void take_slots(std::size_t arc, const Take& callback) {
    auto& pending = pending_[arc];
    const std::byte* slots = slots_of(arc);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < pending.size(); ++i) {
      const std::uint32_t slot = pending[i];
      const std::uint64_t word = load(slots, slot);
      const auto ahead = ahead_of(in_[arc].round, word);
      if (ahead < 0) {
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

  [[nodiscard]] bool something_arrived() {
    for (std::size_t arc = 0; arc < pending_.size(); ++arc) {
      if (pending_[arc].empty()) continue;
      check_count(arc);
      const std::byte* slots = slots_of(arc);
      for (const std::uint32_t slot : pending_[arc]) {
        if (static_cast<std::uint32_t>(load(slots, slot) >> kRoundShift) == in_[arc].round) return true;
      }
    }
    return something_queued() || collect();
  }

  void commit() {
    if (!uncommitted_) return;
    memory_->commit();
    uncommitted_ = false;
  }

  std::shared_ptr<Memory> memory_;
  StreamSlots slots_;
  std::byte* slots_data_;
  std::vector<std::vector<std::uint32_t>> pending_;  // per in-arc: slots that have not been taken
  bool uncommitted_ = false;
};

}  // namespace

std::unique_ptr<Stream> memory_stream(Place place, Graph graph, std::unique_ptr<Link> link,
                                      std::shared_ptr<Memory> memory, StreamSlots slots) {
  return std::make_unique<MemoryStream>(std::move(place), std::move(graph), std::move(link), std::move(memory),
                                        std::move(slots));
}

}  // namespace merganser::comm::detail
