#pragma once
/// Long calls: run without the interpreter's lock, and end within a second of Ctrl-C.
#include <atomic>
#include <functional>
#include <memory>

#include "merganser/msf/forest.hpp"

namespace merganser::python {

/// Exception of Interrupt::check() in an interrupted call. In Python it becomes KeyboardInterrupt, or the exception of the
/// signal's handler.
struct Interrupted {};

/// Cancellation flag of a call, shared by copies on all threads that work for it.
class Interrupt {
 public:
  /// @param looks  check() is called by the thread that called from Python, and runs pending signal handlers itself
  explicit Interrupt(bool looks = false) : looks_(looks) {}
  /// Throws if the call was interrupted. @throws Interrupted, or the exception that a signal's handler raised
  void check() const {
    if (flag_->load(std::memory_order_relaxed)) throw Interrupted{};
    if (looks_) check_signals();
  }
  /// Interrupts the call: check() throws from now on, in all copies.
  void set() const { flag_->store(true, std::memory_order_relaxed); }
  /// Makes a search for a forest call check() at each report of progress.
  void watch(msf::Report& report) const {
    report.progress = [self = *this](std::string_view, double) { self.check(); };
  }

 private:
  static void check_signals();
  bool looks_;
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

/// Body of a long call. It must own all data that it reads: an interrupted one may end after its caller has returned.
using LongBody = std::function<void(const Interrupt&)>;

/// Calls body without the interpreter's lock. If the caller is the main thread, body runs on another one, and the caller checks
/// for signals. After a signal whose handler raises, the call ends within a second with that exception; a body that does not
/// check is then abandoned and its result dropped. Requires the interpreter's lock.
void long_call(LongBody body);

/// Calls body without the interpreter's lock on the calling thread, for libraries that must be called by one thread (MPI).
/// Signals are handled when the body checks. Requires the interpreter's lock.
void long_call_here(const LongBody& body);

/// Waits until all abandoned bodies have ended. Called before the interpreter ends, since they may use objects of Python.
void wait_for_interrupted();

}  // namespace merganser::python
