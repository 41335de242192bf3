#pragma once
/// Benchmark kernels: one exchange along the arcs of a process graph, by the calls of MPI or OpenSHMEM that a program would make in
/// each communication model. A kernel belongs to a completion class; only kernels of one class do the same work and are compared.
///
/// The kernels of a model are a file in src/kernels/families/; kernels() lists those of this build.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"

namespace merganser::kernels {

/// Completion class of a kernel: the state of the exchange when Exchange::iterate() returns on a rank.
enum class Completion : std::uint8_t {
  local,     ///< the sources of this rank may be overwritten; data may not have arrived at the targets
  remote,    ///< the data that this rank puts or gets has arrived; the targets of a put are not notified
  notified,  ///< the sources of this rank may be overwritten, and the data of its in-neighbours has arrived
  global,    ///< the exchange is complete on every rank
};
/// Names of the completion classes in records and options, in the order of the enumeration, in which tables show them too.
inline constexpr std::array<std::string_view, 4> kCompletionNames{"local", "remote", "notified", "global"};
/// Returns the name of a completion class: "local", "remote", "notified" or "global".
[[nodiscard]] constexpr std::string_view completion_name(Completion completion) {
  return kCompletionNames[static_cast<std::size_t>(completion)];
}

/// Description of a benchmark kernel: one way to exchange data along the arcs of a process graph. kernels() lists them.
struct KernelInfo {
  std::string_view name;         ///< model, dot, operations: "rma.put-flush"
  std::string_view model;        ///< a name of comm::backends(): "threads", "p2p", "neighborhood", "rma", "shmem"
  std::string_view description;  ///< calls of one iteration, for tables
  Completion completion;         ///< state of the exchange when an iteration returns on a rank
  bool pulls = false;            ///< true: receivers get the data; false: senders send or put it
};
/// Returns the kernels of this build, by model in the order of comm::backends(), then by name. Local.
[[nodiscard]] std::span<const KernelInfo> kernels();
/// Returns the description of a kernel by its name. Local.
/// @throws UsageError for an unknown name, with the list of names
[[nodiscard]] const KernelInfo& kernel(std::string_view name);

/// Arguments of make_exchange() on one rank: its arcs in the process graph, and the capacity in bytes of each arc.
struct ExchangeSpec {
  comm::Graph graph;                   ///< out- and in-neighbours of this rank
  std::vector<std::size_t> bytes_out;  ///< by out-arc: capacity in bytes of a message of this rank
  std::vector<std::size_t> bytes_in;   ///< by in-arc: capacity in bytes, equal to that on the sender
  std::size_t buffers = 1;             ///< number of sets of source and landing zones, 1 to 2^20, equal on all ranks
};

/// Kernel bound to the arcs of a process graph, with a source zone for each out-arc and a landing zone for each in-arc.
///
/// Zones are disjoint, aligned to cache lines, and zero at first. The control transport must outlive the exchange. Destruction is
/// local: the window or symmetric memory is freed by the next make_exchange() after all ranks have destroyed theirs, or when the
/// library ends.
class Exchange : Pinned {
 public:
  virtual ~Exchange() = default;

  /// Returns the description of the kernel (name, model, completion class) by which this exchange transfers data. Local.
  [[nodiscard]] virtual const KernelInfo& info() const noexcept = 0;
  /// Returns the in- and out-neighbours of this rank in the process graph that the exchange was made with. Local.
  [[nodiscard]] virtual const comm::Graph& graph() const noexcept = 0;

  /// Sets the number of bytes that each arc carries from now on. Local; between two calls of quiesce() without an iterate() in
  /// between on any rank. Zones keep their contents, beyond a smaller size too.
  /// @param bytes_out  by out-arc, at most the capacity
  /// @param bytes_in   by in-arc, equal to the number that the sender passes
  /// @throws UsageError for another number of arcs or a size above the capacity
  virtual void resize(std::span<const std::size_t> bytes_out, std::span<const std::size_t> bytes_in) = 0;

  /// Returns the source zone of an out-arc, whose contents the next iterate(buffer) transfers. Local.
  /// @throws UsageError for an arc or a buffer that does not exist
  [[nodiscard]] virtual std::span<std::byte> source(std::size_t arc, std::size_t buffer) = 0;
  /// Returns the landing zone of an in-arc, which holds the data of the last iterate(buffer) after quiesce(). Local.
  /// @throws UsageError for an arc or a buffer that does not exist
  [[nodiscard]] virtual std::span<std::byte> landing(std::size_t arc, std::size_t buffer) = 0;

  /// Makes one exchange; this is the function that is measured. Called by every rank of the graph the same number of times with the
  /// same buffers. A landing zone may be read until a sender can begin the next iteration with that buffer, so between two calls of
  /// quiesce().
  /// @throws UsageError for a buffer that does not exist, CommError if the library fails or a wait exceeds MERGANSER_WAIT_LIMIT
  virtual void iterate(std::size_t buffer) = 0;

  /// Completes all iterations so far on every rank, so that landing zones may be read, and makes stores into source zones visible
  /// to ranks that get them. Collective; not part of a measurement.
  virtual void quiesce() = 0;

  /// Returns the operations of one iteration on this rank, without arcs from the rank to itself. A notification counts as a message
  /// or a put; `bytes` is the payload that this rank sends, puts or gets. Local.
  [[nodiscard]] virtual comm::Counters per_iteration() const = 0;

  /// Returns the ranks that a running iterate() still waits for: in-neighbours, and with two-sided messages out-neighbours that
  /// have not received theirs. Where the library waits in one call and does not tell: all in-neighbours, the targets of a put
  /// without notification, or all other ranks of a global kernel. Empty outside iterate(). Another thread may call it while
  /// iterate() runs.
  [[nodiscard]] virtual std::vector<int> missing() const = 0;

  /// Makes the next iterate() omit the notification (message or signal) of an out-arc, as if it were lost: a fault that a program
  /// can inject. The target continues with the next notification of this arc and is one iteration behind from then on, so the
  /// exchange is not usable afterwards.
  /// Local. @param arc  index of the out-arc of this rank
  /// @return false if the kernel has no notification that can be omitted
  /// @throws UsageError if the kernel has notifications and this rank has no such out-arc
  virtual bool drop_next(std::size_t arc) = 0;
};

/// Makes an exchange by a kernel on the ranks of `control`. Collective.
///
/// `control` is used for set-up and quiesce() and must outlive the exchange. It may be of any model of processes for kernels of all
/// models of processes, which can be interleaved in one process; kernels of "threads" need a control transport of threads.
/// @throws UsageError if the kernel does not fit `control` or the specifications of the ranks contradict each other, CommError if
/// the library lacks a function or memory (for a symmetric heap with the size that is needed); the same on every rank
[[nodiscard]] std::unique_ptr<Exchange> make_exchange(comm::Transport& control, std::string_view kernel,
                                                      ExchangeSpec spec);

/// Benchmark kernel that cannot be used on the ranks of a transport, with the reason; probe_kernels() returns them.
struct Unusable {
  std::string_view kernel;  ///< name of the benchmark kernel
  std::string reason;       ///< "shmem_putmem_signal is not in OpenSHMEM 1.4; 1.5 has it"
};
/// Returns the kernels that cannot be used on the ranks of `control`, determined by an exchange of each on a ring. Collective; the
/// same result on every rank.
/// @param names  kernels to try; empty: all
[[nodiscard]] std::vector<Unusable> probe_kernels(comm::Transport& control, std::span<const std::string> names = {});

/// Synchronised start of a measurement: a dissemination barrier, ceil(log2(ranks)) rounds of one small message each, in the model
/// of the control transport.
class Start {
 public:
  virtual ~Start() = default;
  /// Blocks until every rank has entered this barrier, and returns at about the same time on all. Collective.
  virtual void wait() = 0;
  /// Returns the rank that wait() waits for at the moment, -1 if none. Another thread may call it while wait() runs.
  [[nodiscard]] virtual int waits_for() const = 0;
};
/// Makes a synchronised start on the ranks of `control`, which must outlive it. Collective.
/// @throws UsageError if `control` is a transport of OpenSHMEM without all processes in their order
[[nodiscard]] std::unique_ptr<Start> make_start(comm::Transport& control);

}  // namespace merganser::kernels
