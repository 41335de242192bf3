#pragma once
/// Dendrograms of forests that Python holds, and what is found in them, on the ranks that want it.
#include <cstdint>
#include <vector>

#include "merganser/comm/collectives.hpp"
#include "merganser/msf/linkage.hpp"
#include "python/src/forest.hpp"

namespace merganser::python {

/// The dendrogram of all ranks' edges, on rank 0; on others one without merges. Collective over a communicator.
[[nodiscard]] msf::Dendrogram dendrogram_of(ForestObject& forest, msf::Apart apart, comm::Transport& transport);

/// A dendrogram that Python gives as SciPy's functions have it: rows (a, b, height, size).
/// @throws InputError for what is none
[[nodiscard]] msf::Dendrogram dendrogram_of(const Rows<double>& linkage);

/// Of values by vertex, which rank 0 holds, those of each process's own vertices, in its order. Collective.
template <class T>
[[nodiscard]] std::vector<T> own_values(const std::vector<T>& all, const Numbering& own, comm::Transport& transport) {
  if (transport.size() == 1 && own.ids.empty()) return all;
  std::vector<std::uint64_t> wanted = own.ids;
  if (wanted.empty())
    for (std::uint64_t i = 0; i < own.count; ++i) wanted.push_back(own.first + i);
  const auto asked = comm::gather_to_first(transport, wanted);
  std::vector<std::vector<T>> answers(static_cast<std::size_t>(transport.size()));
  if (transport.rank() == 0)
    for (std::size_t r = 0; r < answers.size(); ++r)
      for (const std::uint64_t vertex : asked[r]) answers[r].push_back(all[vertex]);
  const auto came = comm::all_to_all(transport, std::move(answers));
  return {came[0].begin(), came[0].end()};
}

}  // namespace merganser::python
