#pragma once
/// Who computes: this process alone, ranks that are threads of it, or the ranks of a communicator.
#include <functional>
#include <memory>
#include <string>

#include "merganser/base/pinned.hpp"
#include "merganser/comm/transport.hpp"
#include "python/src/long_call.hpp"

namespace merganser::python {

/// The ranks of a call, and of the objects that it gives.
class Team : Pinned {
 public:
  /// What every rank of this process does.
  using Body = std::function<void(comm::Transport&, const Interrupt&)>;

  /// `ranks` threads of this process, which live as long as a call. @throws UsageError if it is not positive
  explicit Team(int ranks);
  /// The ranks of a communicator that is open. Closing it is collective.
  explicit Team(std::unique_ptr<comm::Transport> transport);

  /// Whether all ranks are in this process, so that every one has its part of one array of the caller's.
  [[nodiscard]] bool here() const noexcept { return over_ == nullptr && !closed_; }
  /// Number of ranks.
  [[nodiscard]] int ranks() const;
  /// Number of this process among those of the communicator; 0 if all ranks are here.
  [[nodiscard]] int rank() const;
  /// The model that carries messages: "threads", "p2p", ...
  [[nodiscard]] std::string model() const;
  /// Calls body on every rank of this process and returns when all have ended. Long: see long_call(). What the body refers
  /// to must be its own. Called with the interpreter's lock.
  void run(Body body) const;
  /// Gives the communicator back. Collective. No call after it.
  void close();

 private:
  [[nodiscard]] comm::Transport& over() const;
  int ranks_ = 1;
  bool closed_ = false;
  std::unique_ptr<comm::Transport> over_;
};

/// What rank `rank` of `ranks` has of n rows: from the first to before the second.
struct RowRange {
  std::size_t begin;
  std::size_t end;
  /// Number of rows.
  [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
};
/// Rows dealt in order, equally up to one.
[[nodiscard]] RowRange rows_of(std::size_t n, int rank, int ranks);

}  // namespace merganser::python
