// Merge policies in JSON and TOML: members of an object as parts of a policy.
#include "apps/cluster/policy_file.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "apps/cluster/toml.hpp"
#include "apps/frame/json.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "merganser/cluster/conservation_check.hpp"
#include "merganser/io/output_name.hpp"

namespace merganser::app {
namespace {

/// Returns a JSON string or number as the text of a policy's value. @throws InputError for another value
std::string part_value_text(const Json& value, const std::string& where) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.dump();
  if (value.is_number_float()) return number_text(value.get<double>());
  throw InputError(where + " is " + json_text(value) + "; allowed: text, a number, true, or a list of texts");
}

/// Returns the text of a part whose value is a JSON array: items joined by plus signs. @throws InputError for an item that holds one
/// and no factor, which would be read as two
std::string list_text(const Json& list, const std::string& where) {
  return joined(list, "+", [&](const Json& item) {
    std::string text = part_value_text(item, where);
    if (text.find('+') != std::string::npos && text.find('*') == std::string::npos)
      throw InputError(where + " has the item " + json_text(item) +
                       "; allowed: one column an item, without a plus sign");
    return text;
  });
}

/// Returns the merge policy whose parts are the members of a JSON object. @throws UsageError, InputError
MergePolicy policy_of_members(const Json& json, const std::string& name) {
  std::vector<std::pair<std::string, std::string>> parts;
  for (const auto& [part, value] : json.items()) {
    const std::string where = name + ": '" + part + "'";
    if (value.is_null() || (value.is_boolean() && !value.get<bool>())) continue;
    if (value.is_boolean()) {
      parts.emplace_back(part, "");
    } else if (value.is_array()) {
      parts.emplace_back(part, list_text(value, where));
    } else {
      parts.emplace_back(part, part_value_text(value, where));
      // A part without a value is written as true.
      if (parts.back().second.empty()) throw InputError(where + " is an empty text; allowed: true, or a value");
    }
  }
  return policy_from_parts(parts);
}

}  // namespace

MergePolicy parse_policy_json(const std::string& text, const std::string& name) {
  const Json json = parse_json(text, name);
  if (!json.is_object()) throw InputError(name + ": no JSON object; allowed: {\"PART\": VALUE, ...}");
  return policy_of_members(json, name);
}

MergePolicy parse_policy_toml(const std::string& text, const std::string& name) {
  return policy_of_members(parse_toml(text, name), name);
}

MergePolicy read_policy(const std::string& argument) {
  if (!argument.starts_with('@')) return parse_policy(argument);
  const std::string path = argument.substr(1);
  return io::has_suffix(path, ".toml") ? parse_policy_toml(read_text(path), path)
                                       : parse_policy_json(read_text(path), path);
}

void check_policy_outputs(const MergePolicy& policy, const PolicyOutputs& outputs) {
  if (policy.is_default()) return;
  if (!outputs.picture.empty()) throw UsageError("--picture with --policy; allowed: one of them, or --labels");
  if (!outputs.labels.empty() && policy.level_ratio > 0)
    throw UsageError("--labels with --policy level, which removes parcels; allowed: policies that merge");
  if (outputs.audit) static_cast<void>(promise_of(policy));
  if (policy.is_friends() && !outputs.labels.empty() && outputs.output.empty() &&
      (outputs.steps > 1 || outputs.reference))
    throw UsageError(std::string(outputs.steps > 1 ? "--steps above 1" : "--reference") +
                     " where friends are only labelled; allowed: with --output, where they are merged");
}

}  // namespace merganser::app
