#include "msf/euclidean/state.hpp"

#include "msf/euclidean/neighbours.hpp"

namespace merganser::msf::euclidean {

bool State::advance(std::uint32_t v) {
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

void State::offer(std::uint32_t v) {
  Choice& choice = best[component[v]];
  if (bound[v] > choice.key.d2) return;
  const Key k = key(v, nearest[v], bound[v]);
  if (k < choice.key) choice = {k, component[nearest[v]]};
}

void State::choose_from_lists() {
  best.assign(components, {});
  for (std::uint32_t v = 0; v < tree.size(); ++v)
    if (reaches_out(v) || advance(v)) offer(v);
}

bool State::may_improve(std::uint32_t v, const Key& limit) const {
  if (bound[v] != limit.d2) return bound[v] < limit.d2;
  return nearest[v] == v ? bound[v] < kInfinity && limit.high != 0 : key(v, nearest[v], bound[v]) < limit;
}

void State::mark_nodes() {
  const auto& nodes = tree.nodes();
  node_component.resize(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    const auto& node = nodes[i];
    if (node.right != 0) {
      const std::uint32_t left = node_component[i + 1];
      node_component[i] = left == node_component[node.right] ? left : kNone;
      continue;
    }
    const std::uint32_t first = component[node.begin];
    bool same = true;
    for (std::uint32_t v = node.begin + 1; v < node.end; ++v) same &= component[v] == first;
    node_component[i] = same ? first : kNone;
  }
}

Found State::search(const Seeker& seeker, const Key& limit) const {
  const auto& nodes = tree.nodes();
  const Metric& metric = tree.metric();
  Found found;
  if (nodes.empty() || seeker.core > limit.d2) return found;
  Key least = limit;
  todo.assign(1, {0, metric.distance2(seeker.at, nodes[0].box)});
  while (!todo.empty()) {
    const Visit next = todo.back();
    todo.pop_back();
    if (next.d2 > least.d2 || node_component[next.node] == seeker.component) continue;
    const auto& node = nodes[next.node];
    if (node.right != 0) {
      Visit near{next.node + 1, metric.distance2(seeker.at, nodes[next.node + 1].box)};
      Visit far{node.right, metric.distance2(seeker.at, nodes[node.right].box)};
      if (far.d2 < near.d2) std::swap(near, far);
      if (far.d2 <= least.d2) todo.push_back(far);
      if (near.d2 <= least.d2) todo.push_back(near);
      continue;
    }
    for (std::uint32_t u = node.begin; u < node.end; ++u) {
      if (component[u] == seeker.component) continue;
      double d2 = metric.distance2(seeker.at, tree.at(u));
      if (!core.empty()) d2 = std::max(d2, std::max(seeker.core, core[u]));
      if (d2 > least.d2) continue;
      const Key k = key_of(d2, seeker.id, tree.id(u));
      if (!(k < least)) continue;
      least = k;
      found = {d2, u};
    }
  }
  return found;
}

void State::search_from(std::uint32_t v, const Key& limit) {
  ++searches;
  const Found found = search({tree.at(v), core_of(v), tree.id(v), component[v]}, limit);
  used[v] = static_cast<std::uint8_t>(keep);
  if (found.point == kNone) {
    bound[v] = limit.d2;
    nearest[v] = v;
    return;
  }
  bound[v] = found.d2;
  nearest[v] = found.point;
  offer(v);
}

void State::add_edge(const Key& key) { edges.push_back({key.low, key.high, graphs::bits_of(std::sqrt(key.d2))}); }

void find_lists(State& state, int neighbours, int threads) {
  const std::size_t n = state.tree.size();
  state.keep = static_cast<std::uint32_t>(neighbours);
  state.list.resize(n * state.keep);
  state.used.assign(n, 0);
  state.bound.resize(n);
  state.nearest.resize(n);
  state.component.resize(n);
  state.components = static_cast<std::uint32_t>(n);
  const Search search{state.keep, state.core.empty() ? nullptr : state.core.data(), threads};
  find_neighbours(state.tree, search, [&](const LeafResult& found) {
    const std::size_t rows = static_cast<std::size_t>(found.count) * state.keep;
    const std::size_t at = static_cast<std::size_t>(found.first) * state.keep;
    for (std::size_t i = 0; i < rows; ++i) state.list[at + i] = found.distance2[i] < kInfinity ? found.point[i] : kNone;
    for (std::uint32_t q = 0; q < found.count; ++q) {
      const std::uint32_t v = found.first + q;
      const std::uint32_t next = state.list[at + static_cast<std::size_t>(q) * state.keep];
      state.component[v] = v;
      state.nearest[v] = next == kNone ? v : next;
      state.bound[v] = found.distance2[static_cast<std::size_t>(q) * state.keep];
    }
  });
}

Contraction contract(const std::vector<Choice>& best, const std::vector<std::uint8_t>& chosen) {
  const auto n = static_cast<std::uint32_t>(best.size());
  Contraction out;
  out.keeps.assign(n, 0);
  std::vector<std::uint32_t> up(n);
  for (std::uint32_t c = 0; c < n; ++c) {
    const std::uint32_t to = chosen[c] != 0 ? best[c].to : c;
    const bool dual = to != c && chosen[to] != 0 && best[to].to == c;
    up[c] = dual && c < to ? c : to;
    out.keeps[c] = static_cast<std::uint8_t>(up[c] != c);
  }
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

/// Certified components: their least edge comes before whatever other ranks hold.
std::vector<std::uint8_t> certified(const State& state, const std::vector<double>& outside) {
  std::vector<std::uint8_t> chosen(state.components);
  for (std::uint32_t c = 0; c < state.components; ++c)
    chosen[c] =
        static_cast<std::uint8_t>(state.best[c].to != kNone && (outside.empty() || state.best[c].key.d2 < outside[c]));
  return chosen;
}

void search_where_needed(State& state, const std::vector<double>& outside) {
  state.mark_nodes();
  for (std::uint32_t v = 0; v < state.tree.size(); ++v) {
    if (state.reaches_out(v)) continue;
    const std::uint32_t c = state.component[v];
    Key limit = state.best[c].key;
    if (!outside.empty() && outside[c] <= limit.d2) limit = {outside[c], 0, 0};
    if (state.may_improve(v, limit)) state.search_from(v, limit);
  }
}

}  // namespace

int local_rounds(State& state, const std::vector<double>& outside) {
  std::vector<double> least_outside = outside;  // by component; at first every point is one
  int rounds = 0;
  while (state.components > 1) {
    ++rounds;
    state.choose_from_lists();
    if (rounds > 1) search_where_needed(state, least_outside);
    const Contraction made = contract(state.best, certified(state, least_outside));
    if (made.components == state.components) break;
    std::vector<double> renamed(outside.empty() ? 0 : made.components, kInfinity);
    for (std::uint32_t c = 0; c < state.components; ++c) {
      if (made.keeps[c] != 0) state.add_edge(state.best[c].key);
      if (!outside.empty()) renamed[made.renamed[c]] = std::min(renamed[made.renamed[c]], least_outside[c]);
    }
    for (auto& c : state.component) c = made.renamed[c];
    state.components = made.components;
    least_outside = std::move(renamed);
  }
  return rounds;
}

}  // namespace merganser::msf::euclidean
