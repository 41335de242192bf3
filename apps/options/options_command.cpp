// list-options: the options of every verb as JSON, and the parser's errors for given command lines, without running any verb. For
// tests and for completion in shells.
#include <iostream>

#include "apps/frame/command.hpp"
#include "apps/frame/json.hpp"
#include "apps/frame/provenance.hpp"
#include "apps/frame/record.hpp"
#include "merganser/base/error.hpp"

namespace merganser::app {
namespace {

/// Values of the command line of list-options.
struct ListOptions {
  std::string lines;   ///< JSON file of command lines to parse; empty: print the options
  bool verbs = false;  ///< print the verbs too, with all that --help shows
};
/// Passes the arguments of list-options to option(...).
void describe(ListOptions& o, auto&& option) {
  option.positional(
      "FILE", o.lines,
      "JSON list of command lines, each the verb and a list of its arguments: prints what is wrong with each", Reads{});
  option("verbs", o.verbs, "print the verbs too, with all texts of --help, for man pages and completion",
         NotWith{"FILE"});
}

/// Returns the properties and rules of an option of a verb as JSON, for list-options.
Json option_json(const Option& o) {
  Json uses = Json::array(), advice = Json::array();
  for (const UseRule& rule : o.uses) uses.push_back({{"unless", rule.unless}, {"conditions", rule.conditions}});
  for (const Advice& a : o.advice) advice.push_back(a.typed);
  return {{"name", o.name},
          {"letter", o.letter == 0 ? std::string() : std::string(1, o.letter)},
          {"kind", o.kind},
          {"words", o.words},
          {"help", o.help + uses_text(o)},
          {"section", o.section},
          {"flag", o.flag},
          {"positional", o.positional},
          {"list", o.list},
          {"rest", o.rest},
          {"required", o.required},
          {"hidden", o.hidden},
          {"file", o.role == FileRole::reads    ? "read"
                   : o.role == FileRole::writes ? "written"
                                                : ""},
          {"default", value_json(o.value())},
          {"default_text", o.initial},
          {"from_input", o.from_input},
          {"uses", uses},
          {"advice", advice}};
}

/// Returns the options of every visible verb as JSON: an object with a list for each verb.
Json tables_json() {
  Json out = Json::object();
  for (const Command* c : commands()) {
    if (c->hidden) continue;
    Json& options = out[std::string(c->name)] = Json::array();
    c->table([&](const OptionTable& table) {
      for (const Option& o : table.options()) options.push_back(option_json(o));
    });
  }
  return out;
}

/// Returns the visible verbs as JSON, in the order of the overview, with their texts, usage lines and options.
Json verbs_json() {
  Json verbs = Json::array();
  for (const CommandGroup& g : command_groups())
    for (const Command* c : g.commands) {
      if (c->hidden) continue;
      Json options = Json::array();
      std::string synopsis;
      c->table([&](const OptionTable& table) {
        synopsis = table.synopsis();
        for (const Option& o : table.options()) options.push_back(option_json(o));
      });
      verbs.push_back({{"name", c->name},
                       {"package", g.package},
                       {"package_title", g.title},
                       {"summary", c->summary},
                       {"text", c->text},
                       {"synopsis", synopsis},
                       {"options", std::move(options)}});
    }
  return {{"version", build_info().version}, {"verbs", std::move(verbs)}};
}

/// Returns the parser's error message for a command line [verb, [arguments]]; null if it is accepted.
Json parser_error(const Json& line) {
  const auto verb = line.at(0).get<std::string>();
  const auto arguments = line.at(1).get<std::vector<std::string>>();
  for (const Command* c : commands()) {
    if (c->name != verb) continue;
    Json out;
    c->table([&](OptionTable& table) {
      try {
        table.set_command(verb);
        table.parse(arguments);
      } catch (const UsageError& e) {
        out = e.what();
      }
    });
    return out;
  }
  throw UsageError("no verb " + verb);
}

/// Runs the command list-options: prints all options, or the parser's errors for the command lines of a file. @return exit code
int run(ListOptions& o, const Invocation&) {
  if (o.lines.empty()) {
    std::cout << json_text(o.verbs ? verbs_json() : tables_json(), 1) << '\n';
    return 0;
  }
  Json out = Json::array();
  for (const Json& line : read_json(o.lines)) out.push_back(parser_error(line));
  std::cout << json_text(out, 1) << '\n';
  return 0;
}

}  // namespace

extern const Command options_command;
const Command options_command = hidden(make_command<ListOptions, run>(
    "list-options", "options of every verb as JSON", "Prints the options of every verb, with their rules, as JSON.\n"));

}  // namespace merganser::app
