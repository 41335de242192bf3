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

/// Pieces of messages, as in link.cpp.
constexpr std::size_t kTimedPiece = std::size_t{64} << 10;

struct Sending;

struct Packet {
  int from;  // rank of the communicator
  std::uint32_t number;
  Bytes text;
  std::size_t pieces_left;
  double arrived = 0;
  std::shared_ptr<Sending> arc;
};

/// Packets that have been taken, short ones with their memory: there are millions.
class SparePackets {
 public:
  static std::unique_ptr<Packet> take() {
    if (all().empty()) return std::make_unique<Packet>();
    auto packet = std::move(all().back());
    all().pop_back();
    return packet;
  }
  static void give(std::unique_ptr<Packet> packet) {
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

/// What has come for a rank over a link and has not been taken.
struct Inbox {
  std::vector<std::unique_ptr<Packet>> packets;
  std::size_t taken = 0;   // of the packets
  std::size_t wanted = 1;  // the bell is rung when so many are there

  [[nodiscard]] std::size_t size() const { return packets.size() - taken; }
  [[nodiscard]] bool empty() const { return taken == packets.size(); }
  [[nodiscard]] std::unique_ptr<Packet> take() {
    auto packet = std::move(packets[taken++]);
    if (empty()) {
      packets.clear();
      taken = 0;
    }
    return packet;
  }
};

/// By tag and rank of the world. There from when either end first needs it until the receiving one goes.
class Inboxes {
 public:
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

/// The sending end of an arc. Packets are handed over in the order in which they were sent.
struct Sending {
  int from;
  int to;  // ranks of the world
  std::shared_ptr<Inbox> inbox;
  std::uint32_t sent = 0;
  std::uint32_t delivered = 0;
  std::vector<std::unique_ptr<Packet>> early;

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
    if (inbox->size() >= inbox->wanted) ring_bell(to);
  }
};

/// A piece of a packet begins its way at a date, and the next one when it is there.
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

  void send(std::size_t arc, std::span<const std::byte> message) override {
    auto& to = out_[arc];
    if (to->inbox == nullptr) to->inbox = Inboxes::find(tag_, to->to);
    const std::size_t pieces = message.size() / kTimedPiece + 1;
    auto packet = SparePackets::take();
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
  /// It has been copied.
  [[nodiscard]] bool sent() override {
    expected_ = 0;
    wait_for_clock();
    return true;
  }

  [[nodiscard]] std::optional<std::size_t> receive(std::vector<std::byte>& message) override {
    if (expected_ == 0) wait_for_clock();
    if (inbox_ == nullptr || inbox_->empty()) return std::nullopt;
    const simulated::Call call;
    auto packet = inbox_->take();
    const std::size_t arc = in_(packet->from);
    begin(expected_ == 0 ? simulated_now() : packet->arrived);
    spend(SimulatedNetwork::get().way(in_world_[arc], world_rank_).overhead_s);
    if (expected_ == 0) wait_for_clock();
    message.swap(packet->text);
    SparePackets::give(std::move(packet));
    return arc;
  }

  void expect(std::size_t messages) override {
    if (noisy_) return;
    if (expected_ == 0) begin(simulated_now());
    expected_ = messages;
  }

  void idle(Waiter&) override {
    const std::size_t wanted = std::max<std::size_t>(expected_, 1);
    if (inbox_ != nullptr) {
      if (inbox_->size() >= wanted) return;
      inbox_->wanted = wanted;
    }
    const simulated::Call call;
    wait_for_bell(world_rank_);
  }

 private:
  /// Of a message that goes by itself instead of in a burst.
  static constexpr std::size_t kLong = 16384;

  /// This rank's own clock may be ahead of the simulator's: of a burst of messages it knows what they take without waiting for
  /// it, and it waits once. What it takes in a burst it takes in the order of coming, each when it was there.
  void begin(double date) { clock_ = std::max(clock_, date); }
  void spend(double seconds) {
    clock_ += seconds;
    if (noisy_) wait_for_clock();
  }
  void wait_for_clock() { simulated_sleep_until(world_rank_, clock_); }

  int tag_;
  int rank_;
  int world_rank_;
  bool noisy_ = simulated::has_noise();  // it may strike in each call
  double clock_ = 0;
  std::size_t expected_ = 0;  // 0: the caller may do something else after any call
  ArcOf in_;
  std::vector<int> in_world_;
  std::shared_ptr<Inbox> inbox_;  // null: no arc leads here
  std::vector<std::shared_ptr<Sending>> out_;
};

}  // namespace

std::unique_ptr<Link> timed_link(MPI_Comm comm, int tag, const Graph& graph) {
  return std::make_unique<TimedLink>(comm, tag, graph);
}

}  // namespace merganser::comm::detail
