#pragma once
/// Teams: the ranks that run a call, which are this process alone, threads of it, or the ranks of a communicator.
#include <functional>
#include <memory>
#include <string>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"
#include "python/src/long_call.hpp"

namespace merganser::python {

/// Team of ranks that run a call from Python and hold its results: this process alone, threads of it, or a communicator's ranks.
class Team : Pinned {
 public:
  /// Function that every rank of a team in this process runs, with its transport and the cancellation flag of the call.
  using Body = std::function<void(comm::Transport&, const Interrupt&)>;

  /// Creates a team of `ranks` threads of this process, which live as long as a call. @throws UsageError if not positive
  explicit Team(int ranks);
  /// Creates a team over an open transport of a communicator. Closing the team is collective.
  explicit Team(std::unique_ptr<comm::Transport> transport);

  /// Returns true if all ranks of the team are in this process, so that each processes a share of one array of the caller's.
  [[nodiscard]] bool is_local() const noexcept { return over_ == nullptr && !closed_; }
  /// Returns the number of ranks of the team.
  [[nodiscard]] int ranks() const;
  /// Returns the rank of this process in the communicator; 0 if all ranks are in this process.
  [[nodiscard]] int rank() const;
  /// Returns the name of the communication model of the team's transport: "threads", "p2p", ...
  [[nodiscard]] std::string model() const;
  /// Calls body on every rank of the team in this process, and returns when all have ended or Ctrl-C has interrupted the call: the
  /// body must own all data that it refers to. Requires the interpreter's lock. Collective over a communicator.
  void run(Body body) const;
  /// Closes the team's transport over a communicator. Collective. No other member function may be called afterwards.
  void close();

 private:
  /// Returns the transport over the team's communicator. @throws UsageError after close()
  [[nodiscard]] comm::Transport& over() const;
  int ranks_ = 1;
  bool closed_ = false;
  std::unique_ptr<comm::Transport> over_;
};

/// Consecutive rows of an array of Python (points, edges) that one rank processes: from `begin` to before `end`.
struct RowRange {
  std::size_t begin;
  std::size_t end;
  /// Returns the number of array rows in the range.
  [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};
/// Returns the share of rank `rank` of `ranks` in the n rows of an array: consecutive in the order of ranks, of equal size up to
/// one.
[[nodiscard]] RowRange row_share(std::size_t n, int rank, int ranks);

}  // namespace merganser::python
