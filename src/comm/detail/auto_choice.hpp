#pragma once
/// Choice of a communication model by measurement, for the name "auto".
#include <functional>
#include <string>
#include <vector>

#include "src/comm/detail/registry.hpp"

namespace merganser::comm::detail {

/// Communication model chosen for a job, with the reason; result of measure_and_choose() and choose_job_model().
struct Choice {
  const BackendEntry* entry = nullptr;  ///< entry points of the chosen model
  std::string line;                     ///< the measured times of the models, for people; empty if nothing was measured
};

/// Arguments of measure_and_choose(): the communication models to measure, and the ranks and the process graph to
/// measure them on.
struct Candidates {
  std::vector<const BackendEntry*> models;  ///< models to measure, in the order of backends()
  /// Callback that opens a transport of one candidate model, runs a measurement over it and closes it. Collective over the ranks
  /// that choose a model together.
  std::function<void(const BackendEntry&, const BackendEntry::Each&)> visit;
  std::function<Graph(int rank, int size)> pattern;  ///< process graph to measure on; empty: eight neighbours in a grid
  ChooseModel choose;                                ///< decision from the times; empty: first_of_the_fastest
};

/// Returns the communication models of this build, and of a plug-in in use, whose ranks are processes, in the order of backends().
/// Local.
[[nodiscard]] std::vector<const BackendEntry*> process_models();

/// Measures the candidate communication models in turns and chooses one by `choose`; the same on every rank. Collective over the
/// ranks that `visit` opens transports on.
/// @throws UsageError if no model works
[[nodiscard]] Choice measure_and_choose(const Candidates& candidates);

}  // namespace merganser::comm::detail
