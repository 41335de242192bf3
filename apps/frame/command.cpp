// Dispatch of the command line program: finds the verb that the arguments name, and prints help and version.
#include "apps/frame/command.hpp"

#include <algorithm>
#include <iostream>

#include "apps/frame/provenance.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::app {
namespace {

/// Returns true on the first process of a launched job, or without a launcher: the one that prints help and version.
bool is_first_process() { return comm::launcher_world().rank == 0; }

/// Returns true if the arguments of a verb before "--" contain --help or -h.
bool has_help_option(std::span<const std::string> arguments) {
  for (const auto& a : arguments) {
    if (a == "--") return false;
    if (a == "--help" || a == "-h") return true;
  }
  return false;
}

/// Returns a text padded with blanks to at least `width` characters, for the list of verbs.
std::string padded(std::string_view text, std::size_t width) {
  std::string out(text);
  out.resize(std::max(width, text.size()), ' ');
  return out;
}

/// Prints name and summary of the visible verbs whose first word is `family` (all if it is empty), grouped by core and packages.
void list_commands(std::ostream& out, std::string_view family) {
  const auto listed = [&](const Command* c) {
    return !c->hidden && (family.empty() || c->name.starts_with(std::string(family) + ' '));
  };
  std::size_t width = 0;
  for (const Command* c : commands())
    if (listed(c)) width = std::max(width, c->name.size() + 2);
  for (const CommandGroup& g : command_groups()) {
    if (std::none_of(g.commands.begin(), g.commands.end(), listed)) continue;
    if (family.empty())
      out << (g.package == command_groups().front().package ? "" : "\n") << g.package << ": " << g.title << '\n';
    std::vector<const Command*> sorted(g.commands.begin(), g.commands.end());
    std::sort(sorted.begin(), sorted.end(), [](const Command* a, const Command* b) { return a->name < b->name; });
    for (const Command* c : sorted)
      if (listed(c)) out << "  " << padded(c->name, width) << c->summary << '\n';
  }
}

/// Prints the help of the program: its purpose and all verbs.
void print_overview(std::ostream& out) {
  out << "merganser merges what is near, on many ranks, without global synchronisation.\n\n"
         "usage: merganser VERB [arguments]        merganser VERB --help\n\n";
  list_commands(out, "");
  out << "\nStart it alone (ranks are threads), under mpirun or srun, or let it find the launcher:\n"
         "  merganser run -n 4 -- cluster in.nc -o out.nc --comm rma\n\n"
         "What cannot fit into this machine is refused before work: 2 where options ask for it, 3 where a file does.\n"
         "Exit codes: 0 ok, 1 verification failed, 2 usage, 3 input, 4 communication, 5 regression found by compare,\n"
         "70 internal error, 128 + N stopped by signal N (SIGINT, SIGTERM, SIGHUP: temporary files are removed "
         "first).\n"
         "merganser --version tells how it was built, merganser doctor what it finds here.\n";
}

/// Prints the help of one verb: usage, text, options.
void print_help(std::ostream& out, const Command& c) {
  c.table([&](const OptionTable& table) {
    out << "usage: merganser " << c.name << table.synopsis() << "\n\n" << c.text << '\n' << table.help();
  });
}

/// Result of looking a verb up: the command with whose name the arguments begin (null: none), and the number of words
/// of that name.
struct VerbMatch {
  const Command* command = nullptr;
  std::size_t words = 0;
};

/// Returns the verb with the longest name that the arguments of the program begin with.
VerbMatch find_command(std::span<const std::string> arguments) {
  VerbMatch best;
  for (const Command* c : commands()) {
    const auto space = c->name.find(' ');
    const std::size_t words = space == std::string_view::npos ? 1 : 2;
    if (arguments.size() < words || words < best.words) continue;
    if (c->name.substr(0, space) != arguments[0]) continue;
    if (words == 2 && c->name.substr(space + 1) != arguments[1]) continue;
    best = {c, words};
  }
  return best;
}

/// Returns true if visible verbs have names of two words of which the first is `word`, as "gen".
bool is_family(const std::string& word) {
  return std::any_of(commands().begin(), commands().end(),
                     [&](const Command* c) { return !c->hidden && c->name.starts_with(word + ' '); });
}

/// Throws UsageError for a verb that does not exist, with the nearest name or all names.
[[noreturn]] void throw_unknown_verb(std::span<const std::string> arguments) {
  const bool family = is_family(arguments[0]);
  const std::string typed = arguments[0] + (family && arguments.size() > 1 ? ' ' + arguments[1] : "");
  std::vector<std::string> names, of_family;
  for (const Command* c : commands()) {
    if (c->hidden) continue;
    names.emplace_back(c->name);
    if (family && c->name.starts_with(arguments[0] + ' ')) of_family.push_back(names.back());
  }
  const std::string near = closest(typed, family ? of_family : names);
  if (!near.empty()) throw UsageError("unknown verb " + typed + "; did you mean " + near + '?');
  throw UsageError("unknown verb " + typed + "; known: " + joined(family ? of_family : names, ", "));
}

/// Prints the help of the verb, family of verbs or program that the arguments name, on the first process. @return exit code
int print_help_for(std::span<const std::string> arguments) {
  const VerbMatch m = find_command(arguments);
  if (m.command == nullptr && !arguments.empty() && arguments[0][0] != '-') {
    if (!is_family(arguments[0])) throw_unknown_verb(arguments);
    if (is_first_process()) {
      std::cout << "usage: merganser " << arguments[0] << " WHAT [arguments]\n\n";
      list_commands(std::cout, arguments[0]);
    }
  } else if (is_first_process()) {
    if (m.command != nullptr) {
      print_help(std::cout, *m.command);
    } else {
      print_overview(std::cout);
    }
  }
  return 0;
}

}  // namespace

const std::vector<const Command*>& commands() {
  static const std::vector<const Command*> kAll = [] {
    std::vector<const Command*> all;
    for (const CommandGroup& g : command_groups()) all.insert(all.end(), g.commands.begin(), g.commands.end());
    return all;
  }();
  return kAll;
}

// Entry of the command line program: version, help, or the verb that the first words name.
int dispatch(std::span<const std::string> arguments) {
  if (arguments.empty()) return print_help_for(arguments);
  const std::string& first = arguments[0];
  if (first == "--version") {
    if (is_first_process()) std::cout << version_text();
    return 0;
  }
  if (first == "help") return print_help_for(arguments.subspan(1));
  if (first == "--help" || first == "-h") return print_help_for(arguments.subspan(1));
  const VerbMatch m = find_command(arguments);
  const auto rest = arguments.subspan(m.words);
  if (has_help_option(rest) || (m.command == nullptr && arguments.size() == 1 && is_family(first)))
    return print_help_for(arguments);
  if (m.command == nullptr && first.starts_with('-'))
    throw UsageError("unknown option " + first + "; known: --help --version, or a verb and its options");
  if (m.command == nullptr) throw_unknown_verb(arguments);
  return m.command->run(*m.command, rest);
}

void start_log(const LogOptions& o) { set_log_sink(stderr_sink(*parse_level(o.level), o.ranks == "all")); }

}  // namespace merganser::app
