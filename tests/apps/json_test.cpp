/// Tests of JSON reading and writing: hostile files, and names of arbitrary bytes.
#include <gtest/gtest.h>

#include <fstream>

#include "apps/frame/json.hpp"
#include "merganser/base/error.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser;
using namespace merganser::app;
using namespace merganser::test;

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

/// Returns the parser's error message for a text; empty if it is accepted.
std::string refusal(const std::string& text) {
  try {
    (void)parse_json(text, "f.json");
    return "";
  } catch (const InputError& e) {
    return e.what();
  }
}

TEST(ParseJson, reads_every_kind_of_value_in_its_order) {
  const std::string text =
      R"({"z":[1,-2,2.5,true,false,null,"te\"xt",[],{}],"a":{"deep":[[[{"er":0}]]]},"big":18446744073709551615})";
  EXPECT_EQ(parse_json(text, "f").dump(), text);
  for (const char* one : {"7", "\"x\"", "[]", "null"}) EXPECT_EQ(parse_json(one, "f").dump(), one);
}

TEST(ParseJson, refuses_what_is_nested_deeper_than_any_record) {
  const auto nested = [](int depth) { return repeated("[", depth) + repeated("]", depth); };
  EXPECT_EQ(refusal(nested(static_cast<int>(kJsonDepth))), "");
  EXPECT_TRUE(says(refusal(nested(static_cast<int>(kJsonDepth) + 1)), "nested deeper than 64"));
  EXPECT_TRUE(says(refusal(repeated("[", 1000000)), "nested deeper"));
  EXPECT_TRUE(says(refusal(repeated("{\"a\":", 1000000)), "nested deeper"));
}

TEST(ParseJson, refuses_two_members_of_one_name_and_objects_that_are_tables) {
  EXPECT_TRUE(says(refusal(R"({"a":{"b":1,"c":2,"b":3}})"), "two members \"b\""));
  std::string many = "{\"0\":0";
  for (int i = 1; i <= static_cast<int>(kJsonMembers); ++i) many += ",\"" + std::to_string(i) + "\":0";
  EXPECT_TRUE(says(refusal(many + "}"), "more than 10000 members"));
}

TEST(ParseJson, refuses_what_is_no_json) {
  for (const char* text : {"", "{", "[1,]", "NaN", "[Infinity]", "1e999", "{\"a\"}", "{} {}", "\"\xff\"",
                           "[\"\\ud800\"]", "// comment\n1"})
    EXPECT_TRUE(says(refusal(text), "f.json is not JSON")) << text;
}

TEST(JsonText, holds_any_bytes_and_gives_them_back) {
  std::string bytes;
  for (int b = 1; b < 256; ++b) bytes += static_cast<char>(b);
  for (const std::string& name : {bytes, std::string("caf\xe9.nc"), std::string("caf\u00e9 \U0001f986"),
                                  std::string("\uef80\ued80"), std::string("\xee\xbe\x80\xee\xbe")}) {
    const std::string text = json_text(Json{{"name", bytes_to_utf8(name)}});
    EXPECT_EQ(utf8_to_bytes(parse_json(text, "f").at("name").get<std::string>()), name);
    const Json raw = {{name, {1, {{"in", name}}}}};
    EXPECT_EQ(refusal(json_text(raw)), "") << json_text(raw);
  }
  EXPECT_EQ(bytes_to_utf8("plain \u00e9"), "plain \u00e9");
  EXPECT_EQ(json_text(Json{{"a", "\xe9"}}), "{\"a\":\"\uefe9\"}");
}

TEST(ReadText, refuses_a_file_without_end_and_a_folder) {
  EXPECT_THROW((void)read_text("/dev/zero", 1000000), InputError);
  EXPECT_THROW((void)read_text("/"), InputError);
  EXPECT_THROW((void)read_text("/no/such/file"), InputError);
  const Folder folder;
  std::ofstream(folder.file("f")) << repeated("x", 100000);
  EXPECT_EQ(read_text(folder.file("f"), 100000).size(), 100000U);
  EXPECT_THROW((void)read_text(folder.file("f"), 99999), InputError);
}

TEST(Records, that_are_hostile_are_refused_by_every_verb_that_reads_them) {
  const Folder folder;
  const std::string record = folder.file("r.json");
  for (const std::string& text :
       {repeated("[", 100000), repeated("{\"a\":", 100000),
        std::string("{\"schema\":\"merganser-run-record\",\"schema\":1}"), std::string("{\"schema\": NaN}"),
        std::string("[]"), std::string("{}"), std::string("7"), std::string("null"),
        std::string("{\"schema\":\"merganser-run-record\"}"),
        std::string("{\"schema\":\"merganser-run-record\",\"traffic\":[]}"),
        std::string("{\"schema\":\"merganser-run-record\",\"provenance\":7,\"command\":[]}"),
        std::string(
            "{\"schema\":\"merganser-run-record\",\"schema_version\":1,\"command\":\"topo bench\",\"topology\":7}")}) {
    std::ofstream(record) << text;
    for (const Arguments& verb :
         {Arguments{"compare", record, record}, Arguments{"doctor", "--record", record},
          Arguments{"topo", "extract", "--from", record}, Arguments{"topo", "advise", record, "--record", record},
          Arguments{"topo", "advise", record}}) {
      if (!has_verb(verb)) continue;  // of a package that is not built
      const Outcome o = run(verb);
      EXPECT_TRUE(o.code == 2 || o.code == 3) << verb[0] << ' ' << text.substr(0, 80) << '\n'
                                              << o.text().substr(0, 3000);
      EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err.substr(0, 3000);
    }
  }
}

TEST(HostileNames, get_a_record_and_messages_of_one_line) {
  MERGANSER_NEEDS_PACKAGE("topology");
  const Folder folder;
  for (const std::string& name : {std::string("caf\xe9"), std::string("two\nlines"), std::string("\x1b[2J"),
                                  std::string("quo'te\""), std::string("-dash"), std::string("\xff\xfe\x01")}) {
    const std::string graph = folder.file(name + ".bin"), record = folder.file(name + ".json");
    const Outcome made = run({"topo", "gen", "ring", "--ranks", "4", "-o", graph, "--json", record});
    ASSERT_EQ(made.code, 0) << made.text();
    const Json json = read_json(record);
    EXPECT_EQ(utf8_to_bytes(json.at("options").at("output").get<std::string>()), graph);
    const Outcome missing = run({"topo", "convert", graph + "\n.no\xe9", folder.file("x.txt")});
    EXPECT_EQ(missing.code, 3) << missing.text();
    EXPECT_EQ(std::count(missing.err.begin(), missing.err.end(), '\n'), 1) << missing.err;
    EXPECT_EQ(bytes_to_utf8(missing.err), missing.err) << missing.err;
  }
  const Outcome longest = run({std::string(100000, 'x')});
  EXPECT_EQ(longest.code, 2);
  EXPECT_LT(longest.err.size(), 2200U);
}

}  // namespace
