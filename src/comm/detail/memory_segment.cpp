#include "src/comm/detail/memory_segment.hpp"

#include <algorithm>
#include <cstring>

namespace merganser::comm::detail {

MemorySegment::MemorySegment(Place place, Graph graph, Parts parts, std::size_t words, std::size_t word_bytes)
    : place_(std::move(place)),
      graph_(std::move(graph)),
      parts_(std::move(parts)),
      peers_(peers_of(place_, graph_.out)),
      out_arc_(graph_.out),
      words_(words),
      word_bytes_(word_bytes) {
  parts_.words->begin_phase();
}

PeerTraffic* MemorySegment::check(int rank, std::size_t index, std::size_t count) const {
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

void MemorySegment::put(int rank, std::size_t index, const void* word) {
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

void MemorySegment::get(int rank, std::size_t index, std::size_t count, void* to) {
  PeerTraffic* const peer = check(rank, index, count);
  if (peer == nullptr) {
    if (count > 0) std::memcpy(to, local() + index * word_bytes_, count * word_bytes_);
    return;
  }
  if (count == 0) return;
  place_.count(Move::get, count * word_bytes_, peer, count);
  parts_.words->get(rank, index * word_bytes_, to, count * word_bytes_);
}

void MemorySegment::fetch_or(int rank, std::size_t index, const void* word, void* old) {
  PeerTraffic* const peer = check(rank, index, 1);
  if (peer != nullptr)
    for (const Move move : {Move::put, Move::get}) place_.count(move, word_bytes_, peer);
  std::uint64_t operand = 0;
  std::memcpy(&operand, word, word_bytes_);
  parts_.words->fetch_or(rank, index * word_bytes_, operand, old, word_bytes_);
}

void MemorySegment::end_phase() {
  check_usable();
  ++place_.counters->syncs;
  ++phase_;
  parts_.words->complete();
  parts_.words->end_phase();
}

void MemorySegment::sync() {
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

bool MemorySegment::sync_any(bool mine) {
  end_phase();
  ++place_.counters->collectives;
  const bool any = parts_.any(mine);
  parts_.words->progress();
  parts_.words->begin_phase();
  return any;
}

std::string MemorySegment::missing() {
  std::vector<std::uint8_t> late;
  for (std::size_t i = 0; i < parts_.neighbours.size(); ++i) {
    late.push_back(parts_.control->word(8 * i) < phase_ ? 1 : 0);
  }
  const auto ended = std::count(late.begin(), late.end(), 0);
  return place_.text() + ", sync " + std::to_string(phase_) + ": " + std::to_string(ended) + " of " +
         std::to_string(late.size()) + " neighbours have ended the phase, no word " +
         marked_ranks(parts_.neighbours, late);
}

}  // namespace merganser::comm::detail
