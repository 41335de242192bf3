#pragma once
/// Parameters of HDBSCAN*, and the check of them, which the library, the command, C and Python share.
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "merganser/base/choices.hpp"

namespace merganser::msf {

/// Rules by which HDBSCAN* selects clusters of the condensed tree.
enum class Selection : std::uint8_t {
  excess_of_mass,  ///< clusters that together are the most stable
  leaf,            ///< clusters that do not split further
};
/// Returns the names of the rules by which HDBSCAN* selects clusters: "eom", "leaf".
[[nodiscard]] inline Choices<Selection> selections() {
  return {{{"eom", Selection::excess_of_mass}, {"leaf", Selection::leaf}}};
}

/// Treatment of several merges of one height when HDBSCAN* condenses the dendrogram.
enum class HdbscanTies : std::uint8_t {
  together,    ///< all at once, as the definition has it: nothing depends on the numbering of the points
  sequential,  ///< one by one, the last one first, as the packages do; with grown_dendrogram() in scikit-learn's order
};
/// Returns the names of the treatments of merges of one height in HDBSCAN*: "together", "sequential".
[[nodiscard]] inline Choices<HdbscanTies> hdbscan_ties() {
  return {{{"together", HdbscanTies::together}, {"sequential", HdbscanTies::sequential}}};
}

/// Parameters of hdbscan() and condense(), which check their ranges.
struct HdbscanOptions {
  std::int64_t min_cluster_size = 5;  ///< fewest points of a cluster, 2 to kMaxLinkageVertices
  Selection selection = Selection::excess_of_mass;
  double epsilon = 0;  ///< clusters born below this distance are merged into what they split from; finite, from 0
  bool allow_single_cluster = false;  ///< the cluster of all points may be selected
  std::int64_t max_cluster_size = 0;  ///< larger clusters are not selected; 0: any size
  HdbscanTies ties = HdbscanTies::together;
  /// With excess_of_mass clusters born above this distance are not selected; from 0.
  double epsilon_max = std::numeric_limits<double>::infinity();
  /// Difference of lambda below which a cluster is merged with its sibling; from 0. For condense() with all options.
  double persistence = 0;
};

/// Validates all parameters of HDBSCAN*. Local.
/// @param name  returns what the caller calls a field, for the error: "--min-cluster-size"; empty: the field's own name
/// @throws UsageError with the name, the value and what is allowed: "min_cluster_size: 1; allowed: from 2 to 2147483648"
void check(const HdbscanOptions& options, const std::function<std::string(std::string_view field)>& name = {});

}  // namespace merganser::msf
