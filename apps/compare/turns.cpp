// Order of the launches of two sides of a comparison, from the times in their records, and compare --run, which makes them in
// turns.
#include "apps/compare/turns.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <optional>

#include "apps/frame/launcher.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/pinned.hpp"
#include "merganser/base/private_folder.hpp"
#include "merganser/base/random.hpp"

namespace merganser::app {
namespace {

constexpr std::size_t kMaxInARow = 2;  // of pairs in random order: the second of a pair and the first of the next

/// Time stamp of one run record, by which detect_order() sorts the launches of both sides of a comparison.
struct RecordTime {
  std::string time;      ///< ISO 8601, so that texts sort by time
  bool after;            ///< true: the record is of the side after
  std::size_t launches;  ///< number of launches in the record
};

/// Adds the times of all run records of a side to `all`. @return false if a record has no time
bool add_records(const RecordFacts& side, bool after, std::vector<RecordTime>& all) {
  const auto add_one = [&](const RecordOrigin& o) {
    const auto time = o.provenance.is_object() ? o.provenance.find("time") : o.provenance.end();
    if (time == o.provenance.end() || !time->is_string()) return false;
    all.push_back({time->get<std::string>(), after, o.launches});
    return true;
  };
  bool known = add_one(side.origin);
  for (const auto& more : side.joined) known = add_one(more) && known;
  return known;
}

/// Guard that redirects standard output to /dev/null while it lives.
class NoOutput : Pinned {
 public:
  NoOutput() {
    std::cout.flush();
    kept_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing >= 0) {
      ::dup2(nothing, STDOUT_FILENO);
      ::close(nothing);
    }
  }
  ~NoOutput() {
    if (kept_ < 0) return;
    ::dup2(kept_, STDOUT_FILENO);
    ::close(kept_);
  }

 private:
  int kept_;
};

/// One side of run_in_turns(): its name in messages, its command, and the facts of its launches so far.
struct Side {
  const char* name;                  ///< "BEFORE" or "AFTER"
  std::vector<std::string> words;    ///< program and arguments
  std::optional<RecordFacts> facts;  ///< of all launches so far; none before the first
};

/// Returns the plan of a launch of one side's command in compare --run, with `--json RECORD` appended. @throws UsageError if there
/// is no such program
LaunchPlan plan_side(const Side& side, const std::string& record) {
  LaunchPlan plan;
  plan.command = side.words;
  plan.command[0] = which(side.words[0]);
  if (plan.command[0].empty())
    throw UsageError(
        fmt::format("{}: no program \"{}\"; allowed: a path, or a name on PATH", side.name, side.words[0]));
  plan.command.insert(plan.command.end(), {"--json", record});
  plan.of_this_program = false;
  return plan;
}

/// Launches one side's command once, without its output, and adds the facts of its run record. @throws InputError if it fails or
/// writes no record
void launch_once(Side& side, int number, const std::string& record) {
  const LaunchPlan plan = plan_side(side, record);
  JobEnd end;
  {
    const NoOutput none;
    end = run_job(plan, 0);
  }
  if (end.code != 0)
    throw InputError(fmt::format("launch {} of {} ended with exit code {}: {}", number, side.name, end.code,
                                 plan.to_shell_command()));
  if (!std::filesystem::exists(record))
    throw InputError(fmt::format("launch {} of {} wrote no record: {}; allowed: commands that take --json FILE", number,
                                 side.name, plan.to_shell_command()));
  RecordFacts facts = read_facts(record);
  if (side.facts)
    add_launches(*side.facts, facts);
  else
    side.facts = std::move(facts);
}

}  // namespace

// Order of the launches of two sides by the times in their records: where they were not in turns, a deviation between sides is
// assumed.
Order detect_order(const RecordFacts& before, const RecordFacts& after) {
  std::vector<RecordTime> all;
  Order order;
  order.known = add_records(before, false, all);
  order.known = add_records(after, true, all) && order.known;
  if (!order.known) return order;
  // Records of one second are grouped by side, the least favourable order, since their true order is unknown.
  std::sort(all.begin(), all.end(), [](const RecordTime& a, const RecordTime& b) {
    return a.time != b.time ? a.time < b.time : a.after < b.after;
  });
  order.in_turns = true;
  order.blocks_before = order.blocks_after = 0;
  std::size_t in_a_row = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool same = i > 0 && all[i].after == all[i - 1].after;
    if (!same) (all[i].after ? order.blocks_after : order.blocks_before) += 1;
    in_a_row = (same ? in_a_row : 0) + all[i].launches;
    order.in_turns = order.in_turns && in_a_row <= kMaxInARow;
  }
  order.in_turns = order.in_turns && all.size() > 2;  // one launch of each side is no turn
  return order;
}

// Splitting of a command of compare --run into words, by a subset of the shell's rules.
std::vector<std::string> split_words(const std::string& command) {
  std::vector<std::string> words;
  bool within = false;  // inside a word
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && (c == ' ' || c == '\t' || c == '\n')) {
      within = false;
      continue;
    }
    if (!within) words.emplace_back();
    within = true;
    if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      words.back() += command[++i];
    } else {
      words.back() += c;
    }
  }
  if (quote != 0) throw UsageError(fmt::format("{}: {} is not closed; allowed: quotes in pairs", command, quote));
  if (words.empty()) throw UsageError("an empty command; allowed: a program and its arguments");
  return words;
}

// Measurement of compare --run: pairs of launches, each in random order, so that a drift of the machine affects both sides alike.
Sides run_in_turns(const std::string& before, const std::string& after, int launches, const std::string& keep) {
  Side sides[] = {{"BEFORE", split_words(before), {}}, {"AFTER", split_words(after), {}}};
  std::optional<PrivateFolder> folder;
  if (keep.empty()) {
    folder.emplace();
  } else {
    std::error_code error;
    std::filesystem::create_directories(keep, error);
    if (error) throw InputError(keep + ": cannot be made (" + error.message() + "); allowed: a folder to write into");
  }
  Random random(1, 0, 0);
  for (int i = 1; i <= launches; ++i) {
    const bool swapped = random.below(2) == 1;
    for (const bool second : {false, true}) {
      const bool is_after = second != swapped;
      const std::string name = fmt::format("{}-{}.json", is_after ? "after" : "before", i);
      launch_once(sides[is_after ? 1 : 0], i, keep.empty() ? folder->file(name) : keep + '/' + name);
    }
  }
  return {std::move(*sides[0].facts), std::move(*sides[1].facts)};
}

}  // namespace merganser::app
