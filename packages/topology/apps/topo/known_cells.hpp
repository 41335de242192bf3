#pragma once
/// What topo advise knows and how it comes to know it.
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/topology/advise.hpp"
#include "merganser/topology/measure.hpp"

namespace merganser::app {

/// What was measured on a machine.
struct Known {
  std::vector<topology::KnownCell> cells;
  std::vector<topology::UnusableCell> unusable;
  bool oversubscribed = false;  ///< ranks shared cores
  Json surroundings;            ///< of the ranks that measured, as surroundings_json(); null: not known
};
/// Of a record of topo bench or topo replay. @throws InputError naming the file and the field
[[nodiscard]] Known known_of(const Json& record, const std::string& path);

/// "2 cores of AMD EPYC".
[[nodiscard]] std::string machine_text(std::int64_t cores, const std::string& cpu);
/// Where a record was made. @throws InputError if it does not tell
[[nodiscard]] std::string machine_text(const Json& record, const std::string& path);

/// What a program needs to do as well as what was measured: the variables that were set, and the components that took part.
[[nodiscard]] std::string settings_text(const Json& surroundings);
/// What to do, from the advice of one completion class: the calls of the kernel, or kernels where there is a near tie; the last
/// line names the model, or the tie.
[[nodiscard]] std::string conclusion_text(const topology::ClassAdvice& advice);
/// One line a completion class, or a table of all kernels.
[[nodiscard]] std::string advice_text(const std::vector<topology::ClassAdvice>& classes, const std::string& first);
[[nodiscard]] Json advice_json(const std::vector<topology::ClassAdvice>& classes);
/// Why kernels are not predicted, a line each.
[[nodiscard]] std::string unknown_text(const std::vector<topology::Unknown>& unknown);
[[nodiscard]] Json unknown_json(const std::vector<topology::Unknown>& unknown);
[[nodiscard]] std::string evaluation_text(const topology::Evaluation& e);
[[nodiscard]] Json evaluation_json(const topology::Evaluation& e);

}  // namespace merganser::app
