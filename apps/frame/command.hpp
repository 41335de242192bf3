#pragma once
/// A verb of the command line program. A file FOLDER/NAME_command.cpp defines one; cmake/program.cmake makes the table of them.
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/frame/error_line.hpp"
#include "apps/frame/paths.hpp"
#include "merganser/base/options.hpp"

namespace merganser::app {

/// What a command's body gets besides its options.
struct Invocation {
  std::string_view command;                ///< "gen random"
  std::span<const std::string> arguments;  ///< as typed, after the verb
  const OptionTable& table;                ///< every option with its value, for the run record
};

struct Command {
  std::string_view name;     ///< one or two words
  std::string_view summary;  ///< one line
  std::string_view text;     ///< paragraphs and examples of --help
  void (*table)(
      const std::function<void(OptionTable&)>& with);  ///< calls it with the options, of an instance of its own
  int (*run)(const Command& self, std::span<const std::string> arguments);  ///< returns the exit code
  bool hidden = false;
};
/// A command that neither the overview nor a list shows: others start it.
constexpr Command hidden(Command c) {
  c.hidden = true;
  return c;
}

/// The verbs of the core, or of a package.
struct CommandGroup {
  std::string_view package;                  ///< "core", or its name
  std::string_view title;                    ///< what it holds, for the overview
  std::span<const Command* const> commands;  ///< by file
};
/// The core first, then the packages that are built. Generated.
[[nodiscard]] std::span<const CommandGroup> command_groups();
/// The commands of all groups.
[[nodiscard]] const std::vector<const Command*>& commands();

/// Log options that every command has.
struct LogOptions {
  std::string level = "warning";
  std::string ranks = "0";
};
template <class V>
void describe(LogOptions& o, V&& option) {
  option.section("Log (standard error)");
  option("log", o.level, "least important lines shown", Words{{"error", "warning", "info", "debug"}});
  option("log-ranks", o.ranks, "whose lines are shown", Words{{"0", "all"}});
}
void start_log(const LogOptions& o);

namespace detail {
template <class O>
struct Whole {
  O own;
  LogOptions log;
};
template <class O, class V>
void describe(Whole<O>& o, V&& option) {
  describe(o.own, option);
  describe(o.log, option);
}

template <class O>
void with_table(const std::function<void(OptionTable&)>& with) {
  Whole<O> o;
  OptionTable table(o);
  with(table);
}

/// Parses, calls `apply_implied_defaults(O&)`, if there is one, which sets what an option like --like-paper implies for options not given,
/// and runs.
template <class O, int (*body)(O&, const Invocation&)>
int run_command(const Command& self, std::span<const std::string> arguments) {
  Whole<O> o;
  if constexpr (requires { apply_implied_defaults(o.own); }) {
    Whole<O> first;
    OptionTable table(first);
    table.set_command(std::string(self.name));
    table.parse(arguments);
    o.own = first.own;
    apply_implied_defaults(o.own);
  }
  OptionTable table(o);
  table.set_command(std::string(self.name));
  table.parse(arguments);
  start_log(o.log);
  check_paths(table);
  return body(o.own, {self.name, arguments, table});
}
}  // namespace detail

template <class O, int (*body)(O&, const Invocation&)>
constexpr Command make_command(std::string_view name, std::string_view summary, std::string_view text) {
  return {name, summary, text, detail::with_table<O>, detail::run_command<O, body>};
}

/// Finds the verb in the arguments and runs it; --help and --version too. @return exit code @throws UsageError
int dispatch(std::span<const std::string> arguments);

}  // namespace merganser::app
