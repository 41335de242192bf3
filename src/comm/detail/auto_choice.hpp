#pragma once
/// The model "auto".
#include <functional>
#include <string>
#include <vector>

#include "src/comm/detail/registry.hpp"

namespace merganser::comm::detail {

struct Choice {
  const BackendEntry* entry = nullptr;
  std::string line;  ///< what was measured, for people; empty if nothing was
};

/// What to measure, and over which ranks.
struct Candidates {
  std::vector<const BackendEntry*> models;
  /// Opens a transport of a model, runs a body over it and closes it. Collective over the ranks that choose.
  std::function<void(const BackendEntry&, const BackendEntry::Each&)> visit;
  std::function<Graph(int rank, int size)> pattern;  ///< empty: eight neighbours in a grid
  ChooseModel choose;                                ///< empty: first_of_the_fastest
};

/// Every model of processes in this build.
[[nodiscard]] std::vector<const BackendEntry*> process_models();

/// Measures the candidates, in turns, and picks one as `choose` says; the same on every rank. Collective.
/// @throws UsageError if none of them works
[[nodiscard]] Choice choose(const Candidates& candidates);

}  // namespace merganser::comm::detail
