#pragma once
/// Merge rules for variables of a parcel file that are not EPIC's own, as --attribute NAME:RULE[,missing=skip],... gives them.
#include <string>
#include <vector>

#include "merganser/io/parcel_file.hpp"

namespace merganser::app {

/// Parsed rules of cluster --attribute: how variables of a parcel file merge, and which are left out.
struct FileRules {
  std::vector<io::VariableRule> merged;   ///< variables that are read and merged
  std::vector<std::string> dropped;       ///< names that the output may leave out
  std::vector<std::string> with_missing;  ///< names of variables whose rule has missing=skip or missing=refuse
};

/// Parses the items of cluster --attribute. @throws UsageError for a text that is no NAME:RULE, an unknown rule, a name given
/// twice, a missing= without a rule
[[nodiscard]] FileRules parse_file_rules(const std::vector<std::string>& words);

/// Adds the variables that have a merge rule to those read from the parcel file. If an output will be written, everything else in
/// the file must have a rule or be dropped by name; without an output nothing is lost, and rank 0 logs what is left out. Every rank
/// throws the same error.
/// @throws UsageError for a name or a rule that does not fit the file; InputError naming all that would be lost
void apply_file_rules(const FileRules& rules, const std::string& input, const std::string& output,
                      io::ParcelFileInfo& info, int rank);

}  // namespace merganser::app
