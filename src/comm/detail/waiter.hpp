#pragma once
/// Patience of the wait loops: spin, then yield the core, then sleep; give up after a limit if one is set.
#include <chrono>
#include <functional>
#include <string>

namespace merganser::comm::detail {

/// Longest wait for a neighbour in seconds; 0: for ever. From the environment variable MERGANSER_WAIT_LIMIT.
[[nodiscard]] double wait_limit();
/// Sets the limit where the variable did not.
void set_default_wait_limit(double seconds);

/// One wait. `describe` says what for; it is called only when the limit is over.
class Waiter {
 public:
  using Describe = std::function<std::string()>;
  explicit Waiter(const Describe& describe) : describe_(describe) {}

  /// Something happened: be quick again.
  void reset() noexcept { rounds_ = 0; }
  /// Nothing happened. @throws CommError when the limit is over
  void idle();
  /// Checks the limit only, for those who sleep themselves.
  void check_limit();

 private:
  const Describe& describe_;
  int rounds_ = 0;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace merganser::comm::detail
