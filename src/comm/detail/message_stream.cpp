// Stream over messages: the records of an arc are buffered and sent together; rounds are told apart by their numbers.
#include <algorithm>

#include "src/comm/detail/message_objects.hpp"

namespace merganser::comm::detail {
namespace {

/// Header of a Stream's message, before its records.
struct Header {
  std::uint32_t round;  // number of the round on its arc
  std::uint32_t count;  // records of the whole round on the arc, which the receiver compares with its own count
};

constexpr std::size_t kFullBytes = 16384;        // a message of this size is sent without waiting for more records
constexpr std::size_t kKeptBuffers = 64;         // largest number of empty buffers kept for reuse
constexpr std::size_t kMaxRecords = 0xFFFFFFFF;  // on an arc in a round, as the header's 32 bits hold

}  // namespace

// Stream of models that send messages; records of this rank to itself do not use the Link.
MessageStream::MessageStream(Place place, Graph graph, std::unique_ptr<Link> link)
    : Stream(std::move(graph)),
      place_(std::move(place)),
      peers_(find_peers(place_, graph_.out)),
      self_out_(position(graph_.out, place_.rank)),
      self_in_(position(graph_.in, place_.rank)),
      link_(std::move(link)),
      out_(graph_.out.size()),
      in_(graph_.in.size()),
      held_(graph_.out.size()) {}

// Begin of a round of a Stream: counts per arc, and the round number of each arc that carries records.
void MessageStream::open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) {
  place_.liveness->check("Stream::open");
  if (open_ && left_ > 0) {
    throw CommError("Stream::open: " + std::to_string(left_) + " records of the round before have not been taken");
  }
  if (counts_out.size() != out_.size() || counts_in.size() != in_.size()) {
    throw CommError("Stream::open: counts for " + std::to_string(counts_out.size()) + " out- and " +
                    std::to_string(counts_in.size()) + " in-arcs; the graph has " + std::to_string(out_.size()) +
                    " and " + std::to_string(in_.size()));
  }
  for (const auto counts : {counts_out, counts_in}) {
    const auto too_many = std::find_if(counts.begin(), counts.end(), [](std::size_t n) { return n > kMaxRecords; });
    if (too_many == counts.end()) continue;
    throw CommError("Stream::open: " + std::to_string(*too_many) + " records on an arc; allowed: up to " +
                    std::to_string(kMaxRecords));
  }
  for (std::size_t arc = 0; arc < out_.size(); ++arc) {
    if (counts_out[arc] > 0) ++out_[arc].round;
    out_[arc].count = out_[arc].left = counts_out[arc];
  }
  left_ = 0;
  for (std::size_t arc = 0; arc < in_.size(); ++arc) {
    if (counts_in[arc] > 0) ++in_[arc].round;
    in_[arc].count = in_[arc].left = counts_in[arc];
    left_ += counts_in[arc];
  }
  open_ = true;
  // Messages that were ahead of the last round may be of this one; deliver() compares their rounds again.
  for (auto& arrival : later_) arrived_.push_back(std::move(arrival));
  later_.clear();
  queued_ = 0;
  for (const auto& arrival : arrived_)
    if (is_of_this_round(arrival)) queued_ += records_in(arrival.message);
}

// Validation of a record that the program sends on a Stream: an open round, an arc and slot within its counts.
void MessageStream::check_send(std::size_t arc, std::size_t slot) {
  place_.liveness->check_round("Stream::send");
  if (!open_ || arc >= out_.size() || slot >= out_[arc].count || out_[arc].left == 0) {
    const std::string allowed = !open_ ? "no round is open"
                                : arc >= out_.size()
                                    ? "there are " + std::to_string(out_.size()) + " out-arcs"
                                    : "this round has " + std::to_string(out_[arc].count) + " records on this arc, " +
                                          std::to_string(out_[arc].left) + " of them not sent";
    throw CommError("Stream::send: arc " + std::to_string(arc) + ", slot " + std::to_string(slot) + ", but " + allowed);
  }
  --out_[arc].left;
  ++place_.counters->records;
}

// Records are buffered per arc and sent in messages, when full or when this rank calls take(), wait() or finish().
void MessageStream::send(std::size_t arc, std::size_t slot, std::uint32_t value) {
  check_send(arc, slot);
  post(arc, {static_cast<std::uint32_t>(slot), value});
}

// Buffers a record of a Stream behind the header of the arc's next message, which is sent when it is full.
void MessageStream::post(std::size_t arc, Record record) {
  if (arc == self_out_) {
    own_.push_back(record);
    return;
  }
  auto& message = held_[arc];
  if (message.empty()) append(message, Header{out_[arc].round, static_cast<std::uint32_t>(out_[arc].count)});
  append(message, record);
  if (message.size() >= kFullBytes) flush(arc);
}

/// Sends the buffered records of an out-arc of a Stream as one message.
void MessageStream::flush(std::size_t arc) {
  place_.count(Move::message, held_[arc].size() - sizeof(Header), peers_[arc]);
  flying_.push_back(std::move(held_[arc]));
  held_[arc].clear();
  if (!spare_.empty()) {
    held_[arc].swap(spare_.back());
    spare_.pop_back();
  }
  link_->send(arc, flying_.back());
}

void MessageStream::flush_all() {
  for (std::size_t arc = 0; arc < held_.size(); ++arc) {
    if (!held_[arc].empty()) flush(arc);
  }
}

/// Recycles the buffers of a Stream's messages that the Link has sent: they become spare ones, up to a limit.
void MessageStream::reclaim() {
  // The Link reads the buffers until all its sends are complete; only then may they be written again.
  if (flying_.empty() || !link_->sent()) return;
  for (auto& message : flying_) {
    if (spare_.size() == kKeptBuffers) break;
    message.clear();
    spare_.push_back(std::move(message));
  }
  flying_.clear();
}

// Number of records behind the header of a message.
std::size_t MessageStream::records_in(const Bytes& message) {
  return (message.size() - sizeof(Header)) / sizeof(Record);
}

// Comparison of the round in the header of a message with that of its in-arc.
bool MessageStream::is_of_this_round(const Arrival& arrival) const {
  return read<Header>(arrival.message).round == in_[arrival.arc].round;
}

// Receives a message of a Stream over the Link, without delivering its records.
bool MessageStream::collect_one() {
  Bytes message;
  const auto arc = link_->receive(message);
  if (!arc) return false;
  arrived_.push_back({*arc, std::move(message)});
  if (is_of_this_round(arrived_.back())) queued_ += records_in(arrived_.back().message);
  return true;
}

// Receives messages of a Stream that have arrived over the Link. A probe that finds none costs as much as one that does, so none is
// made once all records of the round are here.
bool MessageStream::collect() {
  bool any = false;
  while (queued_ + own_.size() < left_ && collect_one()) any = true;
  return any;
}

void MessageStream::throw_other_count(std::size_t arc, std::size_t count) const {
  throw CommError("Stream: rank " + std::to_string(graph_.in[arc]) + " sends " + std::to_string(count) +
                  " records in this round, but rank " + std::to_string(place_.rank) + " expects " +
                  std::to_string(in_[arc].count));
}

/// Passes the records of one received message of a Stream's current round to the callback. @throws CommError if the sender's count
/// of records differs from that expected here
void MessageStream::deliver(const Arrival& arrival, const Take& callback) {
  const auto header = read<Header>(arrival.message);
  auto& arc = in_[arrival.arc];
  const std::size_t records = records_in(arrival.message);
  if (header.count != static_cast<std::uint32_t>(arc.count) || records > arc.left) {
    throw_other_count(arrival.arc, header.count);
  }
  arc.left -= records;
  left_ -= records;
  queued_ -= records;
  const std::byte* at = arrival.message.data() + sizeof(Header);
  for (std::size_t i = 0; i < records; ++i, at += sizeof(Record)) {
    Record record;
    std::memcpy(&record, at, sizeof record);
    callback(arrival.arc, record.slot, record.value);
  }
}

// Delivers the received records of a Stream's round: those of this rank to itself, then message by message; messages of a later
// round are kept for its open().
void MessageStream::deliver(const Take& callback) {
  while (something_queued()) {
    for (std::size_t i = 0; i < own_.size(); ++i) {  // the callback may add to it
      const Record record = own_[i];
      if (in_[self_in_].left == 0) throw CommError("Stream: this rank sends itself more records than it expects");
      --in_[self_in_].left;
      --left_;
      callback(self_in_, record.slot, record.value);
    }
    own_.clear();
    if (arrived_.empty()) return;
    Arrival arrival = std::move(arrived_.front());
    arrived_.pop_front();
    // The signed difference of round numbers is right across their wrap-around, since neighbours are near each other.
    const auto ahead = static_cast<std::int32_t>(read<Header>(arrival.message).round - in_[arrival.arc].round);
    if (ahead > 0) {
      later_.push_back(std::move(arrival));
      continue;
    }
    deliver(arrival, callback);
    if (spare_.size() < kKeptBuffers) {
      arrival.message.clear();
      spare_.push_back(std::move(arrival.message));
    }
  }
}

// Progress of a round of a Stream: the callback may send records itself, which are flushed before the return.
std::size_t MessageStream::take(const Take& callback) {
  place_.liveness->check_round("Stream::take");
  flush_all();
  collect();
  deliver(callback);
  flush_all();  // records that the callback has sent
  reclaim();
  return left_;
}

// Wait of a Stream: blocks until a record has arrived or the round is complete.
void MessageStream::wait() {
  place_.liveness->check_round("Stream::wait");
  flush_all();
  Waiter waiter([this] { return describe_wait(); });
  while (left_ > 0 && !something_queued() && !collect()) {
    reclaim();
    link_->idle(waiter);
  }
}

// End of a round of a Stream: all announced records have been sent and taken.
void MessageStream::finish() {
  place_.liveness->check_round("Stream::finish");
  for (std::size_t arc = 0; arc < out_.size(); ++arc) {
    if (out_[arc].left == 0) continue;
    throw CommError("Stream::finish: " + std::to_string(out_[arc].left) + " of " + std::to_string(out_[arc].count) +
                    " records to rank " + std::to_string(graph_.out[arc]) + " have not been sent");
  }
  if (left_ > 0) throw CommError("Stream::finish: " + std::to_string(left_) + " records have not been taken");
  flush_all();
  Waiter waiter([this] { return describe_wait(); });
  while (!link_->sent()) {
    // A neighbour may be unable to complete its sends before this rank receives them.
    if (!collect_one()) link_->idle(waiter);
  }
  reclaim();
  open_ = false;
}

// Text of the error of a wait that exceeds its limit: the records missing, by sender.
std::string MessageStream::describe_wait() const {
  std::string text = place_.to_string() + ":";
  for (std::size_t arc = 0; arc < in_.size(); ++arc) {
    if (in_[arc].left == 0) continue;
    text += " " + std::to_string(in_[arc].count - in_[arc].left) + " of " + std::to_string(in_[arc].count) +
            " records have come from rank " + std::to_string(graph_.in[arc]) + " in round " +
            std::to_string(in_[arc].round) + ",";
  }
  text.pop_back();
  return left_ > 0 ? text : text + ": all records have come, but what this rank sends is not taken";
}

}  // namespace merganser::comm::detail
