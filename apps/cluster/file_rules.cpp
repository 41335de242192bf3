// Parsing of cluster --attribute, and the check that nothing of the input file is lost unasked.
#include "apps/cluster/file_rules.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "apps/frame/shell.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"
#include "merganser/io/output_name.hpp"

namespace merganser::app {
namespace {

constexpr const char* kDrop = "drop";
constexpr std::array<std::pair<const char*, Rule>, 4> kRules{
    {{"mean", Rule::mean}, {"sum", Rule::sum}, {"centre", Rule::centre}, {"largest", Rule::largest}}};

/// Returns true if a list of names of parcel variables holds a name.
bool is_in(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// Formats names of variables as an argument of --attribute, with RULE in place of each rule.
std::string example_rules(const std::vector<std::string>& names) {
  return joined(names, ",", [](const std::string& name) { return name + ":RULE"; });
}

/// Returns what an error adds about variables that --attribute cannot name since it separates rules by commas; empty without one.
std::string explain_commas(const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (name.find(',') != std::string::npos)
      return "; no rule can name \"" + name + "\", for commas separate rules: rename it in the file";
  return "";
}

/// Contents of the input parcel file that the output would lose; filled by find_losses().
struct Losses {
  std::vector<std::string> variables;  ///< lost for want of a merge rule
  std::vector<std::string> others;     ///< descriptions of contents that merganser cannot write
};

/// Returns the variables and other contents of the input parcel file that have neither a rule nor a permission to be dropped.
Losses find_losses(const FileRules& rules, const std::string& output, const io::ParcelFileInfo& info) {
  Losses out;
  for (const std::string& name : io::unread_variables(info))
    if (!is_in(rules.dropped, name)) out.variables.push_back(name);
  for (const io::FileLoss& loss : io::list_losses(info.metadata, output))
    if (!is_in(rules.dropped, loss.name)) out.others.push_back(loss.what);
  return out;
}

/// Validates that every name of --attribute NAME:drop is in the input file, and more than a parcel always has. @throws UsageError
void check_dropped(const FileRules& rules, const std::string& input, const std::string& output,
                   const io::ParcelFileInfo& info) {
  std::vector<std::string> known = io::unread_variables(info);
  for (const io::FileLoss& loss : io::list_losses(info.metadata, output)) known.push_back(loss.name);
  for (const Attribute& a : info.schema.attributes()) {
    known.push_back(a.name);
    for (const std::string& name : a.component_names)
      if (name != a.name) known.push_back(name);
  }
  for (const std::string& name : rules.dropped)
    if (!is_in(known, name))
      throw UsageError("--attribute " + name + ":drop: " + input + " has nothing of this name to drop; it has " +
                       (known.empty() ? "" : joined(known) + " and ") + "positions, volumes and ids, which stay");
}

/// Leaves out what the rules drop of the attributes that the input file's format puts into the schema with a rule, and adds the
/// names of their variables to those that may be lost. @throws UsageError for a part of such an attribute
void drop_told(FileRules& rules, io::ParcelFileInfo& info) {
  for (const std::string& name : io::drop_attributes(info, rules.dropped))
    if (!is_in(rules.dropped, name)) rules.dropped.push_back(name);
}

/// Parses three numbers of an option. @throws UsageError
std::array<double, 3> parse_three(const char* option, const std::string& text) {
  std::array<double, 3> out{};
  std::size_t begin = 0;
  for (std::size_t a = 0; a < 3; ++a) {
    const std::size_t comma = text.find(',', begin);
    if ((comma == std::string::npos) != (a == 2))
      throw UsageError(std::string("--") + option + " " + text + ": allowed: three numbers, as 0,0,0.5");
    merganser::detail::parse_value(text.substr(begin, comma - begin), out[a]);
    begin = comma + 1;
  }
  return out;
}

/// Sets box and cells of the options in place of those of the file, with a warning where both differ.
/// @throws UsageError if they are given in part and the file does not tell the rest, or for a file of EPIC
void apply_box(const std::string& path, const InputOptions& o, io::ParcelFileInfo& info, int rank) {
  if (!o.cells && o.origin.empty() && o.extent.empty()) return;
  if (info.metadata.format == io::FileFormat::epic)
    throw UsageError("--cells, --origin, --extent: " + path + " is one of EPIC's files, which tell their box");
  if (!info.says_grid && (!o.cells || o.origin.empty() || o.extent.empty()))
    throw UsageError(path + " does not tell box and cells; allowed: --cells, --origin and --extent together");
  const Grid before = info.grid;
  if (o.cells) info.grid.cells = *o.cells;
  if (!o.origin.empty()) info.grid.box.lower = parse_three("origin", o.origin);
  if (!o.extent.empty()) info.grid.box.extent = parse_three("extent", o.extent);
  check_grid(info.grid, "--cells, --origin, --extent");
  if (info.says_grid && !(before == info.grid))
    log(Level::warning, rank, "box or cells are those of --cells, --origin, --extent, not those of " + path);
  info.says_grid = true;
}

/// Parses an item missing=skip or missing=refuse of --attribute, which applies to the rule before it. @param last  name of that
/// rule's variable @return false for another item @throws UsageError
bool parse_missing(const std::string& word, FileRules& rules, const std::string& last) {
  constexpr std::string_view kBegin = "missing=";
  if (word.substr(0, kBegin.size()) != kBegin || word.find(':') != std::string::npos) return false;
  const std::string what = word.substr(kBegin.size());
  if (what != "skip" && what != "refuse")
    throw UsageError("--attribute " + word + ": allowed: missing=skip or missing=refuse, behind a rule");
  if (rules.merged.empty() || rules.merged.back().name != last)
    throw UsageError("--attribute " + word + ": allowed behind a rule that merges, as in humidity:mean,missing=skip");
  if (is_in(rules.with_missing, last)) throw UsageError("--attribute: " + last + " has two of missing=; allowed: one");
  rules.with_missing.push_back(last);
  rules.merged.back().skip_missing = what == "skip";
  return true;
}

}  // namespace

std::vector<io::ColumnName> parse_columns(const std::vector<std::string>& words) {
  std::vector<io::ColumnName> out;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size())
      throw UsageError("--columns " + word + ": allowed: COLUMN=NAME, as x_position=x");
    io::ColumnName c{word.substr(0, equals), word.substr(equals + 1)};
    for (const io::ColumnName& before : out)
      if (before.column == c.column || before.name == c.name)
        throw UsageError("--columns " + word + ": " + before.column + "=" + before.name +
                         " is there too; allowed: each column and name once");
    out.push_back(std::move(c));
  }
  return out;
}

io::ParcelFileInfo read_input_info(const std::string& path, const InputOptions& o,
                                   const std::optional<AxisFlags>& periodic, const MergePolicy* policy,
                                   comm::Transport& t) {
  const std::vector<io::ColumnName> columns = parse_columns(o.columns);
  io::ParcelFileInfo info =
      io::read_info(path, t, o.species, io::has_suffix(path, ".csv") ? columns : std::vector<io::ColumnName>{});
  info.metadata.csv_names = columns;
  apply_box(path, o, info, t.rank());
  if (info.metadata.format == io::FileFormat::epic) return info;
  if (!info.says_grid)
    throw InputError(
        path +
        ": neither our attributes nor mesh records tell box and cells; allowed: with --cells, --origin and "
        "--extent");
  if (!info.says_periodic && !periodic)
    throw InputError(path +
                     ": neither our attributes nor boundaries of meshes tell which axes are periodic; allowed: with "
                     "--periodic (none, or letters of xyz)");
  if (!info.says_periodic) info.grid.box.periodic = {(*periodic)[0], (*periodic)[1], (*periodic)[2]};
  info.says_periodic = true;
  const auto keeps_species_apart = [](const MergePolicy& p) {
    return std::find(p.same.begin(), p.same.end(), "species") != p.same.end();
  };
  if (policy != nullptr && info.metadata.openpmd.species.size() > 1 && !keeps_species_apart(*policy))
    log(Level::warning, t.rank(),
        path + " has the species " + joined(info.metadata.openpmd.species) +
            ": parcels of different ones may merge; allowed: a policy that keeps them apart (same:species), or one of "
            "them (--species NAME)");
  return info;
}

// Parser of cluster --attribute: NAME:RULE, split at the last colon since names may hold some.
FileRules parse_file_rules(const std::vector<std::string>& words) {
  FileRules rules;
  std::vector<std::string> seen;
  for (const std::string& word : words) {
    if (parse_missing(word, rules, seen.empty() ? "" : seen.back())) continue;
    const std::size_t colon = word.rfind(':');
    const std::string name = word.substr(0, colon);
    const std::string rule = colon == std::string::npos ? "" : word.substr(colon + 1);
    const auto* const known =
        std::find_if(kRules.begin(), kRules.end(), [&](const auto& r) { return r.first == rule; });
    if (name.empty() || (known == kRules.end() && rule != kDrop))
      throw UsageError(
          "--attribute " + word +
          ": allowed: NAME:RULE, where RULE is mean, sum, centre, largest or drop, and behind it missing=skip");
    if (is_in(seen, name)) throw UsageError("--attribute: " + name + " has two rules; allowed: one");
    seen.push_back(name);
    if (known == kRules.end()) {
      rules.dropped.push_back(name);
    } else {
      rules.merged.push_back({name, known->second});
    }
  }
  return rules;
}

// Application of cluster --attribute to an input file: variables with a rule are read; the rest must be dropped by name if an
// output is written.
void apply_file_rules(const FileRules& given, const std::string& input, const std::string& output,
                      io::ParcelFileInfo& info, int rank) {
  FileRules rules = given;
  check_dropped(rules, input, output, info);
  try {
    io::add_variables(input, info, rules.merged);
    drop_told(rules, info);
  } catch (const UsageError& e) {
    throw UsageError(std::string("--attribute: ") + e.what());
  }
  const Losses lost = find_losses(rules, output, info);
  if (lost.variables.empty() && lost.others.empty()) return;
  if (output.empty()) {
    std::vector<std::string> all = lost.variables;
    all.insert(all.end(), lost.others.begin(), lost.others.end());
    log(Level::info, rank, input + ": passed over, for no output is written: " + joined(all));
    return;
  }
  if (rules.names_losses && lost.variables.empty()) {
    log(Level::warning, rank, output + " has no place for " + joined(lost.others) + " (" + input + ")");
    return;
  }
  std::string what;
  if (!lost.variables.empty())
    what = "the variables " + joined(lost.variables) + " have no rule for merging: give --attribute " +
           quote_for_shell(example_rules(lost.variables)) + " with RULE mean, sum, centre, largest or drop" +
           explain_commas(lost.variables);
  if (!lost.others.empty())
    what += (what.empty() ? "" : "; and ") + std::string("merganser cannot carry into ") + output + ": " +
            joined(lost.others) + "; --attribute NAME:drop leaves one out";
  throw InputError(input + ": " + what);
}

// Recognises columns of 64-bit integers by the numbers that NetCDF gives to its types, which FileValues::type holds.
void set_from_file(MergePolicy& policy, const Schema& schema, const io::FileMetadata& metadata) {
  constexpr int kInt64 = 10;
  constexpr int kUint64 = 11;
  policy.step = io::merge_step(metadata);
  policy.integers.clear();
  for (const Attribute& a : schema.attributes()) {
    if (a.rule != Rule::centre && a.rule != Rule::largest) continue;
    for (int c = 0; c < a.components; ++c) {
      const auto index = static_cast<std::size_t>(c);
      const std::string name = index < a.component_names.size() ? a.component_names[index]
                               : a.components > 1               ? a.name + "_" + std::to_string(c)
                                                                : a.name;
      const io::FileVariable* const v = metadata.column(name);
      if (v != nullptr && (v->values.type == kInt64 || v->values.type == kUint64))
        policy.integers.push_back({a.name, c, v->values.type == kInt64});
    }
  }
}

}  // namespace merganser::app
