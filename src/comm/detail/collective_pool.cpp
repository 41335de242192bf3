#include "src/comm/detail/collective_pool.hpp"

#include <utility>

namespace merganser::comm::detail {

void CollectivePool::free_unused(const Sum& sum) {
  if (resources_.empty()) return;
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

void CollectivePool::free_all() {
  for (const auto& resource : resources_) resource->free();
  resources_.clear();
}

}  // namespace merganser::comm::detail
