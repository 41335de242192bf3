#pragma once
/// The communication contract: what algorithms see of a machine.
///
/// A Transport makes four objects. Mailbox: one message of any size per arc and step. Segment: words of memory that
/// neighbours put into and get from, in phases. Stream: a known number of small records per arc, single assignment.
/// Plan: a ghost pattern known on both sides. Every backend makes all four; docs/communication.md compares them.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/traffic.hpp"

namespace merganser::comm {

namespace detail {
class Decorator;
}

/// Directed process graph as one rank sees it. The position of a rank in a list is the number of its arc.
/// Ranks are distinct within a list; a rank may be its own neighbour.
struct Graph {
  std::vector<int> out;  ///< ranks this rank sends to
  std::vector<int> in;   ///< ranks this rank receives from

  /// Graph in which every neighbour both sends and receives: arc i leads to and comes from neighbours[i].
  static Graph symmetric(std::vector<int> neighbours) { return {neighbours, std::move(neighbours)}; }
};

/// What a rank has sent, put, got and waited for. Cheap, always on. Counts of this rank only. What a rank sends to,
/// puts to or gets from itself is not counted, but for `records`. A fetch_or counts as a put and a get.
struct Counters {
  std::int64_t messages = 0;     ///< two-sided messages sent (not empty)
  std::int64_t bytes = 0;        ///< payload bytes sent or put
  std::int64_t waves = 0;        ///< neighbour waves taken part in (Mailbox steps)
  std::int64_t puts = 0;         ///< one-sided puts of payload words (Segment, Stream)
  std::int64_t gets = 0;         ///< one-sided gets of payload words
  std::int64_t bytes_got = 0;    ///< payload bytes that these gets read; not part of `bytes`
  std::int64_t records = 0;      ///< Stream records sent, whatever carried them
  std::int64_t syncs = 0;        ///< Segment synchronisations
  std::int64_t epochs = 0;       ///< one-sided access epochs opened
  std::int64_t collectives = 0;  ///< calls that every rank of the transport must make

  Counters& operator+=(const Counters& o);
  friend Counters operator-(Counters a, const Counters& b);
  friend bool operator==(const Counters&, const Counters&) = default;
};

/// One message of any size per arc and step. No collective after it is made.
///
/// This object and the three below belong to the transport that made them. One that outlives it, or the run, may be
/// destroyed; using it throws CommError.
class Mailbox : Pinned {
 public:
  explicit Mailbox(Graph graph) : graph_(std::move(graph)), outbox_(graph_.out.size()), inbox_(graph_.in.size()) {}
  virtual ~Mailbox() = default;

  /// The arcs, as given.
  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }

  /// The message that the next step sends along out-arc `arc`: append to it freely. A step leaves it empty, with its
  /// capacity kept.
  /// @throws CommError if there is no such arc
  [[nodiscard]] std::vector<std::byte>& outbox(std::size_t arc) {
    if (arc >= outbox_.size()) throw_no_arc("out", arc, outbox_.size());
    return outbox_[arc];
  }

  /// Appends one record to the message of out-arc `arc`. @throws CommError if there is no such arc
  template <class T>
  void post(std::size_t arc, const T& record) {
    static_assert(std::is_trivially_copyable_v<T>);
    auto& box = outbox(arc);
    const auto at = box.size();
    box.resize(at + sizeof(T));
    std::memcpy(box.data() + at, &record, sizeof(T));
  }

  /// Appends records to the message of out-arc `arc`. @throws CommError if there is no such arc
  template <class T>
  void post_all(std::size_t arc, std::span<const T> records) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto bytes = std::as_bytes(records);
    auto& box = outbox(arc);
    box.insert(box.end(), bytes.begin(), bytes.end());
  }

  /// Sends the outboxes and waits until one message (perhaps empty) from every in-arc has arrived.
  /// Called by every rank of the graph.
  void step() {
    check_usable();
    step_all();
  }

  /// The same along some arcs only: out-arc i takes part if active_out[i] != 0, in-arc i if active_in[i] != 0. Both
  /// ends of an arc must mark it in the same step of theirs; a rank without active arcs need not call. Outboxes of
  /// arcs that are not active must be empty, their inboxes become empty.
  void step(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) {
    check_usable();
    step_some(active_out, active_in);
  }

  /// The message that in-arc `arc` delivered in the last step; valid until the next step.
  /// @throws CommError if there is no such arc
  [[nodiscard]] std::span<const std::byte> inbox(std::size_t arc) const {
    if (arc >= inbox_.size()) throw_no_arc("in", arc, inbox_.size());
    return inbox_[arc];
  }

  /// The same as records of type T. @throws CommError if the length is no multiple of sizeof(T)
  template <class T>
  [[nodiscard]] std::span<const T> records(std::size_t arc) const {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 16);
    const auto bytes = inbox(arc);
    check_record_size(bytes.size(), sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  /// Refuses work once the transport has ended.
  /// @throws CommError if the transport that made this has ended; step() asks by itself
  virtual void check_usable() const = 0;

 protected:
  virtual void step_all() = 0;
  virtual void step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) = 0;
  static void check_record_size(std::size_t bytes, std::size_t record);
  [[noreturn]] static void throw_no_arc(const char* side, std::size_t arc, std::size_t arcs);

  Graph graph_;
  std::vector<std::vector<std::byte>> outbox_;
  std::vector<std::vector<std::byte>> inbox_;
};

/// How a one-sided backend opens access epochs of a Segment.
enum class Epoch : std::uint8_t {
  lifetime,       ///< one epoch for the lifetime of the segment, operations completed at sync (default)
  per_phase,      ///< one epoch between two syncs, as [frey2025] proposes for future work
  per_operation,  ///< lock, operate, flush, unlock for every word, as [frey2025] measured
};

/// Untyped body of Segment: `words` words of `word_bytes` (4 or 8) bytes on this rank.
class SegmentBody {
 public:
  virtual ~SegmentBody() = default;
  /// Refuses work once the transport has ended. @throws CommError if the transport that made this has ended
  virtual void check_usable() const = 0;
  /// The words of this rank.
  [[nodiscard]] virtual std::byte* local() = 0;
  /// As Segment::put().
  virtual void put(int rank, std::size_t index, const void* word) = 0;
  /// As Segment::get().
  virtual void get(int rank, std::size_t index, std::size_t count, void* to) = 0;
  /// As Segment::fetch_or().
  virtual void fetch_or(int rank, std::size_t index, const void* word, void* old) = 0;
  /// As Segment::sync().
  virtual void sync() = 0;
  /// As Segment::sync_any().
  virtual bool sync_any(bool mine) = 0;
};

/// Words on every rank that neighbours put into and get from, in phases ended by sync().
///
/// Operations take effect some time between their call and the next sync; after sync all are visible to the owner.
/// A get delivers at sync a value from before or during the phase. Equal puts to one word in a phase are fine; reading
/// a local word that is remotely written in the same phase is a bug, which the `checked` decorator finds.
/// `rank` is this rank or an out-neighbour. fetch_or is atomic with respect to fetch_or.
template <class T>
class Segment {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8));

 public:
  /// Made by Transport::segment().
  Segment(std::unique_ptr<SegmentBody> body, std::size_t words) : body_(std::move(body)), words_(words) {}
  /// The words of this rank. Those that others put into may be read after the sync that ends the phase.
  [[nodiscard]] std::span<T> local() { return {reinterpret_cast<T*>(body_->local()), words_}; }
  /// Writes one word of `rank`. @throws CommError for a rank that is neither this one nor an out-neighbour, or has no
  /// such word
  void put(int rank, std::size_t index, T word) { body_->put(rank, index, &word); }
  /// Reads `count` words of `rank` from `index` on into `to`, which is filled by the next sync. @throws CommError as
  /// put()
  void get(int rank, std::size_t index, std::size_t count, T* to) { body_->get(rank, index, count, to); }
  /// Takes the bits of `word` into one word of `rank`; `old` gets what it was before, by the next sync. @throws
  /// CommError as put()
  void fetch_or(int rank, std::size_t index, T word, T* old) { body_->fetch_or(rank, index, &word, old); }
  /// Ends the phase with the neighbours of the graph. Called by every rank of the graph.
  void sync() { body_->sync(); }
  /// Ends the phase with every rank; returns the logical OR of `mine`. Collective.
  bool sync_any(bool mine) { return body_->sync_any(mine); }

 private:
  std::unique_ptr<SegmentBody> body_;
  std::size_t words_;
};

/// Single assignment: in one round every arc delivers a number of records known to both ends, in any grouping and
/// order. A rank knows how much will come, so a round needs no termination detection, barrier or reduction.
///
/// Rounds: open() starts one; it ends on a rank when all its records have been sent and taken. Two rounds must be
/// separated, on every arc that carries records, by a Mailbox step (else a fast sender could overwrite a slot).
/// A record is a value below 2^32; slots on an arc are 0 .. count - 1, each sent once per round.
class Stream : Pinned {
 public:
  explicit Stream(Graph graph) : graph_(std::move(graph)) {}
  virtual ~Stream() = default;

  /// The arcs, as given.
  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }

  /// Gets a record that has arrived.
  using Take = std::function<void(std::size_t arc, std::size_t slot, std::uint32_t value)>;

  /// Starts a round. Local. counts_out[i]: records this rank will send along out-arc i; counts_in[i]: records in-arc i
  /// will deliver. @throws CommError if the round before has not been taken
  virtual void open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) = 0;
  /// Sends a record; it may be held back until take(), wait() or finish().
  virtual void send(std::size_t arc, std::size_t slot, std::uint32_t value) = 0;
  /// Hands over every record that has arrived and not been taken, and lets held-back records go. The callback may
  /// call send(). Returns the number of records still to come in this round. Does not block.
  virtual std::size_t take(const Take& callback) = 0;
  /// Waits until something has arrived (or nothing more is to come), driving progress.
  virtual void wait() = 0;
  /// Completes all sends of this round locally. Call once after the last take(). @throws CommError if records of the
  /// round have not been sent or not been taken
  virtual void finish() = 0;
  /// Refuses work once the transport has ended.
  /// @throws CommError if the transport that made this has ended; the calls above ask by themselves
  virtual void check_usable() const = 0;

 protected:
  Graph graph_;
};

/// Ghost pattern: element indices (into a local array) that each out-neighbour needs, in the order it expects them.
struct Pattern {
  std::vector<std::vector<std::size_t>> out;  ///< per out-arc: local element indices to send
  std::vector<std::size_t> in;                ///< per in-arc: number of elements that will come
};

/// A known ghost exchange, repeated many times.
class Plan : Pinned {
 public:
  virtual ~Plan() = default;
  /// Part of the ghosts of one in-arc: elements first .. first + data.size() / element size.
  struct Chunk {
    std::size_t arc;                  ///< in-arc
    std::size_t first;                ///< position of its first element among those of the arc
    std::span<const std::byte> data;  ///< the elements
  };
  /// Gets a chunk that has arrived; its data is valid until the call returns.
  using Use = std::function<void(const Chunk&)>;
  /// Sends the pattern's elements of `local` and hands over what arrives, chunk by chunk, the next chunk moving while
  /// the callback works. Called by every rank of the graph.
  /// @throws CommError if the pattern sends an element that `local` does not hold
  virtual void pull(std::span<const std::byte> local, const Use& use) = 0;

 protected:
};

/// Reductions. A sum of integers wraps around.
enum class Op : std::uint8_t { sum, min, max };

/// What a model really does: for algorithms that have a choice, for tests and for reports.
struct Capabilities {
  bool one_sided = false;       ///< Segment, Stream and Mailbox are made of remote memory access
  bool subset_waves = true;     ///< Mailbox::step on some arcs uses the backend's own model
  bool sub_transports = false;  ///< Transport::subset works
  bool processes = false;       ///< ranks are processes, not threads
  bool checked = false;         ///< the decorator `checked` is around it: checks that cost time are wanted
};

/// How large a Stream is.
struct StreamOptions {
  std::size_t slots_per_arc = 16384;  ///< records per arc that go the direct way; more go through messages
};
/// How a Plan cuts what it sends.
struct PlanOptions {
  std::size_t element_bytes = 8;      ///< of one element
  std::size_t chunk_elements = 4096;  ///< elements of an arc that travel, and are handed over, together
};

/// An argument that must be uniform across ranks, as a name and a value in text.
struct UniformValue {
  std::string name;
  std::string value;
};

/// One rank's end of a communication model: rank, size, collectives for set-up, and the four objects. Made by run() of
/// runtime.hpp, which hands it to the body of the program and ends it when that returns, or by open() of open.hpp over
/// ranks that run already.
class Transport : Pinned {
 public:
  virtual ~Transport() = default;

  /// Number of this rank, 0 to size() - 1.
  [[nodiscard]] virtual int rank() const noexcept = 0;
  /// Number of ranks.
  [[nodiscard]] virtual int size() const noexcept = 0;
  /// The model, a name of backends(), whatever decorators are around it.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// What "auto" measured and picked, one line; empty if a model was named or there was nothing to choose.
  [[nodiscard]] virtual std::string_view choice() const noexcept = 0;
  /// What the model really does.
  [[nodiscard]] virtual Capabilities capabilities() const noexcept = 0;
  /// What this rank has done so far; subtract an earlier copy to get what a part of the program did.
  [[nodiscard]] virtual Counters& counters() noexcept { return counters_; }
  /// The same by other rank. Counts of this rank only.
  [[nodiscard]] virtual TrafficCount& traffic() noexcept { return traffic_; }

  // ---- set-up and statistics: collective over every rank, never inside a merge step ----
  /// Returns when every rank has called it. Collective.
  void barrier();
  /// Element-wise reduction in the order of ranks, so sums of doubles have the same bits on every rank and in every
  /// model; every rank gets the result in `values`. Collective.
  /// @throws CommError on every rank if ranks differ in the operation, the type or the number of values
  /// Cost: a gather on rank 0 and a broadcast; only there there is memory for the values of all.
  void all_reduce(std::span<double> values, Op op);
  /// The same for integers, by the reductions of the library. Collective.
  void all_reduce(std::span<std::int64_t> values, Op op);
  /// The same for one integer. Collective.
  [[nodiscard]] std::int64_t all_reduce(std::int64_t value, Op op);
  /// Every rank's bytes, by rank; numbers of bytes may differ. For records see collectives.hpp. Collective.
  [[nodiscard]] std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine);
  /// to[r] goes to rank r; returns what came, by rank. Collective. @throws CommError unless `to` has size() entries
  [[nodiscard]] std::vector<std::vector<std::byte>> all_to_all(std::span<const std::span<const std::byte>> to);
  /// The same of messages that are owned. Collective.
  [[nodiscard]] std::vector<std::vector<std::byte>> all_to_all(const std::vector<std::vector<std::byte>>& to);
  /// Every rank's bytes, by rank, on rank 0; nothing, not even empty messages, on the others. Collective.
  [[nodiscard]] std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine);
  /// Rank 0's bytes; those of the others are not looked at. Collective.
  [[nodiscard]] std::vector<std::byte> broadcast(std::span<const std::byte> mine);

  // ---- the four objects: making one is collective, using one is not ----
  /// Makes a Mailbox over the graph that the ranks give together. Collective.
  /// @throws CommError on every rank if a graph names a rank that is not there, or one twice in a list, or the ends of
  /// an
  ///         arc do not both name it
  [[nodiscard]] virtual std::unique_ptr<Mailbox> mailbox(Graph graph) = 0;
  /// Makes a Stream. Collective. @throws CommError as mailbox(), and for options out of range
  [[nodiscard]] virtual std::unique_ptr<Stream> stream(Graph graph, StreamOptions options) = 0;
  /// Makes a Plan. Collective. @throws CommError as mailbox(), and if the ends of an arc differ in the number of
  /// elements, their size or that of chunks
  [[nodiscard]] virtual std::unique_ptr<Plan> plan(Graph graph, Pattern pattern, PlanOptions options) = 0;
  /// Makes a Segment. Collective. @param words  on this rank; ranks may differ
  /// @throws CommError as mailbox(), and where there is no memory
  template <class T>
  [[nodiscard]] Segment<T> segment(Graph graph, std::size_t words, Epoch epoch = Epoch::lifetime) {
    return {segment_body(std::move(graph), words, sizeof(T), epoch), words};
  }
  /// What segment() is made of. Collective.
  [[nodiscard]] virtual std::unique_ptr<SegmentBody> segment_body(Graph graph, std::size_t words,
                                                                  std::size_t word_bytes, Epoch epoch) = 0;

  /// Transport of the ranks that pass true; null on the others. It belongs to this one, which ends it at its own end.
  /// Collective. @throws CommError where the model has no sub-groups (capabilities().sub_transports is false); on every rank
  /// where it has no memory for one
  [[nodiscard]] virtual std::unique_ptr<Transport> subset(bool take_part) = 0;

 protected:
  virtual void do_barrier() = 0;
  /// Element-wise reduction of words, the same number and operation on every rank; sums wrap around.
  virtual void do_reduce(std::span<std::uint64_t> words, Op op) = 0;
  [[nodiscard]] virtual std::vector<std::vector<std::byte>> do_gather(std::span<const std::byte> mine) = 0;
  [[nodiscard]] virtual std::vector<std::byte> do_broadcast(std::span<const std::byte> mine) = 0;
  /// Every rank's bytes, by rank.
  [[nodiscard]] virtual std::vector<std::vector<std::byte>> do_all_gather(std::span<const std::byte> mine) = 0;
  [[nodiscard]] virtual std::vector<std::vector<std::byte>> do_all_to_all(
      std::span<const std::span<const std::byte>> to) = 0;

  Counters counters_;
  TrafficCount traffic_;

 private:
  void check_reduction(std::size_t values, bool integers, Op op);

  friend class detail::Decorator;
  friend void check_uniform_across_ranks(Transport& transport, std::string_view what,
                                         const std::vector<UniformValue>& values);
  friend void agree(Transport& transport, const std::function<void()>& local);
};

/// Checks that every rank gives the same values; `what` begins the message. Collective; one reduction of 16 bytes.
/// For options and other arguments that ranks are to be given alike, where a difference would hang them or go unseen.
/// @throws UsageError on every rank alike, with the first name that differs and two of its values
void check_uniform_across_ranks(Transport& transport, std::string_view what, const std::vector<UniformValue>& values);

/// Runs `local` on this rank; if it threw on any rank, every rank throws the error of the lowest such rank, of the same
/// type. Collective. For errors a user can cause: one message, one exit code, no rank left waiting.
void agree(Transport& transport, const std::function<void()>& local);

}  // namespace merganser::comm
