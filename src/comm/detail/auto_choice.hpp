#pragma once
/// The model "auto".
#include <string>

#include "src/comm/detail/registry.hpp"

namespace merganser::comm::detail {

struct Choice {
  const BackendEntry* entry = nullptr;
  std::string line;  ///< what was measured, for people
};

/// Measures every model of processes in this build on `pattern`, in turns, and picks one as options.choose says;
/// the same on every rank.
/// Collective over the launcher's world. @throws UsageError if this build has no such model
[[nodiscard]] Choice choose(const RunOptions& options);

}  // namespace merganser::comm::detail
