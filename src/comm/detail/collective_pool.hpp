#pragma once
/// Pool of resources whose release is collective: MPI windows and communicators, symmetric memory.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "merganser/base/pinned.hpp"

namespace merganser::comm::detail {

/// Resource of all ranks, such as a window, that all of them must free in the same order.
class CollectiveResource : Pinned {
 public:
  virtual ~CollectiveResource() = default;
  /// Frees the resource (window, communicator, symmetric memory) on every rank. Collective.
  virtual void free() = 0;
};

/// Owner of collective resources (windows, symmetric memory). It frees the resources that no rank uses any more within
/// calls that are collective anyway, so that the destructors of objects that use a resource need not be collective and
/// may run in any order.
class CollectivePool {
 public:
  /// Callback of free_unused() that sums numbers over all ranks, element by element. Collective.
  using Sum = std::function<void(std::span<std::int64_t>)>;

  /// Frees the collective resources of the pool that no rank uses any more. Collective; called before a new resource is made.
  void free_unused(const Sum& sum);
  /// Adds a new collective resource to the pool and returns it. Local, but every rank adds the same resources in the same order.
  template <class T>
  std::shared_ptr<T> add(std::shared_ptr<T> resource) {
    resources_.push_back(resource);
    return resource;
  }
  /// Frees all collective resources of the pool, in the order in which they were added; no object may use one any more. Collective.
  void free_all();

 private:
  std::vector<std::shared_ptr<CollectiveResource>> resources_;  // not freed yet, in the same order on every rank
};

}  // namespace merganser::comm::detail
