// Merge policies in JSON: the same policies as their texts, and what is refused.
#include "apps/cluster/policy_file.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "apps/cluster/toml.hpp"
#include "merganser/base/error.hpp"
#include "tests/io/folder.hpp"
#include "tests/support/refusal.hpp"

namespace {

using namespace merganser;
using namespace merganser::app;
using test::Folder;

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

TEST(PolicyFile, names_that_the_text_of_a_policy_cannot_hold_are_refused) {
  for (const char* json :
       {R"({"mask": "a,b"})", R"({"mask": "a+b"})", R"({"mask": " a"})", R"({"mask": "a\n"})",
        R"({"mask": "a\u0000b"})", R"({"same": ["a", "b,c"]})", R"({"phase": "a,b*2"})",
        R"({"conserve": "momentum", "mass": "m,n"})", R"({"conserve": "momentum", "momentum": "a+b+c,d"})"}) {
    const std::string words = test::refusal<UsageError>([&] { text_of(json); });
    EXPECT_NE(words.find("without commas, plus signs, control characters"), std::string::npos) << json << ": " << words;
  }
  const std::string words = test::refusal<InputError>([] { text_of(R"({"same": ["a+b"]})"); });
  EXPECT_NE(words.find("'same' has the item \"a+b\"; allowed: one column an item"), std::string::npos) << words;
  EXPECT_EQ(text_of(R"({"phase": ["ux*1e+2", "uy*0.5"]})"), "phase:ux*100+uy*0.5");
}

TEST(PolicyFile, toml_says_what_json_does) {
  if (!reads_toml()) {
    EXPECT_THROW(static_cast<void>(parse_policy_toml("", "p.toml")), InputError);
    GTEST_SKIP() << "built without toml++";
  }
  const auto text_of_toml = [](const char* toml) { return policy_text(parse_policy_toml(toml, "p.toml")); };
  EXPECT_EQ(text_of_toml("# thins\ncrowded = \"32->16\"\nsame = [\"species\", \"group\"]\nwithin = \"1cell\"\n"
                         "greedy = 3\nplace = 'member'\nweight = 1e6\nsmall = false\n"),
            policy_text(
                parse_policy("crowded:32->16, same:species+group, within:1cell, greedy:3, place:member, weight:1e6")));
  EXPECT_EQ(text_of_toml("pairs = true\nseed = 9223372036854775807"), "pairs, seed:9223372036854775807");
  EXPECT_EQ(text_of_toml(""), "");
  for (const char* bad : {"same", "[same]\na = 1", "within = 2026-11-26", "within = 1\nwithin = 2", "same = \"\"",
                          "same = [[\"a\"]]", "place = \"member"})
    EXPECT_THROW(text_of_toml(bad), InputError) << bad;
  for (const char* bad : {"colour = \"red\"", "within = true", "within = -1", "within = nan", "weight = inf"})
    EXPECT_THROW(text_of_toml(bad), UsageError) << bad;
  try {
    text_of_toml("pairs = true\nwithin = \"1cell");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).find("p.toml: line 2, column "), 0U) << e.what();
  }
}

TEST(PolicyFile, the_suffix_of_a_file_says_its_format) {
  const Folder folder;
  const std::string json = folder.file("p.json");
  const std::string toml = folder.file("p.toml");
  std::ofstream(json) << R"({"place": "member"})";
  std::ofstream(toml) << "place = \"member\"\n";
  EXPECT_EQ(policy_text(read_policy("@" + json)), "place:member");
  if (reads_toml()) {
    EXPECT_EQ(policy_text(read_policy("@" + toml)), "place:member");
  }
}

TEST(PolicyFile, an_argument_is_a_text_or_names_a_file) {
  EXPECT_EQ(policy_text(read_policy("place:member")), "place:member");
  EXPECT_THROW(static_cast<void>(read_policy("@/no/such/file.json")), InputError);
  EXPECT_THROW(static_cast<void>(read_policy("@/no/such/file.toml")), InputError);
}

TEST(PolicyFile, characters_that_the_reader_of_toml_cannot_take_are_refused) {
  if (!merganser::app::reads_toml()) GTEST_SKIP() << "this build has no TOML";
  const std::string wrong = test::refusal<InputError>(
      [] { static_cast<void>(merganser::app::parse_policy_toml("a \xEF\xBB\xBE = 1\n", "p.toml")); });
  EXPECT_NE(wrong.find("U+FE20 to U+FEFF"), std::string::npos) << wrong;
}

}  // namespace
