#pragma once
/// Merge policy of the command: the text of --policy, or a JSON or TOML file that it names.
#include <string>

#include "merganser/cluster/merge_policy.hpp"

namespace merganser::app {

/// Returns the merge policy of an argument of --policy: its text, or after `@` the path of a JSON file, or of a TOML file if it
/// ends in .toml; empty: the default.
/// @throws UsageError for a policy that is not valid; InputError for a file that cannot be read or is no JSON object, no TOML
[[nodiscard]] MergePolicy read_policy(const std::string& argument);

/// Parses a merge policy in JSON: an object with a member for each part of the policy's text,
///
///     {"crowded": "32->16", "same": ["species", "group"], "within": "1cell", "greedy": 3, "place": "member"}
///
/// whose value is that of the text, a number, a list for values that are joined by plus signs, or true for a part without
/// a value (false and null: the part is not given).
/// @param name  name of the file, for messages
/// @throws UsageError for a policy that is not valid; InputError for other JSON
[[nodiscard]] MergePolicy parse_policy_json(const std::string& text, const std::string& name);

/// Parses a merge policy in TOML, with a key for each part, as in JSON: same = ["species", "group"]. @param name  name of the file,
/// for messages @throws UsageError for a policy that is not valid; InputError for other TOML, and where the program reads none
[[nodiscard]] MergePolicy parse_policy_toml(const std::string& text, const std::string& name);

/// Options of the command that not every policy allows.
struct PolicyOutputs {
  std::string output;      ///< path of --output; empty: none
  std::string picture;     ///< path of --picture; empty: none
  std::string labels;      ///< path of --labels; empty: none
  bool audit = false;      ///< --audit
  bool reference = false;  ///< --reference
  int steps = 1;           ///< --steps
};
/// Checks that a policy allows the output options of the command. @throws UsageError
void check_policy_outputs(const MergePolicy& policy, const PolicyOutputs& outputs);

}  // namespace merganser::app
