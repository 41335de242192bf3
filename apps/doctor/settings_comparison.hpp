#pragma once
/// Measurement of the settings that `merganser run` exports: pairs of ranks with and without each of them, for `doctor --measure`.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/frame/json.hpp"

namespace merganser::app {

/// Settings of the MPI library with which doctor --measure launches a pair of ranks.
struct Candidate {
  std::string text;  ///< description, as "osc=ucx"
  /// Variables and their values; no value: unset. They replace those that merganser run exports and those of this process.
  std::vector<std::pair<std::string, std::optional<std::string>>> variables;
  bool oversubscribed = false;  ///< true: both ranks on one core
};
/// Returns the candidates of settings to compare for an MPI library of this version. Each is compared with the first of its kind,
/// which has the settings of merganser run; there are two kinds, ranks on cores of their own and ranks that share a core.
/// @param components  installed components of Open MPI, as parse_components() returns them; empty: unknown
[[nodiscard]] std::vector<Candidate> make_candidates(const std::string& library,
                                                     const std::vector<std::string>& components);
/// Parses the components of Open MPI, as "osc:sm", from the output of `ompi_info --parsable`.
[[nodiscard]] std::vector<std::string> parse_components(const std::string& parsable);

/// Times that doctor --measure has measured with one candidate of settings; filled by measure_settings().
struct MeasuredSettings {
  Candidate candidate;              ///< settings of the launches
  std::vector<double> pings, puts;  ///< median times of 8 bytes sent or put, s, one for each round
  std::string failure;              ///< reason of missing times; with pings, of missing puts only
};

/// Derives verdicts on settings from the measured times: one line for each setting of merganser run that a candidate lacks, and one
/// for each candidate that is faster.
[[nodiscard]] std::vector<std::string> verdicts(const std::vector<MeasuredSettings>& measured);

/// Measures a ping and a put with every candidate of settings, in launches of two ranks, in turns: a round of all candidates, then
/// the next round. A candidate that fails in its first launch is not launched again.
/// @param rounds  at least 1
/// @throws CommError if the candidate with the settings of merganser run fails
[[nodiscard]] std::vector<MeasuredSettings> measure_settings(int rounds);

/// Formats the measured times by candidate of settings, their ratios to those with the settings of merganser run, and the verdicts.
[[nodiscard]] std::string comparison_text(const std::vector<MeasuredSettings>& measured, int rounds);
/// Makes the JSON of the compared settings in doctor's report: times by candidate, and verdicts.
[[nodiscard]] Json comparison_json(const std::vector<MeasuredSettings>& measured, int rounds);

}  // namespace merganser::app
