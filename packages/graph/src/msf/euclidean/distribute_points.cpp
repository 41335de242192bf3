// Redistribution of points by recursive coordinate bisection of a sample, and treatment of surplus points of one place.
#include "src/msf/euclidean/distribute_points.hpp"

#include <algorithm>
#include <numeric>

#include "merganser/base/random.hpp"
#include "merganser/base/release_memory.hpp"
#include "merganser/comm/questions.hpp"

namespace merganser::msf::euclidean {
namespace {

constexpr std::size_t kSample = 16384;  // points of the sample that determines the cuts, of all ranks together

/// Lexicographic order of the coordinates of points from one axis on, cyclically, for recursive bisection: total, so that points of
/// equal coordinate on the axis are split too.
template <std::size_t D>
struct AxisOrder {
  std::size_t axis;  ///< axis that is compared first
  bool operator()(const Place<D>& a, const Place<D>& b) const {
    for (std::size_t i = 0; i < D; ++i) {
      const std::size_t k = (axis + i) % D;
      if (a[k] != b[k]) return a[k] < b[k];
    }
    return false;
  }
};

}  // namespace

// Recursive coordinate bisection of the sample: builds the tree of cuts.
template <std::size_t D>
PlaceOwners<D>::PlaceOwners(std::vector<Place<D>> sample, int ranks) {
  only_ = cut(sample.data(), sample.data() + sample.size(), 0, ranks);
}

// One step of recursive coordinate bisection, which divides a range of ranks and the sample between them.
template <std::size_t D>
int PlaceOwners<D>::cut(Place<D>* first, Place<D>* last, int rank, int ranks) {
  // Ranks are halved, not space: the cut lies at the share of the sample that the lower half of the ranks gets.
  if (ranks == 1) return -1 - rank;
  Bounds<D> box;
  for (const Place<D>* p = first; p != last; ++p) box.add(*p);
  const int half = ranks / 2;
  const std::size_t axis = first == last ? 0 : box.widest();
  Place<D>* const middle = first + (last - first) * half / ranks;
  if (first != last) std::nth_element(first, middle, last, AxisOrder<D>{axis});
  const auto here = cuts_.size();
  cuts_.push_back({first == last ? Place<D>{0, 0, 0} : *middle, axis, 0, 0});
  const int below = cut(first, middle, rank, half);
  const int above = cut(middle, last, rank + half, ranks - half);
  cuts_[here].below = below;
  cuts_[here].above = above;
  return static_cast<int>(here);
}

// Descent of the tree of cuts to the rank that owns a place.
template <std::size_t D>
int PlaceOwners<D>::owner(const Place<D>& p) const {
  int next = only_;
  while (next >= 0) {
    const Cut& c = cuts_[static_cast<std::size_t>(next)];
    const bool below = p[c.axis] != c.at[c.axis] ? p[c.axis] < c.at[c.axis] : AxisOrder<D>{c.axis}(p, c.at);
    next = below ? c.below : c.above;
  }
  return -1 - next;
}

// Selection before points are redistributed: a few of many equal points suffice for the tree, the others get edges of
// weight 0.
template <std::size_t D>
void SurplusPoints<D>::choose(const CheckedPoints& points, std::uint32_t fold, const PlaceOwners<D>& owners) {
  const std::size_t n = points.size();
  std::vector<IdentifiedPoint<D>> items(n);
  for (std::size_t i = 0; i < n; ++i) items[i] = {points.at<D>(i), points.id(i)};
  // Sorted by place, then id, groups of equal points are consecutive, their least ids first.
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return items[a].at != items[b].at ? items[a].at < items[b].at : items[a].id < items[b].id;
  });
  surplus_.assign(n, 0);
  for (std::size_t begin = 0; begin < n;) {
    const IdentifiedPoint<D>& first = items[order[begin]];
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

// Edges of weight 0 of the spanning tree, from points that were not distributed to the point that represents them.
std::vector<Fold> make_surplus_edges(std::span<const SurplusGroup> groups, std::vector<Fold> folds,
                                     comm::Transport& transport) {
  // Query to the owner of a place for the least id among all points there.
  struct Question {
    std::uint64_t id;
    std::int64_t owner;
  };
  // The least point of a group on this rank may not be the least of all ranks: its owner holds the fold that tells.
  std::vector<Question> questions;
  for (const auto& group : groups) questions.push_back({group.least, group.owner});
  // Each is the least of its place, or folded under it.
  const auto by_high = [](const Fold& a, const Fold& b) { return a.high < b.high; };
  std::sort(folds.begin(), folds.end(), by_high);
  const auto least = comm::query_owners<Question>(
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

namespace {

/// Draws the sample of all ranks' points that determines the bisection of space: stratified by their order, in proportion to the
/// number on each rank. Collective; the same on every rank.
template <std::size_t D>
std::vector<Place<D>> draw_sample(const CheckedPoints& points, comm::Transport& transport) {
  std::vector<Place<D>> mine;
  const std::size_t n = points.size();
  const double share = n > 0 ? static_cast<double>(n) / static_cast<double>(points.total()) : 0;
  const std::size_t wanted = std::min(n, static_cast<std::size_t>(share * kSample) + 1);
  Random random(1, static_cast<std::uint64_t>(transport.rank()), 0);
  for (std::size_t i = 0; i < wanted; ++i) {  // n below 2^31, wanted up to kSample + 1
    const std::size_t begin = n * i / wanted;
    mine.push_back(points.at<D>(begin + static_cast<std::size_t>(random.below(n * (i + 1) / wanted - begin))));
  }
  return comm::all_gather(transport, mine).flat();
}

/// Removes duplicate places from the sample of points if more than a quarter of them are duplicates. Local, the same on every rank.
/// @return true if it has removed them
template <std::size_t D>
bool drop_duplicates(std::vector<Place<D>>& sample) {
  auto thin = sample;
  std::sort(thin.begin(), thin.end());
  thin.erase(std::unique(thin.begin(), thin.end()), thin.end());
  if (thin.size() + sample.size() / 4 >= sample.size()) return false;
  sample = std::move(thin);
  return true;
}

/// Sends this rank's points, but for surplus ones, to the ranks that own their places, into `distributed`; those that stay are not
/// copied into messages. Collective. @param remember  records the senders and receivers of points, to return results
template <std::size_t D>
void send_points(const CheckedPoints& points, const PlaceOwners<D>& owners, const SurplusPoints<D>& surplus,
                 comm::Transport& transport, bool remember, DistributedPoints<D>& distributed) {
  const std::size_t n = points.size();
  // One pass and no second copy: points that leave are appended to the messages, others to the result.
  const auto here = static_cast<std::size_t>(transport.rank());
  std::vector<std::vector<IdentifiedPoint<D>>> to(static_cast<std::size_t>(transport.size()));
  if (remember) distributed.came.resize(to.size());
  if (!distributed.surplus) {
    distributed.items.reserve(n + n / 16);
    for (auto& box : to) box.reserve(n / to.size());
    release_memory(to[here]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    if (surplus.has(i)) {
      if (remember) distributed.went.push_back(-1);
      continue;
    }
    const IdentifiedPoint<D> item{points.at<D>(i), points.id(i)};
    const auto owner = static_cast<std::size_t>(owners.owner(item.at));
    if (remember) distributed.went.push_back(static_cast<int>(owner));
    if (owner == here) {
      distributed.items.push_back(item);
      if (remember) distributed.came[here].push_back(item.id);
      continue;
    }
    to[owner].push_back(item);
  }
  auto came = comm::all_to_all(transport, std::move(to));
  for (std::size_t r = 0; r < came.size(); ++r) {
    const std::size_t at = distributed.items.size();
    distributed.items.insert(distributed.items.end(), came[r].begin(), came[r].end());
    came.drop(r);
    for (std::size_t i = at; remember && i < distributed.items.size(); ++i)
      distributed.came[r].push_back(distributed.items[i].id);
  }
}

}  // namespace

// First stage of a spanning tree of points: a sample determines boxes of about equal numbers, to whose ranks points are
// sent.
template <std::size_t D>
DistributedPoints<D> distribute_points(const CheckedPoints& points, std::uint32_t fold, comm::Transport& transport,
                                       SurplusPoints<D>& surplus, bool remember) {
  DistributedPoints<D> distributed;
  distributed.total = points.total();
  const std::size_t n = points.size();
  if (transport.size() > 1) {
    auto sample = draw_sample<D>(points, transport);
    distributed.surplus = drop_duplicates(sample);
    const PlaceOwners<D>& owners = distributed.owners.emplace(std::move(sample), transport.size());
    if (distributed.surplus) surplus.choose(points, fold, owners);
    send_points(points, owners, surplus, transport, remember, distributed);
    return distributed;
  }
  distributed.items.resize(n);
  for (std::size_t i = 0; i < n; ++i) distributed.items[i] = {points.at<D>(i), points.id(i)};
  if (remember) {
    distributed.came.resize(1);
    for (std::size_t i = 0; i < n; ++i) distributed.came[0].push_back(points.id(i));
    distributed.went.assign(n, 0);
  }
  return distributed;
}

MERGANSER_FOR_AXES(MERGANSER_CLASS, class PlaceOwners)
MERGANSER_FOR_AXES(MERGANSER_CLASS, class SurplusPoints)
MERGANSER_FOR_AXES(MERGANSER_FUNCTION, distribute_points)

}  // namespace merganser::msf::euclidean
