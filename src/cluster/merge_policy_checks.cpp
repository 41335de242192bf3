// Validation of merge policies (merge_policy.hpp): ranges of parts, combinations that exclude each other, columns.
#include <algorithm>
#include <cmath>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"
#include "merganser/cluster/merge_policy.hpp"
#include "src/cluster/policy_arithmetic.hpp"
#include "src/cluster/policy_errors.hpp"

namespace merganser {
namespace {

/// Validates a length of a policy. @throws UsageError
void check_length(const char* name, const Length& length) {
  if (!(length.value >= 0) || !std::isfinite(length.value))
    throw UsageError("policy: " + std::string(name) + ": length " + number_text(length.value) +
                     "; allowed: positive and finite, or 0 for none");
  if (length.unit > Length::Unit::spacing)
    throw UsageError("policy: " + std::string(name) + ": unit " + std::to_string(static_cast<int>(length.unit)) +
                     "; allowed: box, cell, spacing");
}

/// Validates the name of a column: the text of a policy, which records and files hold, separates by commas and plus signs. @throws
/// UsageError
void check_column(const char* part, const std::string& column) {
  const bool printable =
      std::none_of(column.begin(), column.end(), [](unsigned char c) { return c < ' ' || c == 127; });
  if (printable && !column.empty() && trimmed(column) == column && column.find_first_of(",+") == std::string::npos)
    return;
  throw UsageError("policy: " + std::string(part) + ": column '" + one_line(column) +
                   "'; allowed: a name without commas, plus signs, control characters and blanks at its ends");
}

/// Validates the names of all columns. @throws UsageError
void check_columns(const MergePolicy& p) {
  if (!p.mask.empty()) check_column("mask", p.mask);  // StarFinder has its mask as an argument
  for (const ScaledColumn& c : p.phase) check_column("phase", c.column);
  for (const std::string& column : p.same) check_column("same", column);
  for (const std::string& column : p.momentum) check_column("momentum", column);
  if (!p.mass.empty()) check_column("mass", p.mass);
}

/// Validates ranges of numbers and enumerations, which a caller may have filled with anything. @throws UsageError
void check_ranges(const MergePolicy& p) {
  const auto require = [](bool valid, const std::string& what, const std::string& value, const char* allowed) {
    if (!valid) throw UsageError("policy: " + what + ": " + value + "; allowed: " + allowed);
  };
  const auto check_value = [&](const char* what, int value, int most) {
    require(value <= most, what, std::to_string(value), "a value of its enumeration");
  };
  const auto check_bound = [&](const char* what, double x) {
    require(x >= 0 && std::isfinite(x), what, number_text(x), "positive and finite, or 0 for none");
  };
  check_value("looker", static_cast<int>(p.looker), static_cast<int>(Looker::none));
  check_value("form", static_cast<int>(p.form), static_cast<int>(MergeForm::greedy_pairs));
  check_value("place", static_cast<int>(p.place), static_cast<int>(Placement::centre));
  check_value("conserve", static_cast<int>(p.conserve), static_cast<int>(Conserve::momentum_energy));
  check_value("along", static_cast<int>(p.split_along), static_cast<int>(SplitAlong::axis));
  require(p.split_below == 0 || (p.split_below >= 2 && p.split_below <= MergePolicy::kMaxSplit), "split",
          std::to_string(p.split_below), "2 to 1048576, or 0");
  require(p.new_ids >= 0 && p.new_ids <= MergePolicy::kMaxFirstId, "ids", std::to_string(p.new_ids), "0 to 2^63 - 2");
  require(p.seed <= MergePolicy::kMaxSeed, "seed", std::to_string(p.seed), "0 to 2^63 - 1");
  check_bound("small", p.small_below);
  check_bound("weight", p.max_weight);
  check_bound("relativistic", p.light_speed);
  check_bound("level", p.level_ratio);
  require(p.level_least >= 1 && p.level_least <= MergePolicy::kMaxCount, "level: least number of parcels",
          std::to_string(p.level_least), "1 to 2^40");
  require(p.max_members == 0 || (p.max_members >= 2 && p.max_members <= MergePolicy::kMaxCount), "members",
          std::to_string(p.max_members), "2 to 2^40, or 0");
  require(p.max_rounds >= 1 && p.max_rounds <= MergePolicy::kMaxRounds, "rounds", std::to_string(p.max_rounds),
          "1 to 1000000");
  require(p.fall_backs >= 0 && p.fall_backs <= MergePolicy::kMaxFallBacks, "greedy", std::to_string(p.fall_backs),
          "0 to 15 fall-backs");
  if (p.looker == Looker::crowded)
    require(p.crowded_target >= 1 && p.crowded_target <= p.crowded_above && p.crowded_above <= MergePolicy::kMaxCount,
            "crowded", std::to_string(p.crowded_above) + "->" + std::to_string(p.crowded_target),
            "MAX->TARGET, 1 <= TARGET <= MAX <= 2^40");
  require(p.phase.size() <= MergePolicy::kMaxPhaseColumns, "phase", std::to_string(p.phase.size()) + " columns",
          "up to 3");
  for (const ScaledColumn& c : p.phase)
    require(c.factor > 0 && std::isfinite(c.factor), "phase: factor of " + c.column, number_text(c.factor),
            "positive and finite");
  require(p.momentum.empty() || p.momentum.size() == 3, "momentum", std::to_string(p.momentum.size()) + " columns",
          "three, or none for ux+uy+uz");
  check_length("within", p.within);
  check_length("friends", p.linking);
  check_length("crowded", p.crowded_cell);
}

/// Returns the name of the form of what merges, as in the text of a policy.
std::string form_name(const MergePolicy& p) {
  return p.form == MergeForm::stars ? "stars" : p.form == MergeForm::mutual_pairs ? "pairs" : "greedy";
}

/// Validates what belongs to splitting: its directions, and numbers that do not contradict those of merging. @throws UsageError
void check_split(const MergePolicy& p) {
  if (p.split_below == 0 && (p.split_along != SplitAlong::random || p.new_ids != MergePolicy().new_ids))
    refuse_without_split();
  if (p.looker == Looker::crowded && p.split_below > p.crowded_above)
    throw UsageError("policy: split:" + std::to_string(p.split_below) + " with crowded above " +
                     std::to_string(p.crowded_above) +
                     "; allowed: split up to the number above which cells are crowded");
}

/// Validates what friends of friends and levelling thinning exclude: they have no lookers, partners or stars. @throws UsageError
void check_without_stars(const MergePolicy& p, const std::string& name, const std::string& why) {
  if (p.looker == Looker::crowded) exclude(name, "crowded", why);
  if (p.looker == Looker::mask) exclude(name, "mask", why);
  if (p.looker == Looker::none) exclude(name, "none", why);
  if (p.split_below > 0) exclude(name, "split", "not supported");
  if (p.small_below > 0) exclude(name, "small", why);
  if (!p.phase.empty()) exclude(name, "phase", why);
  if (p.within.value > 0) exclude(name, "within", why);
  if (p.form != MergeForm::stars) exclude(name, form_name(p), why);
  if (p.max_members > 0) exclude(name, "members", why);
  if (p.max_weight > 0) exclude(name, "weight", why);
  if (p.allowed) exclude(name, "a predicate", why);
  if (p.conserve == Conserve::momentum_energy) exclude(name, "conserve:momentum+energy", why);
}

/// Returns the merge rule of the attribute that holds a column. @throws UsageError if there is no such column
Rule rule_of(const Schema& schema, const char* part, const std::string& column) {
  try {
    const std::size_t at = schema.component_offset(column, 0);
    for (std::size_t i = schema.attributes().size(); i-- > 0;)
      if (schema.offset(schema.attributes()[i].name) <= at) return schema.attributes()[i].rule;
  } catch (const UsageError& e) {
    throw UsageError("policy: " + std::string(part) + ": " + e.what());
  }
  throw UsageError("policy: " + std::string(part) + ": " + column + " is no attribute; allowed: those of the schema");
}

/// Validates that a column is the same in a merged parcel as in its members: a mean rounds. @throws UsageError
void check_kept(const Schema& schema, const char* part, const std::string& column) {
  const Rule rule = rule_of(schema, part, column);
  if (rule != Rule::centre && rule != Rule::largest)
    throw UsageError("policy: " + std::string(part) + ": attribute " + column +
                     " has a merge rule that may change it; allowed: centre or largest");
}

/// Validates splitting for parcels of a schema. @throws UsageError
void check_split(const MergePolicy& p, const Schema& schema) {
  if (p.split_below == 0) return;
  bool shape = false;
  for (const Attribute& a : schema.attributes()) {
    shape = shape || a.rule == Rule::ellipsoid;
    if (a.rule == Rule::callback)
      throw UsageError("policy: split: attribute " + a.name +
                       " merges by a callback, and nothing says how it splits; allowed: the other rules");
  }
  if (shape != (p.split_along == SplitAlong::axis))
    throw UsageError(std::string("policy: split along ") + (shape ? "random or velocity" : "axis") + " of parcels " +
                     (shape ? "with" : "without") +
                     " an attribute of rule ellipsoid; allowed: " + (shape ? "axis" : "random, velocity"));
  if (p.split_along == SplitAlong::velocity)
    for (const std::string& column : cluster::momentum_columns(p, schema))
      static_cast<void>(rule_of(schema, "momentum", column));
}

}  // namespace

// Validation of a policy: ranges, then combinations that exclude each other.
void check(const MergePolicy& p) {
  check_ranges(p);
  check_columns(p);
  if (p.is_friends() && p.level_ratio > 0) exclude("friends", "level", "both say what merges; allowed: one of them");
  if (p.is_friends()) check_without_stars(p, "friends", "everything closer than the linking length is one group");
  if (p.level_ratio > 0) {
    check_without_stars(p, "level", "levelling thinning merges nothing, it removes parcels and raises weights");
    if (p.place != Placement::centroid) exclude("level", "place", "levelling thinning moves nothing");
    if (p.conserve != Conserve::rules) exclude("level", "conserve", "levelling thinning conserves in expectation only");
    if (!p.same.empty()) exclude("level", "same", "not supported");
  }
  const bool two = p.conserve == Conserve::momentum_energy;
  if (p.form != MergeForm::stars && two)
    exclude(form_name(p), "conserve:momentum+energy",
            "two parcels remain of N, so pairs would never shrink; allowed: stars");
  if (two && p.max_members == 2)
    exclude("members:2", "conserve:momentum+energy", "two parcels remain of N; allowed: members of 3 and more");
  const bool odd = p.crowded_target % 2 == 1 && p.crowded_above == p.crowded_target;
  if (p.looker == Looker::crowded && two && (p.crowded_target < 2 || odd))
    exclude("crowded", "conserve:momentum+energy",
            "two parcels remain of N; allowed: a target of 2 and more, even or below the greatest number");
  if (p.crowded_cell.unit == Length::Unit::spacing)
    throw UsageError("policy: crowded: cells in units of spacing; allowed: units of the box, or cell");
  check_split(p);
  const bool of_split = p.split_below > 0 && p.split_along == SplitAlong::velocity;
  if (p.conserve == Conserve::rules && (p.light_speed > 0 || (!p.momentum.empty() && !of_split) || !p.mass.empty()))
    throw UsageError(
        "policy: momentum, mass or relativistic without conserve:momentum; allowed: both, or neither, or momentum with "
        "along:velocity");
  if (p.allowed && p.within.value == 0)
    throw UsageError(
        "policy: a predicate without within; allowed: with a greatest distance of partners, so that a "
        "parcel with no allowed partner ends its search");
}

// Validation of the columns that a policy names against the rules by which they merge.
void check(const MergePolicy& p, const Schema& schema) {
  check(p);
  if (p.looker == Looker::mask) static_cast<void>(rule_of(schema, "mask", p.mask));
  for (const std::string& column : p.same) check_kept(schema, "same", column);
  for (const ScaledColumn& c : p.phase) static_cast<void>(rule_of(schema, "phase", c.column));
  if (p.conserve != Conserve::rules) {
    for (const std::string& column : cluster::momentum_columns(p, schema))
      if (rule_of(schema, "momentum", column) != Rule::mean)
        throw UsageError("policy: momentum: attribute " + column + " does not merge by its mean; allowed: mean");
    if (!p.mass.empty()) check_kept(schema, "mass", p.mass);
  }
  check_split(p, schema);
  const char* const part = p.is_friends()                            ? "friends"
                           : p.level_ratio > 0                       ? "level"
                           : p.conserve == Conserve::momentum_energy ? "conserve:momentum+energy"
                                                                     : nullptr;
  if (part == nullptr) return;
  for (const Attribute& a : schema.attributes())
    if (a.rule == Rule::ellipsoid || a.rule == Rule::callback)
      throw UsageError("policy: attribute " + a.name + " merges by " +
                       (a.rule == Rule::ellipsoid ? "its ellipsoid" : "a callback") + ", which " + part +
                       " does not support; allowed: mean, sum, centre, largest");
}

}  // namespace merganser
