// Edges that may weigh as much as those that Boruvka's rounds choose on one rank, for the order of equal edges.
#include <atomic>
#include <mutex>
#include <vector>

#include "merganser/base/parallel.hpp"
#include "src/msf/euclidean/search_names.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

// A long edge is one that is longer than the core distances of both ends: it weighs its length.
template <std::size_t D>
bool BoruvkaState<D>::finds_tie(std::uint32_t leaf, std::uint32_t v, const Key& choice,
                                std::vector<Visit>& stack) const {
  const double most = equal_weight(choice.d2);
  const Place<D>& at = tree.at(v);
  bool found = false;
  visit_leaves_from(
      tree.nodes(), leaf, stack, [&](const Bounds<D>& box) { return tree.metric().distance2(at, box); },
      [&](double d2) { return d2 <= most && !found; },
      [&](std::uint32_t node) { return node_component.empty() || node_component[node] != component[v]; },
      [&](std::uint32_t node) {
        return found || tree.covers(node, {at, at}, most);
      },
      [&](std::uint32_t near, double) {
        const auto& node = tree.nodes()[near];
        for (std::uint32_t u = node.begin; u < node.end && !found; ++u) {
          if (component[u] == component[v]) continue;
          const double d2 = tree.distance2(v, u);
          found = d2 <= most && is_long(v, u, d2) && key(v, u, d2) != choice;
        }
      });
  return found;
}

template <std::size_t D>
bool BoruvkaState<D>::may_tie(std::uint32_t leaf, std::uint32_t v, const Key& choice, std::vector<Visit>& stack) const {
  const double most = equal_weight(choice.d2);
  // Every edge of v weighs its core distance at least, and those of that weight are not long.
  if (bound[v] > most || core[v] == choice.d2) return false;
  // The round has searched as far as `most`: without a neighbour there are no edges that short.
  if (!has_outside_neighbour(v)) return false;
  // The entries of a list ascend, and are all the edges of v up to the last one.
  const std::uint32_t* const row = list.data() + static_cast<std::size_t>(v) * keep;
  for (std::uint32_t i = used[v]; i < keep; ++i) {
    const std::uint32_t u = row[i];
    if (u == kNone) return false;
    const double w = weight(v, u);
    if (w > most) return false;
    if (component[u] != component[v] && is_long(v, u, w) && key(v, u, w) != choice) return true;
  }
  return finds_tie(leaf, v, choice, stack);
}

template <std::size_t D>
void BoruvkaState<D>::check_ties(bool first) {
  constexpr std::size_t kMany =
      16;  // tied choices of so many points are many: then nearly all clusters are searched anyway
  if (!checks_ties) return;
  const auto& leaves = tree.leaves();
  std::vector<std::atomic<std::uint8_t>> found(first ? 0 : components);
  std::mutex mutex;
  share_loop(threads, leaves.size(), [&](std::size_t begin, std::size_t end) {
    std::vector<Visit> stack;
    std::vector<double> mine;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t leaf = leaves[i];
      const auto& node = tree.nodes()[leaf];
      if (!first && node_component[leaf] != kNone &&
          least_bound[leaf] > equal_weight(best[node_component[leaf]].key.d2))
        continue;
      for (std::uint32_t v = node.begin; v < node.end; ++v) {
        const std::uint32_t c = component[v];
        if (first) {
          if (nearest[v] == v) continue;
          const Key choice = key(v, nearest[v], bound[v]);
          if (may_tie(leaf, v, choice, stack)) mine.push_back(choice.d2);
        } else if (bound[v] <= equal_weight(best[c].key.d2) && found[c].load(std::memory_order_relaxed) == 0 &&
                   may_tie(leaf, v, best[c].key, stack) && found[c].exchange(1, std::memory_order_relaxed) == 0) {
          mine.push_back(best[c].key.d2);
        }
      }
    }
    const std::lock_guard lock(mutex);
    tied.insert(tied.end(), mine.begin(), mine.end());
  });
  checks_ties = tied.size() <= tree.size() / kMany;
}

#define MERGANSER_MEMBERS(UNUSED, D)                                                                             \
  template bool BoruvkaState<D>::finds_tie(std::uint32_t, std::uint32_t, const Key&, std::vector<Visit>&) const; \
  template bool BoruvkaState<D>::may_tie(std::uint32_t, std::uint32_t, const Key&, std::vector<Visit>&) const;   \
  template void BoruvkaState<D>::check_ties(bool);
MERGANSER_FOR_AXES(MERGANSER_MEMBERS, )

}  // namespace merganser::msf::euclidean
