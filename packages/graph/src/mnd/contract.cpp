// Multi-node Boruvka, independent computation: rounds of Boruvka's algorithm on one rank's components without communication.
#include <numeric>
#include <utility>

#include "src/mnd/part.hpp"

namespace merganser::mnd::detail {
namespace {

/// Returns the parent of each of this rank's components in a Boruvka round: the component at the other end of its least edge;
/// itself if that is a ghost or there is no edge. Of two that chose each other the lower one is the root; the order of edges is
/// strict, so there are no other cycles. @param least  by component: position of its least edge in part.edges
std::vector<std::uint32_t> choose_parents(const Part& part, const std::vector<std::uint32_t>& least) {
  // A component whose least edge leads to a ghost stays a root: only the ghost's owner could contract along it.
  std::vector<std::uint32_t> parent(part.own);
  for (std::uint32_t c = 0; c < part.own; ++c) {
    parent[c] = c;
    if (least[c] == Part::kNone) continue;
    const ComponentEdge& e = part.edges[least[c]];
    const std::uint32_t other = e.a == c ? e.b : e.a;
    if (part.is_own(other)) parent[c] = other;
  }
  for (std::uint32_t c = 0; c < part.own; ++c)
    if (c < parent[c] && parent[parent[c]] == c) parent[c] = c;
  return parent;
}

/// Points every component to the root of its tree of chosen edges, with path compression. @param parent  by component; becomes
/// roots
void point_at_roots(std::vector<std::uint32_t>& parent) {
  for (std::uint32_t c = 0; c < parent.size(); ++c) {
    std::uint32_t root = c;
    while (parent[root] != root) root = parent[root];
    for (std::uint32_t at = c; at != root;) at = std::exchange(parent[at], root);
  }
}

/// Numbers the roots of a Boruvka round, the components after it, in ascending order, moves their names there, and replaces
/// `parent` by the new number of every component. @return number of roots
std::uint32_t renumber(Part& part, std::vector<std::uint32_t>& parent) {
  // In place: a new number is never above the old one.
  std::vector<std::uint32_t> fresh(part.own);
  std::uint32_t count = 0;
  for (std::uint32_t c = 0; c < part.own; ++c) {
    if (parent[c] != c) continue;
    part.names[count] = part.names[c];
    fresh[c] = count++;
  }
  for (auto& p : parent) p = fresh[p];
  return count;
}

/// Replaces the components at the ends of this rank's edges by their new numbers after a Boruvka round, and drops edges within one
/// component. Numbers of ghosts move down by the number of components that are gone. @param own  number of components left
void relabel(Part& part, const std::vector<std::uint32_t>& number, std::uint32_t own) {
  // Names of the roots are at the front already; those of the components that are gone are erased before the ghosts'.
  const std::uint32_t gone = part.own - own;
  std::size_t kept = 0;
  for (const ComponentEdge& e : part.edges) {
    const std::uint32_t a = number[e.a];
    const std::uint32_t b = part.is_own(e.b) ? number[e.b] : e.b - gone;
    if (a != b) part.edges[kept++] = {a, b, e.edge};
  }
  part.edges.resize(kept);
  part.names.erase(part.names.begin() + own, part.names.begin() + part.own);
  part.own = own;
}

/// Adds the least edges of the components that are no roots to the spanning forest of this rank. @return their number
std::int64_t add_chosen(Part& part, const std::vector<std::uint32_t>& least, const std::vector<std::uint32_t>& parent) {
  const std::size_t before = part.forest.size();
  for (std::uint32_t c = 0; c < part.own; ++c)
    if (parent[c] != c) part.forest.push_back(part.edges[least[c]].edge);
  return static_cast<std::int64_t>(part.forest.size() - before);
}

}  // namespace

// One pass over the edges of the rank's part; edges are compared by weight, then by the strict order (weight, low, high).
std::vector<std::uint32_t> least_edges(const Part& part) {
  // The weight beside the position: most comparisons end without a random access to the edge.
  struct Best {
    std::uint64_t weight = ~std::uint64_t{0};
    std::uint32_t edge = Part::kNone;
  };
  std::vector<Best> best(part.own);
  const auto offer = [&](std::uint32_t component, std::uint32_t i, const graphs::Edge24& edge) {
    Best& b = best[component];
    if (edge.weight > b.weight) return;
    if (edge.weight == b.weight && b.edge != Part::kNone && !(edge < part.edges[b.edge].edge)) return;
    b = {edge.weight, i};
  };
  for (std::uint32_t i = 0; i < part.edges.size(); ++i) {
    const ComponentEdge& e = part.edges[i];
    offer(e.a, i, e.edge);
    if (part.is_own(e.b)) offer(e.b, i, e.edge);
  }
  std::vector<std::uint32_t> edges(part.own);
  for (std::uint32_t c = 0; c < part.own; ++c) edges[c] = best[c].edge;
  return edges;
}

// Independent computation of multi-node Boruvka: rounds of choosing, adding, renumbering and relabelling.
Contraction contract(Part& part, double least_added) {
  Contraction result;
  result.image.resize(part.own);
  std::iota(result.image.begin(), result.image.end(), 0U);
  std::int64_t added = 0;
  // Rounds that add few edges end early, by the published threshold.
  do {
    const auto least = least_edges(part);
    auto parent = choose_parents(part, least);
    added = add_chosen(part, least, parent);
    ++result.rounds;
    result.added += added;
    if (added == 0) break;
    point_at_roots(parent);
    const std::uint32_t own = renumber(part, parent);
    for (auto& component : result.image) component = parent[component];
    relabel(part, parent, own);
  } while (static_cast<double>(added) >= least_added);
  return result;
}

}  // namespace merganser::mnd::detail
