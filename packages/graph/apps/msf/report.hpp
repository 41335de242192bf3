#pragma once
/// What a run that found a forest tells: in a record and for people.
#include <string>

#include "apps/frame/record.hpp"
#include "merganser/msf/forest.hpp"

namespace merganser::app {

/// Times, messages and bytes of each phase over ranks, and the facts of all ranks added up. Collective; complete on
/// rank 0. Ranks may have seen different phases.
[[nodiscard]] Json phases_json(const msf::Report& report, comm::Transport& transport);
/// Table of phases_json(): seconds over ranks, messages, bytes.
[[nodiscard]] std::string phases_table(const Json& phases);

/// Vertices of all ranks that no edge of a forest has: those without an edge to another vertex, as ids that do not occur. Collective.
[[nodiscard]] std::int64_t vertices_without_edge(const msf::Forest& forest, const msf::ForestTotals& totals,
                                                 comm::Transport& transport);

/// @param alone  vertices_without_edge(); the others are in trees
[[nodiscard]] Json forest_json(const msf::ForestTotals& totals, std::uint64_t vertices, std::int64_t alone);
/// "645,671 edges in 2 trees, and 402,903 vertices without an edge; weight 595706889854167\ndigest ..."
[[nodiscard]] std::string forest_text(const msf::ForestTotals& totals, std::int64_t alone);

}  // namespace merganser::app
