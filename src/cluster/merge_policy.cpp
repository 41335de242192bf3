// Text of merge policies (merge_policy.hpp): parser, formatter, and validation of parts and their combinations.
#include "merganser/cluster/merge_policy.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "merganser/base/error.hpp"
#include "merganser/base/lines.hpp"
#include "merganser/base/text.hpp"
#include "merganser/parcels/merge.hpp"
#include "src/cluster/policy_errors.hpp"

namespace merganser {
namespace {

constexpr std::int64_t kMaxCount = MergePolicy::kMaxCount;

/// Throws the error of a part of a policy's text. @param allowed  completes "allowed: ..."
[[noreturn]] void refuse(const std::string& part, const std::string& allowed) {
  throw UsageError("policy: '" + part + "'; allowed: " + allowed);
}

/// One part of a policy's text, "name:value", while it is parsed.
struct Part {
  std::string name;   ///< before the first colon
  std::string value;  ///< behind it; empty if there is none
  /// Returns the part as it stands in the text.
  [[nodiscard]] std::string text() const { return value.empty() ? name : name + ':' + value; }
};

/// Parses the value of a part, or a piece of it, as a positive finite number. @throws UsageError
double parse_positive(const Part& part, std::string_view word, const char* allowed) {
  double value = 0;
  if (!parse_real(word, value) || !(value > 0) || !std::isfinite(value)) refuse(part.text(), allowed);
  return value;
}

/// Parses a piece of a part as an integer from `least` to `most`. @throws UsageError
std::int64_t parse_count(const Part& part, std::string_view word, std::int64_t least, std::int64_t most,
                         const char* allowed) {
  std::int64_t value = 0;
  if (!parse_integer(word, value) || value < least || value > most) refuse(part.text(), allowed);
  return value;
}

/// Parses a length: a number, with the unit `cell` or `spacing` behind it or none. @throws UsageError
Length parse_length(const Part& part, std::string_view word, const char* allowed) {
  Length length;
  for (const auto& [name, unit] : {std::pair<std::string_view, Length::Unit>{"cells", Length::Unit::cell},
                                   {"cell", Length::Unit::cell},
                                   {"spacings", Length::Unit::spacing},
                                   {"spacing", Length::Unit::spacing}}) {
    if (!word.ends_with(name)) continue;
    length.unit = unit;
    word.remove_suffix(name.size());
    break;
  }
  length.value = parse_positive(part, trimmed(word), allowed);
  return length;
}

/// Parses names of columns joined by plus signs. @throws UsageError for an empty name or one that is given twice
std::vector<std::string> parse_columns(const Part& part, const char* allowed) {
  std::vector<std::string> columns;
  for (const std::string_view piece : split_at(part.value, '+')) {
    const std::string name(trimmed(piece));
    if (name.empty() || std::find(columns.begin(), columns.end(), name) != columns.end()) refuse(part.text(), allowed);
    columns.push_back(name);
  }
  return columns;
}

/// Parses the part crowded:MAX->TARGET@LENGTH. @throws UsageError
void parse_crowded(const Part& part, MergePolicy& policy) {
  constexpr const char* kAllowed =
      "crowded:MAX->TARGET, integers with 1 <= TARGET <= MAX <= 2^40, as crowded:32->16; with @LENGTH behind it, its "
      "own "
      "cells";
  std::string_view numbers = part.value;
  if (const std::size_t at = numbers.find('@'); at != std::string_view::npos) {
    policy.crowded_cell = parse_length(part, trimmed(numbers.substr(at + 1)), kAllowed);
    numbers = numbers.substr(0, at);
  }
  const std::size_t arrow = numbers.find("->");
  if (arrow == std::string_view::npos) refuse(part.text(), kAllowed);
  policy.looker = Looker::crowded;
  policy.crowded_above = parse_count(part, trimmed(numbers.substr(0, arrow)), 1, kMaxCount, kAllowed);
  policy.crowded_target = parse_count(part, trimmed(numbers.substr(arrow + 2)), 1, policy.crowded_above, kAllowed);
}

/// Parses the part phase:COLUMN*FACTOR+... @throws UsageError
void parse_phase(const Part& part, MergePolicy& policy) {
  constexpr const char* kAllowed =
      "phase:COLUMN*FACTOR+..., 1 to 3 different columns, each with a positive factor that makes it a length";
  // A plus sign may also stand in an exponent, 1e+20: a piece without a factor belongs to the one before it.
  std::vector<std::string> pieces;
  for (const std::string_view piece : split_at(part.value, '+')) {
    if (piece.find('*') == std::string_view::npos && !pieces.empty()) {
      pieces.back() += '+' + std::string(piece);
    } else {
      pieces.emplace_back(piece);
    }
  }
  for (const std::string_view piece : pieces) {
    const std::size_t star = piece.rfind('*');
    const std::string name(trimmed(piece.substr(0, star)));
    const auto taken = [&](const ScaledColumn& c) { return c.column == name; };
    if (star == std::string_view::npos || name.empty() || policy.phase.size() == MergePolicy::kMaxPhaseColumns ||
        std::any_of(policy.phase.begin(), policy.phase.end(), taken))
      refuse(part.text(), kAllowed);
    policy.phase.push_back({name, parse_positive(part, trimmed(piece.substr(star + 1)), kAllowed)});
  }
}

/// Parses the part level:RATIO/LEAST. @throws UsageError
void parse_level(const Part& part, MergePolicy& policy) {
  constexpr const char* kAllowed =
      "level:RATIO or level:RATIO/LEAST, RATIO > 0, LEAST an integer, 1 to 2^40, as level:1.5/8";
  const std::string_view value = part.value;
  const std::size_t slash = value.find('/');
  policy.level_ratio = parse_positive(part, trimmed(value.substr(0, slash)), kAllowed);
  if (slash != std::string_view::npos)
    policy.level_least = parse_count(part, trimmed(value.substr(slash + 1)), 1, kMaxCount, kAllowed);
}

/// Parses a part whose value is one of a few words. @return the place of the word in `words` @throws UsageError
template <std::size_t N>
std::size_t parse_word(const Part& part, const std::array<const char*, N>& words) {
  const auto* const at = std::find_if(words.begin(), words.end(), [&](const char* word) { return part.value == word; });
  if (at == words.end()) refuse(part.text(), part.name + ": with " + joined(words, " or "));
  return static_cast<std::size_t>(at - words.begin());
}

constexpr std::array<const char*, 4> kPlaces{"centroid", "member", "heaviest", "centre"};
constexpr std::array<const char*, 3> kDirections{"random", "velocity", "axis"};
constexpr std::array<const char*, 3> kConserved{"rules", "momentum", "momentum+energy"};

/// Parses a part that has no value. @throws UsageError
void require_no_value(const Part& part) {
  if (!part.value.empty()) refuse(part.text(), part.name + " without a value");
}

/// Descriptor of a part of a policy's text: its name, the choice that it makes, of which there can be one, and its
/// parser.
struct PartRule {
  const char* name;
  const char* choice;  ///< parts with the same choice exclude each other
  std::function<void(const Part&, MergePolicy&)> parse;
};

/// Returns the descriptors of all parts of a policy's text, in the order in which policy_text() writes them.
const std::vector<PartRule>& part_rules() {
  constexpr const char* kLength = "a positive LENGTH: a number in units of the box, or with cell or spacing behind it";
  static const std::vector<PartRule> rules{
      {"small", "who looks",
       [](const Part& p, MergePolicy& m) {
         if (!p.value.empty()) m.small_below = parse_positive(p, p.value, "small or small:VOLUME, positive");
       }},
      {"mask", "who looks",
       [](const Part& p, MergePolicy& m) {
         if (p.value.empty()) refuse(p.text(), "mask:COLUMN");
         m.looker = Looker::mask;
         m.mask = p.value;
       }},
      {"crowded", "who looks", parse_crowded},
      {"none", "who looks",
       [](const Part& p, MergePolicy& m) {
         require_no_value(p);
         m.looker = Looker::none;
       }},
      {"phase", "", parse_phase},
      {"same", "",
       [](const Part& p, MergePolicy& m) { m.same = parse_columns(p, "same:COLUMN+..., different columns"); }},
      {"within", "", [](const Part& p, MergePolicy& m) { m.within = parse_length(p, p.value, kLength); }},
      {"stars", "what merges", [](const Part& p, MergePolicy&) { require_no_value(p); }},
      {"pairs", "what merges",
       [](const Part& p, MergePolicy& m) {
         require_no_value(p);
         m.form = MergeForm::mutual_pairs;
       }},
      {"greedy", "what merges",
       [](const Part& p, MergePolicy& m) {
         m.form = MergeForm::greedy_pairs;
         m.fall_backs = static_cast<int>(
             parse_count(p, p.value, 0, MergePolicy::kMaxFallBacks, "greedy:K, K fall-backs from 0 to 15"));
       }},
      {"friends", "what merges", [](const Part& p, MergePolicy& m) { m.linking = parse_length(p, p.value, kLength); }},
      {"level", "what merges", parse_level},
      {"members", "",
       [](const Part& p, MergePolicy& m) {
         m.max_members = parse_count(p, p.value, 2, kMaxCount, "members:N, an integer, 2 to 2^40");
       }},
      {"weight", "",
       [](const Part& p, MergePolicy& m) { m.max_weight = parse_positive(p, p.value, "weight:W, positive"); }},
      {"rounds", "",
       [](const Part& p, MergePolicy& m) {
         m.max_rounds = static_cast<int>(
             parse_count(p, p.value, 1, MergePolicy::kMaxRounds, "rounds:N, an integer, 1 to 1000000"));
       }},
      {"place", "", [](const Part& p, MergePolicy& m) { m.place = static_cast<Placement>(parse_word(p, kPlaces)); }},
      {"conserve", "",
       [](const Part& p, MergePolicy& m) { m.conserve = static_cast<Conserve>(parse_word(p, kConserved)); }},
      {"momentum", "",
       [](const Part& p, MergePolicy& m) {
         m.momentum = parse_columns(p, "momentum:X+Y+Z, three different columns");
         if (m.momentum.size() != 3) refuse(p.text(), "momentum:X+Y+Z, three different columns");
       }},
      {"mass", "",
       [](const Part& p, MergePolicy& m) {
         if (p.value.empty()) refuse(p.text(), "mass:COLUMN");
         m.mass = p.value;
       }},
      {"relativistic", "",
       [](const Part& p, MergePolicy& m) {
         m.light_speed = parse_positive(p, p.value, "relativistic:C, the speed of light in units of momentum / mass");
       }},
      {"split", "",
       [](const Part& p, MergePolicy& m) {
         m.split_below = parse_count(p, p.value, 2, MergePolicy::kMaxSplit, "split:N, an integer, 2 to 1048576");
       }},
      {"along", "",
       [](const Part& p, MergePolicy& m) { m.split_along = static_cast<SplitAlong>(parse_word(p, kDirections)); }},
      {"ids", "",
       [](const Part& p, MergePolicy& m) {
         m.new_ids = parse_count(p, p.value, 0, MergePolicy::kMaxFirstId, "ids:N, an integer from 0 to 2^63 - 2");
       }},
      {"seed", "", [](const Part& p, MergePolicy& m) {
         std::uint64_t seed = 0;
         if (!parse_id(p.value, seed) || seed > MergePolicy::kMaxSeed)
           refuse(p.text(), "seed:N, an integer from 0 to 2^63 - 1");
         m.seed = seed;
       }}};
  return rules;
}

/// Formats a length as parse_policy() reads it.
std::string length_text(const Length& length) {
  constexpr std::array<const char*, 3> kUnits{"", "cell", "spacing"};
  return number_text(length.value) + kUnits[static_cast<std::size_t>(length.unit)];
}

}  // namespace

// Conversion of a policy's length to the unit of the box; rounding is the same on every rank.
double Length::in_box_units(const Grid& grid, std::int64_t parcels) const {
  if (unit == Unit::cell) return value * std::min({grid.spacing(0), grid.spacing(1), grid.spacing(2)});
  if (unit == Unit::box) return value;
  const double volume = (grid.box.extent[0] * grid.box.extent[1]) * grid.box.extent[2];
  return value * cube_root(volume / static_cast<double>(std::max<std::int64_t>(parcels, 1)));
}

bool MergePolicy::is_default() const {
  return looker == Looker::small && small_below == 0 && phase.empty() && same.empty() && within.value == 0 &&
         form == MergeForm::stars && max_members == 0 && max_weight == 0 && !allowed && linking.value == 0 &&
         place == Placement::centroid && conserve == Conserve::rules && level_ratio == 0 && split_below == 0;
}

bool MergePolicy::has_rounds() const {
  return looker == Looker::crowded || max_members > 0 || max_weight > 0 || allowed;
}

bool MergePolicy::has_answers() const {
  return max_members > 0 || max_weight > 0 || allowed || form == MergeForm::mutual_pairs;
}

// Parser of a policy from its parts: each at most once, of parts with one choice at most one.
MergePolicy policy_from_parts(std::span<const std::pair<std::string, std::string>> parts) {
  MergePolicy policy;
  std::vector<const PartRule*> seen;
  for (const auto& [name, value] : parts) {
    const Part part{name, value};
    const auto& rules = part_rules();
    const auto rule = std::find_if(rules.begin(), rules.end(), [&](const PartRule& r) { return r.name == part.name; });
    if (rule == rules.end())
      refuse(part.text(), "the parts " + joined(rules, ", ", [](const PartRule& r) { return std::string(r.name); }));
    for (const PartRule* other : seen) {
      if (other == &*rule) throw UsageError("policy: two parts '" + part.name + "'; allowed: one");
      if (*rule->choice != '\0' && std::string_view(rule->choice) == other->choice)
        exclude(other->name, rule->name, std::string("both say ") + rule->choice + "; allowed: one of them");
    }
    seen.push_back(&*rule);
    rule->parse(part, policy);
  }
  const auto has = [&](std::string_view name) {
    return std::any_of(seen.begin(), seen.end(), [&](const PartRule* rule) { return rule->name == name; });
  };
  check(policy);
  // check() sees values alone, of which the defaults are as if they were not given.
  if (!has("split") && (has("along") || has("ids"))) refuse_without_split();
  return policy;
}

// Parser of a policy's text: parts between commas.
MergePolicy parse_policy(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> parts;
  if (trimmed(text).empty()) return {};
  for (const std::string_view piece : split_at(text, ',')) {
    const std::string_view part = trimmed(piece);
    if (part.empty())
      throw UsageError("policy: '" + std::string(text) + "' has an empty part; allowed: NAME or NAME:VALUE");
    const std::size_t colon = part.find(':');
    const std::string_view name = trimmed(part.substr(0, colon));
    const std::string_view value = colon == std::string_view::npos ? "" : trimmed(part.substr(colon + 1));
    if (colon != std::string_view::npos && value.empty()) refuse(std::string(part), "a value behind the colon");
    parts.emplace_back(name, value);
  }
  return policy_from_parts(parts);
}

// Text of a policy, from which parse_policy() makes the same policy.
std::string policy_text(const MergePolicy& p) {
  std::vector<std::string> parts;
  if (p.looker == Looker::mask) parts.push_back("mask:" + p.mask);
  if (p.looker == Looker::none) parts.emplace_back("none");
  if (p.looker == Looker::small && p.small_below > 0) parts.push_back("small:" + number_text(p.small_below));
  if (p.looker == Looker::crowded)
    parts.push_back("crowded:" + std::to_string(p.crowded_above) + "->" + std::to_string(p.crowded_target) +
                    (p.crowded_cell.value > 0 ? '@' + length_text(p.crowded_cell) : ""));
  if (!p.phase.empty())
    parts.push_back("phase:" +
                    joined(p.phase, "+", [](const ScaledColumn& c) { return c.column + '*' + number_text(c.factor); }));
  if (!p.same.empty()) parts.push_back("same:" + joined(p.same, "+"));
  if (p.within.value > 0) parts.push_back("within:" + length_text(p.within));
  if (p.form == MergeForm::mutual_pairs) parts.emplace_back("pairs");
  if (p.form == MergeForm::greedy_pairs) parts.push_back("greedy:" + std::to_string(p.fall_backs));
  if (p.linking.value > 0) parts.push_back("friends:" + length_text(p.linking));
  if (p.level_ratio > 0)
    parts.push_back("level:" + number_text(p.level_ratio) +
                    (p.level_least > 1 ? '/' + std::to_string(p.level_least) : ""));
  if (p.max_members > 0) parts.push_back("members:" + std::to_string(p.max_members));
  if (p.max_weight > 0) parts.push_back("weight:" + number_text(p.max_weight));
  if (p.max_rounds != MergePolicy().max_rounds) parts.push_back("rounds:" + std::to_string(p.max_rounds));
  if (p.place != Placement::centroid)
    parts.push_back(std::string("place:") + kPlaces[static_cast<std::size_t>(p.place)]);
  if (p.conserve != Conserve::rules)
    parts.push_back(std::string("conserve:") + kConserved[static_cast<std::size_t>(p.conserve)]);
  if (!p.momentum.empty()) parts.push_back("momentum:" + joined(p.momentum, "+"));
  if (!p.mass.empty()) parts.push_back("mass:" + p.mass);
  if (p.light_speed > 0) parts.push_back("relativistic:" + number_text(p.light_speed));
  if (p.split_below > 0) parts.push_back("split:" + std::to_string(p.split_below));
  if (p.split_along != SplitAlong::random)
    parts.push_back(std::string("along:") + kDirections[static_cast<std::size_t>(p.split_along)]);
  if (p.new_ids != MergePolicy().new_ids) parts.push_back("ids:" + std::to_string(p.new_ids));
  if (p.seed != 0) parts.push_back("seed:" + std::to_string(p.seed));
  return joined(parts, ", ");
}

}  // namespace merganser
