#pragma once
/// Choice of a communication model by measurement, for the name "auto".
#include <functional>
#include <string>
#include <vector>

#include "src/comm/detail/registry.hpp"

namespace merganser::comm::detail {

/// Result of the choice of a communication model: the model, and the reason.
struct Choice {
  const BackendEntry* entry = nullptr;
  std::string line;  ///< the measured times, for people; empty if nothing was measured
};

/// Arguments of measure_and_choose(): the communication models to measure, and the ranks and the process graph to
/// measure them on.
struct Candidates {
  std::vector<const BackendEntry*> models;  ///< in the order of backends()
  /// Opens a transport of a model, runs a body over it and closes it. Collective over the ranks that choose.
  std::function<void(const BackendEntry&, const BackendEntry::Each&)> visit;
  std::function<Graph(int rank, int size)> pattern;  ///< empty: eight neighbours in a grid
  ChooseModel choose;                                ///< empty: first_of_the_fastest
};

/// Returns the models of processes in this build, in the order of backends(). Local.
[[nodiscard]] std::vector<const BackendEntry*> process_models();

/// Measures the candidate models in turns and chooses one by `choose`; the same on every rank. Collective over the
/// ranks that `visit` opens transports on.
/// @throws UsageError if no model works
[[nodiscard]] Choice measure_and_choose(const Candidates& candidates);

}  // namespace merganser::comm::detail
