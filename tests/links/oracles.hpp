#pragma once
/// Serial oracles of pruning and of cutting cycles, slow and obvious, on a whole graph.
#include <stdexcept>
#include <utility>
#include <vector>

#include "tests/links/graphs.hpp"

namespace merganser::test {

using Kept = std::vector<bool>;  ///< by source

/// Returns the links kept by the published serial sweeps over three flags; the choice inside an isolated dual link is
/// by global id.
inline Kept published_sweeps(const LinkGraph& graph) {
  const int n = graph.size();
  std::vector<bool> leaf(n), available(n), merged(n);
  std::vector<int> small;
  for (int v = 0; v < n; ++v) {
    if (graph.target[v] >= 0) small.push_back(v);
  }
  const auto each = [&](const auto& visit) {
    for (const int s : small) {
      if (!merged[s]) visit(s, graph.target[s]);
    }
  };
  for (bool again = true; again;) {
    again = false;
    each([&](int s, int c) { leaf[s] = available[c] = true; });
    each([&](int, int c) { leaf[c] = false; });
    each([&](int s, int c) {
      if (!leaf[s]) available[c] = false;
    });
    each([&](int s, int c) {
      if (leaf[s] && available[c]) merged[s] = merged[c] = again = true;
    });
  }
  each([&](int s, int c) {
    if (leaf[s]) available[c] = true;
  });
  Kept kept(n), isolated(n);
  for (const int s : small) {
    const int c = graph.target[s];
    if (leaf[s]) {
      if (merged[s] && leaf[c]) throw std::logic_error("a merged leaf has a leaf as target");
      kept[s] = true;
    } else if (!merged[s] && !available[s]) {
      kept[s] = available[c];
      isolated[s] = !available[c];
    }
  }
  for (const int s : small) {
    if (isolated[s] && graph.id[s] < graph.id[graph.target[s]]) available[s] = true;
  }
  for (const int s : small) {
    if (isolated[s]) kept[s] = available[graph.target[s]];
  }
  return kept;
}

/// Returns the links kept by the closed form, by recursion.
inline Kept closed_form(const LinkGraph& graph) {
  const int n = graph.size();
  std::vector<std::vector<int>> children(n);
  for (int v = 0; v < n; ++v) {
    if (graph.target[v] >= 0 && !graph.dual(v)) children[graph.target[v]].push_back(v);
  }
  const auto centre = [&](const auto& self, int v) -> bool {
    for (const int child : children[v]) {
      if (!self(self, child)) return true;
    }
    return false;
  };
  Kept kept(n);
  for (int v = 0; v < n; ++v) {
    const int t = graph.target[v];
    if (t < 0) continue;
    const bool takes = centre(centre, v);
    if (!graph.dual(v)) {
      kept[v] = !takes;
    } else {
      const bool other_takes = centre(centre, t);
      kept[v] = !takes && (other_takes || graph.id[v] > graph.id[t]);
    }
  }
  return kept;
}

/// Returns whether no kept target is itself a kept source.
inline bool are_stars(const LinkGraph& graph, const Kept& kept) {
  for (int v = 0; v < graph.size(); ++v) {
    if (kept[v] && kept[graph.target[v]]) return false;
  }
  return true;
}

/// Returns the graph without the largest link of each cycle of three or more, and the number of these cycles.
inline std::pair<LinkGraph, int> without_long_cycles(LinkGraph graph) {
  const int n = graph.size();
  int cycles = 0;
  std::vector<int> seen(n, -1);
  for (int start = 0; start < n; ++start) {
    int v = start;
    while (v >= 0 && seen[v] < 0) {
      seen[v] = start;
      v = graph.target[v];
    }
    if (v < 0 || seen[v] != start || graph.dual(v)) continue;
    int largest = v;
    for (int u = graph.target[v]; u != v; u = graph.target[u]) {
      if (graph.key(largest) < graph.key(u)) largest = u;
    }
    graph.target[largest] = -1;
    ++cycles;
  }
  return {graph, cycles};
}

}  // namespace merganser::test
