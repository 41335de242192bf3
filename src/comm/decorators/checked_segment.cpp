#include <sstream>

#include "merganser/base/error.hpp"
#include "src/comm/decorators/checked_objects.hpp"

namespace merganser::comm::detail {

CheckedSegment::CheckedSegment(Place place, Parts parts, std::size_t words, std::size_t word_bytes)
    : place_(std::move(place)),
      parts_(std::move(parts)),
      words_(words),
      word_bytes_(word_bytes),
      out_arc_(parts_.logs->graph().out) {
  begin_phase();
}

void CheckedSegment::begin_phase() {
  before_.assign(local(), local() + words_ * word_bytes_);
  own_.clear();
}

void CheckedSegment::log(int rank, Entry entry) {
  if (rank == place_.rank) {
    own_.push_back(entry);
  } else {
    parts_.logs->post(out_arc_(rank), entry);
  }
}

void CheckedSegment::put(int rank, std::size_t index, const void* word) {
  parts_.limits->check(rank, index, 1);
  Entry entry{index, 0, 0};
  std::memcpy(&entry.word, word, word_bytes_);
  log(rank, entry);
  parts_.body->put(rank, index, word);
}

/// Memory of our own for an answer; the user's is filled with a pattern that nobody takes for a result.
void* CheckedSegment::later(void* to, std::size_t bytes) {
  constexpr int kPattern = 0xA5;
  if (bytes > 0) std::memset(to, kPattern, bytes);
  wanted_.push_back(std::make_unique<Wanted>(Wanted{Bytes(bytes), to}));
  return wanted_.back()->bytes.data();
}

void CheckedSegment::get(int rank, std::size_t index, std::size_t count, void* to) {
  parts_.limits->check(rank, index, count);
  parts_.body->get(rank, index, count, later(to, count * word_bytes_));
}

void CheckedSegment::fetch_or(int rank, std::size_t index, const void* word, void* old) {
  parts_.limits->check(rank, index, 1);
  Entry entry{index, 0, 1};
  std::memcpy(&entry.word, word, word_bytes_);
  log(rank, entry);
  parts_.body->fetch_or(rank, index, word, later(old, word_bytes_));
}

std::string CheckedSegment::name(std::uint64_t index) const {
  return "Segment: in one phase word " + std::to_string(index) + " of rank " + std::to_string(place_.rank);
}

void CheckedSegment::note(Words& words, const Entry& entry, int from) const {
  const auto [at, first] = words.try_emplace(entry.index, Known{entry, from});
  if (first) return;
  const Known& known = at->second;
  if (known.entry.is_or != entry.is_or) {
    throw CommError(name(entry.index) + " is put and or-ed, by ranks " + std::to_string(known.from) + " and " +
                    std::to_string(from));
  }
  if (entry.is_or == 0 && known.entry.word != entry.word) {
    std::ostringstream text;
    text << name(entry.index) << " is put 0x" << std::hex << known.entry.word << std::dec << " by rank " << known.from
         << " and 0x" << std::hex << entry.word << std::dec << " by rank " << from;
    throw CommError(text.str());
  }
}

/// The owner may not write what others write. A word that changed is theirs only if it holds what they put.
void CheckedSegment::check_local_writes(const Words& words) const {
  for (const auto& [index, known] : words) {
    if (known.from == place_.rank || known.entry.is_or != 0) continue;
    const std::size_t at = static_cast<std::size_t>(index) * word_bytes_;
    const std::byte* now = parts_.body->local() + at;
    const bool written = std::memcmp(now, before_.data() + at, word_bytes_) != 0;
    if (written && std::memcmp(now, &known.entry.word, word_bytes_) != 0) {
      throw CommError(name(index) + " is put by rank " + std::to_string(known.from) + " and written by its owner");
    }
  }
}

void CheckedSegment::exchange_logs() {
  check_usable();
  const Uncounted quiet(*place_.counters, *place_.traffic);
  // The owner's own puts are noted last: for them its local memory says nothing.
  parts_.logs->step();
  Words words;
  for (std::size_t arc = 0; arc < parts_.logs->graph().in.size(); ++arc) {
    for (const Entry& entry : parts_.logs->records<Entry>(arc)) note(words, entry, parts_.logs->graph().in[arc]);
  }
  for (const Entry& entry : own_) note(words, entry, place_.rank);
  check_local_writes(words);
}

void CheckedSegment::hand_over() {
  for (const auto& wanted : wanted_) {
    if (!wanted->bytes.empty()) std::memcpy(wanted->to, wanted->bytes.data(), wanted->bytes.size());
  }
  wanted_.clear();
}

void CheckedSegment::sync() {
  exchange_logs();
  parts_.body->sync();
  hand_over();
  begin_phase();
}

bool CheckedSegment::sync_any(bool mine) {
  exchange_logs();
  const bool any = parts_.body->sync_any(mine);
  hand_over();
  begin_phase();
  return any;
}

}  // namespace merganser::comm::detail
