#pragma once
/// Reports of runs that computed a spanning forest: for the run record and as text.
#include <string>

#include "apps/frame/record.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::app {

/// Combines the measurements of all ranks in the search for a spanning forest: statistics of the time and sums of messages and
/// bytes of each phase, and least, greatest and sum of each fact. Collective; the same on every rank. Ranks may have entered
/// different phases.
[[nodiscard]] Json phases_json(const msf::Report& report, comm::Transport& transport);
/// Returns the phases of a search for a spanning forest, from phases_json(), as a table: time over ranks, messages, bytes.
/// @param ranks  number of ranks of the search; on one there is one column of times
[[nodiscard]] std::string phases_table(const Json& phases, int ranks);

/// Counts the vertices of all ranks that no edge of a forest touches, such as ids that do not occur in the input. Collective.
[[nodiscard]] std::int64_t vertices_without_edge(const msf::Forest& forest, const msf::ForestTotals& totals,
                                                 comm::Transport& transport);

/// Returns the description of a spanning forest for a run record: vertices, edges, trees, weight, digest.
/// @param alone  vertices_without_edge(); the others are in trees
[[nodiscard]] Json forest_json(const msf::ForestTotals& totals, std::uint64_t vertices, std::int64_t alone);
/// Returns the description of a spanning forest for the report: "645,671 edges in 2 trees, and 402,903 vertices without an edge,
/// weight 595706889854167\ndigest ...".
[[nodiscard]] std::string forest_text(const msf::ForestTotals& totals, std::int64_t alone);

}  // namespace merganser::app
