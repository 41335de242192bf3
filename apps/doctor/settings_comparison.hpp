#pragma once
/// Which settings of the launcher are right here: measured, each with and without.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/frame/json.hpp"

namespace merganser::app {

/// What a launch is made with.
struct Candidate {
  std::string text;  ///< "osc=ucx", for people
  /// Variables and their values; no value: not set. They come before what merganser run exports and what is set.
  std::vector<std::pair<std::string, std::optional<std::string>>> variables;
  bool oversubscribed = false;  ///< both ranks on one core
};
/// What is to be compared with a library of this version, against the first of its kind: that with what merganser run
/// exports. Two of them are alone on their cores or both share one. @param components  of Open MPI, as components_of() finds
[[nodiscard]] std::vector<Candidate> candidates_for(const std::string& library,
                                                    const std::vector<std::string>& components);
/// "osc:sm" and so on, from what `ompi_info --parsable` says.
[[nodiscard]] std::vector<std::string> components_of(const std::string& parsable);

/// What the rounds of a candidate have shown: medians.
struct MeasuredSettings {
  Candidate candidate;
  std::vector<double> pings, puts;  ///< seconds, one a round
  std::string failure;              ///< why there is none; of puts alone where there are pings
};

/// What is right and what is not, from what was measured: one line for each setting that merganser run exports and that a
/// candidate is without.
[[nodiscard]] std::vector<std::string> verdicts(const std::vector<MeasuredSettings>& measured);

/// Measures every candidate in launches of two ranks, in turns: first round of all, second round of all. A candidate that
/// fails is not tried again.
/// @param rounds  at least 1
/// @throws CommError if that with what merganser run exports fails
[[nodiscard]] std::vector<MeasuredSettings> measure_settings(int rounds);

[[nodiscard]] std::string comparison_text(const std::vector<MeasuredSettings>& measured, int rounds);
[[nodiscard]] Json comparison_json(const std::vector<MeasuredSettings>& measured, int rounds);

}  // namespace merganser::app
