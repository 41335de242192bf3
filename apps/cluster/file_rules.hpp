#pragma once
/// Merge rules for variables of a parcel file that are not EPIC's own, as --attribute NAME:RULE[,missing=skip],... gives them.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "merganser/base/options.hpp"
#include "merganser/cluster/merge_policy.hpp"
#include "merganser/io/parcel_file.hpp"

namespace merganser::app {

/// Options for input files that do not tell their box, as those of particle codes: openPMD and VTKHDF.
struct InputOptions {
  std::string species;                               ///< species of an openPMD file; empty: all
  std::optional<std::array<std::int64_t, 3>> cells;  ///< cells of the grid along the axes
  std::string origin;                                ///< lower corner of the box, three numbers; empty: the file tells
  std::string extent;                                ///< extents of the box, three numbers; empty: the file tells
  std::vector<std::string> columns;                  ///< names of columns in CSV, as COLUMN=NAME
};
/// Lists the options for input files that do not tell their box, for the option parser.
template <class V>
void describe(InputOptions& o, V&& option) {
  option.section("Input that does not tell them (openPMD, VTKHDF, VTU, NPZ, NPY, CSV)");
  option("species", o.species, "species to read; without it all, told apart by the attribute species", Kind{"NAME"});
  option("cells", o.cells, "cells of the grid, where the file does not tell", Kind{"NX,NY,NZ"});
  option("origin", o.origin, "lower corner of the box, where the file does not tell [m]", Kind{"X,Y,Z"});
  option("extent", o.extent, "extents of the box, where the file does not tell [m]", Kind{"X,Y,Z"});
  option("columns", o.columns, "names of columns in CSV that is read or written, as x_position=x,volume=vol",
         Kind{"COLUMN=NAME,..."});
}

/// Lists the option --attribute, merge rules of variables of a parcel file, for the option parser.
template <class V>
void describe_attributes(std::vector<std::string>& attributes, V&& option) {
  option(
      "attribute", attributes,
      "variables of IN beside EPIC's and how they merge: mean (by volume), sum, centre or largest (of that member), or "
      "drop, to leave one out; missing=skip behind a rule: parcels may lack a value, such members do not count",
      Kind{"NAME:RULE,..."});
}

/// Parses the items of --columns. @throws UsageError for a text that is no COLUMN=NAME, and a column or name given twice
[[nodiscard]] std::vector<io::ColumnName> parse_columns(const std::vector<std::string>& words);

/// Reads the description of an input file, with the box, cells and periodic axes of options where they are given. Rank 0
/// warns of several species that `policy` does not keep apart. Collective. @param policy  by which parcels will merge; null: none will
/// @throws InputError, the same on every rank, also if neither file nor options tell box, cells and periodic axes; UsageError for
///         options that do not fit
[[nodiscard]] io::ParcelFileInfo read_input_info(const std::string& path, const InputOptions& o,
                                                 const std::optional<AxisFlags>& periodic, const MergePolicy* policy,
                                                 comm::Transport& t);

/// Parsed rules of cluster --attribute: how variables of a parcel file merge, and which are left out.
struct FileRules {
  std::vector<io::VariableRule> merged;   ///< variables that are read and merged
  std::vector<std::string> dropped;       ///< names that the output may leave out
  std::vector<std::string> with_missing;  ///< names of variables whose rule has missing=skip or missing=refuse
  /// True: what the output has no place for, beside variables over the parcels, is named in a warning, in place of an error.
  bool names_losses = false;
};

/// Parses the items of cluster --attribute. @throws UsageError for a text that is no NAME:RULE, an unknown rule, a name given
/// twice, a missing= without a rule
[[nodiscard]] FileRules parse_file_rules(const std::vector<std::string>& words);

/// Adds the variables that have a merge rule to those read from the parcel file, and leaves out the dropped ones whose rule the file
/// itself tells. If an output will be written, everything else in
/// the file must have a rule or be dropped by name; without an output nothing is lost, and rank 0 logs what is left out. Every rank
/// throws the same error.
/// @throws UsageError for a name or a rule that does not fit the file; InputError naming all that would be lost
void apply_file_rules(const FileRules& given, const std::string& input, const std::string& output,
                      io::ParcelFileInfo& info, int rank);

/// Sets what a file tells of a merge policy: the number of the next step, and the columns that hold the bits of 64-bit integers, those
/// whose rule is centre or largest. Local. @throws InputError for a number that is none
void set_from_file(MergePolicy& policy, const Schema& schema, const io::FileMetadata& metadata);

}  // namespace merganser::app
