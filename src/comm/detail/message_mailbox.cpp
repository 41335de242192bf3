// Mailbox over messages, and what all objects over messages share: operation counts, peers, texts of waits.
#include <algorithm>

#include "merganser/base/release_memory.hpp"
#include "merganser/base/simulated.hpp"
#include "src/comm/detail/message_objects.hpp"

namespace merganser::comm::detail {

std::size_t position(std::span<const int> ranks, int rank) {
  const auto found = std::find(ranks.begin(), ranks.end(), rank);
  return found == ranks.end() ? ArcIndex::kNone : static_cast<std::size_t>(found - ranks.begin());
}

// Counts communication operations of a Mailbox, Stream, Segment or Plan: in the transport's counters, and by peer.
void Place::count(Move move, std::size_t bytes, PeerTraffic* peer, std::size_t operations) const {
  auto& count = move == Move::message ? counters->messages : move == Move::put ? counters->puts : counters->gets;
  count += static_cast<std::int64_t>(operations);
  (move == Move::get ? counters->bytes_got : counters->bytes) += static_cast<std::int64_t>(bytes);
  if (peer != nullptr) peer->add(move, bytes);
}

std::vector<PeerTraffic*> find_peers(const Place& place, std::span<const int> ranks) {
  std::vector<PeerTraffic*> peers;
  for (const int rank : ranks) peers.push_back(place.traffic != nullptr ? &place.traffic->peer(rank) : nullptr);
  return peers;
}

std::string marked_ranks(std::span<const int> ranks, std::span<const std::uint8_t> marks) {
  std::string text;
  for (std::size_t arc = 0; arc < ranks.size(); ++arc) {
    if (marks[arc] != 0) text += " " + std::to_string(ranks[arc]);
  }
  return text.empty() ? text : "from ranks" + text;
}

// Validation of the arguments of a partial Mailbox wave.
void check_wave(const Graph& graph, const std::vector<Bytes>& outbox, std::span<const std::uint8_t> active_out,
                std::span<const std::uint8_t> active_in) {
  if (active_out.size() != outbox.size() || active_in.size() != graph.in.size()) {
    throw CommError("Mailbox::step: " + std::to_string(active_out.size()) + " out- and " +
                    std::to_string(active_in.size()) + " in-arcs marked; the graph has " +
                    std::to_string(outbox.size()) + " and " + std::to_string(graph.in.size()));
  }
  for (std::size_t arc = 0; arc < outbox.size(); ++arc) {
    if (active_out[arc] == 0 && !outbox[arc].empty()) {
      throw CommError("Mailbox::step: the outbox to rank " + std::to_string(graph.out[arc]) + " holds " +
                      std::to_string(outbox[arc].size()) + " bytes, but its arc is not active");
    }
  }
}

// Mailbox of models that send messages; arcs of this rank to itself do not use the Link.
MessageMailbox::MessageMailbox(Place place, Graph graph, std::unique_ptr<Link> link)
    : Mailbox(std::move(graph)),
      place_(std::move(place)),
      self_out_(position(graph_.out, place_.rank)),
      self_in_(position(graph_.in, place_.rank)),
      peers_(find_peers(place_, graph_.out)),
      link_(std::move(link)),
      early_(graph_.in.size()),
      all_out_(graph_.out.size(), 1),
      all_in_(graph_.in.size(), 1) {}

void MessageMailbox::count_wave(std::span<const std::uint8_t> active_out) {
  ++place_.counters->waves;
  for (std::size_t arc = 0; arc < outbox_.size(); ++arc) {
    if (active_out[arc] == 0 || arc == self_out_ || outbox_[arc].empty()) continue;
    place_.count(Move::message, outbox_[arc].size(), peers_[arc]);
  }
}

void MessageMailbox::empty_outboxes() {
  for (auto& box : outbox_) {
    if constexpr (kSimulated) {
      release_memory(box);  // one process has those of all ranks
    } else {
      box.clear();
    }
  }
}

void MessageMailbox::deliver_self() { inbox_[self_in_].swap(outbox_[self_out_]); }

void MessageMailbox::step_all() { MessageMailbox::step_some(all_out_, all_in_); }

// One wave of a Mailbox: send the outboxes of active arcs, receive a message along each active in-arc.
void MessageMailbox::step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) {
  check_wave(graph_, outbox_, active_out, active_in);
  count_wave(active_out);
  start(active_out);
  await(active_in);
  empty_outboxes();
}

/// Begins the sends of a Mailbox wave along the active out-arcs.
void MessageMailbox::start(std::span<const std::uint8_t> active_out) {
  for (std::size_t arc = 0; arc < outbox_.size(); ++arc) {
    if (active_out[arc] != 0 && arc != self_out_) link_->send(arc, outbox_[arc]);
  }
}

/// Receives the messages of a Mailbox wave along the active in-arcs and completes the wave's sends. Blocks; messages of later
/// waves are kept.
void MessageMailbox::await(std::span<const std::uint8_t> active_in) {
  waiting_.assign(active_in.begin(), active_in.end());
  ++steps_;
  expected_ =
      static_cast<std::size_t>(std::count_if(active_in.begin(), active_in.end(), [](auto on) { return on != 0; }));
  std::size_t pending = 0;
  for (std::size_t arc = 0; arc < inbox_.size(); ++arc) {
    inbox_[arc].clear();
    if (active_in[arc] == 0) continue;
    if (arc == self_in_) {
      deliver_self();
      waiting_[arc] = 0;
    } else if (!early_[arc].empty()) {  // in the order of arrival, which is that of the sender's steps
      inbox_[arc].swap(early_[arc].front());
      early_[arc].erase(early_[arc].begin());
      waiting_[arc] = 0;
    } else {
      ++pending;
    }
  }
  Waiter waiter([this] { return describe_wait(); });
  // The loop receives until its own sends are complete too, since a neighbour may need this rank to receive first.
  bool sent = false;
  while (pending > 0 || !(sent = sent || link_->sent())) {
    if constexpr (kSimulated) link_->expect(pending);
    const auto arc = link_->receive(buffer_);
    if (!arc) {
      link_->idle(waiter);
    } else if (waiting_[*arc] != 0) {
      waiting_[*arc] = 0;
      --pending;
      inbox_[*arc].swap(buffer_);
      waiter.reset();
    } else {  // of a later step of this neighbour: a message of this step has arrived, or the arc is not active in it
      early_[*arc].push_back(std::move(buffer_));
      buffer_.clear();
    }
  }
}

/// Describes a Mailbox wave that waits for messages, for the error of a wait that exceeds its limit.
std::string MessageMailbox::describe_wait() const {
  const auto missing = std::count_if(waiting_.begin(), waiting_.end(), [](auto on) { return on != 0; });
  const std::string where = place_.to_string() + ", step " + std::to_string(steps_) + ": " +
                            std::to_string(expected_ - static_cast<std::size_t>(missing)) + " of " +
                            std::to_string(expected_) + " messages have come";
  if (missing > 0) return where + ", none " + marked_ranks(graph_.in, waiting_);
  return where + ", but what this rank sends is not taken";
}

}  // namespace merganser::comm::detail
