#pragma once
/// Patience of the wait loops: spin, then yield the core, then sleep; give up after a limit if one is set.
#include <chrono>
#include <functional>
#include <string>
#include <utility>

#include "merganser/base/pinned.hpp"

namespace merganser::comm::detail {

/// Longest wait without anything arriving, in seconds; 0: for ever.
[[nodiscard]] double wait_limit() noexcept;
/// Reads the variable MERGANSER_WAIT_LIMIT; when a run starts. @throws UsageError if it is no time
void read_wait_limit();
/// The same where transports live side by side: without the variable the limit stays as it is.
void read_wait_limit_again();
/// Sets the limit of this run where the variable did not.
void set_default_wait_limit(double seconds);

/// One wait. `describe` returns which rank waits in which call for which ranks, and how much has arrived; it is called only when the limit is over.
class Waiter : Pinned {
 public:
  using Describe = std::function<std::string()>;
  explicit Waiter(const Describe& describe) : describe_(describe) {}
  explicit Waiter(Describe&& describe) : own_(std::move(describe)), describe_(own_) {}

  /// Something happened: be quick again, and as patient as at first.
  void reset() noexcept {
    rounds_ = 0;
    since_ = {};
  }
  /// Nothing happened. @throws CommError when the limit is over
  void idle();
  /// Checks the limit only, for those who sleep themselves.
  void check_limit();

 private:
  Describe own_;
  const Describe& describe_;
  int rounds_ = 0;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace merganser::comm::detail
