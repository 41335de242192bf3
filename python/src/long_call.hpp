#pragma once
/// Long calls of the Python bindings: run without the interpreter's lock, and end within a second of Ctrl-C.
#include <atomic>
#include <functional>
#include <memory>

#include "merganser/msf/forest.hpp"

namespace merganser::python {

/// Exception that Interrupt::check() throws in a call which Ctrl-C or another signal has interrupted. In Python it becomes
/// KeyboardInterrupt, or the exception of the signal's handler.
struct Interrupted {};

/// Cancellation flag of a long call from Python, shared by its copies on all threads that run parts of the call.
class Interrupt {
 public:
  /// Creates the flag of one long call, not set. @param looks  check() is called by the thread that called from Python, and runs
  /// the handlers of pending signals itself
  explicit Interrupt(bool looks = false) : looks_(looks) {}
  /// Throws if the long call was interrupted; called at intervals by its body. @throws Interrupted, or the exception that a
  /// signal's handler raised
  void check() const {
    if (flag_->load(std::memory_order_relaxed)) throw Interrupted{};
    if (looks_) check_signals();
  }
  /// Interrupts the long call: check() throws from now on, in all copies of this flag. Thread-safe.
  void set() const { flag_->store(true, std::memory_order_relaxed); }
  /// Sets the progress callback of a search for a spanning forest so that it calls check(), which ends an interrupted search.
  void watch(msf::Report& report) const {
    report.progress = [self = *this](std::string_view, double) { self.check(); };
  }

 private:
  /// Runs the handlers of pending signals of Python, at most every 50 ms. @throws the exception that a handler raised
  static void check_signals();
  bool looks_;
  std::shared_ptr<std::atomic<bool>> flag_ = std::make_shared<std::atomic<bool>>(false);
};

/// Body of a long call from Python. It must own all data that it reads: an interrupted one may end after its caller has returned.
using LongBody = std::function<void(const Interrupt&)>;

/// States where memory goes that the body of a long call has freed: `kept` by the allocator for later calls, or `returned` to the system,
/// which takes milliseconds, more in a process with much fragmented memory. Where the body has a thread of its own the allocator keeps
/// it for that thread, and the next call, which has another thread, would take as much again. Other than glibc: always kept.
enum class FreedMemory { kept, returned };

/// Calls body without the interpreter's lock. On Python's main thread the body gets a thread of its own, and the caller checks for
/// signals meanwhile. After a signal whose handler raises, the call ends within a second with that exception; a body that does not
/// call Interrupt::check() is then abandoned and its result dropped. Requires the interpreter's lock.
/// @param freed  what happens to the memory that a body of 50 ms or more has freed
void long_call(LongBody body, FreedMemory freed = FreedMemory::kept);

/// Calls body without the interpreter's lock on the calling thread, for libraries that must be called by one thread (MPI). Signals
/// are handled when the body calls Interrupt::check(). Requires the interpreter's lock.
void long_call_here(const LongBody& body);

/// Waits until the abandoned bodies of all interrupted long calls have ended. Called before the interpreter ends, since they may
/// use objects of Python. Requires the interpreter's lock.
void wait_for_interrupted();

}  // namespace merganser::python
