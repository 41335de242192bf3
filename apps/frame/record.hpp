#pragma once
/// Run records: JSON with command, options, provenance and results, sufficient to understand, repeat and compare a run.
#include <string>
#include <vector>

#include "apps/frame/command.hpp"
#include "apps/frame/json.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {

/// Version of the format of run records. It grows when readers of the former version would misread a record.
inline constexpr int kRecordVersion = 1;

/// Part of a run record's provenance that depends on the transport and the decomposition.
struct RunPlacement {
  int ranks = 1;              ///< number of ranks that ran the command
  std::string model;          ///< name of the communication model; empty if no ranks ran
  std::string choice;         ///< measurements by which "auto" chose the model; empty if a model was named
  std::string decorators;     ///< interposition layers, as "checked,chaos:7"
  std::string decomposition;  ///< blocks along the axes, "2x1x1"; empty where there is none
};

/// Returns a run record with schema, command, options and provenance; the caller adds timings, counters and results. Secrets are
/// masked.
[[nodiscard]] Json make_record(const Invocation& in, const RunPlacement& placement);
/// Returns the run-time environment of this process: "binding" (cores), "variables" and "components" of its communication
/// libraries. Components are complete only between the start and the end of MPI.
[[nodiscard]] Json environment_json();
/// Replaces the run-time environment in a record's provenance by that of the ranks that measured, for the process that started
/// them.
/// @param of_ranks  JSON with the keys of environment_json(); null changes nothing
void set_environment(Json& record, const Json& of_ranks);
/// Returns the values of all options of a verb by name, for its run record, secrets masked.
[[nodiscard]] Json options_json(const OptionTable& table);
/// Returns an option's value as JSON for run records, secrets masked; null if it has none.
[[nodiscard]] Json value_json(const OptionValue& value);
/// Returns minimum, median, mean, maximum and number of samples as a JSON object of a run record.
[[nodiscard]] Json summary_json(const Summary& s);
/// Returns communication counters as a JSON object, by the names that run records use.
[[nodiscard]] Json counters_json(const comm::Counters& c);
/// Parses communication counters from a run record. @throws Json::exception if one is missing
[[nodiscard]] comm::Counters parse_counters(const Json& json);

/// Writes a run record as JSON to a file, or to standard output for "-". A regular file appears whole or not at all.
/// @throws InputError if it cannot be written
void write_record(const std::string& path, const Json& record);
/// Writes a run record made by make_record() with `result` in it; does nothing if `path` is empty. @throws InputError if it
/// cannot be written
void write_result(const std::string& path, const Invocation& in, Json result, const RunPlacement& placement = {});
/// Writes a text, such as a picture or a report, to a file, or to standard output for "-". A regular file appears whole or not at
/// all.
/// @throws InputError if it cannot be written
void write_text_file(const std::string& path, const std::string& text);
/// Returns the line "wrote A, B" of a report for the files that options name, without empty ones and standard output; empty if there
/// are none.
[[nodiscard]] std::string written_line(const std::vector<std::string>& paths);

}  // namespace merganser::app
