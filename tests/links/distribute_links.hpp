#pragma once
/// Distribution of a whole graph of links to ranks: the part of one rank, as the pruning takes it.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "merganser/links/prune.hpp"
#include "tests/links/graphs.hpp"

namespace merganser::test {

/// Part of the graph on one rank. Vertices are numbered in the order of `vertex`.
struct PartOfGraph {
  std::vector<int> vertex;      ///< per local vertex: the vertex of the whole graph
  std::vector<int> in_source;   ///< per Links::in: the source, by the whole graph's numbering
  std::vector<int> out_source;  ///< per Links::out: the source, by the whole graph's numbering
  std::vector<std::int64_t> id;
  std::vector<double> distance2;
  links::Links links;

  [[nodiscard]] links::Ids ids() const { return {reinterpret_cast<const std::byte*>(id.data())}; }
};

/// Distributes the vertices of `graph`, vertex v to rank owner[v]. Every rank numbers its vertices in an order that the
/// seed shuffles. `neighbours` are the ranks at the arcs of a symmetric process graph; every rank with links to or from
/// this rank must be among them.
inline PartOfGraph distribute_links(const LinkGraph& graph, const std::vector<int>& owner, int rank,
                                    const std::vector<int>& neighbours, unsigned seed) {
  const int n = graph.size();
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  Random random(seed);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<std::uint32_t> local(n);
  std::vector<std::uint32_t> counts(n == 0 ? 0 : 1 + *std::max_element(owner.begin(), owner.end()), 0);
  PartOfGraph part;
  for (const int v : order) {
    local[v] = counts[owner[v]]++;
    if (owner[v] != rank) continue;
    part.vertex.push_back(v);
    part.id.push_back(graph.id[v]);
    part.distance2.push_back(graph.distance2[v]);
    const int t = graph.target[v];
    part.links.target.push_back(t < 0 ? links::kNone : links::kAway);
  }
  for (const int v : part.vertex) {
    const int t = graph.target[v];
    if (t >= 0 && owner[t] == rank) part.links.target[local[v]] = local[t];
  }
  for (std::uint32_t arc = 0; arc < neighbours.size(); ++arc) {
    std::uint32_t out_slot = 0;
    std::uint32_t in_slot = 0;
    for (const int v : order) {  // the same order at both ends gives the same slots
      const int t = graph.target[v];
      if (t < 0 || owner[v] == owner[t]) continue;
      if (owner[v] == rank && owner[t] == neighbours[arc]) {
        part.links.target[local[v]] = links::kAway | static_cast<std::uint32_t>(part.links.out.size());
        part.links.out.push_back({local[v], local[t], arc, out_slot++, graph.id[t], graph.distance2[v]});
        part.out_source.push_back(v);
      } else if (owner[t] == rank && owner[v] == neighbours[arc]) {
        part.links.in.push_back({local[t], local[v], arc, in_slot++, graph.id[v], graph.distance2[v]});
        part.in_source.push_back(v);
      }
    }
  }
  return part;
}

/// Returns every other rank, starting with the next.
inline std::vector<int> all_others(const comm::Transport& t) {
  std::vector<int> others;
  for (int i = 1; i < t.size(); ++i) others.push_back((t.rank() + i) % t.size());
  return others;
}

inline std::vector<int> random_owners(Random& random, int n, int ranks) {
  std::vector<int> owner(n);
  const int used = 1 + below(random, ranks);  // some ranks stay empty
  for (int& rank : owner) rank = below(random, used);
  return owner;
}

/// Communication objects of a rank that may have links with every other one.
class Wiring {
 public:
  explicit Wiring(comm::Transport& transport)
      : neighbours(all_others(transport)),
        mailbox_(transport.mailbox(comm::Graph::symmetric(neighbours))),
        stream_(transport.stream(comm::Graph::symmetric(neighbours), {})),
        channels{transport, *mailbox_, *stream_} {}

  const std::vector<int> neighbours;

 private:
  std::unique_ptr<comm::Mailbox> mailbox_;
  std::unique_ptr<comm::Stream> stream_;

 public:
  const links::Channels channels;
};

}  // namespace merganser::test
