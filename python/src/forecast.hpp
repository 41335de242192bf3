#pragma once
/// Forecast callback of Python: receives the cost of comparing all pairs of points before a search, and may cancel it.
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/msf/euclidean.hpp"
#include "python/src/arrays.hpp"

namespace merganser::python {

/// Python callable that receives the forecast of a comparison of all pairs of points, and cancels the search by raising. It may be
/// called on another thread than the caller's, and destroyed after the caller has returned (an interrupted call), hence the locks.
class ForecastCallback {
 public:
  /// Takes a reference to the Python callable that receives forecasts. Requires the interpreter's lock.
  explicit ForecastCallback(nb::object callable) : callable_(std::move(callable)) {}
  ForecastCallback(const ForecastCallback&) = delete;
  ForecastCallback& operator=(const ForecastCallback&) = delete;
  ForecastCallback(ForecastCallback&&) = delete;
  ForecastCallback& operator=(ForecastCallback&&) = delete;
  ~ForecastCallback() {
    const nb::gil_scoped_acquire lock;
    callable_.reset();
    refused_ = nullptr;
  }

  /// Calls the forecast callback with points, dimension, distances, seconds and bytes of rank; takes the interpreter's lock. A
  /// raised Python exception is kept for rethrow(). @throws UsageError, which all ranks throw, if the callable raises
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
  /// Throws the exception that the forecast callback raised, if any. Requires the interpreter's lock.
  void rethrow() const {
    if (refused_) std::rethrow_exception(refused_);
  }

 private:
  nb::object callable_;
  std::exception_ptr refused_;
};

/// Sets the limit of distances and the forecast callback in the options of a Euclidean forest search. Requires the interpreter's
/// lock.
/// @return the callback, which must outlive the search
[[nodiscard]] inline std::shared_ptr<ForecastCallback> set_forecast(std::int64_t most_distances, nb::object forecast,
                                                                    msf::EuclideanOptions& options) {
  auto ask = std::make_shared<ForecastCallback>(std::move(forecast));
  options.most_distances = most_distances;
  options.forecast = [ask = ask.get()](const msf::PairsForecast& f) { (*ask)(f); };
  return ask;
}

/// Calls `work`, a search among points, and if it fails because the forecast callback raised, throws that Python exception in place
/// of the UsageError. Requires the interpreter's lock.
template <class Work>
void run_with_forecast(const ForecastCallback& ask, const Work& work) {
  try {
    work();
  } catch (const UsageError&) {
    ask.rethrow();
    throw;
  }
}

}  // namespace merganser::python
