// Local rounds of Boruvka's algorithm on the points of one rank, and the contraction of chosen edges. A component is contracted
// only along an edge that is certified: shorter than the distance to any point of another rank.
#include <algorithm>

#include "merganser/base/parallel.hpp"
#include "merganser/base/release_memory.hpp"
#include "src/msf/euclidean/state.hpp"

namespace merganser::msf::euclidean {

// Contraction of a round's choices: trees of chosen edges become components.
Contraction contract(std::vector<std::uint32_t> target) {
  const auto n = static_cast<std::uint32_t>(target.size());
  Contraction out;
  out.keeps.assign(n, 0);
  // In place, from the first: a target that is looked at is that of a later component. A strict order of edges admits no longer cycle.
  std::vector<std::uint32_t>& up = target;
  for (std::uint32_t c = 0; c < n; ++c) {
    const std::uint32_t to = target[c];
    if (to == kNone || (c < to && target[to] == c)) up[c] = c;
    out.keeps[c] = static_cast<std::uint8_t>(up[c] != c);
  }
  // New numbers in the order of the least old number of a tree; paths are compressed on the way.
  out.renamed.assign(n, kNone);
  for (std::uint32_t c = 0; c < n; ++c) {
    std::uint32_t root = c;
    while (up[root] != root) root = up[root];
    for (std::uint32_t i = c; up[i] != root && i != root;) {
      const std::uint32_t next = up[i];
      up[i] = root;
      i = next;
    }
    if (out.renamed[root] == kNone) out.renamed[root] = out.components++;
    out.renamed[c] = out.renamed[root];
  }
  return out;
}

namespace {

/// Returns, by component of this rank, the component that its best edge leads to if the rank may contract it alone, since that edge
/// comes before every edge to points of other ranks; else kNone. @param remote_bounds  by component; empty: there are no other ranks
template <std::size_t D>
std::vector<std::uint32_t> certified_targets(const BoruvkaState<D>& state, const std::vector<Key>& remote_bounds) {
  std::vector<std::uint32_t> target(state.components, kNone);
  for (std::uint32_t c = 0; c < state.components; ++c)
    if (state.best[c].from != kNone && (remote_bounds.empty() || state.best[c].key < remote_bounds[c]))
      target[c] = state.component[state.best[c].to];
  return target;
}

/// Gives the components of this rank's points the numbers of a contraction.
template <std::size_t D>
void rename_components(BoruvkaState<D>& state, const Contraction& made) {
  share_loop(state.threads, state.component.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) state.component[v] = made.renamed[state.component[v]];
  });
  state.components = made.components;
}

/// Applies a contraction to the state of the local rounds: adds the edges to the spanning tree, renumbers the components of points,
/// and takes the minimum of the bounds of contracted components. @param key  key(c) is the least edge of old component c
/// @param least_remote  by component: lower bound of edges to points of other ranks; renumbered too
template <std::size_t D, class KeyOf>
void apply_contraction(BoruvkaState<D>& state, const Contraction& made, const KeyOf& key,
                       std::vector<Key>& least_remote) {
  std::vector<Key> renamed(least_remote.empty() ? 0 : made.components);
  for (std::uint32_t c = 0; c < state.components; ++c) {
    if (made.keeps[c] != 0) state.add_edge(key(c));
    if (!least_remote.empty()) renamed[made.renamed[c]] = std::min(renamed[made.renamed[c]], least_remote[c]);
  }
  rename_components(state, made);
  least_remote = std::move(renamed);
}

/// Performs the first local round of Boruvka's algorithm on points, in which every point is a component and its least edge leads to
/// its nearest neighbour. It needs no list of choices, which would dominate the memory. @return false if nothing was contracted
template <std::size_t D>
bool first_round(BoruvkaState<D>& state, std::vector<Key>& least_remote) {
  const auto key = [&](std::uint32_t v) { return state.key(v, state.nearest[v], state.bound[v]); };
  std::vector<std::uint32_t> target(state.components, kNone);
  for (std::uint32_t v = 0; v < state.components; ++v)
    if (state.nearest[v] != v && (least_remote.empty() || key(v) < least_remote[v])) target[v] = state.nearest[v];
  const Contraction made = contract(std::move(target));
  if (made.components == state.components) return false;
  state.check_ties(true);
  apply_contraction(state, made, key, least_remote);
  return true;
}

}  // namespace

// Stage of a spanning tree of points before the global rounds: a rank contracts alone as far as its points decide.
template <std::size_t D>
int local_rounds(BoruvkaState<D>& state, const std::vector<double>& remote_bounds,
                 const std::function<void(double)>& progress) {
  std::vector<Key> least_remote;  // by component; at first every point is one
  for (const double d2 : remote_bounds) least_remote.push_back({d2, 0, 0});
  if (state.components <= 1) return 0;
  // Points without a list do not choose in the first round: where that contracts nothing, the next one searches.
  const bool lists = std::find(state.used.begin(), state.used.end(), state.keep) == state.used.end();
  if (!first_round(state, least_remote) && lists) return 1;
  int rounds = 1;
  while (state.components > 1) {
    ++rounds;
    if (progress) progress(1 - static_cast<double>(state.components) / state.tree.size());
    state.choose_from_lists();
    state.search_where_needed(least_remote);
    state.check_ties(false);
    std::vector<std::uint32_t> target = certified_targets(state, least_remote);
    const auto unsure = static_cast<std::uint32_t>(std::count(target.begin(), target.end(), kNone));
    const bool few = unsure > state.components / 4;  // another round would contract few
    const Contraction made = contract(std::move(target));
    if (made.components < state.components)
      apply_contraction(
          state, made, [&](std::uint32_t c) { return state.best[c].key; }, least_remote);
    if (few) break;
  }
  return rounds;
}

// Stage after the local rounds: the rest of the rank's own tree, whose edges stand for its points in the global rounds.
template <std::size_t D>
std::vector<OpenEdge> find_open_edges(BoruvkaState<D>& state) {
  std::vector<OpenEdge> open;
  const auto left = state.component;
  const std::uint32_t components = state.components;
  while (state.components > 1) {
    state.choose_from_lists();
    state.search_where_needed({});
    const Contraction made = contract(certified_targets(state, {}));
    for (std::uint32_t c = 0; c < state.components; ++c)
      if (made.keeps[c] != 0) open.push_back({state.best[c].key, left[state.best[c].from], left[state.best[c].to]});
    rename_components(state, made);
  }
  state.component = left;
  state.components = components;
  // The open edges stand for the points from here on.
  release_memory(state.list);
  release_memory(state.used);
  release_memory(state.nearest);
  release_memory(state.bound);
  release_memory(state.best);
  release_memory(state.least_bound);
  release_memory(state.spent);
  release_memory(state.node_bound);
  release_memory(state.node_round);
  release_memory(state.node_needs);
  state.node_component.assign(state.tree.nodes().size(), kNone);  // nodes of one component have several again
  return open;
}

MERGANSER_FOR_AXES(MERGANSER_FUNCTION, local_rounds)
MERGANSER_FOR_AXES(MERGANSER_FUNCTION, find_open_edges)

}  // namespace merganser::msf::euclidean
