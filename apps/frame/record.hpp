#pragma once
/// The run record: everything needed to understand, repeat and compare a run, as JSON.
#include <string>

#include "apps/frame/command.hpp"
#include "apps/frame/json.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser::app {

/// Changes when a reader of older records would be misled.
inline constexpr int kRecordVersion = 1;

/// What the transport adds to the provenance.
struct Placement {
  int ranks = 1;
  std::string model;
  std::string choice;  ///< what "auto" measured; empty if a model was named
  std::string decorators;
  std::string decomposition;  ///< "2x1x1"; empty where there is none
};

/// Record with schema, command, options and provenance filled in; the caller adds timings, counters and results.
[[nodiscard]] Json make_record(const Invocation& in, const Placement& placement);
/// What decides how the libraries of this process talk: variables, components, cores. While MPI runs it tells of its components.
[[nodiscard]] Json surroundings_json();
/// Puts surroundings_json() of the ranks that measured into the record of the process that started them; null changes nothing.
void take_surroundings(Json& record, const Json& of_ranks);
[[nodiscard]] Json options_json(const OptionTable& table);
[[nodiscard]] Json value_json(const OptionValue& value);  ///< null where there is none
[[nodiscard]] Json summary_json(const Summary& s);
[[nodiscard]] Json counters_json(const comm::Counters& c);
/// Back from a record. @throws what the JSON library does if one is missing
[[nodiscard]] comm::Counters counters_of(const Json& json);

/// Writes to a file, or to standard output for "-". A plain file appears whole or not at all.
/// @throws InputError if it cannot be written
void write_record(const std::string& path, const Json& record);
/// Writes make_record() with a result and nothing else; nothing where `path` is empty.
void write_result(const std::string& path, const Invocation& in, Json result, const Placement& placement = {});
void write_text_file(const std::string& path, const std::string& text);

}  // namespace merganser::app
