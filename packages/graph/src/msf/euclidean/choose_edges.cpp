// First half of a round of Boruvka's algorithm: least edges from the neighbour lists of points; and the threads of both halves.
#include <memory>
#include <utility>

#include "merganser/base/parallel.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

// Number of threads for a part of a round: one for little work, and no more than the memory for their choices admits.
template <std::size_t D>
std::size_t BoruvkaState<D>::team_size(std::size_t work) const {
  constexpr std::size_t kMinWork = 256;  // less work costs less than threads
  if (work < kMinWork || threads <= 1) return 1;
  const std::size_t copies = kCopiedBytes * component.size() / (sizeof(Choice) * std::max<std::size_t>(1, best.size()));
  return std::min(static_cast<std::size_t>(threads), 1 + copies);
}

/// Gives each thread of a team choices of its own, copies of the best edges; the first one's are `best` itself.
template <std::size_t D>
void BoruvkaState<D>::copy_choices(std::size_t team) {
  workers_.resize(std::max(workers_.size(), team));
  workers_[0].best = best.data();
  least_.clear();
  if (team <= 1) return;
  const std::size_t bytes = (team - 1) * best.size() * sizeof(Choice);
  if (copies_.bytes() < bytes) {
    copies_ = {};  // before the next one is allocated
    copies_ = RawBuffer(bytes);
  }
  least_.resize(best.size());
  for (std::size_t c = 0; c < best.size(); ++c) least_[c] = std::bit_cast<std::uint64_t>(best[c].key.d2);
  // All copies are made before any thread works: the first one changes `best`.
  in_parallel(static_cast<int>(team), [&](int t) {
    if (t == 0) return;
    const auto at = static_cast<std::size_t>(t);
    workers_[at].best = reinterpret_cast<Choice*>(copies_.data()) + (at - 1) * best.size();
    std::uninitialized_copy(best.begin(), best.end(), workers_[at].best);
  });
}

// Fork and join of the threads of a round: each works on choices of its own, since components lie across the parts of threads.
template <std::size_t D>
void BoruvkaState<D>::with_workers(std::size_t work, const std::function<void(Worker&)>& body) {
  const std::size_t team = team_size(work);
  copy_choices(team);
  in_parallel(static_cast<int>(team), [&](int t) { body(workers_[static_cast<std::size_t>(t)]); });
  for (Worker& worker : workers_) {
    searches += std::exchange(worker.searches, 0);
    visits += std::exchange(worker.visits, 0);
  }
  share_loop(static_cast<int>(team), best.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t t = 1; t < team; ++t)
      for (std::size_t c = begin; c < end; ++c)
        if (workers_[t].best[c].key < best[c].key) best[c] = workers_[t].best[c];
  });
}

// Step along the neighbour list of a point, past neighbours that have come into the point's own component.
template <std::size_t D>
bool BoruvkaState<D>::advance(std::uint32_t v) {
  // `used` only grows: components only grow, so that a neighbour in the own component stays there.
  const std::uint32_t mine = component[v];
  const std::uint32_t* const row = list.data() + static_cast<std::size_t>(v) * keep;
  while (used[v] < keep) {
    const std::uint32_t next = row[used[v]];
    if (next == kNone) {  // the list has all points
      used[v] = static_cast<std::uint8_t>(keep);
      bound[v] = kInfinity;
      nearest[v] = v;
      return false;
    }
    if (component[next] != mine) {
      nearest[v] = next;
      bound[v] = weight(v, next);
      return true;
    }
    if (++used[v] == keep) {
      nearest[v] = next;
      bound[v] = weight(v, next);
    }
  }
  return false;
}

template <std::size_t D>
void BoruvkaState<D>::offer_edge(Worker& worker, std::uint32_t v) {
  // The distance alone decides in nearly all cases; the key, which reads ids, breaks ties.
  const Choice& choice = worker.best[component[v]];
  if (bound[v] > choice.key.d2) return;
  const Key k = key(v, nearest[v], bound[v]);
  if (k < choice.key) choose(worker, component[v], {k, v, nearest[v]});
}

// First half of a Boruvka round: the least edges that this rank's neighbour lists alone give. Local.
template <std::size_t D>
void BoruvkaState<D>::choose_from_lists() {
  // From the leaves' stored bounds and lists alone; what these do not decide is left to search_where_needed().
  best.assign(components, {});
  node_component.resize(tree.nodes().size(), kNone);
  least_bound.resize(tree.nodes().size(), 0);
  spent.resize(tree.nodes().size(), 1);
  const auto& leaves = tree.leaves();
  constexpr std::size_t kPiece = 64;
  std::atomic<std::size_t> next{0};
  with_workers(leaves.size(), [&](Worker& worker) {
    for (std::size_t i = next.fetch_add(kPiece); i < leaves.size(); i = next.fetch_add(kPiece))
      for (std::size_t at = i; at < std::min(i + kPiece, leaves.size()); ++at) choose_from_leaf(worker, leaves[at]);
  });
}

template <std::size_t D>
void BoruvkaState<D>::choose_from_leaf(Worker& worker, std::uint32_t leaf) {
  const auto& node = tree.nodes()[leaf];
  // In a leaf of one component whose least bound is above the component's best edge, no point can improve it.
  if (node_component[leaf] != kNone && least_bound[leaf] > reach_of(worker, component[node.begin])) return;
  std::uint8_t within = 0;
  for (std::uint32_t v = node.begin; v < node.end; ++v) {
    if (bound[v] > reach_of(worker, component[v])) continue;
    if (has_outside_neighbour(v) || advance(v))
      offer_edge(worker, v);
    else
      within = 1;
  }
  spent[leaf] = within;
  update_least_bound(leaf);
}

template <std::size_t D>
void BoruvkaState<D>::update_least_bound(std::uint32_t leaf) {
  const auto& node = tree.nodes()[leaf];
  least_bound[leaf] = *std::min_element(bound.begin() + node.begin, bound.begin() + node.end);
}

#define MERGANSER_MEMBERS(UNUSED, D)                                                             \
  template std::size_t BoruvkaState<D>::team_size(std::size_t) const;                            \
  template void BoruvkaState<D>::copy_choices(std::size_t);                                      \
  template void BoruvkaState<D>::with_workers(std::size_t, const std::function<void(Worker&)>&); \
  template bool BoruvkaState<D>::advance(std::uint32_t);                                         \
  template void BoruvkaState<D>::offer_edge(Worker&, std::uint32_t);                             \
  template void BoruvkaState<D>::choose_from_lists();                                            \
  template void BoruvkaState<D>::choose_from_leaf(Worker&, std::uint32_t);                       \
  template void BoruvkaState<D>::update_least_bound(std::uint32_t);
MERGANSER_FOR_AXES(MERGANSER_MEMBERS, )

}  // namespace merganser::msf::euclidean
