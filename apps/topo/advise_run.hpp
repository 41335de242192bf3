#pragma once
/// What topo advise knows and how it comes to know it.
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/topology/advise.hpp"

namespace merganser::app {

/// Cells of a record of topo bench or topo replay. @throws InputError naming the file and the field
[[nodiscard]] std::vector<topology::KnownCell> known_cells(const Json& record, const std::string& path);

/// "2 cores of AMD EPYC".
[[nodiscard]] std::string machine_text(std::int64_t cores, const std::string& cpu);
/// Where a record was made. @throws InputError if it does not tell
[[nodiscard]] std::string machine_text(const Json& record, const std::string& path);

/// Starts topo bench on a graph, all kernels, and reads what it measured.
struct MeasurePlan {
  std::string graph;  ///< file
  int ranks = 2;
  std::string models;  ///< "all", "threads"
  std::string sizes;   ///< "weights" or numbers
  double seconds = 5;
  int launches = 2;
};
/// @return the record @throws CommError if the job failed or did not end in time
[[nodiscard]] Json measure_job(const MeasurePlan& plan);

/// One line a completion class, or a table of all kernels.
[[nodiscard]] std::string advice_text(const std::vector<topology::ClassAdvice>& classes, const std::string& first);
[[nodiscard]] Json advice_json(const std::vector<topology::ClassAdvice>& classes);
/// Why kernels are not predicted, a line each.
[[nodiscard]] std::string unknown_text(const std::vector<topology::Unknown>& unknown);
[[nodiscard]] Json unknown_json(const std::vector<topology::Unknown>& unknown);
[[nodiscard]] std::string evaluation_text(const topology::Evaluation& e);
[[nodiscard]] Json evaluation_json(const topology::Evaluation& e);

}  // namespace merganser::app
