#pragma once
/// Base class of the transports of all communication models: end of life, sub-transports, and the handshake that makes objects.
#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/liveness.hpp"

namespace merganser::comm::detail {

/// Descriptors of the remote ends of this rank's arcs, received in the handshake that makes a communication object; filled by
/// TransportBase::handshake().
struct RemoteDescriptors {
  std::vector<Bytes> from_in;   ///< per in-arc: descriptor that its sender gave; empty without one
  std::vector<Bytes> from_out;  ///< per out-arc: descriptor that its receiver gave; empty without one
};

/// Transport with a liveness token. A sub-transport, over some of the ranks of a transport, ends with that transport.
/// Ended transports and their objects may be kept and destroyed, but not used: user code may keep them beyond the run.
class TransportBase : public Transport {
 public:
  /// Ends the transport and those of some of its ranks: objects made from them throw from now on. Local.
  ~TransportBase() override;

  /// Ends this transport, after those of some of its ranks, and frees collective resources. Collective; later calls do
  /// nothing. Not called when ranks end with different errors.
  void close();

  /// Checks the one-sided memory of this rank after puts and gets in blocks of differing sizes. Returns the error text, empty if
  /// there is no error or no such memory. Polls for no word, so a lost one blocks no rank. Collective.
  [[nodiscard]] virtual std::string memory_fault() { return {}; }

  [[nodiscard]] std::string_view choice() const noexcept override { return choice_; }
  /// Stores the line on the communication models that "auto" measured, which choice() returns.
  void note_choice(std::string line) { choice_ = std::move(line); }

 protected:
  /// Frees the collective resources of a backend (windows, communicators, symmetric memory). Collective; called by close().
  virtual void release() {}
  /// Registers a sub-transport that subset() has made, to end with this transport.
  void adopt(TransportBase& part);
  /// Returns the liveness token that this transport shares with the objects made from it.
  [[nodiscard]] std::shared_ptr<const LivenessToken> liveness() const { return liveness_; }
  /// Returns true if this transport, or the library that it runs over, has ended.
  [[nodiscard]] bool ended() const noexcept { return liveness_->ended(); }
  /// Ties the life of the transport to the library that it runs over, which the program may finalise first.
  void depend_on(bool (*library_runs)()) noexcept { liveness_->depend_on(library_runs); }
  /// Throws CommError if this transport has ended; the first statement of every collective call. Local.
  void check_usable() const { liveness_->check("Transport"); }

  /// Checks that both ends of every arc of a process graph list it, and exchanges the descriptors of the two ends; first step of
  /// the creation of a Mailbox, Stream, Segment or Plan. Collective.
  /// @param to_out  per out-arc: descriptor for its receiver; empty: none
  /// @param to_in   per in-arc: descriptor for its sender; empty: none
  /// @param error   text of another error on this rank; empty if there is none
  /// @throws CommError on every rank if some rank has an error or its graph is wrong
  /// Cost: a reduction of four words, and a message along every arc if some rank has descriptors. Memory for the arcs
  /// of this rank alone, unless there is an error.
  RemoteDescriptors handshake(const Graph& graph, const std::vector<Bytes>& to_out = {},
                              const std::vector<Bytes>& to_in = {}, const std::string& error = {});
  /// Sums integers over all ranks, element by element, into `values` on every rank. Collective; not counted.
  void add(std::span<std::int64_t> values);
  /// Throws CommError on every rank, with the error text of the lowest rank that has one (not empty), if any rank has one.
  /// Collective.
  void agree_on(const std::string& error);

  /// Sends messages[i] to ranks[i] and returns the message received from each of them. The relation is symmetric: each of
  /// `ranks` passes this rank among its own. Collective, also for ranks without partners.
  [[nodiscard]] virtual std::vector<Bytes> do_exchange(std::span<const int> ranks,
                                                       const std::vector<Bytes>& messages) = 0;

 private:
  /// Throws CommError on every rank with the error text of the lowest rank that has one; at least one must have one. Collective.
  [[noreturn]] void throw_first(const std::string& error);
  /// Returns the error text of the first arc of this rank that only one end lists; empty if there is none. Collective; needs
  /// memory for all ranks on each, so it runs only once an error has been detected.
  [[nodiscard]] std::string arc_error(const Graph& graph);

  using Parts = std::vector<TransportBase*>;

  /// Marks this transport and its sub-transports as ended. Local.
  void end() noexcept;

  std::string choice_;  // line on the models that "auto" measured
  std::shared_ptr<LivenessToken> liveness_ = std::make_shared<LivenessToken>();
  std::shared_ptr<Parts> parts_ = std::make_shared<Parts>();  // in the order of creation, alike on every rank
  std::weak_ptr<Parts> whole_;                                // list of the parent transport, which may end first
};

/// Returns the reduction of two values, of two ranks, by the operation `op`.
template <class T>
[[nodiscard]] T reduce_pair(T a, T b, Op op) {
  return op == Op::sum ? a + b : op == Op::min ? std::min(a, b) : std::max(a, b);
}

/// Returns the neighbours of `rank` in a process graph: the ranks at the ends of its arcs in either direction, without itself,
/// ascending, each once. Local.
[[nodiscard]] std::vector<int> list_neighbours(const Graph& graph, int rank);

/// Validates one rank's part of a process graph over `size` ranks. Returns the error text, empty if it is valid. Local.
[[nodiscard]] std::string graph_error(const Graph& graph, int size);

/// Stores the text of an error that every rank is about to throw. Local, thread-safe.
void note_agreed_error(const std::string& text);
/// Returns true if the error has the text of the last note_agreed_error(): then all ranks throw it, and collective calls are
/// safe. Local, thread-safe.
[[nodiscard]] bool was_agreed(const std::exception& error);

}  // namespace merganser::comm::detail
