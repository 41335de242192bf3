// Second half of a round of Boruvka's algorithm on the points of one rank: tree searches where neighbour lists do not suffice.
#include "src/msf/euclidean/state.hpp"

#include "merganser/base/parallel.hpp"
#include "src/msf/euclidean/search_names.hpp"

namespace merganser::msf::euclidean {
namespace {

constexpr std::uint32_t kFewSearches = 4;  // fewer searches cost less than the test whether they are needed

}  // namespace

// `limit` below is always the lesser of a component's best edge and its ceiling: edges that do not come before it cannot be chosen,
// so searches skip everything at or above it.
// Components of nodes, for tree searches that skip subtrees of the point's own component.
template <std::size_t D>
void BoruvkaState<D>::mark_nodes() {
  const auto& nodes = tree.nodes();
  const auto& leaves = tree.leaves();
  node_component.resize(nodes.size(), kNone);
  share_loop(threads, leaves.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto& leaf = nodes[leaves[i]];
      const std::uint32_t first = component[leaf.begin];
      bool same = true;
      // Components only grow: points of one component stay so.
      if (node_component[leaves[i]] == kNone)
        for (std::uint32_t v = leaf.begin + 1; v < leaf.end; ++v) same &= component[v] == first;
      node_component[leaves[i]] = same ? first : kNone;
    }
  });
  // From the last node to the first: children follow their parents, so both are marked before them.
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].right == 0) continue;
    const std::uint32_t left = node_component[i + 1];
    node_component[i] = left == node_component[nodes[i].right] ? left : kNone;
  }
}

/// Compares a seeker (point whose nearest point of another component is searched) with the points of a leaf, by vectors where there
/// are more than three axes; lowers `least` and replaces `found` where one is nearer.
template <std::size_t D>
void BoruvkaState<D>::search_leaf(std::uint32_t leaf, const Seeker<D>& seeker, Key& least, Found& found) const {
  const auto& node = tree.nodes()[leaf];
  constexpr bool kVectors = D > 3;  // up to 3 axes, testing the component first is cheaper than a vectorised distance
  std::array<double, kVectors ? kMaxLeafPoints + 8 : 1> distances;
  if constexpr (kVectors)
    nearest::leaf_distances(scan, seeker.at.data(), least.d2, node.begin, node.end, distances.data());
  for (std::uint32_t u = node.begin; u < node.end; ++u) {
    if (component[u] == seeker.component) continue;
    double d2 = kVectors ? distances[u - node.begin] : tree.metric().distance2(seeker.at, tree.at(u));
    if (!core.empty()) d2 = std::max(d2, std::max(seeker.core, core[u]));
    if (d2 > least.d2) continue;
    const Key k = make_key(d2, seeker.id, tree.id(u));
    if (!(k < least)) continue;
    least = k;
    found = {d2, u};
  }
}

// Tree search for the nearest point of another component; subtrees of the seeker's own component are skipped.
template <std::size_t D>
Found BoruvkaState<D>::search(const Seeker<D>& seeker, const Key& limit) const {
  Found found;
  if (tree.nodes().empty() || seeker.core > limit.d2) return found;
  Key least = limit;
  visit_leaves(
      tree.nodes(), 0, todo, [&](const Bounds<D>& box) { return tree.metric().distance2(seeker.at, box); },
      [&](double d2) { return d2 <= least.d2; },
      [&](std::uint32_t node) { return node_component[node] != seeker.component; },
      [&](std::uint32_t leaf, double) { search_leaf(leaf, seeker, least, found); });
  return found;
}

template <std::size_t D>
void BoruvkaState<D>::search_from(Worker& worker, std::uint32_t leaf, std::uint32_t v, const Key& limit) {
  const Seeker<D> seeker{tree.at(v), core_or_zero(v), tree.id(v), component[v]};
  Found found;
  if (seeker.core <= limit.d2) {
    Key least = limit;
    visit_leaves_from(
        tree.nodes(), leaf, worker.todo, [&](const Bounds<D>& box) { return tree.metric().distance2(seeker.at, box); },
        [&](double d2) { return d2 <= least.d2; },
        [&](std::uint32_t node) { return node_component[node] != seeker.component; },
        [&](std::uint32_t node) {
          return tree.covers(node, {seeker.at, seeker.at}, least.d2);
        },
        [&](std::uint32_t near, double) { search_leaf(near, seeker, least, found); });
  }
  record_found(worker, v, found, limit);
}

/// Stores the result of a tree search for point v in the state: the nearest point of another component, which may become the best
/// edge of the component of v, or `limit` as a higher bound.
template <std::size_t D>
void BoruvkaState<D>::record_found(Worker& worker, std::uint32_t v, const Found& found, const Key& limit) {
  // After a search the neighbour list is not used any more: its nearer entries are all in the point's own component.
  ++worker.searches;
  used[v] = static_cast<std::uint8_t>(keep);
  if (found.point == kNone) {
    bound[v] = checks_ties ? std::nextafter(limit.d2, kInfinity) : limit.d2;
    nearest[v] = v;
    return;
  }
  bound[v] = found.d2;
  nearest[v] = found.point;
  offer_edge(worker, v);
}

/// Collects the leaves of this rank's tree with points of other components within the squared distance `most` of a leaf of one
/// component into worker.near. @return false if there are more than 4096
template <std::size_t D>
bool BoruvkaState<D>::gather_near(Worker& worker, std::uint32_t leaf, double most) const {
  // Depth-first traversal of this rank's tree; subtrees of the leaf's own component and boxes beyond `most` are skipped.
  constexpr std::size_t kMany = 4096;
  const auto& nodes = tree.nodes();
  const Bounds<D>& box = nodes[leaf].box;
  NearLeaves& near = worker.near;
  std::vector<Visit>& todo = worker.todo;
  near.leaf.clear();
  for (std::size_t a = 0; a < D; ++a) {
    near.lower[a].clear();
    near.upper[a].clear();
  }
  todo.assign(1, {0, 0});
  while (!todo.empty()) {
    const std::uint32_t next = todo.back().node;
    todo.pop_back();
    const auto& node = nodes[next];
    if (node_component[next] == node_component[leaf] || tree.metric().distance2(box, node.box) > most) continue;
    if (node.right != 0) {
      todo.push_back({node.right, 0});
      todo.push_back({next + 1, 0});
      continue;
    }
    if (near.leaf.size() == kMany) return false;
    near.leaf.push_back(next);
    for (std::size_t a = 0; a < D; ++a) {
      near.lower[a].push_back(node.box.lower[a]);
      near.upper[a].push_back(node.box.upper[a]);
    }
  }
  return true;
}

/// Searches the leaves collected in `near` for the nearest point of another component to a seeker, with a linear scan of their boxes
/// that vectorises.
template <std::size_t D>
Found BoruvkaState<D>::search_near(NearLeaves& near, const Seeker<D>& seeker, const Key& limit) const {
  const std::size_t count = near.leaf.size();
  near.d2.resize(count);
  if (!tree.metric().plain()) {
    for (std::size_t i = 0; i < count; ++i)
      near.d2[i] = tree.metric().distance2(seeker.at, tree.nodes()[near.leaf[i]].box);
  } else {
    std::fill(near.d2.begin(), near.d2.end(), 0.0);
    for (std::size_t a = 0; a < D; ++a) {
      const double x = seeker.at[a];
      const double* const lower = near.lower[a].data();
      const double* const upper = near.upper[a].data();
      double* const d2 = near.d2.data();
      for (std::size_t i = 0; i < count; ++i) {
        const double below = lower[i] - x;
        const double above = x - upper[i];
        double gap = below > above ? below : above;
        gap = gap > 0 ? gap : 0;
        d2[i] += gap * gap;
      }
    }
  }
  Key least = limit;
  Found found;
  for (std::size_t i = 0; i < count; ++i)
    if (near.d2[i] <= least.d2) search_leaf(near.leaf[i], seeker, least, found);
  return found;
}

/// Searches for the nearest points of other components to those points of a leaf of one component that need it; they share the
/// traversal of the tree to the leaves that are near.
template <std::size_t D>
void BoruvkaState<D>::search_for_leaf(Worker& worker, std::uint32_t leaf, const std::vector<Key>& ceiling) {
  const auto& node = tree.nodes()[leaf];
  const std::uint32_t c = node_component[leaf];
  // The limit when the leaf is begun bounds the boxes; each search uses the present one, which earlier searches have lowered.
  const double most = limit(worker, c, ceiling).d2;
  // A ceiling alone, without an edge of the component, may be far: a search of the tree for one point is less then.
  const bool few = least_of(worker, c) < kInfinity && gather_near(worker, leaf, most);
  for (std::uint32_t v = node.begin; v < node.end; ++v) {
    const Key now = limit(worker, c, ceiling);
    if (!may_improve(v, now) || has_outside_neighbour(v)) continue;
    if (few)
      record_found(worker, v, search_near(worker.near, {tree.at(v), core_or_zero(v), tree.id(v), c}, now), now);
    else
      search_from(worker, leaf, v, now);
  }
}

// Numbers of points below each node that neighbour lists have not decided in this round, summed from the leaves up.
template <std::size_t D>
void BoruvkaState<D>::count_needs(const std::vector<Key>& ceiling) {
  const auto& nodes = tree.nodes();
  const auto& leaves = tree.leaves();
  node_needs.assign(nodes.size(), 0);
  workers_.resize(std::max<std::size_t>(workers_.size(), 1));
  least_.clear();
  workers_[0].best = best.data();
  const auto most = [&](std::uint32_t c) { return limit(workers_[0], c, ceiling); };
  share_loop(threads, leaves.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      const std::uint32_t leaf = leaves[at];
      const auto& node = nodes[leaf];
      if (spent[leaf] == 0) continue;  // a leaf that choose_from_lists() skipped since has no bound that is low enough
      const bool one = node_component[leaf] != kNone;
      if (one && least_bound[leaf] > most(node_component[leaf]).d2) continue;
      for (std::uint32_t v = node.begin; v < node.end; ++v)
        node_needs[leaf] += static_cast<std::uint32_t>(may_improve(v, most(component[v])) && !has_outside_neighbour(v));
    }
  });
  for (std::size_t i = nodes.size(); i-- > 0;)
    if (nodes[i].right != 0) node_needs[i] = node_needs[i + 1] + node_needs[nodes[i].right];
}

/// Returns a lower bound of the squared distance from the box of a node whose points are of one component to this rank's points of
/// other components; any number above `most` if it is above.
template <std::size_t D>
double BoruvkaState<D>::distance_out(Worker& worker, std::uint32_t from, double most) const {
  const Metric<D>& metric = tree.metric();
  const Bounds<D>& box = tree.nodes()[from].box;
  const std::uint32_t own = node_component[from];
  double least = kInfinity;
  const auto reach = [&] { return std::min(least, most); };
  visit_leaves_from(
      tree.nodes(), from, worker.todo, [&](const Bounds<D>& other) { return metric.distance2(box, other); },
      [&](double d2) { return d2 <= reach(); }, [&](std::uint32_t node) { return node_component[node] != own; },
      [&](std::uint32_t node) { return tree.covers(node, box, reach()); },
      [&](std::uint32_t leaf, double) {  // by its points, since its box may span a wide gap
        const auto& node = tree.nodes()[leaf];
        for (std::uint32_t u = node.begin; u < node.end; ++u)
          if (component[u] != own) least = std::min(least, metric.distance2(tree.at(u), box));
      });
  return least <= most ? least : std::nextafter(most, kInfinity);
}

/// Returns whether no point below a node whose points are of one component can improve the best edge of that component in this
/// Boruvka round. A bound is computed at most once a round.
template <std::size_t D>
bool BoruvkaState<D>::cannot_improve(Worker& worker, std::uint32_t node, const std::vector<Key>& ceiling) {
  const double most = limit(worker, node_component[node], ceiling).d2;
  if (node_bound[node] <= most && node_round[node] != round) {
    node_bound[node] = std::max(node_bound[node], distance_out(worker, node, most));
    node_round[node] = round;
  }
  return node_bound[node] > most || node_bound[node] == kInfinity;
}

// Subtrees without points that must search are skipped; large ones of one component are tested as a whole first.
template <std::size_t D>
bool BoruvkaState<D>::needs_search(Worker& worker, std::uint32_t node, const std::vector<Key>& ceiling) {
  if (node_needs[node] == 0) return false;
  return node_component[node] == kNone || node_needs[node] < kFewSearches || !cannot_improve(worker, node, ceiling);
}

/// Descends from a node of this rank's tree to the points below it whose nearest point of another component must be searched in
/// this Boruvka round, and searches.
template <std::size_t D>
void BoruvkaState<D>::search_below(Worker& worker, std::uint32_t node, const std::vector<Key>& ceiling) {
  if (!needs_search(worker, node, ceiling)) return;
  const bool one = node_component[node] != kNone;
  const auto& place = tree.nodes()[node];
  if (place.right == 0 && !filter_.empty() && search_filtered(worker, node, ceiling)) {
    update_least_bound(node);
    return;
  }
  if (place.right == 0) {
    if (one && node_needs[node] >= kFewSearches) {
      search_for_leaf(worker, node, ceiling);
      update_least_bound(node);
      return;
    }
    for (std::uint32_t v = place.begin; v < place.end; ++v) {
      const Key most = limit(worker, component[v], ceiling);
      if (may_improve(v, most) && !has_outside_neighbour(v)) search_from(worker, node, v, most);
    }
    update_least_bound(node);
    return;
  }
  std::uint32_t first = node + 1;
  std::uint32_t second = place.right;
  if (one) {  // nearer ones first: what they find may exclude the others
    (void)cannot_improve(worker, first, ceiling);
    (void)cannot_improve(worker, second, ceiling);
    if (node_bound[second] < node_bound[first]) std::swap(first, second);
  }
  search_below(worker, first, ceiling);
  search_below(worker, second, ceiling);
}

template <std::size_t D>
std::vector<std::uint32_t> BoruvkaState<D>::divide_search(const std::vector<Key>& ceiling) {
  // Many more parts than threads: how long a part takes is not known before. Nodes are tested level by level, wide levels by all threads.
  const std::uint32_t most = node_needs[0] / (static_cast<std::uint32_t>(threads) * 64) + 1;
  constexpr std::size_t kWide = 4;
  const auto is_part = [&](std::uint32_t node) { return tree.nodes()[node].right == 0 || node_needs[node] <= most; };
  workers_.resize(std::max(workers_.size(), static_cast<std::size_t>(threads)));
  for (Worker& worker : workers_) worker.best = best.data();
  std::vector<std::uint32_t> parts;
  std::vector<std::uint32_t> level{0};
  while (!level.empty()) {
    std::vector<std::uint8_t> open(level.size());
    std::atomic<std::size_t> next{0};
    in_parallel(level.size() < kWide ? 1 : threads, [&](int t) {
      Worker& worker = workers_[static_cast<std::size_t>(t)];
      for (std::size_t i = next++; i < level.size(); i = next++)
        open[i] = static_cast<std::uint8_t>(is_part(level[i]) ? node_needs[level[i]] > 0
                                                              : needs_search(worker, level[i], ceiling));
    });
    std::vector<std::uint32_t> below;
    for (std::size_t i = 0; i < level.size(); ++i) {
      if (open[i] == 0) continue;
      if (is_part(level[i]))
        parts.push_back(level[i]);
      else
        below.insert(below.end(), {level[i] + 1, tree.nodes()[level[i]].right});
    }
    level.swap(below);
  }
  return parts;
}

// Second half of a round: tree searches for the points whose bounds leave room for a lesser edge of their component.
template <std::size_t D>
void BoruvkaState<D>::search_where_needed(const std::vector<Key>& ceiling) {
  if (tree.nodes().empty()) return;
  mark_nodes();
  count_needs(ceiling);
  const std::uint32_t needs = node_needs[0];
  if (needs > 0 && !filter_made_) {
    // Up to three axes boxes exclude nearly all, and single points cost least.
    if constexpr (D > 3) filter_ = nearest::FilterPoints(tree);
    filter_made_ = true;
  }
  node_bound.resize(tree.nodes().size(), 0);
  node_round.resize(tree.nodes().size(), 0);
  ++round;
  if (needs == 0) return;
  const std::vector<std::uint32_t> parts = threads > 1 ? divide_search(ceiling) : std::vector<std::uint32_t>{0};
  std::atomic<std::size_t> next{0};
  with_workers(needs, [&](Worker& worker) {
    for (std::size_t i = next++; i < parts.size(); i = next++) search_below(worker, parts[i], ceiling);
  });
}

template <std::size_t D>
void BoruvkaState<D>::add_edge(const Key& key) {
  edges.push_back({key.low, key.high, graphs::ordered_bits(tree.metric().weight(key.d2))});
}

// First stage of the rounds on one rank: neighbour lists of all points, every point a component of its own.
template <std::size_t D>
void find_lists(BoruvkaState<D>& state, int neighbours, int threads, const std::function<void(double)>& progress) {
  const std::size_t n = state.tree.size();
  state.scan = leaf_points(state.tree, nullptr);
  state.keep = static_cast<std::uint32_t>(neighbours);
  state.list.resize(n * state.keep);
  state.used.assign(n, 0);
  state.bound.resize(n);
  state.nearest.resize(n);
  state.component.resize(n);
  state.components = static_cast<std::uint32_t>(n);
  const NeighbourSearch search{state.keep, state.core.empty() ? nullptr : state.core.data(), threads, progress};
  find_neighbours(state.tree, search, [&](const LeafResult& found) {
    for (std::uint32_t q = 0; q < found.count; ++q) {
      const std::uint32_t v = found.first + q;
      const double* const d2 = found.distance2 + static_cast<std::size_t>(q) * found.row;
      const std::uint64_t* const point = found.point + static_cast<std::size_t>(q) * found.row;
      std::uint32_t* const to = state.list.data() + static_cast<std::size_t>(v) * state.keep;
      for (std::uint32_t i = 0; i < state.keep; ++i)
        to[i] = d2[i] < kInfinity ? static_cast<std::uint32_t>(point[i]) : kNone;
      state.component[v] = v;
      state.nearest[v] = to[0] == kNone ? v : to[0];
      state.bound[v] = d2[0];
    }
  });
}

MERGANSER_FOR_AXES(MERGANSER_CLASS, struct BoruvkaState)
MERGANSER_FOR_AXES(MERGANSER_FUNCTION, find_lists)

}  // namespace merganser::msf::euclidean
