#pragma once
/// What the transports of all backends share.
#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "merganser/comm/transport.hpp"
#include "src/comm/detail/bytes.hpp"
#include "src/comm/detail/liveness.hpp"

namespace merganser::comm::detail {

/// Descriptors of the remote ends of the arcs of this rank, exchanged by the handshake that makes an object.
struct RemoteDescriptors {
  std::vector<Bytes> from_in;   ///< per in-arc: that of its sender
  std::vector<Bytes> from_out;  ///< per out-arc: that of its receiver
};

/// A transport of some of the ranks of another one belongs to that one, which ends it at its own end: user code may keep
/// both it and objects beyond the run.
class TransportBase : public Transport {
 public:
  /// Ends what was made from it: objects refuse to work from now on. Local.
  ~TransportBase() override;

  /// Ends this transport, and those of some of its ranks first, and frees what needs every rank. Collective; once. Not
  /// called when ranks end with different errors.
  void close();

  /// Checks the one-sided memory of this rank after puts and gets in blocks of differing sizes. Returns the error text, empty if
  /// there is no error or no such memory. Never waits for a word, so one that is lost blocks no rank. Collective.
  [[nodiscard]] virtual std::string memory_fault() { return {}; }

  [[nodiscard]] std::string_view choice() const noexcept override { return choice_; }
  void note_choice(std::string line) { choice_ = std::move(line); }

 protected:
  /// Frees what needs every rank.
  virtual void release() {}
  /// Called with every transport that subset() makes.
  void adopt(TransportBase& part);
  [[nodiscard]] std::shared_ptr<const LivenessToken> liveness() const { return liveness_; }
  [[nodiscard]] bool ended() const noexcept { return liveness_->ended(); }
  /// The transport ends with the library that it runs over, which the program may end first.
  void depend_on(bool (*library_runs)()) noexcept { liveness_->depend_on(library_runs); }
  /// @throws CommError if this has ended; what every collective call begins with
  void check_usable() const { liveness_->check("Transport"); }

  /// Checks that both ends of every arc list it, and exchanges the descriptors of the two ends. Collective.
  /// @param to_out  per out-arc, for its receiver; empty: none
  /// @param to_in   per in-arc, for its sender; empty: none
  /// @param error  what else is wrong on this rank; empty if nothing is
  /// @throws CommError on every rank if some rank has an error or its graph is wrong
  /// Cost: a reduction of four words, and a message along every arc if some rank has descriptors. Memory for the arcs
  /// of this rank alone, unless there is an error.
  RemoteDescriptors handshake(const Graph& graph, const std::vector<Bytes>& to_out = {},
                              const std::vector<Bytes>& to_in = {}, const std::string& error = {});
  /// Adds up integers over all ranks, element by element. Collective; not counted.
  void add(std::span<std::int64_t> values);
  /// Collective: if some rank has an error (not empty), every rank throws CommError with that of the lowest one.
  void agree_on(const std::string& error);

  /// Sends messages[i] to ranks[i], each of which calls with this rank among its own. Returns what each of them sent to this
  /// rank. Collective, also for ranks without such partners.
  [[nodiscard]] virtual std::vector<Bytes> do_exchange(std::span<const int> ranks,
                                                       const std::vector<Bytes>& messages) = 0;

 private:
  /// Throws the error of the lowest rank that has one. Collective.
  [[noreturn]] void throw_first(const std::string& error);
  /// Which end of an arc of this rank does not know of it; empty if all do. Collective, with a list of all ranks on each.
  [[nodiscard]] std::string arc_error(const Graph& graph);

  using Parts = std::vector<TransportBase*>;

  void end() noexcept;

  std::string choice_;
  std::shared_ptr<LivenessToken> liveness_ = std::make_shared<LivenessToken>();
  std::shared_ptr<Parts> parts_ = std::make_shared<Parts>();  // in the order of creation, alike on every rank
  std::weak_ptr<Parts> whole_;                                // the list that this one is in
};

/// One element of a reduction.
template <class T>
[[nodiscard]] T combined(T a, T b, Op op) {
  return op == Op::sum ? a + b : op == Op::min ? std::min(a, b) : std::max(a, b);
}

/// The other ranks at the ends of a graph's arcs, in either direction, ascending.
[[nodiscard]] std::vector<int> neighbours_of(const Graph& graph, int rank);

/// Validates the graph of one of `size` ranks. Returns the error text, empty if it is valid. Local.
[[nodiscard]] std::string graph_error(const Graph& graph, int size);

/// Notes that every rank is about to throw an error with this text.
void note_agreed_error(const std::string& text);
/// True if that is the text of the last error noted.
[[nodiscard]] bool was_agreed(const std::exception& error);

}  // namespace merganser::comm::detail
