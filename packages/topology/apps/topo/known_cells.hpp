#pragma once
/// Measured cells (kernel, graph, size) as input of topo advise and doctor, and advice as text and JSON.
///
/// Cells come from a record of topo bench and nowhere else: of one in a file, or of one made of what was measured just now.
#include <string>
#include <vector>

#include "apps/compare/record.hpp"
#include "merganser/topology/advise.hpp"
#include "merganser/topology/measure.hpp"

namespace merganser::app {

/// Measured cells (kernel, graph, size) of one record of topo bench, with its settings; filled by read_known().
struct Known {
  std::vector<topology::KnownCell> cells;        ///< times by launch, with the load of their exchange
  std::vector<topology::UnusableCell> unusable;  ///< kernels that could not be measured, with reasons
  bool oversubscribed = false;                   ///< true: ranks shared cores while exchanges were measured
  Json surroundings;  ///< settings of the ranks that measured, as environment_json(); null: not known
};
/// Reads the cells of a record of topo bench or topo replay. Local.
/// @param path  name of the record in messages, and the source of its cells
/// @throws InputError naming the file and the field
[[nodiscard]] Known read_known(const Json& record, const std::string& path);
/// Reads the list of kernels, graphs and sizes that topo bench could not measure. @param topology  the part "topology" of a record
/// @throws InputError naming the field
[[nodiscard]] std::vector<topology::UnusableCell> read_unusable(const Field& topology);

/// Formats a machine by its cores and processor: "2 cores of AMD EPYC".
[[nodiscard]] std::string machine_text(std::int64_t cores, const std::string& cpu);
/// Formats the machine on which a run record was made: "2 cores of AMD EPYC". @throws InputError if the record lacks it
[[nodiscard]] std::string machine_text(const Json& record, const std::string& path);

/// Lists the settings under which kernels were measured, and which a program must share for the advice to hold: environment
/// variables and components of the MPI library, a line each.
[[nodiscard]] std::string settings_text(const Json& surroundings);
/// Formats the conclusion of topo advise for one completion class: the calls of the fastest kernel and of those in a near tie, and
/// a last line with the advised communication models.
[[nodiscard]] std::string conclusion_text(const topology::ClassAdvice& advice);
/// Makes the tables of topo advise: kernels and a verdict for each completion class, the class named `first` before the others.
[[nodiscard]] std::string advice_text(const std::vector<topology::ClassAdvice>& classes, const std::string& first);
/// Makes the list "classes" of the record of topo advise: for each completion class the advised kernel and all kernels' times.
[[nodiscard]] Json advice_json(const std::vector<topology::ClassAdvice>& classes);
/// Formats the reasons for which topo advise does not predict kernels, a line for each reason.
[[nodiscard]] std::string unknown_text(const std::vector<topology::Unknown>& unknown);
/// Makes the list "unknown" of the record of topo advise: reasons for which kernels are not predicted.
[[nodiscard]] Json unknown_json(const std::vector<topology::Unknown>& unknown);
/// Makes the two tables of topo advise --evaluate: scores of advice on held-out cells, and shares of launches in predicted
/// intervals.
[[nodiscard]] std::string evaluation_text(const topology::Evaluation& e);
/// Makes the object "evaluation" of the record of topo advise: scores on held-out cells, and coverage of predicted intervals.
[[nodiscard]] Json evaluation_json(const topology::Evaluation& e);

}  // namespace merganser::app
