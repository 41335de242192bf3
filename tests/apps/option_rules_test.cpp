/// Tests of the rules of options over the tables of all verbs: options given twice, unused or unknown, and advice that works when
/// it is followed.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/apps/json.hpp"
#include "tests/apps/program.hpp"
#include "tests/io/folder.hpp"

namespace {

using namespace merganser::test;

/// Returns the options of every verb as `list-options` prints them.
const Json& tables() {
  static const Json all = Json::parse(run({"list-options"}).out);
  return all;
}

/// Command line, and the part of the message it must cause.
struct Line {
  std::string verb;
  Arguments arguments;
  std::string says;
};

/// Returns the parser's error message for each line; empty if it is accepted. Starts one process for all lines.
std::vector<std::string> verdicts(const std::vector<Line>& lines) {
  const Folder folder;
  Json json = Json::array();
  for (const Line& line : lines) json.push_back({line.verb, line.arguments});
  std::ofstream(folder.file("lines.json")) << json;
  const Outcome o = run({"list-options", folder.file("lines.json")});
  EXPECT_EQ(o.code, 0) << o.text();
  std::vector<std::string> out;
  for (const Json& verdict : Json::parse(o.out)) out.push_back(verdict.is_null() ? "" : verdict.get<std::string>());
  return out;
}

std::string line_text(const Line& line) {
  std::string out = line.verb;
  for (const auto& a : line.arguments) out += ' ' + a;
  return out;
}

void expect_said(const std::vector<Line>& lines) {
  const auto said = verdicts(lines);
  ASSERT_EQ(said.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_NE(said[i].find(lines[i].says), std::string::npos)
        << line_text(lines[i]) << ": \"" << said[i] << "\"; expected: \"" << lines[i].says << '"';
}

std::string typed(const Json& o) { return (o["positional"] ? "" : "--") + o["name"].get<std::string>(); }

/// Formats a value as it is typed; lists with commas.
std::string value_text(const Json& value) {
  if (!value.is_array()) return value.is_string() ? value.get<std::string>() : value.dump();
  std::string out;
  for (const Json& item : value) out += (out.empty() ? "" : ",") + value_text(item);
  return out;
}

/// Returns values that an option may accept, the likeliest first.
Arguments candidates(const Json& o) {
  Arguments out;
  std::istringstream words(o["kind"].get<std::string>());
  for (std::string word; std::getline(words, word, '|');) out.push_back(word);
  out.insert(out.end(), {"1", "8", "0.5", "0.01", "2,3,4", "xy", "T1", "x"});
  if (const Json& value = o["default"]; !value.is_null() && !value.is_boolean() && !value_text(value).empty())
    out.insert(out.begin(), value_text(value));
  return out;
}

/// Returns for every option of every verb the words that give it an accepted value, whatever its rules.
std::map<std::string, std::map<std::string, Arguments>> allowed_words() {
  std::vector<Line> lines;
  for (const auto& [verb, options] : tables().items())
    for (const Json& o : options) {
      if (o["positional"]) continue;
      if (o["flag"]) {
        lines.push_back({verb, {typed(o)}, ""});
      } else {
        for (const auto& value : candidates(o)) lines.push_back({verb, {typed(o), value}, ""});
      }
    }
  const auto said = verdicts(lines);
  std::map<std::string, std::map<std::string, Arguments>> out;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string name = lines[i].arguments[0];
    if (!says(said[i], name + ": \"") || says(said[i], "is not used"))
      out[lines[i].verb].try_emplace(name, lines[i].arguments);
  }
  return out;
}

TEST(OptionRules, every_option_of_every_verb_may_be_given_once) {
  const auto words = allowed_words();
  std::vector<Line> lines;
  for (const auto& [verb, options] : tables().items())
    for (const Json& o : options) {
      if (o["positional"]) continue;
      const std::string name = typed(o);
      ASSERT_TRUE(words.at(verb).contains(name)) << verb << ' ' << name << ": no value is allowed";
      const Arguments& once = words.at(verb).at(name);
      if (o["flag"]) {
        const std::string off = "--no-" + o["name"].get<std::string>();
        lines.push_back({verb, {name, name}, name + " is given twice"});
        lines.push_back({verb, {name, off}, name + " and " + off + " are given; allowed: one of them"});
        lines.push_back({verb, {off, name}, name + " and " + off + " are given; allowed: one of them"});
      } else {
        lines.push_back({verb, once + once, "are given; allowed: the option once"});
        lines.push_back({verb, once + Arguments{name + "=" + once[1]}, "are given; allowed: the option once"});
      }
      if (const auto letter = o["letter"].get<std::string>(); !letter.empty())
        lines.push_back({verb, Arguments{"-" + letter, once[1]} + once, "are given; allowed: the option once"});
    }
  expect_said(lines);
}

TEST(OptionRules, name_options_that_there_are_and_values_that_these_may_have) {
  for (const auto& [verb, options] : tables().items())
    for (const Json& o : options)
      for (const Json& rule : o["uses"])
        for (const Json& condition : rule["conditions"]) {
          std::string text = condition;
          if (text.starts_with("without ")) text = text.substr(8);
          const auto space = text.find(' ');
          const auto other = std::find_if(options.begin(), options.end(),
                                          [&](const Json& x) { return typed(x) == text.substr(0, space); });
          ASSERT_NE(other, options.end()) << verb << ' ' << typed(o) << ": " << text;
          if (space == std::string::npos || !says((*other)["kind"].get<std::string>(), "|")) continue;
          std::istringstream words(text.substr(space + 1));
          const std::string kind = '|' + (*other)["kind"].get<std::string>() + '|';
          for (std::string word; std::getline(words, word, '|');)
            EXPECT_TRUE(says(kind, '|' + word + '|')) << verb << ' ' << typed(o) << ": " << text << " of " << kind;
        }
}

/// Returns the words that make a condition true; none for "without", which is true if the option is not given.
Arguments words_for(const std::string& condition, const Json& options) {
  if (condition.starts_with("without ")) return {};
  const auto space = condition.find(' ');
  const std::string name = condition.substr(0, space);
  const auto other = std::find_if(options.begin(), options.end(), [&](const Json& x) { return typed(x) == name; });
  std::string value = space == std::string::npos ? "1" : condition.substr(space + 1);
  value = value.substr(0, value.find('|'));
  std::replace(value.begin(), value.end(), '*', '1');
  if ((*other)["positional"]) return {value};
  if ((*other)["flag"]) return {name};
  if (space == std::string::npos) value = candidates(*other)[0];
  if (space == std::string::npos && value == "0") value = "1";  // a default that stands for none
  return {name, value};
}

TEST(OptionRules, options_that_a_run_does_not_use_are_refused_by_every_verb) {
  const auto words = allowed_words();
  std::vector<Line> lines;
  std::size_t rules = 0;
  for (const auto& [verb, options] : tables().items())
    for (const Json& o : options) {
      if (o["positional"]) continue;
      const Arguments& once = words.at(verb).at(typed(o));
      for (const Json& rule : o["uses"]) {
        ++rules;
        if (!rule["unless"]) continue;
        for (const Json& condition : rule["conditions"])
          lines.push_back({verb, once + words_for(condition, options), typed(o)});
      }
      // The option alone, if it requires another one.
      const bool wants = std::any_of(o["uses"].begin(), o["uses"].end(), [](const Json& rule) {
        const Json& any = rule["conditions"];
        return !rule["unless"] && std::all_of(any.begin(), any.end(), [](const std::string& c) {
          return !c.starts_with("without ") && c.find(' ') == std::string::npos;
        });
      });
      if (wants) lines.push_back({verb, once, typed(o)});
    }
  EXPECT_GT(rules, has_package("graph") ? 100U : 20U);
  const auto said = verdicts(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    // The message may be about a missing argument or another option of the line, which the parser finds first.
    const bool named = says(said[i], "is not used") || says(said[i], "is missing");
    EXPECT_TRUE(named) << line_text(lines[i]) << ": \"" << said[i] << '"';
  }
}

TEST(OptionRules, an_option_without_a_default_says_where_its_value_comes_from) {
  const std::set<std::string> of_files{"cluster", "verify", "bench files"};
  for (const auto& [verb, options] : tables().items())
    for (const Json& o : options) {
      if (o["from_input"]) {
        EXPECT_TRUE(o["default"].is_null()) << verb << ' ' << typed(o);
        EXPECT_FALSE(o["default_text"].get<std::string>().empty()) << verb << ' ' << typed(o);
      } else if (of_files.contains(verb)) {  // verbs that take these values from a parcel file
        EXPECT_NE(typed(o), "--periodic") << verb;
        EXPECT_NE(typed(o), "--min-volume-ratio") << verb;
      }
    }
}

TEST(OptionRules, a_slip_gets_one_name_and_following_it_works) {
  std::vector<Line> lines, followed;
  for (const auto& [verb, options] : tables().items())
    for (const Json& o : options) {
      const std::string name = o["name"];
      if (o["positional"] || o["hidden"] || name.size() < 6) continue;
      std::string slip = "--" + name;
      std::swap(slip[4], slip[5]);
      if (slip[4] == slip[5]) continue;
      lines.push_back({verb, {slip, "1"}, "unknown option " + slip + "; did you mean --"});
    }
  expect_said(lines);
  const auto said = verdicts(lines);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string advice = said[i].substr(said[i].rfind("--"), said[i].size() - 1 - said[i].rfind("--"));
    EXPECT_FALSE(says(advice, " ")) << said[i];
    followed.push_back({lines[i].verb, {advice, "1"}, ""});
  }
  for (const auto& verdict : verdicts(followed)) EXPECT_FALSE(says(verdict, "unknown option")) << verdict;
}

/// Returns the words of a message between `begin` and `end`.
Arguments command_in(const std::string& text, const std::string& begin, const std::string& end) {
  const auto from = text.find(begin) + begin.size();
  std::istringstream words(text.substr(from, text.find(end, from) - from));
  Arguments out;
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

TEST(OptionRules, advice_on_numbers_of_ranks_works_when_it_is_followed) {
  MERGANSER_NEEDS_PACKAGE("graph");
  const Arguments verb{"msf", "--gen", "path:9"};
  const Outcome refused = run(verb + Arguments{"-n", "2"});
  EXPECT_EQ(refused.code, 2);
  ASSERT_TRUE(says(refused.err,
                   "unknown option -n; allowed: --ranks 2 for threads, merganser run -n 2 -- msf ... for "
                   "processes"))
      << refused.err;
  const Outcome threads = run(verb + command_in(refused.err, "allowed: ", " for threads"));
  EXPECT_EQ(threads.code, 0) << threads.text();
  EXPECT_TRUE(says(threads.out, "2 ranks, threads")) << threads.out;
  if (process_models().empty()) return;
  Arguments processes = command_in(refused.err, "merganser ", " ...");
  processes.pop_back();
  const Outcome launched = run(processes + verb);
  EXPECT_EQ(launched.code, 0) << launched.text();
  EXPECT_TRUE(says(launched.out, "2 ranks")) << launched.out;
}

TEST(OptionRules, advice_on_outputs_works_when_it_is_followed) {
  MERGANSER_NEEDS_PACKAGE("graph");
  MERGANSER_NEEDS_PACKAGE("topology");
  const Folder folder;
  const std::string graph = folder.file("g.bin"), other = folder.file("h.mtx"), made = folder.file("m.mgr");
  ASSERT_EQ(run({"topo", "gen", "ring", "--ranks", "4", "-o", graph}).code, 0);
  const Outcome topo = run({"topo", "convert", graph, "-o", other});
  EXPECT_EQ(topo.code, 2);
  ASSERT_TRUE(says(topo.err, "topo convert takes the file to write as its last argument: " + other)) << topo.err;
  EXPECT_EQ(run({"topo", "convert", graph, other}).code, 0);
  const Outcome convert = run({"graph", "convert", "--gen", "path:9", "-o", made});
  EXPECT_EQ(convert.code, 2);
  ASSERT_TRUE(says(convert.err, "graph convert takes the file to write as its last argument: " + made)) << convert.err;
  EXPECT_EQ(run({"graph", "convert", "--gen", "path:9", made}).code, 0);
  EXPECT_EQ(run({"graph", "convert", made, folder.file("m.txt")}).code, 0);
}

TEST(OptionRules, a_verb_that_is_not_there_gets_one_name_or_those_of_its_family) {
  EXPECT_TRUE(says(run({"clutser", "x"}).err, "unknown verb clutser; did you mean cluster?\n"));
  EXPECT_TRUE(says(run({"gen", "nothing"}).err, "unknown verb gen nothing; known: gen random\n"));
  if (has_package("topology")) {
    EXPECT_TRUE(says(run({"topo", "convret"}).err, "did you mean topo convert?"));
  }
  EXPECT_TRUE(says(run({"telescope"}).err, "unknown verb telescope; known: "));
}

}  // namespace
