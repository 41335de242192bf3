#pragma once
/// Minimum spanning forests of distributed graphs: filter-Kruskal, Boruvka's algorithm, and combinations of them.
#include <cstdint>

#include "merganser/base/choices.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"
#include "merganser/links/contract.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::msf {

/// Algorithms for the minimum spanning forest of a distributed graph. All compute the same one.
enum class ForestMethod : std::uint8_t {
  /// `kruskal` on one rank, up to `base_case` vertices, and, unless that is 0, while ranks * vertices <= 2 * edges; else by the share
  /// of edges between ranks: below half of what random ids would give `local`, else `filter`
  automatic,
  kruskal,  ///< filter-Kruskal: every rank joins the light edges of all: 4 bytes per vertex and 8 per light edge
  boruvka,  ///< every component chooses its least edge, chosen edges are contracted, until no edge is left
  filter,   ///< Boruvka on the least edges first; other edges that lie within one component by then are dropped
  local,    ///< every rank first contracts along edges that other ranks cannot affect, then `filter`
};

/// Parameters of minimum_spanning_forest() of a graph; the same on every rank. describe() has their ranges.
struct ForestOptions {
  ForestMethod method = ForestMethod::automatic;
  links::Policy policy = links::Policy::trees;       ///< what a round of boruvka, filter, local contracts
  std::uint64_t base_case = std::uint64_t{1} << 22;  ///< components up to which Kruskal finishes; 0: never
  int threads = 1;                                   ///< threads of each rank in the passes over its edges, 1 to 1024
  Sense sense = Sense::minimum;                      ///< minimum or maximum spanning forest
};
/// Returns the names of the algorithms for the spanning forest of a graph: auto, kruskal, boruvka, filter, local.
[[nodiscard]] inline Choices<ForestMethod> forest_methods() {
  return {{{"auto", ForestMethod::automatic},
           {"kruskal", ForestMethod::kruskal},
           {"boruvka", ForestMethod::boruvka},
           {"filter", ForestMethod::filter},
           {"local", ForestMethod::local}}};
}
/// Computes the minimum (or maximum) spanning forest of a graph in the strict order (weight, low, high).
///
/// Collective; options must be the same on every rank. The forest does not depend on ranks, model, method, policy,
/// threads or where edges lie; which rank holds which of its edges does.
/// @param graph   edges on any rank; loops, parallel edges, isolated vertices and ranks without edges are fine
/// @param report  phases "partition", "local forest", "merge", "lookup", "choose", "contract", "base case"; facts
///                "method" (number of ForestMethod), "rounds", "cut permille", "filtered", "local edges" (that this rank's own
///                stage leaves to the global ones, or of `local` and `kruskal` its edges of the forest). `filter` and `local` on one
///                rank with at least half as many edges as vertices: "partition" and "local forest" alone, no rounds
/// @return this rank's share of the forest, with the ids of the input
/// @throws InputError on every rank if an edge has an end that is no vertex; UsageError for options out of range
/// Cost: kruskal O(m / P + n) time and 4 n + 24 n bytes beside the edges. Else O((n + m) / P) memory per rank and O(log n) rounds of a few waves each,
/// until `base_case` components are left. Source: filter-Kruskal [osipov2009], Boruvka's algorithm, filtering and local
/// contraction in it [sanders2023], here with links of the choice graph.
[[nodiscard]] Forest minimum_spanning_forest(const graphs::EdgeList& graph, comm::Transport& transport,
                                             const ForestOptions& options, Report& report);

}  // namespace merganser::msf
