#pragma once
/// Process graphs for the contract tests.
#include <algorithm>
#include <random>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::test {

/// Every rank sends to the next one, round in a ring. A ring of one rank is an arc to itself.
inline comm::Graph ring(const comm::Transport& t) {
  return {{(t.rank() + 1) % t.size()}, {(t.rank() + t.size() - 1) % t.size()}};
}

/// Everybody with everybody, and with itself.
inline comm::Graph complete(const comm::Transport& t) {
  std::vector<int> all;
  for (int r = 0; r < t.size(); ++r) all.push_back((t.rank() + r) % t.size());
  return comm::Graph::symmetric(all);
}

/// All ranks send to rank 0, nobody back.
inline comm::Graph funnel(const comm::Transport& t) {
  comm::Graph graph;
  if (t.rank() != 0) graph.out.push_back(0);
  for (int r = 1; t.rank() == 0 && r < t.size(); ++r) graph.in.push_back(r);
  return graph;
}

/// The same random directed graph on every rank, as this rank sees it; some arcs lead back to their rank.
inline comm::Graph random_graph(const comm::Transport& t, unsigned seed) {
  std::mt19937 numbers(seed);
  comm::Graph graph;
  for (int from = 0; from < t.size(); ++from) {
    for (int to = 0; to < t.size(); ++to) {
      if (numbers() % 2 == 0) continue;
      if (from == t.rank()) graph.out.push_back(to);
      if (to == t.rank()) graph.in.push_back(from);
    }
  }
  // The order of arcs differs between ranks.
  std::mt19937 order(seed + static_cast<unsigned>(t.rank()));
  std::shuffle(graph.out.begin(), graph.out.end(), order);
  std::shuffle(graph.in.begin(), graph.in.end(), order);
  return graph;
}

}  // namespace merganser::test
