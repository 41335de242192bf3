#include "src/comm/detail/ring_link.hpp"

#include <algorithm>

namespace merganser::comm::detail {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);
constexpr std::size_t kShort = 4096;  // copied behind its length, so that one put carries both

std::size_t padded(std::size_t bytes) { return (bytes + kWord - 1) / kWord * kWord; }

}  // namespace

RingLink::RingLink(std::shared_ptr<Memory> memory, const Graph& graph, const RingLayout& layout, Ends ends)
    : memory_(std::move(memory)), layout_(layout), out_(graph.out.size()), in_(graph.in.size()) {
  for (std::size_t arc = 0; arc < out_.size(); ++arc) {
    out_[arc].rank = graph.out[arc];
    out_[arc].to = ends.out[arc];
  }
  for (std::size_t arc = 0; arc < in_.size(); ++arc) {
    in_[arc].rank = graph.in[arc];
    in_[arc].credit = ends.in[arc].credit;
  }
}

void RingLink::send(std::size_t arc, std::span<const std::byte> message) {
  if (out_[arc].queue.empty()) busy_.push_back(arc);
  out_[arc].queue.push_back(message);
}

bool RingLink::sent() {
  push();
  return busy_.empty();
}

void RingLink::put_into_ring(Sending& arc, const std::byte* from, std::size_t bytes) {
  const std::size_t start = arc.written % arc.to.ring_bytes;
  const std::size_t first = std::min<std::size_t>(bytes, arc.to.ring_bytes - start);
  memory_->put(arc.rank, arc.to.ring + start, from, first);
  if (bytes > first) memory_->put(arc.rank, arc.to.ring, from + first, bytes - first);
}

/// Puts the start of a message: its length, and the rest too if it is short and fits.
void RingLink::begin_message(std::size_t number, std::size_t space) {
  auto& arc = out_[number];
  const auto message = arc.queue.front();
  const std::uint64_t length = message.size();
  const bool whole = message.size() <= kShort && kWord + padded(message.size()) <= space;
  arc.staging.resize(kWord + (whole ? message.size() : 0));
  std::memcpy(arc.staging.data(), &length, kWord);
  if (whole && length > 0) std::memcpy(arc.staging.data() + kWord, message.data(), message.size());
  put_into_ring(arc, arc.staging.data(), arc.staging.size());
  arc.written += whole ? kWord + padded(message.size()) : kWord;
  arc.inside = !whole;
  arc.at = 0;
  if (whole) arc.queue.pop_front();
}

/// Puts what fits of the messages of one arc, at most one start of a message; false if nothing did.
bool RingLink::push(std::size_t number) {
  auto& arc = out_[number];
  const std::uint64_t before = arc.written;
  const std::uint64_t taken = memory_->word(layout_.credit(number));
  bool begun = false;
  while (!arc.queue.empty()) {
    const std::size_t space = arc.to.ring_bytes - static_cast<std::size_t>(arc.written - taken);
    if (space < kWord) break;
    if (!arc.inside) {
      if (begun) break;  // the staging memory is in use until order()
      begin_message(number, space);
      begun = true;
      continue;
    }
    const auto message = arc.queue.front();
    const std::size_t part = std::min(space / kWord * kWord, message.size() - arc.at);
    put_into_ring(arc, message.data() + arc.at, part);
    arc.at += part;
    const bool whole = arc.at == message.size();
    arc.written += whole ? padded(part) : part;
    arc.inside = !whole;
    if (whole) arc.queue.pop_front();
  }
  return arc.written != before;
}

void RingLink::push() {
  if (busy_.empty()) return;
  pushed_.clear();
  for (const std::size_t arc : busy_) {
    if (push(arc)) pushed_.push_back(arc);
  }
  if (pushed_.empty()) return;
  moved_ = true;
  memory_->order();
  for (const std::size_t arc : pushed_) memory_->put_word(out_[arc].rank, out_[arc].to.head, out_[arc].written);
  memory_->commit();
  uncommitted_ = false;
  std::erase_if(busy_, [this](std::size_t arc) { return out_[arc].queue.empty(); });
}

void RingLink::idle(Waiter& waiter) {
  if (moved_) waiter.reset();  // part of a long message
  moved_ = false;
  waiter.idle();
}

void RingLink::take_from_ring(std::size_t number, std::byte* to, std::size_t bytes) {
  const std::size_t start = in_[number].taken % layout_.ring_bytes;
  const std::byte* ring = memory_->data() + layout_.ring(number);
  const std::size_t first = std::min(bytes, layout_.ring_bytes - start);
  if (first > 0) std::memcpy(to, ring + start, first);
  if (bytes > first) std::memcpy(to + first, ring, bytes - first);
}

void RingLink::give_credit(Receiving& arc) {
  if (arc.taken - arc.returned < layout_.ring_bytes / 4) return;
  arc.returned = arc.taken;
  memory_->put_word(arc.rank, arc.credit, arc.taken);
  uncommitted_ = true;
}

/// Takes what has come on an arc, up to the end of a message; true if that was reached.
bool RingLink::pull(std::size_t number) {
  auto& arc = in_[number];
  const std::uint64_t head = memory_->word(layout_.head(number));
  if (head == arc.taken) return false;
  moved_ = true;
  if (!arc.inside) {
    std::uint64_t length = 0;
    take_from_ring(number, reinterpret_cast<std::byte*>(&length), kWord);
    arc.taken += kWord;
    arc.length = static_cast<std::size_t>(length);
    arc.message.resize(arc.length);
    arc.at = 0;
    arc.inside = true;
  }
  const auto available = static_cast<std::size_t>(head - arc.taken);
  const std::size_t part = std::min(available, arc.length - arc.at);
  take_from_ring(number, arc.message.data() + arc.at, part);
  arc.at += part;
  const bool whole = arc.at == arc.length;
  arc.taken += whole ? padded(part) : part;
  arc.inside = !whole;
  give_credit(arc);
  return whole;
}

std::optional<std::size_t> RingLink::receive(std::vector<std::byte>& message) {
  push();
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < in_.size() && !found; ++i) {
    const std::size_t arc = (next_ + i) % in_.size();
    if (pull(arc)) found = arc;
  }
  if (uncommitted_) {
    memory_->commit();
    uncommitted_ = false;
  }
  if (!found) {
    memory_->progress();
    return std::nullopt;
  }
  next_ = (*found + 1) % in_.size();
  message.swap(in_[*found].message);
  return found;
}

}  // namespace merganser::comm::detail
