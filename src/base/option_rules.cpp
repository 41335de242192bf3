// Validation of command line options: options given twice, the rules UsedWith and NotWith, and suggestions for unknown options.
#include <algorithm>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"

namespace merganser {
namespace {

/// Computes the Levenshtein distance of a mistyped option from a known one by dynamic programming over one row of the table:
/// O(a.size() * b.size()) time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// Returns an option as it is typed without the dashes at its beginning.
std::string_view without_dashes(std::string_view word) {
  return word.substr(std::min(word.find_first_not_of('-'), word.size()));
}

constexpr std::string_view kWithout = "without ";  // begins a negated condition of UsedWith or NotWith

/// Returns the name of an option as users type it: "--steps", of a positional argument "IN".
std::string typed_name(const Option& o) { return (o.positional ? "" : "--") + o.name; }

/// Returns an advice text with every occurrence of `what`, such as "{value}", replaced by `by`.
std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

/// Returns true if the value of an option matches a pattern of UsedWith or NotWith in which '*' stands for any text, the empty one
/// included.
bool matches(std::string_view value, std::string_view word) {
  const std::size_t star = word.find('*');
  if (star == std::string_view::npos) return value == word;
  if (!value.starts_with(word.substr(0, star))) return false;
  for (std::size_t at = star; at <= value.size(); ++at)
    if (matches(value.substr(at), word.substr(star + 1))) return true;
  return false;
}

/// Joins the conditions of UsedWith or NotWith for a message: "with --gen or without --json".
std::string conditions_text(const std::vector<std::string>& conditions) {
  return joined(conditions, " or ", [](const std::string& c) { return c.starts_with(kWithout) ? c : "with " + c; });
}

}  // namespace

// Returns a suggestion for a mistyped option or verb, by edit distance.
std::string closest(std::string_view word, std::span<const std::string> known) {
  const std::string_view bare = without_dashes(word);
  std::string best;
  // At most two edits, or a third of the letters of a long word; and fewer than half of the longer word, or any two short words
  // match.
  std::size_t least = std::max<std::size_t>(2, bare.size() / 3) + 1;
  for (const auto& k : known) {
    const std::string_view other = without_dashes(k);
    const std::size_t d = edit_distance(bare, other);
    if (d < least && 2 * d < std::max(bare.size(), other.size())) {
      least = d;
      best = k;
    }
  }
  if (!best.empty() || bare.size() < 2) return best;
  for (const auto& k : known) {
    if (!without_dashes(k).starts_with(bare)) continue;
    if (!best.empty()) return {};
    best = k;
  }
  return best;
}

// Formats the rules UsedWith and NotWith of an option for --help.
std::string uses_text(const Option& o) {
  std::string out;
  for (const UseRule& rule : o.uses)
    out += (rule.unless ? " (not " : " (only ") + conditions_text(rule.conditions) + ')';
  return out;
}

// Checks that an option is given once, and not together with its --no- form.
void OptionTable::check_once(const Option& o, const std::string& value) const {
  if (!o.given) return;
  const std::string name = typed_name(o);
  const std::string before = value_text(o.value());
  if (o.flag && before != value) throw UsageError(name + " and --no-" + o.name + " are given; allowed: one of them");
  if (o.flag) throw UsageError((value == "true" ? name : "--no-" + o.name) + " is given twice; allowed: once");
  const bool many =
      std::holds_alternative<std::vector<std::string>>(o.value()) || o.kind.find(',') != std::string::npos;
  throw UsageError(name + ": \"" + before + "\" and \"" + value + "\" are given; allowed: the option once" +
                   (many ? ", with its values between commas" : ""));
}

// Evaluates a condition of UsedWith or NotWith: "name", "name value|value", "without ...".
bool OptionTable::is_met(const std::string& condition) const {
  if (condition.starts_with(kWithout)) return !is_met(condition.substr(kWithout.size()));
  const std::size_t space = std::min(condition.find(' '), condition.size());
  const std::string name = condition.substr(0, space);
  const auto o = std::find_if(options_.begin(), options_.end(), [&](const Option& x) { return typed_name(x) == name; });
  if (o == options_.end()) return false;
  const std::string text = value_text(o->value());
  if (space == condition.size()) return o->given && !text.empty() && text != "none" && !(o->flag && text == "false");
  for (const auto value : split_at(text, ','))
    for (const auto word : split_at(std::string_view(condition).substr(space + 1), '|'))
      if (matches(value, word)) return true;
  return false;
}

// Checks that each given option meets its conditions: options without effect are errors.
void OptionTable::check_uses() const {
  for (const Option& o : options_) {
    if (!o.given) continue;
    for (const UseRule& rule : o.uses) {
      const auto first = std::find_if(rule.conditions.begin(), rule.conditions.end(),
                                      [&](const std::string& condition) { return is_met(condition); });
      if ((first == rule.conditions.end()) == rule.unless) continue;
      const std::string text = value_text(o.value());
      const std::string what = typed_name(o) + (o.flag ? "" : ": \"" + text + '"');
      if (rule.unless) throw UsageError(what + " is not used with " + *first + "; allowed: without it");
      throw UsageError(what + " is not used here; allowed only " + conditions_text(rule.conditions));
    }
  }
}

// Throws the error for an option that does not exist, with advice for options of other programs.
void OptionTable::throw_unknown(const std::string& argument, std::span<const std::string> rest) const {
  // Advice written for this very option first, then the most similar name, then the list of all.
  std::vector<std::string> names;
  for (const auto& o : options_) {
    for (const auto& advice : o.advice) {
      if (advice.typed != argument) continue;
      const bool has_value = !rest.empty() && !rest[0].empty() && rest[0][0] != '-';
      throw UsageError(
          "unknown option " + argument + "; " +
          replaced(replaced(advice.text, "{value}", has_value ? rest[0] : "VALUE"), "{command}", command_));
    }
    if (!o.positional && !o.hidden) names.push_back("--" + o.name);
  }
  const std::string near = closest(argument, names);
  if (!near.empty()) throw UsageError("unknown option " + argument + "; did you mean " + near + '?');
  throw UsageError("unknown option " + argument + "; known: " + joined(names, " "));
}

}  // namespace merganser
