#include "python/src/long_call.hpp"

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace nb = nanobind;

namespace merganser::python {
namespace {

using namespace std::chrono_literals;
constexpr auto kLook = 50ms;       // between looks for signals
constexpr auto kPatience = 700ms;  // for a body that has been interrupted

/// A body on its way, shared by the caller and the thread.
struct Work {
  explicit Work(LongBody b) : body(std::move(b)) {}
  LongBody body;
  Interrupt interrupt;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  std::exception_ptr error;

  template <class Time>
  bool wait(Time time) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, time, [this] { return ended; });
  }
};

/// Bodies whose callers have gone.
struct Left {
  std::mutex mutex;
  std::condition_variable changed;
  int count = 0;
};
Left& left() {
  static Left* const the_left = new Left;
  return *the_left;
}

void work_on(const std::shared_ptr<Work>& work) {
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

/// Nobody waits for this one any more: the thread lets go of what it holds, and is counted until then.
void leave(std::shared_ptr<Work> work, std::thread thread) {
  {
    const std::lock_guard lock(left().mutex);
    ++left().count;
  }
  std::thread([work = std::move(work), thread = std::move(thread)]() mutable {
    thread.join();
    work.reset();
    const std::lock_guard lock(left().mutex);
    --left().count;
    left().changed.notify_all();
  }).detach();
}

bool on_main_thread() {
  static const auto main =
      nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
  return main == PyThread_get_thread_ident();
}

/// Runs the handlers of signals that have come. @return whether one has raised
bool signalled() {
  const nb::gil_scoped_acquire lock;
  return PyErr_CheckSignals() != 0;
}

}  // namespace

void Interrupt::look() {
  thread_local std::chrono::steady_clock::time_point next;
  const auto now = std::chrono::steady_clock::now();
  if (now < next) return;
  next = now + kLook;
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void long_call(LongBody body) {
  if (!on_main_thread()) {
    const nb::gil_scoped_release free;
    return body(Interrupt{});
  }
  auto work = std::make_shared<Work>(std::move(body));
  std::exception_ptr error;
  bool raised = false;
  {
    const nb::gil_scoped_release free;
    std::thread thread([work] { work_on(work); });
    while (!work->wait(kLook) && !raised) raised = signalled();
    if (raised) work->interrupt.set();
    if (!raised || work->wait(kPatience)) {
      thread.join();
      error = work->error;
      work.reset();
    } else {
      leave(std::move(work), std::move(thread));
    }
  }
  if (raised) throw nb::python_error();
  if (error) std::rethrow_exception(error);
}

void long_call_here(const LongBody& body) {
  if (!on_main_thread()) {
    const nb::gil_scoped_release free;
    return body(Interrupt{});
  }
  const nb::gil_scoped_release free;
  body(Interrupt(true));
}

void wait_for_interrupted() {
  const nb::gil_scoped_release free;
  std::unique_lock lock(left().mutex);
  left().changed.wait(lock, [] { return left().count == 0; });
}

}  // namespace merganser::python
