#pragma once
/// What a run record says that can be compared with another: timings, counts, results.
#include <optional>
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/stats/compare.hpp"

namespace merganser::app {

/// A timing in seconds.
struct RecordTiming {
  std::string key;     ///< says what was timed and on which work: equal keys are comparable
  std::string family;  ///< kernel or stage
  Launches launches;
  bool decides = true;
  double least = 0;  ///< below this time, in seconds, it is too small a part of its step to decide
};

/// Something counted. More of it is a regression that needs no statistics.
struct RecordCount {
  std::string key;
  double value = 0;
  double slack = 0;  ///< share by which it changes from run to run
};

/// A result: what must be equal for equal input.
struct RecordResult {
  std::string key;
  std::string value;
};

/// How a record came to be.
struct RecordOrigin {
  std::string path;
  Json options;
  Json provenance;
  std::size_t content = 0;   ///< hash of the whole record
  std::size_t launches = 1;  ///< in it, one after the other
};

struct RecordFacts {
  RecordOrigin origin;
  std::vector<RecordOrigin> joined;  ///< of further launches
  std::string command;
  std::vector<RecordTiming> timings;
  std::vector<RecordCount> counts;
  std::vector<RecordResult> results;
  std::vector<RecordResult> inputs;  ///< what the work was, as far as the record tells
};

/// Reads a record of any command. @throws InputError naming the file, the field and what is wrong with it
[[nodiscard]] RecordFacts read_facts(const std::string& path);
[[nodiscard]] RecordFacts facts_of(const Json& record, const std::string& path);

/// Adds the launches of another record of the same. @throws InputError for a record of another command or input, and for one
/// that is there already: a launch that counts twice would make the scatter look smaller
void join(RecordFacts& to, const RecordFacts& more);

/// Access to the fields of a record with errors that name them.
class Field {
 public:
  Field(const Json& value, std::string path) : value_(&value), path_(std::move(path)) {}
  [[nodiscard]] Field at(const std::string& key) const;
  [[nodiscard]] Field at(std::size_t index) const;
  [[nodiscard]] bool has(const std::string& key) const { return value_->is_object() && value_->contains(key); }
  [[nodiscard]] std::size_t size() const;         ///< of an array
  [[nodiscard]] std::vector<Field> list() const;  ///< its entries
  [[nodiscard]] double number() const;            ///< finite
  [[nodiscard]] double time() const;              ///< positive, and of a size that can be reckoned with
  [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const Json& json() const { return *value_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  const Json* value_;
  std::string path_;
};

/// @throws InputError unless it is a run record of the version that this program reads
void check_schema(const Field& record);
/// How many processes ran or waited while a record was made, and the cores of the machine.
struct Load {
  double average;
  double cores;
};
/// Nothing where the record does not tell.
[[nodiscard]] std::optional<Load> load_of(const Json& provenance);
/// Processes that waited for a core while a record was made, per core; between 1 and 3, and 1 where it is not told.
[[nodiscard]] double load_per_core(const Json& provenance);
[[nodiscard]] double load_per_core(double load_average, double cores);
/// Times of a cell of topo bench or topo replay by launch, in nanoseconds: of rounds, else one for each launch, else one.
[[nodiscard]] Launches launches_ns(const Field& cell);

}  // namespace merganser::app
