#include "src/msf/euclidean/withheld.hpp"

#include <algorithm>
#include <numeric>

#include "merganser/comm/collectives.hpp"

namespace merganser::msf::euclidean {

void Withheld::choose(const PointSet& points, std::uint32_t fold, const Owners& owners) {
  const std::size_t n = points.size();
  std::vector<Item> items(n);
  for (std::size_t i = 0; i < n; ++i) items[i] = {canonical(points, i), points.ids[i]};
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return items[a].at != items[b].at ? items[a].at < items[b].at : items[a].id < items[b].id;
  });
  withheld_.assign(n, 0);
  for (std::size_t begin = 0; begin < n;) {
    const Item& first = items[order[begin]];
    std::size_t end = begin + 1;
    while (end < n && items[order[end]].at == first.at) ++end;
    if (end - begin > fold) {
      Group& group = groups_.emplace_back(Group{first.id, owners.owner(first.at), {}});
      for (std::size_t i = begin + fold; i < end; ++i) {
        withheld_[order[i]] = 1;
        group.others.push_back(items[order[i]].id);
      }
    }
    begin = end;
  }
}

std::vector<Fold> Withheld::edges(const PointTree& tree, comm::Transport& transport) const {
  std::vector<std::vector<std::uint64_t>> to(static_cast<std::size_t>(transport.size()));
  for (const auto& group : groups_) to[static_cast<std::size_t>(group.owner)].push_back(group.least);
  const auto asked = comm::all_to_all(transport, std::move(to));
  // Each is the least of its place, or folded under it.
  auto folds = tree.folds();
  const auto by_high = [](const Fold& a, const Fold& b) { return a.high < b.high; };
  std::sort(folds.begin(), folds.end(), by_high);
  std::vector<std::vector<std::uint64_t>> answers(asked.size());
  for (std::size_t r = 0; r < asked.size(); ++r) {
    for (const auto id : asked[r]) {
      const auto at = std::lower_bound(folds.begin(), folds.end(), Fold{0, id}, by_high);
      answers[r].push_back(at != folds.end() && at->high == id ? at->low : id);
    }
  }
  const auto least = comm::all_to_all(transport, std::move(answers));
  std::vector<std::size_t> next(least.size(), 0);
  std::vector<Fold> out;
  for (const auto& group : groups_) {
    const auto owner = static_cast<std::size_t>(group.owner);
    const std::uint64_t low = least[owner][next[owner]++];
    for (const auto id : group.others) out.push_back({low, id});
  }
  return out;
}

}  // namespace merganser::msf::euclidean
