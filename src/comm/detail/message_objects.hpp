#pragma once
/// The four objects over a Link. They serve every backend that moves messages, whatever carries them.
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/link.hpp"
#include "src/comm/detail/liveness.hpp"

namespace merganser::comm::detail {

/// Where an object is: its rank, the counts it adds to, and what it is called in messages to people.
struct Place {
  int rank = 0;
  Counters* counters = nullptr;
  TrafficCount* traffic = nullptr;                ///< null: not counted by peer
  std::shared_ptr<const LivenessToken> liveness;  ///< of the transport that the counts belong to
  std::string name;  ///< "Mailbox 3": numbered in the order of creation, alike on every rank

  /// "rank 1 in Mailbox 3": how the description of a wait begins.
  [[nodiscard]] std::string text() const { return "rank " + std::to_string(rank) + " in " + name; }
  /// Counts operations that move so many bytes together. @param peer  the other rank; null: not counted by peer
  void count(Move move, std::size_t bytes, PeerTraffic* peer, std::size_t operations = 1) const;
};

/// "from ranks 0 3" for those marked; "" if none is. For descriptions of waits.
[[nodiscard]] std::string marked_ranks(std::span<const int> ranks, std::span<const std::uint8_t> marks);

/// The counts of every neighbour in a list of ranks; null where nothing is counted by peer.
[[nodiscard]] std::vector<PeerTraffic*> peers_of(const Place& place, std::span<const int> ranks);

/// @throws CommError unless the marks fit the graph and only active arcs have something in their outbox
void check_wave(const Graph& graph, const std::vector<Bytes>& outbox, std::span<const std::uint8_t> active_out,
                std::span<const std::uint8_t> active_in);

class MessageMailbox : public Mailbox {
 public:
  MessageMailbox(Place place, Graph graph, std::unique_ptr<Link> link);
  void check_usable() const override { place_.liveness->check("Mailbox"); }

 protected:
  void step_all() override;
  void step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) override;

  /// Counts the messages of a wave over all arcs.
  void count_wave() { count_wave(all_out_); }
  void empty_outboxes();
  /// Hands the outbox of a rank's arc to itself over to its inbox.
  void deliver_self();

  Place place_;
  std::size_t self_out_;
  std::size_t self_in_;

 private:
  std::vector<PeerTraffic*> peers_;  // per out-arc

  void count_wave(std::span<const std::uint8_t> active_out);
  void start(std::span<const std::uint8_t> active_out);
  void await(std::span<const std::uint8_t> active_in);
  [[nodiscard]] std::string missing() const;

  std::unique_ptr<Link> link_;
  std::vector<std::vector<Bytes>> early_;  // of a neighbour that is ahead; an empty deque would have 0.6 kB
  std::vector<std::uint8_t> waiting_;
  std::uint64_t steps_ = 0;
  std::size_t expected_ = 0;  // messages of this step
  std::vector<std::uint8_t> all_out_;
  std::vector<std::uint8_t> all_in_;
  Bytes buffer_;
};

class MessageStream : public Stream {
 public:
  MessageStream(Place place, Graph graph, std::unique_ptr<Link> link);

  void open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) override;
  void send(std::size_t arc, std::size_t slot, std::uint32_t value) override;
  std::size_t take(const Take& callback) override;
  void wait() override;
  void finish() override;
  void check_usable() const override { place_.liveness->check("Stream"); }

 protected:
  struct Record {
    std::uint32_t slot;
    std::uint32_t value;
  };
  struct Arrival {
    std::size_t arc;
    Bytes message;
  };
  /// Both ends number the rounds in which an arc carries records, since a rank without records may leave one out.
  struct Arc {
    std::uint32_t round = 0;
    std::size_t count = 0;
    std::size_t left = 0;
  };

  void check_send(std::size_t arc, std::size_t slot);
  [[noreturn]] void throw_other_count(std::size_t arc, std::size_t count) const;
  /// Queues a record for the next message along `arc`.
  void post(std::size_t arc, Record record);
  /// Sends what is queued.
  void ship_all();
  /// Moves arrived messages to the queue; true if there was one.
  bool collect();
  /// Hands over queued messages and records to this rank itself.
  void hand_over(const Take& callback);
  [[nodiscard]] bool something_queued() const { return !arrived_.empty() || !own_.empty(); }
  [[nodiscard]] std::string missing() const;

  Place place_;
  std::vector<PeerTraffic*> peers_;  // per out-arc
  std::size_t self_out_;
  std::size_t self_in_;
  std::unique_ptr<Link> link_;
  std::vector<Arc> out_;
  std::vector<Arc> in_;
  std::size_t left_ = 0;
  bool open_ = false;

 private:
  void ship(std::size_t arc);
  void hand_over(const Arrival& arrival, const Take& callback);
  void reclaim();

  std::vector<Bytes> held_;    // per out-arc: records not sent yet, behind their header
  std::vector<Bytes> flying_;  // being sent
  std::vector<Bytes> spare_;
  std::vector<Record> own_;
  std::deque<Arrival> arrived_;
  std::deque<Arrival> later_;  // of a round not opened here yet
};

/// What a Segment of messages is made of.
struct SegmentLogs {
  std::unique_ptr<Mailbox> forward;       ///< logs
  std::unique_ptr<Mailbox> backward;      ///< answers, on the reversed graph
  std::shared_ptr<Counters> scratch;      ///< what the mailboxes count in
  std::vector<std::size_t> remote_words;  ///< words of each out-neighbour
  std::function<bool(bool)> any;          ///< logical OR over all ranks
};
[[nodiscard]] std::unique_ptr<SegmentBody> message_segment(Place place, SegmentLogs logs, std::size_t words,
                                                           std::size_t word_bytes, Bytes memory);

[[nodiscard]] std::unique_ptr<Plan> message_plan(Place place, Graph graph, std::unique_ptr<Link> link, Pattern pattern,
                                                 PlanOptions options);

/// @throws CommError unless words index .. index + count - 1 are among `words`
void check_words(int rank, std::size_t index, std::size_t count, std::size_t words);
[[noreturn]] void throw_no_neighbour(int rank, int here);

/// Position of `rank` in a list, or ArcOf::kNone.
[[nodiscard]] std::size_t position(std::span<const int> ranks, int rank);

}  // namespace merganser::comm::detail
