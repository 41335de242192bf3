// Messages between simulated ranks as transfers in the simulated network, received in the order of sending along each arc.
#include "src/comm/simulated/wire.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <simulate/costs.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/comm/backends/mpi/library.hpp"
#include "src/comm/backends/mpi/simulated.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/simulated/network.hpp"

namespace merganser::comm::detail {
namespace {

/// Size in bytes of a piece of a timed message, equal to that of messages over SMPI.
constexpr std::size_t kTimedPiece = std::size_t{64} << 10;

struct Sending;

/// Timed message between simulated ranks, in transit, or arrived and not received.
struct Packet {
  int from;                      // sender, rank of the communicator
  std::uint32_t number;          // number of the message among those along its arc
  Bytes text;                    // bytes of the message
  std::size_t pieces_left;       // pieces of the message that have not arrived
  double arrived = 0;            // simulated date of arrival, s
  std::shared_ptr<Sending> arc;  // sending end of the message's arc, while in transit
};

/// Free list of timed messages of all simulated ranks, short ones with their memory, since a simulation sends millions.
class SparePackets {
 public:
  /// Returns a timed message object of the free list, or a new one.
  static std::unique_ptr<Packet> acquire() {
    if (all().empty()) return std::make_unique<Packet>();
    auto packet = std::move(all().back());
    all().pop_back();
    return packet;
  }
  /// Puts a message object into the free list, without its memory if that is long.
  static void release(std::unique_ptr<Packet> packet) {
    constexpr std::size_t kShort = 512;
    if (packet->text.capacity() > kShort) packet->text = Bytes();
    packet->arc = nullptr;
    all().push_back(std::move(packet));
  }

 private:
  static std::vector<std::unique_ptr<Packet>>& all() {
    static std::vector<std::unique_ptr<Packet>> packets;
    return packets;
  }
};

/// Queue of timed messages that have arrived for a simulated rank over a link.
struct Inbox {
  std::vector<std::unique_ptr<Packet>> packets;  // in the order of arrival; null at the front where received
  std::size_t taken = 0;                         // number of messages received, at the front
  std::size_t wanted = 1;                        // number of messages at which the rank is notified

  [[nodiscard]] std::size_t size() const { return packets.size() - taken; }
  [[nodiscard]] bool empty() const { return taken == packets.size(); }
  /// Returns the message that arrived first and removes it from the queue, which must not be empty.
  [[nodiscard]] std::unique_ptr<Packet> pop() {
    auto packet = std::move(packets[taken++]);
    if (empty()) {
      packets.clear();
      taken = 0;
    }
    return packet;
  }
};

/// Inboxes of the links of all simulated ranks, by tag of the link and rank of the world. An inbox exists from its first use by
/// either end until the receiver's link is destroyed.
class Inboxes {
 public:
  /// Returns the inbox of a simulated rank for a link, made where it is missing.
  static std::shared_ptr<Inbox> find(int tag, int rank) {
    auto& inbox = all()[key(tag, rank)];
    if (inbox == nullptr) inbox = std::make_shared<Inbox>();
    return inbox;
  }
  static void erase(int tag, int rank) { all().erase(key(tag, rank)); }

 private:
  static std::uint64_t key(int tag, int rank) {
    return (static_cast<std::uint64_t>(tag) << 32) | static_cast<std::uint32_t>(rank);
  }
  static std::unordered_map<std::uint64_t, std::shared_ptr<Inbox>>& all() {
    static std::unordered_map<std::uint64_t, std::shared_ptr<Inbox>> inboxes;
    return inboxes;
  }
};

/// Sending end of an arc of a timed link. Messages enter the inbox in the order in which they were sent, though a short one may
/// arrive first.
struct Sending {
  int from;                                    // sender, rank of the world
  int to;                                      // receiver, rank of the world
  std::shared_ptr<Inbox> inbox;                // of the receiver; null before the first message
  std::uint32_t sent = 0;                      // number of messages sent
  std::uint32_t delivered = 0;                 // number of messages put into the inbox
  std::vector<std::unique_ptr<Packet>> early;  // messages that have arrived before their predecessors

  /// Puts an arrived message, and those that waited for it, into the receiver's inbox; notifies the receiver.
  void deliver(std::unique_ptr<Packet> packet) {
    packet->arrived = simulated_now();
    const bool due = packet->number == delivered;
    if (due) {
      inbox->packets.push_back(std::move(packet));
      ++delivered;
    } else {
      early.push_back(std::move(packet));
    }
    for (bool found = due && !early.empty(); found;) {
      found = false;
      for (auto& one : early) {
        if (one->number != delivered) continue;
        inbox->packets.push_back(std::move(one));
        std::swap(one, early.back());
        early.pop_back();
        ++delivered;
        found = true;
        break;
      }
    }
    if (inbox->size() >= inbox->wanted) notify_rank(to);
  }
};

/// Starts the transfer of the next piece of a timed message at a date; its arrival starts the piece after it, that of the last
/// piece delivers the message.
void start_piece(Packet* packet, double date) {
  const std::size_t last = packet->text.size() % kTimedPiece;
  const auto arrived = [](void* what) {
    auto* const its = static_cast<Packet*>(what);
    if (--its->pieces_left > 0) return start_piece(its, simulated_now());
    const auto arc = std::move(its->arc);
    arc->deliver(std::unique_ptr<Packet>(its));
  };
  SimulatedNetwork::get().send(packet->arc->from, packet->arc->to, packet->pieces_left == 1 ? last : kTimedPiece, date,
                               arrived, packet);
}

/// Link of a simulated rank whose messages are timers in the simulated network.
class TimedLink final : public Link {
 public:
  TimedLink(MPI_Comm comm, int tag, const Graph& graph)
      : tag_(tag), rank_(rank_in(comm)), world_rank_(simulated_world().rank), in_(graph.in) {
    const std::vector<int> to = world_ranks(comm, graph.out);
    in_world_ = world_ranks(comm, graph.in);
    for (const int r : to) out_.push_back(std::make_shared<Sending>(Sending{world_rank_, r, nullptr, 0, 0, {}}));
    if (!graph.in.empty()) inbox_ = Inboxes::find(tag, world_rank_);
    SimulatedNetwork::get();
  }
  ~TimedLink() override {
    if (inbox_ != nullptr) Inboxes::erase(tag_, world_rank_);
  }

  /// Copies a message and starts its transfer along out-arc `arc`, after the sender's overhead on this rank's own clock.
  void send(std::size_t arc, std::span<const std::byte> message) override {
    auto& to = out_[arc];
    if (to->inbox == nullptr) to->inbox = Inboxes::find(tag_, to->to);
    const std::size_t pieces = message.size() / kTimedPiece + 1;
    auto packet = SparePackets::acquire();
    packet->from = rank_;
    packet->number = to->sent++;
    packet->text.assign(message.begin(), message.end());
    packet->pieces_left = pieces;
    packet->arc = to;
    const simulated::Call call;
    const double overhead = SimulatedNetwork::get().way(world_rank_, to->to).overhead_s;
    begin(simulated_now());
    spend(overhead);
    start_piece(packet.release(), clock_);
    spend(overhead * static_cast<double>(pieces - 1));
    if (message.size() >= kLong) wait_for_clock();
  }
  /// Returns true, since send() copies messages; ends a burst, so that this rank waits for its own clock.
  [[nodiscard]] bool sent() override {
    expected_ = 0;
    wait_for_clock();
    return true;
  }

  /// Moves the message that arrived first into `message` and returns its in-arc; adds the receiver's overhead to the clock.
  [[nodiscard]] std::optional<std::size_t> receive(std::vector<std::byte>& message) override {
    if (expected_ == 0) wait_for_clock();
    if (inbox_ == nullptr || inbox_->empty()) return std::nullopt;
    const simulated::Call call;
    auto packet = inbox_->pop();
    const std::size_t arc = in_(packet->from);
    begin(expected_ == 0 ? simulated_now() : packet->arrived);
    spend(SimulatedNetwork::get().way(in_world_[arc], world_rank_).overhead_s);
    if (expected_ == 0) wait_for_clock();
    message.swap(packet->text);
    SparePackets::release(std::move(packet));
    return arc;
  }

  /// Begins a burst: overheads of up to `messages` receives are added up, with one wait at the end.
  void expect(std::size_t messages) override {
    if (noisy_) return;
    if (expected_ == 0) begin(simulated_now());
    expected_ = messages;
  }

  /// Blocks this simulated rank until as many messages have arrived as expect() has announced, at least one.
  void idle(Waiter&) override {
    const std::size_t wanted = std::max<std::size_t>(expected_, 1);
    if (inbox_ != nullptr) {
      if (inbox_->size() >= wanted) return;
      inbox_->wanted = wanted;
    }
    const simulated::Call call;
    wait_for_notification(world_rank_);
  }

 private:
  /// Length in bytes from which a message is sent with a wait of its own instead of in a burst.
  static constexpr std::size_t kLong = 16384;

  /// Advances this simulated rank's own clock to a date. The clock may be ahead of the simulator's: the overheads of a burst of
  /// messages are added up without simulated waits, and one wait follows at the end. Messages received in a burst are taken in the
  /// order of arrival, each at the date of its arrival at the earliest.
  void begin(double date) { clock_ = std::max(clock_, date); }
  /// Adds busy time, in seconds, to this simulated rank's own clock.
  void spend(double seconds) {
    clock_ += seconds;
    if (noisy_) wait_for_clock();
  }
  /// Blocks this simulated rank until the simulator's clock has reached the rank's own.
  void wait_for_clock() { simulated_sleep_until(world_rank_, clock_); }

  int tag_;                              // tag of the link, the same at both ends
  int rank_;                             // this rank in the communicator
  int world_rank_;                       // this rank in the world
  bool noisy_ = simulated::has_noise();  // noise may delay each call, so bursts are not combined
  double clock_ = 0;                     // date until which this rank is busy, s
  std::size_t expected_ = 0;             // messages of a burst; 0: the caller may do something else after any call
  ArcIndex in_;                          // from sending rank of the communicator to in-arc
  std::vector<int> in_world_;            // per in-arc: sender, rank of the world
  std::shared_ptr<Inbox> inbox_;         // of this rank; null without in-arcs
  std::vector<std::shared_ptr<Sending>> out_;  // per out-arc
};

}  // namespace

std::unique_ptr<Link> timed_link(MPI_Comm comm, int tag, const Graph& graph) {
  return std::make_unique<TimedLink>(comm, tag, graph);
}

}  // namespace merganser::comm::detail
