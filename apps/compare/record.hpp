#pragma once
/// Extraction of comparable facts from run records: timings, counts, results and inputs, keyed so that equal keys are comparable.
#include <optional>
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/stats/compare.hpp"

namespace merganser::app {

/// Timing in a run record, by which two records are compared: a kernel or stage with its samples in seconds.
struct RecordTiming {
  std::string key;      ///< what was timed, and on which work; timings of equal keys are comparable
  std::string family;   ///< kernel or stage, whose timings are also judged together
  Launches launches;    ///< times by launch of the command, s
  bool decides = true;  ///< a slowdown of this timing counts as a regression
  double least = 0;     ///< time in seconds below which this timing is too small a part of its step to decide
};

/// Count in a run record, as of messages or bytes: an increase from one record to the other is a regression, without
/// statistics.
struct RecordCount {
  std::string key;   ///< work and name of the counter
  double value = 0;  ///< count of messages or bytes, of all ranks
  double slack = 0;  ///< share by which the count changes from run to run
};

/// Result of a run, or property of its input, in a run record. Results must be equal for equal inputs.
struct RecordResult {
  std::string key;    ///< name, as "digest"
  std::string value;  ///< value as JSON text, compared for equality
};

/// Provenance of one run record: its file, options, environment and launches.
struct RecordOrigin {
  std::string path;          ///< file of the run record
  Json options;              ///< options of the command that made it
  Json provenance;           ///< machine, build, libraries, time
  std::size_t content = 0;   ///< hash of the whole run record, by which copies are found
  std::size_t launches = 1;  ///< number of launches of the command in the record, made in a row
};

/// Comparable facts of one run record, or of the records of several launches of the same command.
struct RecordFacts {
  RecordOrigin origin;               ///< provenance of the first run record of the side
  std::vector<RecordOrigin> joined;  ///< provenance of records of further launches
  std::string command;               ///< verb of the run records, as "bench random"
  std::vector<RecordTiming> timings;
  std::vector<RecordCount> counts;
  std::vector<RecordResult> results;
  std::vector<RecordResult> inputs;  ///< properties of the input that the record holds
};

/// Reads the comparable facts of the run record of any verb from its file. @throws InputError naming the file, the field and what
/// is wrong with it
[[nodiscard]] RecordFacts read_facts(const std::string& path);
/// Extracts the comparable facts of the run record of any verb. @param path  name of its file, for messages
/// @throws InputError naming the field and its fault
[[nodiscard]] RecordFacts extract_facts(const Json& record, const std::string& path);

/// Appends the launches of another record of the same command and input to the facts of a side.
/// @throws InputError for a record of another command or input, and for a record that has been added already: a launch
/// that counts twice would make the scatter look smaller
void add_launches(RecordFacts& to, const RecordFacts& more);

/// Reference to a JSON value within a run record, whose accessors throw InputError naming the file and the field.
class Field {
 public:
  /// Refers to a value, which must outlive this. @param path  file and position, as "a.json: result.n_after", for messages
  Field(const Json& value, std::string path) : value_(&value), path_(std::move(path)) {}
  [[nodiscard]] Field at(const std::string& key) const;  ///< member of the record's object
  [[nodiscard]] Field at(std::size_t index) const;       ///< entry of the record's array
  /// Returns true if the value is an object with this member.
  [[nodiscard]] bool has(const std::string& key) const { return value_->is_object() && value_->contains(key); }
  [[nodiscard]] std::size_t size() const;         ///< number of entries of an array
  [[nodiscard]] std::vector<Field> list() const;  ///< entries of an array
  [[nodiscard]] double number() const;            ///< the value as a finite number
  [[nodiscard]] double time() const;  ///< positive number, 1e-100 to 1e100, so that ratios of two are finite
  /// Returns the value, a whole number in [least, most].
  [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::string text() const;  ///< the value as a text, without quotes
  /// Returns the JSON value itself, unchecked.
  [[nodiscard]] const Json& json() const { return *value_; }
  /// Returns the file and position of the value, for messages.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Throws InputError: file and position of the value, then `what`.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  const Json* value_;
  std::string path_;
};

/// Validates that a record is a run record of the version that this program reads. @throws InputError if it is not
void check_schema(const Field& record);
/// Load average (processes that ran or waited) of the host while a run record was made, and its cores; filled by parse_load().
struct Load {
  double average;
  double cores;
};
/// Returns the load of the host under which a run record was made, from its provenance; nothing if the provenance has none.
[[nodiscard]] std::optional<Load> parse_load(const Json& provenance);
/// Returns the runnable processes per core under which a run record was made, limited to 1 to 3; 1 if its provenance has none.
[[nodiscard]] double load_per_core(const Json& provenance);
/// Returns the runnable processes per core, load_average / cores, limited to 1 to 3.
[[nodiscard]] double load_per_core(double load_average, double cores);
/// Returns the times of a configuration of topo bench or topo replay by launch, in nanoseconds: the median of each round if there
/// are rounds, else one median per launch, else one median of all.
[[nodiscard]] Launches launches_ns(const Field& cell);

}  // namespace merganser::app
