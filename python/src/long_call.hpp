#pragma once
/// Calls that take their time: without the lock of the interpreter, and ended by Ctrl-C.
#include <atomic>
#include <functional>
#include <memory>

#include "merganser/msf/forest.hpp"

namespace merganser::python {

/// Thrown by Interrupt::check() where a call has been interrupted; Python sees KeyboardInterrupt, or what the handler of
/// the signal has raised.
struct Interrupted {};

/// Whether the caller has been interrupted; seen by all that work for a call.
class Interrupt {
 public:
  /// @param looks  check() is called by the thread that called from Python, and looks for signals itself
  explicit Interrupt(bool looks = false) : looks_(looks) {}
  /// @throws Interrupted once the call has been interrupted, or what the handler of a signal has raised
  void check() const {
    if (flag_->load(std::memory_order_relaxed)) throw Interrupted{};
    if (looks_) look();
  }
  /// From now on check() throws.
  void set() const { flag_->store(true, std::memory_order_relaxed); }
  /// Lets the progress of a forest check.
  void watch(msf::Report& report) const {
    report.progress = [self = *this](std::string_view, double) { self.check(); };
  }

 private:
  static void look();
  bool looks_;
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

/// What a long call does. It must own all that it reads: an interrupted one may end after its caller.
using LongBody = std::function<void(const Interrupt&)>;

/// Calls body without the interpreter's lock, and looks for signals meanwhile, where the caller is the main thread: body
/// then runs on another one. After a signal whose handler raises the call ends within a second with that exception, even if
/// the body does not check: it then ends by itself, and nothing is heard of it. Called with the lock held.
void long_call(LongBody body);

/// The same on the calling thread, for libraries that are called by one thread alone (MPI): signals are looked for where
/// the body checks.
void long_call_here(const LongBody& body);

/// Waits for interrupted bodies that have not ended. Called before the interpreter ends.
void wait_for_interrupted();

}  // namespace merganser::python
