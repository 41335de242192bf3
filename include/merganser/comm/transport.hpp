#pragma once
/// The communication contract: the interface through which distributed algorithms use a communication model.
///
/// A Transport makes four objects. Mailbox: one message of any size per arc and step. Segment: words of memory that
/// neighbours put into and get from, in phases. Stream: rounds of small records, whose number on each arc both ends hold
/// beforehand. Plan: a repeated ghost exchange with a fixed pattern. Every backend makes all four; docs/communication.md
/// compares them.
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

/// Directed process graph, restricted to the arcs of one rank. The position of a rank in a list is the number of its arc,
/// from 0. Ranks are distinct within a list; a rank may be its own neighbour.
struct Graph {
  std::vector<int> out;  ///< ranks that this rank sends to, by out-arc
  std::vector<int> in;   ///< ranks that this rank receives from, by in-arc

  /// Returns this rank's part of a process graph in which every neighbour both sends and receives: out-arc i leads to
  /// neighbours[i], and in-arc i comes from it.
  static Graph symmetric(std::vector<int> neighbours) { return {neighbours, std::move(neighbours)}; }
};

/// Counts of the communication operations of one rank since its transport was made. Always on; a few additions per
/// operation. Operations of a rank on itself are not counted, except in `records`. A fetch_or counts as a put and a get.
struct Counters {
  std::int64_t messages = 0;     ///< number of two-sided messages sent, empty ones not counted
  std::int64_t bytes = 0;        ///< payload bytes sent in messages or put one-sided
  std::int64_t waves = 0;        ///< neighbour waves taken part in (Mailbox steps)
  std::int64_t puts = 0;         ///< one-sided puts of payload words (Segment, Stream)
  std::int64_t gets = 0;         ///< one-sided gets of payload words (Segment)
  std::int64_t bytes_got = 0;    ///< payload bytes that one-sided gets read; not part of `bytes`
  std::int64_t records = 0;      ///< Stream records sent, by put or in a message
  std::int64_t syncs = 0;        ///< phases of Segments ended (sync calls)
  std::int64_t epochs = 0;       ///< one-sided access epochs opened
  std::int64_t collectives = 0;  ///< calls that every rank of the transport must make

  /// Adds the operation counts of `o`, element by element.
  Counters& operator+=(const Counters& o);
  /// Returns the element-wise difference of operation counts: the operations between an earlier copy `b` and `a`.
  friend Counters operator-(Counters a, const Counters& b);
  friend bool operator==(const Counters&, const Counters&) = default;
};

/// Sparse neighbourhood exchange: one message of any size per arc of the process graph and step.
///
/// Making one is collective over the transport, a step is not: a rank waits for its in-neighbours only.
/// Mailbox, Segment, Stream and Plan belong to the transport that made them. One that outlives it, or the run, may be
/// destroyed; using it throws CommError.
class Mailbox : Pinned {
 public:
  /// Makes the empty outboxes and inboxes of a Mailbox, one per arc of this rank; for derived classes: programs call
  /// Transport::mailbox().
  explicit Mailbox(Graph graph) : graph_(std::move(graph)), outbox_(graph_.out.size()), inbox_(graph_.in.size()) {}
  virtual ~Mailbox() = default;

  /// Returns this rank's arcs of the process graph, as given to Transport::mailbox().
  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }

  /// Returns the message that the next step sends along out-arc `arc`, for the caller to append to. A step leaves it
  /// empty and keeps its capacity.
  /// @throws CommError if there is no such arc
  [[nodiscard]] std::vector<std::byte>& outbox(std::size_t arc) {
    if (arc >= outbox_.size()) throw_no_arc("out", arc, outbox_.size());
    return outbox_[arc];
  }

  /// Appends one record to the message that the next step sends along out-arc `arc`. @throws CommError if there is no such arc
  template <class T>
  void post(std::size_t arc, const T& record) {
    static_assert(std::is_trivially_copyable_v<T>, "records travel as bytes");
    auto& box = outbox(arc);
    const auto at = box.size();
    box.resize(at + sizeof(T));
    std::memcpy(box.data() + at, &record, sizeof(T));
  }

  /// Appends records to the message that the next step sends along out-arc `arc`. @throws CommError if there is no such arc
  template <class T>
  void post_all(std::size_t arc, std::span<const T> records) {
    static_assert(std::is_trivially_copyable_v<T>, "records travel as bytes");
    const auto bytes = std::as_bytes(records);
    auto& box = outbox(arc);
    box.insert(box.end(), bytes.begin(), bytes.end());
  }

  /// Sends the outboxes and waits until one message (perhaps empty) from every in-arc has arrived. Every rank of the
  /// graph calls it equally often; it synchronises with the in-neighbours only.
  /// @throws CommError if the transport has ended
  void step() {
    check_usable();
    step_all();
  }

  /// Sends and receives along the active arcs only: out-arc i is active if active_out[i] != 0, in-arc i if
  /// active_in[i] != 0. Both ends of an arc must mark it in the same step of theirs; a rank without active arcs need not
  /// call. Outboxes of arcs that are not active must be empty, their inboxes become empty.
  /// @throws CommError if the transport has ended, or the Mailbox has no steps along some arcs (RoutedMailbox)
  void step(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) {
    check_usable();
    step_some(active_out, active_in);
  }

  /// Returns the message that in-arc `arc` delivered in the last step; valid until the next step.
  /// @throws CommError if there is no such arc
  [[nodiscard]] std::span<const std::byte> inbox(std::size_t arc) const {
    if (arc >= inbox_.size()) throw_no_arc("in", arc, inbox_.size());
    return inbox_[arc];
  }

  /// Returns the message that in-arc `arc` delivered in the last step as records of type T, without a copy; valid until
  /// the next step. @throws CommError if there is no such arc, or the length is no multiple of sizeof(T)
  template <class T>
  [[nodiscard]] std::span<const T> records(std::size_t arc) const {
    static_assert(std::is_trivially_copyable_v<T>, "records travel as bytes");
    static_assert(alignof(T) <= 16, "records are read where they have arrived");
    const auto bytes = inbox(arc);
    check_record_size(bytes.size(), sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  /// Checks that the mailbox may still be used; step() calls it first. Local.
  /// @throws CommError if the transport that made the mailbox has ended
  virtual void check_usable() const = 0;

 protected:
  /// Implements Mailbox::step() along all arcs, by the means of a backend; called only while the transport lives.
  virtual void step_all() = 0;
  /// Implements Mailbox::step() along the marked arcs, by the means of a backend; called only while the transport lives.
  virtual void step_some(std::span<const std::uint8_t> active_out, std::span<const std::uint8_t> active_in) = 0;
  /// Throws CommError if `bytes`, the length of a received message, is no multiple of `record`, the size of one record in bytes.
  static void check_record_size(std::size_t bytes, std::size_t record);
  /// Throws CommError: a Mailbox of `arcs` arcs on `side` ("out", "in") has no arc `arc`.
  [[noreturn]] static void throw_no_arc(const char* side, std::size_t arc, std::size_t arcs);

  Graph graph_;
  std::vector<std::vector<std::byte>> outbox_;
  std::vector<std::vector<std::byte>> inbox_;
};

/// Extent of the access epochs that a one-sided backend opens for a Segment; the results are the same.
enum class Epoch : std::uint8_t {
  lifetime,       ///< one epoch for the lifetime of the segment, operations completed at sync (default)
  per_phase,      ///< one epoch per phase, as [frey2025] proposes for future work
  per_operation,  ///< lock, operate, flush, unlock for every word, as [frey2025] measured
};

/// Untyped implementation of Segment, for a backend to derive from: words of 4 or 8 bytes on every rank. The calls promise
/// what those of Segment promise.
class SegmentBody {
 public:
  virtual ~SegmentBody() = default;
  /// Checks that the segment may still be used. Local. @throws CommError if the transport that made the segment has ended
  virtual void check_usable() const = 0;
  /// Returns this rank's words of the segment, in memory whose address does not change.
  [[nodiscard]] virtual std::byte* local() = 0;
  /// Writes one word of `rank`, at `index` counted in words; visible to its owner after the next sync.
  virtual void put(int rank, std::size_t index, const void* word) = 0;
  /// Reads `count` words of `rank` from `index` on into `to`, which is filled by the next sync.
  virtual void get(int rank, std::size_t index, std::size_t count, void* to) = 0;
  /// Replaces one word of `rank` by its bitwise OR with `word`, atomically; `old` holds the former value after the next sync.
  virtual void fetch_or(int rank, std::size_t index, const void* word, void* old) = 0;
  /// Ends the phase with the neighbours of the process graph, as Segment::sync() promises. Every rank calls it.
  virtual void sync() = 0;
  /// Ends the phase with all ranks, as Segment::sync_any() promises, and returns the logical OR of their `mine`. Collective.
  virtual bool sync_any(bool mine) = 0;
};

/// Window of words (4 or 8 bytes) on every rank that neighbours put into and get from, in phases: a phase is the time between two calls
/// of sync() (in MPI's terms an access epoch).
///
/// Operations take effect some time between their call and the next sync; after sync all are visible to the owner.
/// A get delivers at sync a value from before or during the phase. Several puts of equal values to one word in a phase are
/// allowed; reading a local word that is remotely written in the same phase is an error, which the `checked` decorator
/// finds. `rank` is this rank or an out-neighbour. fetch_or is atomic with respect to fetch_or.
template <class T>
class Segment {
  static_assert(std::is_trivially_copyable_v<T> && (sizeof(T) == 4 || sizeof(T) == 8),
                "words of a Segment have 4 or 8 bytes and no pointers");

 public:
  /// Wraps a backend's untyped implementation of a segment; programs call Transport::segment(). `words` is the number of words
  /// on this rank.
  Segment(std::unique_ptr<SegmentBody> body, std::size_t words) : body_(std::move(body)), words_(words) {}
  /// Returns this rank's words of the segment. Those that other ranks put into may be read after the sync that ends the phase.
  [[nodiscard]] std::span<T> local() { return {reinterpret_cast<T*>(body_->local()), words_}; }
  /// Writes one word of `rank`, which its owner may read after the next sync.
  /// @throws CommError if `rank` is neither this rank nor an out-neighbour, or has no word `index`
  void put(int rank, std::size_t index, T word) { body_->put(rank, index, &word); }
  /// Reads `count` words of `rank` from `index` on into `to`, which is filled by the next sync and must live until then.
  /// @throws CommError if `rank` is neither this rank nor an out-neighbour, or has no such words
  void get(int rank, std::size_t index, std::size_t count, T* to) { body_->get(rank, index, count, to); }
  /// Replaces one word of `rank` by its bitwise OR with `word`; `old` holds the former value after the next sync.
  /// @throws CommError if `rank` is neither this rank nor an out-neighbour, or has no word `index`
  void fetch_or(int rank, std::size_t index, T word, T* old) { body_->fetch_or(rank, index, &word, old); }
  /// Ends the phase: on return the operations of all in-neighbours on this rank's words are visible here, and gets and fetch_ors of
  /// this rank have delivered; an owner sees this rank's puts when its own sync() returns. Every rank of the graph calls it; each waits
  /// for its neighbours alone.
  void sync() { body_->sync(); }
  /// Ends the phase as sync() does, for all ranks at once, and returns the logical OR of their `mine`. Collective.
  bool sync_any(bool mine) { return body_->sync_any(mine); }

 private:
  std::unique_ptr<SegmentBody> body_;
  std::size_t words_;
};

/// Rounds of fine-grained active messages of fixed size: in one round every arc delivers a number of records that both ends
/// hold beforehand, in any grouping and order, so a round needs no termination detection, barrier or reduction.
///
/// open() starts a round; it ends on a rank when all its records have been sent and taken. Two rounds must be
/// separated, on every arc that carries records, by a Mailbox step from its receiver to its sender (else a fast sender could
/// overwrite a slot).
/// A record is a value below 2^32; slots on an arc are 0 .. count - 1, each sent once per round (single assignment).
class Stream : Pinned {
 public:
  /// Stores this rank's arcs of a Stream; for derived classes: programs call Transport::stream().
  explicit Stream(Graph graph) : graph_(std::move(graph)) {}
  virtual ~Stream() = default;

  /// Returns this rank's arcs of the process graph, as given to Transport::stream().
  [[nodiscard]] const Graph& graph() const noexcept { return graph_; }

  /// Callback of Stream::take() that is given one record: the number of the in-arc, the slot on that arc, and the value.
  using Take = std::function<void(std::size_t arc, std::size_t slot, std::uint32_t value)>;

  /// Starts a round of records. Local. counts_out[i] is the number of records that this rank will send along out-arc i,
  /// counts_in[i] the number that in-arc i will deliver. @throws CommError if records of the round before have not been taken
  virtual void open(std::span<const std::size_t> counts_out, std::span<const std::size_t> counts_in) = 0;
  /// Sends the record `value` to slot `slot` of out-arc `arc`; it may be buffered until take(), wait() or finish().
  virtual void send(std::size_t arc, std::size_t slot, std::uint32_t value) = 0;
  /// Passes every record that has arrived and not been taken to the callback, and sends buffered records. The callback may
  /// call send(). Returns the number of records still to come in this round. Does not block.
  virtual std::size_t take(const Take& callback) = 0;
  /// Blocks until a record has arrived (or none is still to come); makes progress on this rank's sends meanwhile.
  virtual void wait() = 0;
  /// Ends a round of records: completes all its sends locally. Call once after the last take().
  /// @throws CommError if records of the round have not been sent or not been taken
  virtual void finish() = 0;
  /// Checks that the stream may still be used, as its other calls do too. Local.
  /// @throws CommError if the transport that made the stream has ended
  virtual void check_usable() const = 0;

 protected:
  Graph graph_;
};

/// Communication pattern of a ghost exchange, as held by one rank. The number that an out-arc sends equals the number that
/// the same arc delivers at its other end.
struct Pattern {
  /// Per out-arc: indices of this rank's elements to send as ghosts, in the order of arrival.
  std::vector<std::vector<std::size_t>> out;
  std::vector<std::size_t> in;  ///< per in-arc: number of ghosts to receive
};

/// Persistent ghost exchange: a pattern set up once and executed many times.
class Plan : Pinned {
 public:
  virtual ~Plan() = default;
  /// Consecutive ghosts received along one in-arc by Plan::pull(): elements first to first + data.size() / element size - 1.
  struct Chunk {
    std::size_t arc;                  ///< in-arc that delivered the ghosts
    std::size_t first;                ///< position of the chunk's first ghost among those of the in-arc
    std::span<const std::byte> data;  ///< bytes of the chunk's ghosts
  };
  /// Callback of Plan::pull() that receives one chunk of ghosts; the chunk's data is valid until the callback returns.
  using Use = std::function<void(const Chunk&)>;
  /// Sends the pattern's elements of `local` and passes the ghosts to the callback, chunk by chunk, while later chunks
  /// are in transit. Every rank of the graph calls it equally often.
  /// @throws CommError if the pattern sends an element that `local` does not hold
  virtual void pull(std::span<const std::byte> local, const Use& use) = 0;

 protected:
};

/// Reduction operators of Transport::all_reduce(). Sums of integers are taken modulo 2^64.
enum class Op : std::uint8_t { sum, min, max };

/// Properties of a communication model, for algorithms that have a choice, for tests and for reports.
struct Capabilities {
  bool one_sided = false;       ///< Segment, Stream and Mailbox use remote memory access
  bool subset_waves = true;     ///< Mailbox::step on some arcs uses the model's own operations, as on all arcs
  bool sub_transports = false;  ///< Transport::subset() works with this model
  bool processes = false;       ///< ranks of the model are processes, not threads
  bool checked = false;         ///< the decorator `checked` is around the transport: checks that cost time are wanted
};

/// Options of Transport::stream(): the capacity of a Stream; equal on all ranks.
struct StreamOptions {
  /// Slots of records per arc that a one-sided backend keeps in memory; records beyond them are sent in messages.
  std::size_t slots_per_arc = 16384;
};
/// Options of Transport::plan(): element and chunk sizes of a ghost exchange; equal at both ends of every arc.
struct PlanOptions {
  std::size_t element_bytes = 8;      ///< size of one element of the ghost exchange in bytes
  std::size_t chunk_elements = 4096;  ///< elements of an arc sent together as one chunk of the ghost exchange
};

/// Argument of a collective call that must be equal on all ranks, for check_uniform_across_ranks().
struct UniformValue {
  std::string name;   ///< name of the argument, as in the error
  std::string value;  ///< value of the argument on this rank, as text
};

/// Communicator with its attached objects, as one rank holds it: rank, size, collectives for set-up, and the four objects.
/// Made by run() of runtime.hpp, which passes it to the body of the program and ends it when that returns, or by open()
/// of open.hpp over ranks that run already. Not thread-safe: one thread of a rank uses it at a time.
class Transport : Pinned {
 public:
  virtual ~Transport() = default;

  /// Returns the number of this rank in the transport, 0 to size() - 1.
  [[nodiscard]] virtual int rank() const noexcept = 0;
  /// Returns the number of ranks of the transport.
  [[nodiscard]] virtual int size() const noexcept = 0;
  /// Returns the name of the transport's communication model as backends() lists it, also inside decorators.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Returns one line on the times that "auto" measured and the model it chose; empty if a model was named or only one fitted.
  [[nodiscard]] virtual std::string_view choice() const noexcept = 0;
  /// Returns the properties of the transport's communication model; the same on every rank.
  [[nodiscard]] virtual Capabilities capabilities() const noexcept = 0;
  /// Returns the operation counts of this rank since the transport was made; subtract an earlier copy for those of a part.
  [[nodiscard]] virtual Counters& counters() noexcept { return counters_; }
  /// Returns the counts of operations and bytes between this rank and each other one, since the transport was made.
  [[nodiscard]] virtual TrafficCount& traffic() noexcept { return traffic_; }

  // ---- set-up and statistics: collective over every rank, never inside a merge step ----
  /// Blocks until every rank of the transport has called it (barrier). Collective.
  void barrier();
  /// Reduces doubles element by element, in the order of ranks, so that sums have the same bits on every rank and in every
  /// model; `values` holds the result on every rank. Collective.
  /// @throws CommError on every rank if ranks differ in the operation, the type or the number of values
  /// Cost: a gather on rank 0 and a broadcast; only rank 0 needs memory for the values of all.
  void all_reduce(std::span<double> values, Op op);
  /// Reduces integers element by element, by the reduction of the model's library; `values` holds the result on every rank.
  /// Collective. @throws CommError on every rank if ranks differ in the operation, the type or the number of values
  void all_reduce(std::span<std::int64_t> values, Op op);
  /// Reduces one number per rank and returns the result on every rank: floating point in the order of ranks, as a double; integers
  /// as std::int64_t. Types of which these do not hold every value are refused by the compiler. Collective.
  /// @throws CommError on every rank if ranks differ in the operation, the type or the number of values
  template <class T>
  requires std::is_arithmetic_v<T>
  [[nodiscard]] auto all_reduce(T value, Op op) {
    static_assert(std::is_unsigned_v<T> ? sizeof(T) < sizeof(std::int64_t) : !std::is_same_v<T, long double>,
                  "numbers are reduced as double or std::int64_t, which do not hold every value of this type");
    std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t> reduced = value;
    all_reduce(std::span(&reduced, 1), op);
    return reduced;
  }
  /// Returns every rank's bytes, by rank, on every rank; lengths may differ. For records see collectives.hpp. Collective.
  [[nodiscard]] std::vector<std::vector<std::byte>> all_gather(std::span<const std::byte> mine);
  /// Sends to[r] to rank r and returns the messages received, by sender; lengths may differ. Collective.
  /// @throws CommError unless `to` has size() entries
  [[nodiscard]] std::vector<std::vector<std::byte>> all_to_all(std::span<const std::span<const std::byte>> to);
  /// Sends the message to[r] to rank r and returns the messages received, by sender; lengths may differ. Collective.
  /// @throws CommError unless `to` has size() entries
  [[nodiscard]] std::vector<std::vector<std::byte>> all_to_all(const std::vector<std::vector<std::byte>>& to);
  /// Returns every rank's bytes, by rank, on rank 0 and an empty vector on the others; lengths may differ. Collective.
  [[nodiscard]] std::vector<std::vector<std::byte>> gather(std::span<const std::byte> mine);
  /// Returns the bytes that rank 0 passes, on every rank; `mine` of other ranks is ignored. Collective.
  [[nodiscard]] std::vector<std::byte> broadcast(std::span<const std::byte> mine);

  // ---- the four objects: making one is collective, using one is not ----
  /// Makes a Mailbox over the process graph whose arcs the ranks give, each its own (distributed graph). Collective.
  /// @throws CommError on every rank for an invalid graph: a rank out of range, a rank twice in a list, or an arc that
  ///         only one of its ends lists
  [[nodiscard]] virtual std::unique_ptr<Mailbox> mailbox(Graph graph) = 0;
  /// Makes a Stream over the process graph whose arcs the ranks give, each its own. Collective.
  /// @throws CommError on every rank for an invalid graph (see mailbox()), and for options out of range
  [[nodiscard]] virtual std::unique_ptr<Stream> stream(Graph graph, StreamOptions options) = 0;
  /// Makes a Plan over the process graph whose arcs the ranks give, each its own. Collective.
  /// @throws CommError on every rank for an invalid graph (see mailbox()), and if the ends of an arc differ in the number
  ///         of elements, their size or that of chunks
  [[nodiscard]] virtual std::unique_ptr<Plan> plan(Graph graph, Pattern pattern, PlanOptions options) = 0;
  /// Makes a Segment over the process graph whose arcs the ranks give, each its own. Collective.
  /// @param words  number on this rank; ranks may differ
  /// @throws CommError on every rank for an invalid graph (see mailbox()), and where memory does not suffice
  template <class T>
  [[nodiscard]] Segment<T> segment(Graph graph, std::size_t words, Epoch epoch = Epoch::lifetime) {
    return {segment_body(std::move(graph), words, sizeof(T), epoch), words};
  }
  /// Makes the untyped implementation of a Segment: `words` words of `word_bytes` (4 or 8) on this rank. Collective.
  [[nodiscard]] virtual std::unique_ptr<SegmentBody> segment_body(Graph graph, std::size_t words,
                                                                  std::size_t word_bytes, Epoch epoch) = 0;

  /// Makes a transport of the ranks that pass true, in their order, and returns null on the others. It belongs to this
  /// transport, whose end is its end too. Collective over this transport.
  /// @throws CommError if the model has no sub-groups (capabilities().sub_transports is false); on every rank if its
  ///         memory does not suffice
  [[nodiscard]] virtual std::unique_ptr<Transport> subset(bool take_part) = 0;

 protected:
  // The collectives of a backend; the public calls count them and check their arguments first.
  /// Implements barrier() by the means of a backend, without counting the call. Collective.
  virtual void do_barrier() = 0;
  /// Reduces unsigned words element by element over all ranks, by the means of a backend; number and operation are the same on
  /// every rank, sums wrap around. Collective; not counted.
  virtual void do_reduce(std::span<std::uint64_t> words, Op op) = 0;
  /// Implements gather() to rank 0 by the means of a backend, without counting the call. Collective.
  [[nodiscard]] virtual std::vector<std::vector<std::byte>> do_gather(std::span<const std::byte> mine) = 0;
  /// Implements broadcast() from rank 0 by the means of a backend, without counting the call. Collective.
  [[nodiscard]] virtual std::vector<std::byte> do_broadcast(std::span<const std::byte> mine) = 0;
  /// Implements all_gather() of bytes by the means of a backend, without counting the call. Collective.
  [[nodiscard]] virtual std::vector<std::vector<std::byte>> do_all_gather(std::span<const std::byte> mine) = 0;
  /// Implements all_to_all() of bytes by the means of a backend; `to` has size() entries. Collective; not counted.
  [[nodiscard]] virtual std::vector<std::vector<std::byte>> do_all_to_all(
      std::span<const std::span<const std::byte>> to) = 0;

  Counters counters_;
  TrafficCount traffic_;

 private:
  /// Checks that all ranks call all_reduce() with the same number and type of values and the same, known operation.
  /// Collective. @throws CommError on every rank if they do not
  void check_reduction(std::size_t values, bool integers, Op op);

  friend class detail::Decorator;
  friend void check_uniform_across_ranks(Transport& transport, std::string_view what,
                                         const std::vector<UniformValue>& values);
  friend void agree(Transport& transport, const std::function<void()>& local);
};

/// Checks that logically collective arguments (options and the like) have the same values on every rank, where a difference
/// would make ranks hang or go unnoticed. Collective; one reduction of 16 bytes.
/// @param what    the beginning of the error message: the call whose arguments are compared
/// @throws UsageError, the same on every rank, with the first name that differs and two of its values
void check_uniform_across_ranks(Transport& transport, std::string_view what, const std::vector<UniformValue>& values);

/// Runs `local` on every rank; if it throws on any rank, every rank throws the error of the lowest such rank, of the same
/// type, so that a job fails with one message and one exit code and no rank hangs. Collective.
/// Cost: one reduction of 8 bytes, and a gather of the errors if there are any.
void agree(Transport& transport, const std::function<void()>& local);

}  // namespace merganser::comm
