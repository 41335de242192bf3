// Collective release of MPI windows, communicators and symmetric memory, decoupled from the destructors of their users.
#include "src/comm/detail/collective_pool.hpp"

#include <utility>

namespace merganser::comm::detail {

// Deferred collective release of windows and symmetric memory, at the next collective creation.
void CollectivePool::free_unused(const Sum& sum) {
  if (resources_.empty()) return;
  // A count of 1 is the pool's own reference. The sum makes every rank free the same ones, in the same order.
  std::vector<std::int64_t> in_use;
  for (const auto& resource : resources_) in_use.push_back(resource.use_count() > 1 ? 1 : 0);
  sum(in_use);
  std::vector<std::shared_ptr<CollectiveResource>> left;
  for (std::size_t i = 0; i < resources_.size(); ++i) {
    if (in_use[i] == 0) resources_[i]->free();
    if (in_use[i] != 0) left.push_back(std::move(resources_[i]));
  }
  resources_ = std::move(left);
}

// Release of all collective resources at the end of a transport, in the order of creation, which is the same on every rank.
void CollectivePool::free_all() {
  for (const auto& resource : resources_) resource->free();
  resources_.clear();
}

}  // namespace merganser::comm::detail
