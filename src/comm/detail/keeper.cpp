#include "src/comm/detail/keeper.hpp"

#include <utility>

namespace merganser::comm::detail {

void Keeper::sweep(const Add& add) {
  if (kept_.empty()) return;
  std::vector<std::int64_t> in_use;
  for (const auto& thing : kept_) in_use.push_back(thing.use_count() > 1 ? 1 : 0);
  add(in_use);
  std::vector<std::shared_ptr<Shared>> left;
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    if (in_use[i] == 0) kept_[i]->free();
    if (in_use[i] != 0) left.push_back(std::move(kept_[i]));
  }
  kept_ = std::move(left);
}

void Keeper::close() {
  for (const auto& thing : kept_) thing->free();
  kept_.clear();
}

}  // namespace merganser::comm::detail
