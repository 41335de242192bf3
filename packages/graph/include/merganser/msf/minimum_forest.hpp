#pragma once
/// The minimum spanning forest of a graph that is spread over ranks, the fast way.
#include <cstdint>

#include "merganser/base/choices.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/graphs/edges.hpp"
#include "merganser/links/contract.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::msf {

/// How the forest is found. All find the same one.
enum class ForestMethod : std::uint8_t {
  automatic,  ///< `kruskal` on one rank or up to `base_case` vertices; beyond it by the share of edges between ranks:
              ///< below half of what random ids would give `local`, else `filter`
  kruskal,  ///< filter-Kruskal on every rank's edges, then forests are merged along a binomial tree: 4 bytes per vertex
  boruvka,  ///< every component chooses its least edge, chosen edges contract, until nothing is left
  filter,   ///< the same on the least edges first; the others that lie within one component by then are dropped
  local,    ///< every rank first contracts what no other rank can change, then `filter`
};

/// How a forest is found; the same on every rank. ranges are checked where they are used.
struct ForestOptions {
  ForestMethod method = ForestMethod::automatic;
  links::Policy policy = links::Policy::trees;  ///< what a round of boruvka, filter, local contracts
  std::uint64_t base_case = std::uint64_t{1} << 22;
  int threads = 1;
  Sense sense = Sense::minimum;
};
/// Names of the methods.
[[nodiscard]] inline Choices<ForestMethod> forest_methods() {
  return {{{"auto", ForestMethod::automatic},
           {"kruskal", ForestMethod::kruskal},
           {"boruvka", ForestMethod::boruvka},
           {"filter", ForestMethod::filter},
           {"local", ForestMethod::local}}};
}
/// The minimum (or maximum) spanning forest of the strict order (weight, low, high).
///
/// Collective; options must be the same on every rank. The forest does not depend on ranks, model, method, policy,
/// threads or where edges lie; which rank holds which of its edges does.
/// @param graph   edges on any rank; loops, parallel edges, isolated vertices and ranks without edges are fine
/// @param report  phases "partition", "local forest", "merge", "lookup", "choose", "contract", "base case"; facts
///                "method" (number of ForestMethod), "rounds", "cut permille", "filtered", "local edges"
/// @return this rank's share, with the ids of the input
/// @throws InputError on every rank if an edge has an end that is no vertex; UsageError for options out of range
/// Cost: kruskal O(m / P + n log P) time. Else O((n + m) / P) memory per rank and O(log n) rounds of a few waves each,
/// until `base_case` components are left. Source: filter-Kruskal [osipov2009], Boruvka's algorithm, filtering and local
/// contraction in it [sanders2023], here with links of the choice graph.
[[nodiscard]] Forest minimum_spanning_forest(const graphs::EdgeList& graph, comm::Transport& transport,
                                             const ForestOptions& options, Report& report);

}  // namespace merganser::msf
