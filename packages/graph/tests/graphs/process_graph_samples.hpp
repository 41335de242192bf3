#pragma once
/// Random process graphs, and their serialization in every format, for tests.
#include <cmath>
#include <string>

#include "merganser/base/random.hpp"
#include "merganser/graphs/process_graph_files.hpp"
#include "src/graphs/process_files/formats.hpp"

namespace merganser::test {

/// Properties of a random graph, so that a format can represent it.
struct Like {
  bool symmetric = false;
  bool whole = false;  ///< weights are whole and at least 1
};

inline graphs::ProcessGraph random_graph(std::uint64_t seed, Like like = {}) {
  Random random(seed, 0x677261706873ULL, 0);
  const auto ranks = static_cast<int>(1 + random.below(seed % 10 == 0 ? 60 : 9));
  const bool weighted = random.below(2) == 1;
  const double density = random.uniform();
  const auto weight = [&]() -> double {
    if (!weighted) return 1;
    if (like.whole || random.below(2) == 1) return 1 + static_cast<double>(random.below(1U << random.below(31)));
    if (random.below(8) == 0) return 0;
    return std::ldexp(random.uniform() + 0.5, static_cast<int>(random.below(2000)) - 1000);
  };
  std::vector<std::vector<graphs::ProcessGraph::Arc>> rows(static_cast<std::size_t>(ranks));
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < ranks; ++b) {
      if (a == b || (like.symmetric && b < a) || random.uniform() >= density) continue;
      const double w = weight();
      rows[static_cast<std::size_t>(a)].push_back({b, w});
      if (like.symmetric) rows[static_cast<std::size_t>(b)].push_back({a, w});
    }
  return graphs::ProcessGraph(std::move(rows));
}

inline Like liked_by(graphs::ProcessGraphFormat format) {
  const bool metis = format == graphs::ProcessGraphFormat::metis;
  return {metis, metis};
}

inline std::string print(const graphs::ProcessGraph& graph, graphs::ProcessGraphFormat format) {
  using namespace graphs::detail;
  switch (format) {
    case graphs::ProcessGraphFormat::binary:
      return serialize_binary(graph);
    case graphs::ProcessGraphFormat::adjacency:
      return serialize_adjacency(graph);
    case graphs::ProcessGraphFormat::pairs:
      return serialize_pairs(graph);
    case graphs::ProcessGraphFormat::matrix_market:
      return serialize_matrix_market(graph);
    default:
      return serialize_metis("graph", graph);
  }
}

inline graphs::ProcessGraph parse(const std::string& name, const std::string& bytes,
                                  graphs::ProcessGraphFormat format) {
  using namespace graphs::detail;
  switch (format) {
    case graphs::ProcessGraphFormat::binary:
      return parse_binary(name, bytes);
    case graphs::ProcessGraphFormat::adjacency:
      return parse_adjacency(name, bytes);
    case graphs::ProcessGraphFormat::pairs:
      return parse_pairs(name, bytes);
    case graphs::ProcessGraphFormat::matrix_market:
      return parse_matrix_market(name, bytes);
    default:
      return parse_metis(name, bytes);
  }
}

}  // namespace merganser::test
