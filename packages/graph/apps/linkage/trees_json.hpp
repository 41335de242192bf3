#pragma once
/// Summaries of dendrograms and condensed trees for run records, from which reports draw them. All functions are local.
#include <cstddef>

#include "apps/frame/json.hpp"
#include "merganser/msf/hdbscan.hpp"

namespace merganser::app {

/// Largest number of leaves of a dendrogram in a run record.
inline constexpr std::size_t kMaxRecordedLeaves = 40;
/// Largest number of clusters of a condensed tree in a run record.
inline constexpr std::size_t kMaxRecordedClusters = 200;

/// Converts the upper part of a dendrogram to a member of the run record: its highest merges of two sides of at least `min_size`
/// vertices each (0.5 % of all), until they have kMaxRecordedLeaves leaves. Columns by node, each parent before its parts: parent
/// (-1: none), height (0 for a vertex, null where it is infinite) and size; and the number of merges left out. Cost: O(n)
[[nodiscard]] Json dendrogram_json(const msf::Dendrogram& d);

/// Converts the largest kMaxRecordedClusters clusters of a condensed tree of HDBSCAN* to a member of the run record. Columns by
/// cluster, each parent before its children: parent (position in the columns; -1: none), size, birth and end (lambda; null where
/// infinite), label (-1: not selected); and the number of clusters left out.
/// @param selected  clusters of the tree that are selected, by label
[[nodiscard]] Json condensed_json(const msf::CondensedTree& tree, const std::vector<std::uint32_t>& selected);

}  // namespace merganser::app
