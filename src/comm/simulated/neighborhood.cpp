// Mailbox of the model neighborhood on simulated ranks: neighbourhood collectives emulated by messages.
#include <mpi.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/simulated/network.hpp"
#include "src/comm/simulated/wire.hpp"

namespace merganser::comm::detail {
namespace {

/// Mailbox of the model neighborhood in a simulation over SMPI's messages: a wave over all arcs is two rounds of
/// messages, first the lengths, then the outboxes.
class SimulatedNeighborhood final : public MessageMailbox {
 public:
  SimulatedNeighborhood(Place place, Graph graph, std::unique_ptr<Link> link, MPI_Comm comm, int tag)
      : MessageMailbox(std::move(place), std::move(graph), std::move(link)),
        comm_(comm),
        tag_(tag),
        out_bytes_(graph_.out.size()),
        in_bytes_(graph_.in.size()) {}

 protected:
  /// Makes a wave over all arcs in two rounds of SMPI's messages: the lengths of the messages, then the messages.
  void step_all() override {
    count_wave();
    for (std::size_t arc = 0; arc < inbox_.size(); ++arc)
      if (arc != self_in_) start_receive(arc, &in_bytes_[arc], sizeof in_bytes_[arc]);
    for (std::size_t arc = 0; arc < outbox_.size(); ++arc) {
      out_bytes_[arc] = outbox_[arc].size();
      if (arc != self_out_) start_send(arc, &out_bytes_[arc], sizeof out_bytes_[arc]);
    }
    wait();
    for (std::size_t arc = 0; arc < inbox_.size(); ++arc) {
      if (arc == self_in_) continue;
      inbox_[arc].resize(in_bytes_[arc]);
      start_receive(arc, inbox_[arc].data(), in_bytes_[arc]);
    }
    for (std::size_t arc = 0; arc < outbox_.size(); ++arc)
      if (arc != self_out_) start_send(arc, outbox_[arc].data(), outbox_[arc].size());
    wait();
    if (self_out_ != ArcIndex::kNone) deliver_self();
    empty_outboxes();
  }

 private:
  /// Starts SMPI's receive of a length or message along an in-arc.
  void start_receive(std::size_t arc, void* to, std::size_t bytes) {
    check(MPI_Irecv(to, static_cast<int>(bytes), MPI_BYTE, graph_.in[arc], tag_, comm_,
                    &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Irecv");
  }
  /// Starts SMPI's send of a length or message along an out-arc.
  void start_send(std::size_t arc, const void* from, std::size_t bytes) {
    check(MPI_Isend(from, static_cast<int>(bytes), MPI_BYTE, graph_.out[arc], tag_, comm_,
                    &requests_.emplace_back(MPI_REQUEST_NULL)),
          "MPI_Isend");
  }
  /// Completes all started sends and receives of the wave.
  void wait() {
    for (auto& request : requests_) check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
    requests_.clear();
  }

  MPI_Comm comm_;
  int tag_;
  std::vector<std::size_t> out_bytes_;  // per out-arc: length of its message
  std::vector<std::size_t> in_bytes_;   // per in-arc: length of its message
  std::vector<MPI_Request> requests_;   // started sends and receives
};

/// Mailbox of the model neighborhood in a simulation whose messages are timers: a wave over all arcs is two rounds of
/// messages, first the lengths, then the outboxes.
class TimedNeighborhood final : public MessageMailbox {
 public:
  TimedNeighborhood(Place place, Graph graph, std::unique_ptr<Link> some_arcs, std::unique_ptr<Link> all_arcs)
      : MessageMailbox(std::move(place), std::move(graph), std::move(some_arcs)),
        link_(std::move(all_arcs)),
        sizes_(graph_.out.size()),
        told_(graph_.in.size()),
        early_(graph_.in.size()) {}

 protected:
  /// Makes a wave over all arcs in two exchanges of timed messages: the lengths of the messages, then the messages.
  void step_all() override {
    count_wave();
    for (std::size_t arc = 0; arc < sizes_.size(); ++arc) sizes_[arc] = to_bytes(outbox_[arc].size());
    exchange(sizes_, told_);
    exchange(outbox_, inbox_);
    if (self_out_ != ArcIndex::kNone) deliver_self();
    empty_outboxes();
  }

 private:
  /// Sends a message along every out-arc and receives one along every in-arc, except for an arc of the simulated rank to itself.
  void exchange(const std::vector<Bytes>& out, std::vector<Bytes>& in) {
    for (std::size_t arc = 0; arc < out.size(); ++arc)
      if (arc != self_out_) link_->send(arc, out[arc]);
    receive();
    for (std::size_t arc = 0; arc < in.size(); ++arc) {
      if (arc == self_in_) continue;
      in[arc] = std::move(early_[arc].front());
      early_[arc].erase(early_[arc].begin());
    }
  }
  /// Receives timed messages until there is one of every in-neighbour but this rank; messages of the next exchange are kept.
  void receive() {
    static const Waiter::Describe kNothing = [] { return std::string(); };
    Waiter waiter(kNothing);
    auto missing = static_cast<std::size_t>(
        std::count_if(early_.begin(), early_.end(), [](const auto& came) { return came.empty(); }));
    if (self_in_ != ArcIndex::kNone) --missing;
    while (missing > 0) {
      link_->expect(missing);
      Bytes message;
      const auto arc = link_->receive(message);
      if (!arc) {
        link_->idle(waiter);
        continue;
      }
      if (early_[*arc].empty()) --missing;
      early_[*arc].push_back(std::move(message));
    }
    (void)link_->sent();
  }

  std::unique_ptr<Link> link_;             // of waves over all arcs
  std::vector<Bytes> sizes_;               // per out-arc: length of its message
  std::vector<Bytes> told_;                // per in-arc: length received
  std::vector<std::vector<Bytes>> early_;  // per in-arc: messages that have arrived; one may be of the next exchange
};

}  // namespace

// Choice of the emulated neighbourhood collectives: over timers of the simulator or over SMPI's messages.
std::unique_ptr<Mailbox> simulated_neighborhood(Place place, Graph graph, std::unique_ptr<Link> link, MPI_Comm comm,
                                                int tag) {
  if (messages_are_timers()) {
    auto all_arcs = timed_link(comm, tag, graph);
    return std::make_unique<TimedNeighborhood>(std::move(place), std::move(graph), std::move(link),
                                               std::move(all_arcs));
  }
  return std::make_unique<SimulatedNeighborhood>(std::move(place), std::move(graph), std::move(link), comm, tag);
}

}  // namespace merganser::comm::detail
