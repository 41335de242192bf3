// Merge policies in JSON: the same policies as their texts, and what is refused.
#include "apps/cluster/policy_file.hpp"

#include <gtest/gtest.h>

#include "merganser/base/error.hpp"

namespace {

using namespace merganser;
using namespace merganser::app;

/// Returns the text of the policy that a JSON text describes.
std::string text_of(const std::string& json) { return policy_text(parse_policy_json(json, "p.json")); }

TEST(PolicyFile, members_are_the_parts_of_the_text) {
  EXPECT_EQ(text_of(R"({"crowded": "32->16", "same": ["species", "group"], "within": "1cell", "greedy": 3,
                        "place": "member", "weight": 1e6, "small": false, "mask": null})"),
            policy_text(
                parse_policy("crowded:32->16, same:species+group, within:1cell, greedy:3, place:member, weight:1e6")));
  EXPECT_EQ(text_of(R"({"pairs": true, "conserve": ["momentum"]})"), "pairs, conserve:momentum");
  EXPECT_EQ(text_of("{}"), "");
}

TEST(PolicyFile, what_is_no_policy_is_refused) {
  EXPECT_THROW(text_of("[]"), InputError);
  EXPECT_THROW(text_of("{"), InputError);
  EXPECT_THROW(text_of(R"({"same": {"a": 1}})"), InputError);
  EXPECT_THROW(text_of(R"({"same": ""})"), InputError);
  EXPECT_THROW(text_of(R"({"colour": "red"})"), UsageError);
  EXPECT_THROW(text_of(R"({"within": true})"), UsageError);
  EXPECT_THROW(text_of(R"({"within": -1})"), UsageError);
  EXPECT_THROW(text_of(R"({"small": true, "crowded": "3->2"})"), UsageError);
}

TEST(PolicyFile, an_argument_is_a_text_or_names_a_file) {
  EXPECT_EQ(policy_text(read_policy("place:member")), "place:member");
  EXPECT_THROW(static_cast<void>(read_policy("@/no/such/file.json")), InputError);
}

}  // namespace
