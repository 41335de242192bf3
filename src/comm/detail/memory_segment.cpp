// Segment of the one-sided models (rma, shmem): words in windows, and control words by which a sync waits for neighbours.
#include <algorithm>
#include <cstring>

#include "src/comm/detail/one_sided.hpp"

namespace merganser::comm::detail {
namespace {

/// Segment over one-sided memory: operations access the owner's block directly. A sync completes the operations, puts
/// the number of the phase into a control word at every neighbour, in either direction of an arc, and waits until the
/// control words of all neighbours have that number.
class MemorySegment final : public SegmentBody {
 public:
  MemorySegment(Place place, Graph graph, SegmentParts parts, std::size_t words, std::size_t word_bytes)
      : place_(std::move(place)),
        graph_(std::move(graph)),
        parts_(std::move(parts)),
        peers_(find_peers(place_, graph_.out)),
        out_arc_(graph_.out),
        words_(words),
        word_bytes_(word_bytes) {
    parts_.words->begin_phase();
  }

  void check_usable() const override { place_.liveness->check("Segment"); }
  [[nodiscard]] std::byte* local() override {
    check_usable();
    return parts_.words->data();
  }
  /// Puts one word of `rank` by a one-sided put; a word of this rank is copied at once.
  void put(int rank, std::size_t index, const void* word) override {
    PeerTraffic* const peer = check(rank, index, 1);
    if (peer == nullptr) {
      std::memcpy(local() + index * word_bytes_, word, word_bytes_);
      return;
    }
    place_.count(Move::put, word_bytes_, peer);
    std::uint64_t value = 0;
    std::memcpy(&value, word, word_bytes_);
    parts_.words->put_word(rank, index * word_bytes_, value, word_bytes_);
  }

  /// Gets words of `rank` by one one-sided get; words of this rank are copied at once.
  void get(int rank, std::size_t index, std::size_t count, void* to) override {
    PeerTraffic* const peer = check(rank, index, count);
    if (peer == nullptr) {
      if (count > 0) std::memcpy(to, local() + index * word_bytes_, count * word_bytes_);
      return;
    }
    if (count == 0) return;
    place_.count(Move::get, count * word_bytes_, peer, count);
    parts_.words->get(rank, index * word_bytes_, to, count * word_bytes_);
  }

  /// Combines one word of `rank` with `word` by a one-sided atomic, also on this rank, as others may do at the same time.
  void fetch_or(int rank, std::size_t index, const void* word, void* old) override {
    PeerTraffic* const peer = check(rank, index, 1);
    if (peer != nullptr)
      for (const Move move : {Move::put, Move::get}) place_.count(move, word_bytes_, peer);
    std::uint64_t operand = 0;
    std::memcpy(&operand, word, word_bytes_);
    parts_.words->fetch_or(rank, index * word_bytes_, operand, old, word_bytes_);
  }

  /// Ends a phase of the segment between neighbours by control words. The words of the phase are complete at their targets before
  /// the control words are put, so a rank that has read those of all neighbours may read its memory. A neighbour can be one phase
  /// ahead; "<" accepts its larger number.
  void sync() override {
    end_phase();
    for (std::size_t i = 0; i < parts_.neighbours.size(); ++i) {
      parts_.control->put_word(parts_.neighbours[i], parts_.their_place[i], phase_);
    }
    parts_.control->commit();
    Waiter waiter([this] { return describe_wait(); });
    for (std::size_t i = 0; i < parts_.neighbours.size(); ++i) {
      while (parts_.control->word(8 * i) < phase_) {
        parts_.control->progress();
        waiter.idle();
      }
    }
    parts_.words->progress();
    parts_.words->begin_phase();
  }

  /// Ends a phase of the segment between all ranks by one reduction of their `mine`, whose logical OR it returns.
  bool sync_any(bool mine) override {
    end_phase();
    ++place_.counters->collectives;
    const bool any = parts_.any(mine);  // a reduction over all ranks separates the phases as a barrier would
    parts_.words->progress();
    parts_.words->begin_phase();
    return any;
  }

 private:
  /// Validates the target of a segment operation and returns the traffic counts with that out-neighbour, null for this rank.
  /// @throws CommError for a rank or words out of range
  PeerTraffic* check(int rank, std::size_t index, std::size_t count) const {
    check_usable();
    if (rank == place_.rank) {
      check_words(rank, index, count, words_);
      return nullptr;
    }
    const std::size_t arc = out_arc_(rank);
    if (arc == ArcIndex::kNone) throw_no_neighbour(rank, place_.rank);
    check_words(rank, index, count, parts_.remote_words[arc]);
    return peers_[arc];
  }

  /// Describes a segment's sync that waits for neighbours, for the error of a wait that exceeds its limit.
  [[nodiscard]] std::string describe_wait() {
    std::vector<std::uint8_t> late;
    for (std::size_t i = 0; i < parts_.neighbours.size(); ++i) {
      late.push_back(parts_.control->word(8 * i) < phase_ ? 1 : 0);
    }
    const auto ended = std::count(late.begin(), late.end(), 0);
    return place_.to_string() + ", sync " + std::to_string(phase_) + ": " + std::to_string(ended) + " of " +
           std::to_string(late.size()) + " neighbours have ended the phase, no word " +
           marked_ranks(parts_.neighbours, late);
  }

  /// Ends this rank's phase of the segment: its one-sided operations are complete at their targets afterwards.
  void end_phase() {
    check_usable();
    ++place_.counters->syncs;
    ++phase_;
    parts_.words->complete();
    parts_.words->end_phase();
  }

  Place place_;
  Graph graph_;
  SegmentParts parts_;
  std::vector<PeerTraffic*> peers_;  // per out-arc: traffic counts with that rank
  ArcIndex out_arc_;                 // from rank to out-arc
  std::size_t words_;                // number of words on this rank
  std::size_t word_bytes_;           // 4 or 8
  std::uint64_t phase_ = 0;          // number of phases that this rank has ended
};

}  // namespace

std::unique_ptr<SegmentBody> memory_segment(Place place, Graph graph, SegmentParts parts, std::size_t words,
                                            std::size_t word_bytes) {
  return std::make_unique<MemorySegment>(std::move(place), std::move(graph), std::move(parts), words, word_bytes);
}

}  // namespace merganser::comm::detail
