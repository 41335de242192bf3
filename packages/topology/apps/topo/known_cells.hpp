#pragma once
/// Measured cells that topo advise and doctor start from, and the words that advice is told in.
///
/// Cells come from a record of topo bench and nowhere else: of one in a file, or of one made of what was measured just now.
#include <string>
#include <vector>

#include "apps/compare/record.hpp"
#include "merganser/topology/advise.hpp"
#include "merganser/topology/measure.hpp"

namespace merganser::app {

/// Cells measured on a machine.
struct Known {
  std::vector<topology::KnownCell> cells;
  std::vector<topology::UnusableCell> unusable;
  bool oversubscribed = false;  ///< ranks shared cores
  Json surroundings;            ///< of the ranks that measured, as environment_json(); null: not known
};
/// Reads the cells of a record of topo bench or topo replay. Local.
/// @param path  its name in messages, and the source of its cells
/// @throws InputError naming the file and the field
[[nodiscard]] Known read_known(const Json& record, const std::string& path);
/// Reads the cells that could not be measured. @param topology  that part of a record @throws InputError naming the field
[[nodiscard]] std::vector<topology::UnusableCell> read_unusable(const Field& topology);

/// Names a machine: "2 cores of AMD EPYC".
[[nodiscard]] std::string machine_text(std::int64_t cores, const std::string& cpu);
/// Names the machine on which a record was made. @throws InputError if it does not tell
[[nodiscard]] std::string machine_text(const Json& record, const std::string& path);

/// Lists what a program must do as the measured one did: variables that were set and components that took part.
[[nodiscard]] std::string settings_text(const Json& surroundings);
/// Says what to do on the advice of one completion class: the calls of the kernel, or of those in a near tie; the last line
/// names the model, or the tie.
[[nodiscard]] std::string conclusion_text(const topology::ClassAdvice& advice);
/// Makes a table of kernels and a verdict for each completion class, that named `first` before the others.
[[nodiscard]] std::string advice_text(const std::vector<topology::ClassAdvice>& classes, const std::string& first);
/// Makes the list of classes that the record of topo advise has.
[[nodiscard]] Json advice_json(const std::vector<topology::ClassAdvice>& classes);
/// Says why kernels are not predicted, a line for each reason.
[[nodiscard]] std::string unknown_text(const std::vector<topology::Unknown>& unknown);
/// Makes the list of reasons that the record of topo advise has.
[[nodiscard]] Json unknown_json(const std::vector<topology::Unknown>& unknown);
/// Makes two tables: scores of advice on held-out cells, and counts of launches in predicted intervals.
[[nodiscard]] std::string evaluation_text(const topology::Evaluation& e);
/// Makes the scores and counts that the record of topo advise has.
[[nodiscard]] Json evaluation_json(const topology::Evaluation& e);

}  // namespace merganser::app
