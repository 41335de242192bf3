/// Long calls of the Python bindings: threads that run bodies without the interpreter's lock, and the handling of Ctrl-C.
#include "python/src/long_call.hpp"

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace nb = nanobind;

namespace merganser::python {
namespace {

using namespace std::chrono_literals;
constexpr auto kLook = 50ms;       // interval between checks for signals of Python during a long call
constexpr auto kPatience = 700ms;  // time that the body of an interrupted long call has to end before it is abandoned

/// Body of a long call from Python and its state, shared by the calling thread and the thread that runs the body.
struct LongCallState {
  explicit LongCallState(LongBody b) : body(std::move(b)) {}
  LongBody body;
  Interrupt interrupt;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr error;  ///< exception that ended the body; null: none

  /// Waits until the body has ended, at most for `time`. @return true if it has ended
  template <class Time>
  bool wait(Time time) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, time, [this] { return ended; });
  }
};

/// Number of bodies of interrupted long calls that still run after their callers have returned to Python.
struct AbandonedBodies {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
};
/// Returns the process-wide count of abandoned bodies, which is never destroyed: their threads may outlive static objects.
AbandonedBodies& abandoned() {
  static AbandonedBodies* const the_abandoned = new AbandonedBodies;
  return *the_abandoned;
}

/// Runs the body of a long call on a thread of its own, keeps its exception for the calling thread, and signals its end.
void run_work(const std::shared_ptr<LongCallState>& work) {
  std::exception_ptr error;
  try {
    work->body(work->interrupt);
  } catch (...) {
    error = std::current_exception();
  }
  const std::lock_guard lock(work->mutex);
  work->error = std::move(error);
  work->ended = true;
  work->changed.notify_all();
}

/// Abandons the body of an interrupted long call that does not end: another thread, detached, joins the body's thread and releases
/// the data that the body owns. It is counted until then, so that wait_for_interrupted() can wait for it.
void abandon(std::shared_ptr<LongCallState> work, std::thread thread) {
  {
    const std::lock_guard lock(abandoned().mutex);
    ++abandoned().count;
  }
  std::thread([work = std::move(work), thread = std::move(thread)]() mutable {
    thread.join();
    work.reset();
    const std::lock_guard lock(abandoned().mutex);
    --abandoned().count;
    abandoned().changed.notify_all();
  }).detach();
}

/// Returns true on Python's main thread, the one on which Python runs the handlers of signals. Requires the interpreter's lock.
bool is_on_main_thread() {
  static const auto main =
      nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  return main == PyThread_get_thread_ident();
}

/// Runs the handlers of pending signals in Python; takes the interpreter's lock. @return true if a handler has raised an exception
/// (KeyboardInterrupt, for one), which is then set in Python
bool has_signal_raised() {
  const nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

/// Returns memory that has been freed to the system, with glibc.
void trim_memory() {
#ifdef __GLIBC__
  ::malloc_trim(0);
#endif
}

}  // namespace

// Handlers of pending signals run at most every kLook on a thread; an exception of a handler ends the long call.
void Interrupt::check_signals() {
  // Taking the interpreter's lock at every check would slow the body down.
  thread_local std::chrono::steady_clock::time_point next;
  const auto now = std::chrono::steady_clock::now();
  if (now < next) return;
  next = now + kLook;
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Call that Ctrl-C can interrupt: the body gets a thread of its own, so that this thread can run the handlers of
// signals.
void long_call(LongBody body, FreedMemory freed) {
  if (!is_on_main_thread()) {
    const nb::gil_scoped_release free;
    return body(Interrupt{});
  }
  auto work = std::make_shared<LongCallState>(std::move(body));
  std::exception_ptr error;
  bool short_call = true;  // too short for a return of memory to be worth its time
  bool raised = false;
  {
    const nb::gil_scoped_release free;
    std::thread thread([work] { run_work(work); });
    while (!work->wait(kLook) && !raised) {
      short_call = false;
      raised = has_signal_raised();
    }
    if (raised) work->interrupt.set();
    if (!raised || work->wait(kPatience)) {
      thread.join();
      error = work->error;
      work.reset();
      if (!short_call && freed == FreedMemory::returned) trim_memory();
    } else {
      abandon(std::move(work), std::move(thread));
    }
  }
  if (raised) throw nb::python_error();
  if (error) std::rethrow_exception(error);
}

// Call that Ctrl-C can interrupt where the body must stay on its thread (calls of MPI): the body runs the handlers
// itself.
void long_call_here(const LongBody& body) {
  if (!is_on_main_thread()) {
    const nb::gil_scoped_release free;
    return body(Interrupt{});
  }
  const nb::gil_scoped_release free;
  body(Interrupt(true));
}

// Blocks until the last abandoned body has ended, without the interpreter's lock, which bodies may need to end.
void wait_for_interrupted() {
  const nb::gil_scoped_release free;
  std::unique_lock lock(abandoned().mutex);
  abandoned().changed.wait(lock, [] { return abandoned().count == 0; });
}

}  // namespace merganser::python
