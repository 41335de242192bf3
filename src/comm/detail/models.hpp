#pragma once
/// Finding the model that options ask for.
#include <string>
#include <string_view>

#include "src/comm/detail/auto_choice.hpp"
#include "src/comm/detail/registry.hpp"

namespace merganser::comm::detail {

/// @throws UsageError for a name of no model in this build, with the list of names
[[nodiscard]] const BackendEntry& find_model(std::string_view name);

/// `backend`, or what the variable MERGANSER_COMM names in place of "auto".
[[nodiscard]] std::string wanted_name(const std::string& backend);

/// The model of a job: named, or `threads` without a launcher, or measured. Collective over the launcher's world.
/// @throws UsageError as find_model() and choose()
[[nodiscard]] Choice model_of_job(const RunOptions& options);

/// Proves a model of processes over all ranks of the job by a transport of its own, unless that was done (self_test.hpp).
/// Collective. @throws CommError if it delivers wrong bits
void self_test_over_world(const BackendEntry& entry);

/// @throws UsageError if a model cannot have RunOptions::ranks under this launcher
void check_ranks(const RunOptions& options, const Backend& backend);

}  // namespace merganser::comm::detail
