#pragma once
/// Mailbox, Stream, Segment and Plan over a Link, for every backend that sends messages.
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

/// Context of a Mailbox, Stream, Segment or Plan: this rank, the counters that its operations add to, and its name in
/// errors.
struct Place {
  int rank = 0;                                   ///< this rank in the transport
  Counters* counters = nullptr;                   ///< operation counts of the transport
  TrafficCount* traffic = nullptr;                ///< counts by peer of the transport; null: not counted by peer
  std::shared_ptr<const LivenessToken> liveness;  ///< token of the transport that the counts belong to
  std::string name;  ///< name of the object, "Mailbox 3": numbered in the order of creation, alike on every rank

  /// Returns the beginning of the description of a wait in the object, for errors: "rank 1 in Mailbox 3".
  [[nodiscard]] std::string to_string() const { return "rank " + std::to_string(rank) + " in " + name; }
  /// Counts `operations` communication operations of the object that move `bytes` bytes together.
  /// @param peer  traffic counts with the other rank; null: not counted by peer
  void count(Move move, std::size_t bytes, PeerTraffic* peer, std::size_t operations = 1) const;
};

/// Returns "from ranks 0 3" for the marked ones of a list of neighbours, "" if none is marked; for descriptions of waits.
[[nodiscard]] std::string marked_ranks(std::span<const int> ranks, std::span<const std::uint8_t> marks);

/// Returns the addresses of this rank's traffic counts with each rank of a list of neighbours; null pointers where nothing is
/// counted by peer.
[[nodiscard]] std::vector<PeerTraffic*> find_peers(const Place& place, std::span<const int> ranks);

/// Validates the marks of Mailbox::step() along some arcs. @throws CommError unless there is one mark per arc of the graph
/// and the outboxes of arcs that are not active are empty
void check_wave(const Graph& graph, const std::vector<Bytes>& outbox, std::span<const std::uint8_t> active_out,
                std::span<const std::uint8_t> active_in);

/// Mailbox over a Link. A message of a neighbour's later step may arrive early; it is kept until this rank makes that
/// step.
class MessageMailbox : public Mailbox {
 public:
  /// Makes a Mailbox whose waves are messages of `link`, which has the arcs of `graph`. Local.
  MessageMailbox(Place place, Graph graph, std::unique_ptr<Link> link);
  void check_usable() const override { place_.liveness->check("Mailbox"); }

 protected:
  void step_all() override;
  void step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) override;

  /// Counts the wave of a Mailbox over all arcs and its messages, before they are sent.
  void count_wave() { count_wave(all_out_); }
  /// Clears the outboxes of all arcs after a Mailbox wave; their memory is kept.
  void empty_outboxes();
  /// Moves the message that this rank sends to itself in a Mailbox wave from its outbox to its inbox.
  void deliver_self();

  Place place_;
  std::size_t self_out_;  // out-arc of this rank to itself, ArcIndex::kNone without one
  std::size_t self_in_;   // in-arc of this rank from itself, ArcIndex::kNone without one

 private:
  std::vector<PeerTraffic*> peers_;  // per out-arc: traffic counts with that rank

  /// Counts a wave of the Mailbox over the active out-arcs and its messages, before they are sent.
  void count_wave(std::span<const std::uint8_t> active_out);
  void start(std::span<const std::uint8_t> active_out);
  void await(std::span<const std::uint8_t> active_in);
  [[nodiscard]] std::string describe_wait() const;

  std::unique_ptr<Link> link_;
  std::vector<std::vector<Bytes>> early_;  // per in-arc: messages of later steps; an empty deque would take 0.6 kB
  std::vector<std::uint8_t> waiting_;      // per in-arc: 1 if the message of this step has not arrived
  std::uint64_t steps_ = 0;                // number of the current step, from 1
  std::size_t expected_ = 0;               // number of messages of this step
  std::vector<std::uint8_t> all_out_;      // per out-arc: 1, the marks of a step along all arcs
  std::vector<std::uint8_t> all_in_;       // per in-arc: 1, the marks of a step along all arcs
  Bytes buffer_;                           // message being received
};

/// Stream over a Link: records of an arc are buffered and sent in messages, each with the round and the record count.
class MessageStream : public Stream {
 public:
  /// Makes a Stream whose records are sent in messages of `link`, which has the arcs of `graph`. Local.
  MessageStream(Place place, Graph graph, std::unique_ptr<Link> link);

  void open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) override;
  void send(std::size_t arc, std::size_t slot, std::uint32_t value) override;
  std::size_t take(const Take& callback) override;
  void wait() override;
  void finish() override;
  void check_usable() const override { place_.liveness->check("Stream"); }

 protected:
  /// Record of a Stream as sent in a message.
  struct Record {
    std::uint32_t slot;   // slot of the record on its arc
    std::uint32_t value;  // value of the record
  };
  /// Message with records of a Stream that has arrived along an in-arc.
  struct Arrival {
    std::size_t arc;  // the in-arc
    Bytes message;    // header and records
  };
  /// State of one arc of a Stream in the current round. Both ends number the rounds in which the arc carries records, since a rank
  /// without records may omit a round; so the numbers agree although ranks may have opened different numbers of rounds.
  struct Arc {
    std::uint32_t round = 0;  // number of the current round, from 1
    std::size_t count = 0;    // records of the round
    std::size_t left = 0;     // of them, those not sent or not taken
  };

  /// Validates a record that this rank sends on the Stream and counts it. @throws CommError outside of a round, or for an arc or
  /// slot beyond the round's counts
  void check_send(std::size_t arc, std::size_t slot);
  /// Throws CommError: the sender of an in-arc has another count of records for the round than this rank expects.
  [[noreturn]] void throw_other_count(std::size_t arc, std::size_t count) const;
  /// Buffers a record of the Stream for the next message along out-arc `arc`.
  void post(std::size_t arc, Record record);
  /// Sends the buffered records of the Stream's out-arcs, one message per arc.
  void flush_all();
  /// Moves messages that have arrived over the Link to the queue of this Stream, until those of the round are complete there; returns
  /// true if one had arrived.
  bool collect();
  /// Moves a message that has arrived over the Link to the queue of this Stream; returns true if one had arrived.
  bool collect_one();
  /// Passes the records of queued messages of the round, and those of this rank to itself, to the callback.
  void deliver(const Take& callback);
  /// Returns true if records of the Stream have arrived that no callback has received yet.
  [[nodiscard]] bool something_queued() const { return !arrived_.empty() || !own_.empty(); }
  /// Describes a wait for records of the round, by sender, for the error of a wait that exceeds its limit.
  [[nodiscard]] std::string describe_wait() const;

  Place place_;
  std::vector<PeerTraffic*> peers_;  // per out-arc: traffic counts with that rank
  std::size_t self_out_;             // out-arc of this rank to itself, ArcIndex::kNone without one
  std::size_t self_in_;              // in-arc of this rank from itself, ArcIndex::kNone without one
  std::unique_ptr<Link> link_;
  std::vector<Arc> out_;    // per out-arc: its state in the round
  std::vector<Arc> in_;     // per in-arc: its state in the round
  std::size_t left_ = 0;    // records of the round not taken, over all in-arcs
  std::size_t queued_ = 0;  // of them, those in arrived_
  bool open_ = false;       // between open() and finish()

 private:
  /// Sends the buffered records of one out-arc of the Stream as a message.
  void flush(std::size_t arc);
  /// Passes the records of one arrived message of the current round to the callback.
  void deliver(const Arrival& arrival, const Take& callback);
  /// Returns the number of records in a message of a Stream.
  [[nodiscard]] static std::size_t records_in(const Bytes& message);
  /// Returns true if a message of the Stream belongs to the current round of its in-arc.
  [[nodiscard]] bool is_of_this_round(const Arrival& arrival) const;
  /// Recycles the buffers of the Stream's messages that the Link has sent.
  void reclaim();

  std::vector<Bytes> held_;      // per out-arc: records not sent yet, behind their header
  std::vector<Bytes> flying_;    // messages being sent, which the Link still reads
  std::vector<Bytes> spare_;     // empty buffers, to be reused with their capacity
  std::vector<Record> own_;      // records of this rank to itself
  std::deque<Arrival> arrived_;  // messages not passed to a callback yet
  std::deque<Arrival> later_;    // of a round not opened here yet
};

/// Parts of a Segment over messages, made collectively by MessageTransport::segment_body(): the mailboxes of its operations and
/// replies, and the sizes of the neighbours' memory.
struct SegmentLogs {
  std::unique_ptr<Mailbox> forward;   ///< sends the logs of put, get and fetch_or to their targets
  std::unique_ptr<Mailbox> backward;  ///< sends the replies to gets and fetch_ors back, on the reversed graph
  std::shared_ptr<Counters> scratch;  ///< operation counts of the two mailboxes, kept apart from those of the program
  std::vector<std::size_t> remote_words;  ///< per out-neighbour: number of its words
  std::function<bool(bool)> any;          ///< logical OR over all ranks, for sync_any(); collective
};
/// Makes a Segment over messages of mailboxes, with `memory` as the words of this rank. Local; the process graph is that of the
/// mailboxes.
[[nodiscard]] std::unique_ptr<SegmentBody> message_segment(Place place, SegmentLogs logs, std::size_t words,
                                                           std::size_t word_bytes, Bytes memory);

/// Makes a Plan (repeated ghost exchange) over messages. Local; both ends of every arc have checked pattern and
/// options.
[[nodiscard]] std::unique_ptr<Plan> message_plan(Place place, Graph graph, std::unique_ptr<Link> link, Pattern pattern,
                                                 PlanOptions options);

/// Validates the range of words of an operation on a Segment at `rank`, which has `words` words. @throws CommError unless index to
/// index + count - 1 are below `words`
void check_words(int rank, std::size_t index, std::size_t count, std::size_t words);
/// Throws CommError for an operation on a Segment: `rank` is no out-neighbour of the rank `here`.
[[noreturn]] void throw_no_neighbour(int rank, int here);

/// Returns the position of `rank` in a list of neighbours, ArcIndex::kNone if it is not there. O(n); ArcIndex is for repeated use.
[[nodiscard]] std::size_t position(std::span<const int> ranks, int rank);

}  // namespace merganser::comm::detail
