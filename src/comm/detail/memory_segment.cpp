#include <algorithm>
#include <cstring>

#include "src/comm/detail/one_sided.hpp"

namespace merganser::comm::detail {
namespace {

/// Operations go straight to the owner's block. A sync completes them and tells every neighbour, in either direction of
/// an arc, that this phase is over here; it ends when all have said so.
class MemorySegment final : public SegmentBody {
 public:
  MemorySegment(Place place, Graph graph, SegmentParts parts, std::size_t words, std::size_t word_bytes)
      : place_(std::move(place)),
        graph_(std::move(graph)),
        parts_(std::move(parts)),
        peers_(peers_of(place_, graph_.out)),
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

  void fetch_or(int rank, std::size_t index, const void* word, void* old) override {
    PeerTraffic* const peer = check(rank, index, 1);
    if (peer != nullptr)
      for (const Move move : {Move::put, Move::get}) place_.count(move, word_bytes_, peer);
    std::uint64_t operand = 0;
    std::memcpy(&operand, word, word_bytes_);
    parts_.words->fetch_or(rank, index * word_bytes_, operand, old, word_bytes_);
  }

  void sync() override {
    end_phase();
    for (std::size_t i = 0; i < parts_.neighbours.size(); ++i) {
      parts_.control->put_word(parts_.neighbours[i], parts_.their_place[i], phase_);
    }
    parts_.control->commit();
    Waiter waiter([this] { return missing(); });
    for (std::size_t i = 0; i < parts_.neighbours.size(); ++i) {
      while (parts_.control->word(8 * i) < phase_) {
        parts_.control->progress();
        waiter.idle();
      }
    }
    parts_.words->progress();
    parts_.words->begin_phase();
  }

  bool sync_any(bool mine) override {
    end_phase();
    ++place_.counters->collectives;
    const bool any = parts_.any(mine);
    parts_.words->progress();
    parts_.words->begin_phase();
    return any;
  }

 private:
  /// Counts by peer of an out-neighbour; null for this rank. @throws CommError for words that are not there
  PeerTraffic* check(int rank, std::size_t index, std::size_t count) const {
    check_usable();
    if (rank == place_.rank) {
      check_words(rank, index, count, words_);
      return nullptr;
    }
    const std::size_t arc = out_arc_(rank);
    if (arc == ArcOf::kNone) throw_no_neighbour(rank, place_.rank);
    check_words(rank, index, count, parts_.remote_words[arc]);
    return peers_[arc];
  }

  [[nodiscard]] std::string missing() {
    std::vector<std::uint8_t> late;
    for (std::size_t i = 0; i < parts_.neighbours.size(); ++i) {
      late.push_back(parts_.control->word(8 * i) < phase_ ? 1 : 0);
    }
    const auto ended = std::count(late.begin(), late.end(), 0);
    return place_.text() + ", sync " + std::to_string(phase_) + ": " + std::to_string(ended) + " of " +
           std::to_string(late.size()) + " neighbours have ended the phase, no word " +
           marked_ranks(parts_.neighbours, late);
  }

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
  std::vector<PeerTraffic*> peers_;  // per out-arc
  ArcOf out_arc_;
  std::size_t words_;
  std::size_t word_bytes_;
  std::uint64_t phase_ = 0;
};

}  // namespace

std::unique_ptr<SegmentBody> memory_segment(Place place, Graph graph, SegmentParts parts, std::size_t words,
                                            std::size_t word_bytes) {
  return std::make_unique<MemorySegment>(std::move(place), std::move(graph), std::move(parts), words, word_bytes);
}

}  // namespace merganser::comm::detail
