#pragma once
/// The four objects over a Link. They serve every backend that moves messages, whatever carries them.
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/life.hpp"
#include "src/comm/detail/link.hpp"

namespace merganser::comm::detail {

/// Where an object is: its rank, the counts it adds to, and what it is called in messages to people.
struct Place {
  int rank = 0;
  Counters* counters = nullptr;
  TrafficCount* traffic = nullptr;   ///< null: not counted by peer
  std::shared_ptr<const Life> life;  ///< of the transport that the counts belong to
  std::string name;                  ///< "Mailbox 3": numbered in the order of creation, alike on every rank

  /// "rank 1 in Mailbox 3": how the description of a wait begins.
  [[nodiscard]] std::string text() const { return "rank " + std::to_string(rank) + " in " + name; }
  /// Counts operations that move so many bytes together. @param peer  with whom; null: not counted by peer
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
  void check_usable() const override { place_.life->check("Mailbox"); }

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
  void check_usable() const override { place_.life->check("Stream"); }

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

/// Puts, gets and fetch_ors are logged per neighbour and travel at sync; owners answer in a second wave of the asked.
class MessageSegment : public SegmentBody {
 public:
  struct Parts {
    std::unique_ptr<Mailbox> forward;       ///< logs
    std::unique_ptr<Mailbox> backward;      ///< answers, on the reversed graph
    std::shared_ptr<Counters> scratch;      ///< what the mailboxes count in
    std::vector<std::size_t> remote_words;  ///< words of each out-neighbour
    std::function<bool(bool)> any;          ///< logical OR over all ranks
  };
  MessageSegment(Place place, Parts parts, std::size_t words, std::size_t word_bytes, Bytes memory);

  void check_usable() const override { place_.life->check("Segment"); }
  [[nodiscard]] std::byte* local() override {
    check_usable();
    return memory_.data();
  }
  void put(int rank, std::size_t index, const void* word) override;
  void get(int rank, std::size_t index, std::size_t count, void* to) override;
  void fetch_or(int rank, std::size_t index, const void* word, void* old) override;
  void sync() override;
  bool sync_any(bool mine) override;

 private:
  struct Wanted {
    void* to;
    std::size_t bytes;
  };
  enum Kind : std::uint64_t { kPut, kGet, kOr };
  struct Entry {
    std::uint64_t index_and_kind;
    std::uint64_t operand;
  };

  std::size_t arc(int rank, std::size_t index, std::size_t count) const;
  void log(std::size_t arc, Kind kind, std::size_t index, std::uint64_t operand);
  [[nodiscard]] std::byte* word(std::size_t index) { return memory_.data() + index * word_bytes_; }
  void apply_or(std::size_t index, const void* operand, void* old);
  void apply_logs();
  void collect_answers();

  Place place_;
  Parts parts_;
  std::vector<PeerTraffic*> out_peers_;  // per out-arc
  std::vector<PeerTraffic*> in_peers_;   // per in-arc
  ArcOf out_arc_;
  std::size_t words_;
  std::size_t word_bytes_;
  Bytes memory_;
  std::vector<std::vector<Wanted>> wanted_;  // per out-arc, in log order
  std::vector<std::uint8_t> asked_;          // per out-arc
  std::vector<std::uint8_t> answers_;        // per in-arc
};

class MessagePlan : public Plan {
 public:
  MessagePlan(Place place, Graph graph, std::unique_ptr<Link> link, Pattern pattern, PlanOptions options);
  void pull(std::span<const std::byte> local, const Use& use) override;

 private:
  struct Arriving {
    std::size_t next = 0;      // first element of the next chunk
    std::vector<Bytes> early;  // of the next pull
  };
  void gather(std::size_t arc, std::size_t first, std::span<const std::byte> local, Bytes& to) const;
  void own(std::span<const std::byte> local, const Use& use);
  void start_stage(std::size_t stage, std::span<const std::byte> local);
  void hand_over(std::size_t arc, const Bytes& chunk, const Use& use);
  [[nodiscard]] std::string missing() const;

  Place place_;
  Graph graph_;
  std::vector<PeerTraffic*> peers_;  // per out-arc
  std::unique_ptr<Link> link_;
  Pattern pattern_;
  PlanOptions options_;
  std::size_t self_out_;
  std::size_t stages_ = 0;
  std::size_t highest_ = 0;              // largest element index asked of this rank, plus one
  std::vector<std::vector<Bytes>> out_;  // [stage % 2][out-arc]
  std::vector<Arriving> in_;
  std::size_t left_ = 0;  // elements still to come in this pull
  std::uint64_t pulls_ = 0;
  Bytes buffer_;
};

/// @throws CommError unless words index .. index + count - 1 are among `words`
void check_words(int rank, std::size_t index, std::size_t count, std::size_t words);
[[noreturn]] void throw_no_neighbour(int rank, int here);

/// Position of `rank` in a list, or ArcOf::kNone.
[[nodiscard]] std::size_t position(std::span<const int> ranks, int rank);

}  // namespace merganser::comm::detail
