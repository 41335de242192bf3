#pragma once
/// What becomes of variables of a parcel file that EPIC does not know: --attribute NAME:RULE[,missing=skip],...
#include <string>
#include <vector>

#include "merganser/io/parcel_file.hpp"

namespace merganser::app {

struct FileRules {
  std::vector<io::VariableRule> merged;
  std::vector<std::string> dropped;
  std::vector<std::string> with_missing;  ///< names whose rule says what becomes of missing values
};

/// @throws UsageError for a text that is no NAME:RULE, an unknown rule, a name given twice, a missing= without a rule
[[nodiscard]] FileRules parse_file_rules(const std::vector<std::string>& words);

/// Adds the variables that have a rule to what is read. Where an output will be written, everything else must have one
/// too or be dropped by name; without an output nothing is lost, and the log says what is passed over.
/// @throws UsageError for a name or a rule that does not fit the file; InputError naming all that would be lost
void apply_file_rules(const FileRules& rules, const std::string& input, const std::string& output,
                      io::ParcelFileInfo& info, int rank);

}  // namespace merganser::app
