#pragma once
/// Dendrograms from forests or from rows of Python's, and distribution of results by vertex to the ranks that own the vertices.
#include <cstdint>
#include <vector>

#include "merganser/comm/collectives.hpp"
#include "merganser/msf/linkage.hpp"
#include "python/src/forest.hpp"

namespace merganser::python {

/// Gathers the edges of a spanning forest from all ranks and computes their single-linkage dendrogram on rank 0; other ranks return
/// a dendrogram without merges. The forest must have been sorted. Collective.
/// @param apart  treatment of the trees of a forest that is not connected
[[nodiscard]] msf::Dendrogram gather_dendrogram(ForestObject& forest, msf::Apart apart, comm::Transport& transport);

/// Converts a linkage matrix of SciPy, rows (a, b, height, size) in ascending order of height, to a single-linkage dendrogram,
/// and validates it. Local.
/// @throws InputError naming the first invalid row
[[nodiscard]] msf::Dendrogram parse_dendrogram(const Rows<double>& linkage);

/// Scatters values by vertex (cluster labels, probabilities) from rank 0: each rank returns the values of the vertices that it
/// passed, in the order in which it passed them. Collective.
/// @param all  values by vertex on rank 0; ignored on other ranks
/// @param own  vertices that this rank passed
template <class T>
[[nodiscard]] std::vector<T> own_values(const std::vector<T>& all, const Numbering& own, comm::Transport& transport) {
  if (transport.size() == 1 && own.ids.empty()) return all;
  std::vector<std::uint64_t> wanted = own.ids;
  if (wanted.empty())
    for (std::uint64_t i = 0; i < own.count; ++i) wanted.push_back(own.first + i);
  const auto requests = comm::gather_to_first(transport, wanted);
  std::vector<std::vector<T>> answers(static_cast<std::size_t>(transport.size()));
  if (transport.rank() == 0)
    for (std::size_t r = 0; r < answers.size(); ++r)
      for (const std::uint64_t vertex : requests[r]) answers[r].push_back(all[vertex]);
  const auto came = comm::all_to_all(transport, std::move(answers));
  return {came[0].begin(), came[0].end()};
}

}  // namespace merganser::python
