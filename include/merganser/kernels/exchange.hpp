#pragma once
/// Exchange kernels: one exchange along the arcs of a process graph, in the very calls that a program would make in each
/// model, for measuring. A kernel belongs to a completion class; only kernels of one class do the same work.
///
/// A kernel is a file in src/kernels/families/; what is there is in the table kernels().
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

/// What is true on a rank when its Exchange::iterate() returns.
enum class Completion : std::uint8_t {
  local,     ///< its sources may be used again; nothing is known of the targets
  remote,    ///< what it sent (or asked for) has landed; the targets are not told
  notified,  ///< local, and what its in-neighbours sent has landed here
  global,    ///< the exchange has ended on every rank
};
/// Their names in records and options, in the order of the enumeration, in which tables and advice show them too.
inline constexpr std::array<std::string_view, 4> kCompletionNames{"local", "remote", "notified", "global"};
/// Name of one of them.
[[nodiscard]] constexpr std::string_view completion_name(Completion completion) {
  return kCompletionNames[static_cast<std::size_t>(completion)];
}

/// What a kernel is, for tables and choices.
struct KernelInfo {
  std::string_view name;         ///< "rma.put-flush": model, dot, what it does
  std::string_view model;        ///< a name of comm::backends(): "threads", "p2p", "neighborhood", "rma", "shmem"
  std::string_view description;  ///< the calls of one iteration
  Completion completion;
  bool pulls = false;  ///< receivers fetch (get); else senders send
};
/// The kernels of this build, by model in the order of backends(), then by name.
[[nodiscard]] std::span<const KernelInfo> kernels();
/// The kernel of a name.
/// @throws UsageError for an unknown name, with the list of names
[[nodiscard]] const KernelInfo& kernel(std::string_view name);

/// Where and how much. Arcs are those of `graph`, as one rank sees it.
struct ExchangeSpec {
  comm::Graph graph;
  std::vector<std::size_t> bytes_out;  ///< per out-arc: capacity in bytes
  std::vector<std::size_t> bytes_in;   ///< per in-arc: the same number as the sender's
  std::size_t buffers = 1;             ///< sets of buffers, for iterations that take them in turn
};

/// One kernel bound to a graph. Every arc has its own source and its own landing zone, apart from all others, zero at
/// first. Destroying one is not collective; its window or symmetric memory is freed when a later exchange is made that
/// all ranks have let go of it before, or when the library ends. `control` must live as long.
class Exchange : Pinned {
 public:
  virtual ~Exchange() = default;

  /// What kernel it is.
  [[nodiscard]] virtual const KernelInfo& info() const noexcept = 0;
  /// The arcs, as given.
  [[nodiscard]] virtual const comm::Graph& graph() const noexcept = 0;

  /// Bytes per arc from now on, at most the capacity of the spec; both ends of an arc must give the same number. Local;
  /// every rank of the graph must have left quiesce(), and call quiesce() again before the next iterate(). What landing
  /// zones hold stays, also behind a smaller size. @throws UsageError
  virtual void resize(std::span<const std::size_t> bytes_out, std::span<const std::size_t> bytes_in) = 0;

  /// What the next iterate(buffer) sends along an out-arc (or an out-neighbour will fetch).
  [[nodiscard]] virtual std::span<std::byte> source(std::size_t arc, std::size_t buffer) = 0;
  /// What an in-arc delivered in the last iterate(buffer); see quiesce().
  [[nodiscard]] virtual std::span<std::byte> landing(std::size_t arc, std::size_t buffer) = 0;

  /// Makes one exchange. Called by every rank of the graph the same number of times with the same `buffer`. What lands
  /// in an iteration may be read until a sender can begin the next one with that buffer: between two calls of quiesce().
  virtual void iterate(std::size_t buffer) = 0;

  /// Makes writes into sources known to those who fetch, and completes every iteration so far on every rank: all landing
  /// zones may be read. Collective; not part of what is measured.
  virtual void quiesce() = 0;

  /// What one iteration does on this rank, but for arcs to itself. Notifications count: an empty message as a message, a
  /// word as a put. `bytes` are those of the payload that this rank sends, puts or gets.
  [[nodiscard]] virtual comm::Counters per_iteration() const = 0;

  /// Ranks that an iterate() which does not end still waits for: in-neighbours, with two-sided messages also
  /// out-neighbours that have not taken theirs. Where the library waits in one call and cannot tell: all in-neighbours,
  /// or the targets of a put that nobody is told of, or all others if it waits for all. Empty outside iterate(). May be
  /// called by another thread while iterate() runs.
  [[nodiscard]] virtual std::vector<int> missing() const = 0;

  /// The next iterate() leaves out what tells the target of an out-arc (message or signal), as a lost one would. For
  /// tests of watchdogs. The target goes on with the next one that it gets along this arc, and is one behind from then
  /// on: such an exchange is good for nothing more. False where the kernel has no such thing.
  virtual bool drop_next(std::size_t arc) = 0;
};

/// Makes a kernel on the ranks of `control`. Kernels of all process models can be made, and used in any order, in one
/// process, whatever model `control` is of; kernels of "threads" need `control` to be of that model. Collective.
/// @throws UsageError if the kernel does not fit `control` or the spec contradicts itself, CommError where the library
/// lacks what it needs or memory (a symmetric heap too small: the message says how large it must be); on every rank.
[[nodiscard]] std::unique_ptr<Exchange> make_exchange(comm::Transport& control, std::string_view kernel,
                                                      ExchangeSpec spec);

/// A kernel that cannot be used here, and why: "shmem.put-signal-native: shmem_putmem_signal is not in OpenSHMEM 1.4".
struct Unusable {
  std::string_view kernel;
  std::string reason;
};
/// The kernels that cannot be used here, found by trying each on a small ring. Collective.
/// @param names  kernels to try; empty: all
[[nodiscard]] std::vector<Unusable> probe_kernels(comm::Transport& control, std::span<const std::string> names = {});

/// Starts an iteration at about the same time on every rank: a dissemination barrier, ceil(log2(ranks)) rounds of one
/// small message each, in the model of `control`.
class Start {
 public:
  virtual ~Start() = default;
  /// Returns at about the same time on every rank. Called by every rank.
  virtual void wait() = 0;
  /// Rank that wait() waits for in this moment, -1 if none. May be called by another thread.
  [[nodiscard]] virtual int waits_for() const = 0;
};
/// Makes a Start on the ranks of `control`, which must live as long. Collective.
/// @throws UsageError where `control` is OpenSHMEM's and not of all processes in their order
[[nodiscard]] std::unique_ptr<Start> make_start(comm::Transport& control);

}  // namespace merganser::kernels
