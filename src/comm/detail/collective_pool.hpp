#pragma once
/// A pool of resources whose release is collective: MPI windows and communicators, symmetric memory.
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "merganser/base/pinned.hpp"

namespace merganser::comm::detail {

/// A resource of all ranks, such as a window, that all of them must free in the same order.
class CollectiveResource : Pinned {
 public:
  virtual ~CollectiveResource() = default;
  /// Frees it on every rank. Collective.
  virtual void free() = 0;
};

/// Keeps collective resources and frees those that no rank uses any more, at calls that are collective anyway. So the
/// destructors of objects that use them need not be collective and may run in any order.
class CollectivePool {
 public:
  /// Adds up numbers over all ranks, element by element. Collective.
  using Sum = std::function<void(std::span<std::int64_t>)>;

  /// Frees the resources that no rank uses any more. Collective; called before a new resource is made.
  void free_unused(const Sum& sum);
  /// Adds a new resource and returns it; every rank adds the same ones in the same order.
  template <class T>
  std::shared_ptr<T> add(std::shared_ptr<T> resource) {
    resources_.push_back(resource);
    return resource;
  }
  /// Frees all resources; nobody may use one any more. Collective.
  void free_all();

 private:
  std::vector<std::shared_ptr<CollectiveResource>> resources_;
};

}  // namespace merganser::comm::detail
