#pragma once
/// What Python says to the cost of comparing every pair of points, before the work begins.
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/msf/euclidean.hpp"
#include "python/src/arrays.hpp"

namespace merganser::python {

/// A callable of Python's that is asked, and may refuse by raising. The thread that asks may be another than the caller's, and
/// an interrupted call may end after its caller.
class Ask {
 public:
  /// Called with the interpreter's lock.
  explicit Ask(nb::object callable) : callable_(std::move(callable)) {}
  Ask(const Ask&) = delete;
  Ask& operator=(const Ask&) = delete;
  Ask(Ask&&) = delete;
  Ask& operator=(Ask&&) = delete;
  ~Ask() {
    const nb::gil_scoped_acquire lock;
    callable_.reset();
    refused_ = nullptr;
  }

  /// Asks; called without the lock. @throws UsageError, which other ranks get too, for what the callable has raised
  void operator()(const msf::PairsForecast& f) {
    const nb::gil_scoped_acquire lock;
    try {
      callable_(f.points, f.dimension, f.distances, f.seconds, f.rank_bytes);
    } catch (const nb::python_error& e) {
      refused_ = std::current_exception();
      const std::string kind = nb::cast<std::string>(nb::str(e.type().attr("__name__")));
      throw UsageError("forecast: refused (" + kind + ": " + nb::cast<std::string>(nb::str(e.value())) + ")");
    }
  }
  /// Throws what the callable has raised, if it has. Called with the lock.
  void rethrow() const {
    if (refused_) std::rethrow_exception(refused_);
  }

 private:
  nb::object callable_;
  std::exception_ptr refused_;
};

/// Options of a search in which `most_distances` and `forecast` of the caller's count. With the lock.
[[nodiscard]] inline std::shared_ptr<Ask> ask_of(std::int64_t most_distances, nb::object forecast,
                                                 msf::EuclideanOptions& options) {
  auto ask = std::make_shared<Ask>(std::move(forecast));
  options.most_distances = most_distances;
  options.forecast = [ask = ask.get()](const msf::PairsForecast& f) { (*ask)(f); };
  return ask;
}

/// Calls `work`, with the lock; where it fails because the callable has refused, what that has raised is thrown.
template <class Work>
void run_asking(const Ask& ask, const Work& work) {
  try {
    work();
  } catch (const UsageError&) {
    ask.rethrow();
    throw;
  }
}

}  // namespace merganser::python
