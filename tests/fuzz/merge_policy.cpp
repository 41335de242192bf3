// requires: apps
/// Reads merge policies: text as `cluster --policy` gets it, and JSON.
// TOML is left out: toml++ 3.3 has assertions that malformed input breaks ("[ #"), which a build with assertions ends at.
#include <optional>

#include "apps/cluster/policy_file.hpp"
#include "merganser/cluster/merge_policy.hpp"
#include "tests/fuzz/support/target.hpp"

namespace merganser::fuzz {
namespace {

// The first byte says in which form the policy is: j JSON, another one text.
bool feed_merge_policy(std::string_view input) {
  if (input.empty()) return false;
  const char form = input.front();
  const std::string text(input.substr(1));
  std::optional<MergePolicy> policy;
  const auto read = [&] {
    try {
      policy = form == 'j' ? app::parse_policy_json(text, "file") : parse_policy(text);
    } catch (const UsageError& e) {  // a part that is none is an error of usage, whatever file it is from
      throw InputError(e.what());
    }
  };
  if (!read_or_refuse(read)) return false;
  const std::string written = policy_text(*policy);
  const MergePolicy again = parse_policy(written);
  require(policy_text(again) == written, "what was written is another policy");
  require(again.is_default() == policy->is_default() && again.has_rounds() == policy->has_rounds() &&
              again.has_answers() == policy->has_answers() && again.has_collectives() == policy->has_collectives(),
          "what was written has other rounds");
  return true;
}

}  // namespace

extern const Target merge_policy_target{"merge_policy", 512, feed_merge_policy};

}  // namespace merganser::fuzz
