#pragma once
/// Back-off of loops that poll for messages or words of other ranks: spin, then yield the core, then sleep; throw after a limit if
/// one is set.
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "merganser/base/pinned.hpp"

namespace merganser::comm::detail {

/// Returns this process's limit on waits: the time in seconds for which a rank may wait without progress before it
/// throws; 0: no limit.
[[nodiscard]] double wait_limit() noexcept;
/// Sets this process's limit on waits from the variable MERGANSER_WAIT_LIMIT, or to 0 (no limit) if the variable is not
/// set. Called when a run starts. Local.
/// @throws UsageError if the variable is no time in seconds
void read_wait_limit();
/// Sets this process's limit on waits from the variable MERGANSER_WAIT_LIMIT; keeps the limit if the variable is not
/// set. Called where transports may exist already. Local. @throws UsageError if the variable is no time in seconds
void update_wait_limit();
/// Sets this process's limit on waits to `seconds`, unless the variable MERGANSER_WAIT_LIMIT has set it.
void set_default_wait_limit(double seconds);

/// Back-off of a loop that polls for other ranks: counts the polls without progress to choose between spinning, yielding the core
/// and sleeping, and throws once the limit on waits has passed. Constructed before the loop.
class Waiter : Pinned {
 public:
  /// Callback that describes the wait of a Waiter for its error: this rank, the call, the ranks waited for, and the amount received
  /// so far. Called only when the limit has passed.
  using Describe = std::function<std::string()>;
  /// Starts a wait of a polling loop. Refers to `describe`, which must outlive the object; a temporary is moved into the object.
  explicit Waiter(const Describe& describe) : describe_(describe) {}
  explicit Waiter(Describe&& describe) : own_(std::move(describe)), describe_(own_) {}

  /// Restarts the back-off and the limit of the wait; called by a polling loop after progress.
  void reset() noexcept {
    rounds_ = 0;
    since_ = {};
  }
  /// Spins, yields or sleeps once; called after a poll without progress. @throws CommError when the limit on waits has passed
  void idle();
  /// Checks the limit on waits without a pause, for loops that block by other means. @throws CommError when the limit has passed
  void check_limit();

 private:
  Describe own_;                                 // empty if describe_ is the caller's
  const Describe& describe_;                     // of the wait, for the error
  int rounds_ = 0;                               // calls of idle() since the last progress
  std::chrono::steady_clock::time_point since_;  // first check of the limit since then; epoch: none yet
};

}  // namespace merganser::comm::detail
