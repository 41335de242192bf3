#include "src/msf/euclidean/surplus_points.hpp"

#include <algorithm>
#include <numeric>

#include "merganser/comm/questions.hpp"

namespace merganser::msf::euclidean {

template <std::size_t D>
void SurplusPoints<D>::choose(const Given& points, std::uint32_t fold, const Owners<D>& owners) {
  const std::size_t n = points.size();
  std::vector<Item<D>> items(n);
  for (std::size_t i = 0; i < n; ++i) items[i] = {points.at<D>(i), points.id(i)};
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return items[a].at != items[b].at ? items[a].at < items[b].at : items[a].id < items[b].id;
  });
  surplus_.assign(n, 0);
  for (std::size_t begin = 0; begin < n;) {
    const Item<D>& first = items[order[begin]];
    std::size_t end = begin + 1;
    while (end < n && items[order[end]].at == first.at) ++end;
    if (end - begin > fold) {
      SurplusGroup& group = groups_.emplace_back(SurplusGroup{first.id, owners.owner(first.at), {}});
      for (std::size_t i = begin + fold; i < end; ++i) {
        surplus_[order[i]] = 1;
        group.others.push_back(items[order[i]].id);
      }
    }
    begin = end;
  }
}

std::vector<Fold> edges_of_surplus(std::span<const SurplusGroup> groups, std::vector<Fold> folds,
                                   comm::Transport& transport) {
  struct Question {
    std::uint64_t id;
    std::int64_t owner;
  };
  std::vector<Question> questions;
  for (const auto& group : groups) questions.push_back({group.least, group.owner});
  // Each is the least of its place, or folded under it.
  const auto by_high = [](const Fold& a, const Fold& b) { return a.high < b.high; };
  std::sort(folds.begin(), folds.end(), by_high);
  const auto least = comm::ask<Question>(
      transport, questions, [](const Question& q) { return q.owner; },
      [&](const Question& q) {
        const auto at = std::lower_bound(folds.begin(), folds.end(), Fold{0, q.id}, by_high);
        return at != folds.end() && at->high == q.id ? at->low : q.id;
      });
  std::vector<Fold> out;
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const auto id : groups[i].others) out.push_back({least[i], id});
  return out;
}

#define MERGANSER_INSTANTIATE(N) template class SurplusPoints<N>;
MERGANSER_FOR_AXES(MERGANSER_INSTANTIATE)
#undef MERGANSER_INSTANTIATE

}  // namespace merganser::msf::euclidean
