#pragma once
/// Merge policies that Python owns, and the predicate of Python on the place of a merged parcel.
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/pinned.hpp"
#include "merganser/cluster/merge_policy.hpp"
#include "merganser/cluster/report.hpp"
#include "python/src/arrays.hpp"

namespace merganser::python {

/// Predicate of Python on the place of a merged parcel. It may be called on another thread than the caller's, and destroyed after
/// the caller has returned (an interrupted call), hence the locks of the interpreter. One object of Python owns it, which shows
/// the callable to the interpreter's search for cycles, since the callable may refer to the object: a method of a simulation.
class PlaceCallback : Pinned {
 public:
  /// Takes a reference to a Python callable that gets x, y and z. Requires the interpreter's lock.
  explicit PlaceCallback(nb::object callable) : callable_(std::move(callable)) {}
  ~PlaceCallback();

  /// Returns the callable, null once it is dropped. Requires the interpreter's lock.
  [[nodiscard]] nb::handle callable() const { return callable_; }
  /// Drops the callable, after which no place is allowed: the search for cycles has found that no result can be seen. Requires
  /// the interpreter's lock.
  void drop() { const nb::object gone = std::exchange(callable_, nb::object()); }
  /// Returns whether the callable says that a merged parcel may be at a place; takes the interpreter's lock. An exception that the
  /// callable raises is kept for rethrow(), and until then no place is allowed: the step ends, so that no rank waits for this one.
  [[nodiscard]] bool allows(const Vec3& position);
  /// Drops an exception that an earlier step left since it ended by another error. Requires the interpreter's lock.
  void forget() { raised_ = nullptr; }
  /// Throws the exception that the callable raised since the last call of this function, if any. Requires the interpreter's lock.
  void rethrow() {
    if (const auto raised = std::exchange(raised_, nullptr)) std::rethrow_exception(raised);
  }

 private:
  nb::object callable_;
  std::exception_ptr raised_;
};

/// Merge policy as Python holds it, without its predicate, which merganser.MergePolicy keeps and passes to the clusterer.
struct PolicyObject {
  MergePolicy policy;
};

/// Converts the numbers of a merge policy in the report of a step to a dict. Requires the interpreter's lock.
[[nodiscard]] nb::dict policy_numbers(const PolicyNumbers& numbers);

}  // namespace merganser::python
