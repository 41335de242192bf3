#pragma once
/// Selection of the communication model that the options of a job name, and checks before it runs.
#include <string>
#include <string_view>

#include "src/comm/detail/auto_choice.hpp"
#include "src/comm/detail/registry.hpp"

namespace merganser::comm::detail {

/// Returns the communication model of this name. Local. @throws UsageError if this build has no such model, with the
/// list of names
[[nodiscard]] const BackendEntry& find_model(std::string_view name);

/// Returns the name of the communication model to use: `backend`, or in place of "auto" the value of the environment variable
/// MERGANSER_COMM if it is set. Local.
[[nodiscard]] std::string resolve_backend_name(const std::string& backend);

/// Chooses the communication model of a job: the named model, else `threads` without a launcher, else the fastest model
/// by measurement. Collective over the launcher's world. @throws UsageError for an unknown name, and if no model works
[[nodiscard]] Choice choose_job_model(const RunOptions& options);

/// Runs the self test (self_test.hpp) of a model of processes over all ranks of the job, by a transport of its own, unless
/// it has passed. Collective. @throws CommError if the model delivers wrong bits
void self_test_over_world(const BackendEntry& entry);

/// Validates the number of ranks in `options` of a job against the communication model `backend` and the launcher. Local.
/// @throws UsageError if the model cannot run on so many ranks, or not in this process
void check_ranks(const RunOptions& options, const Backend& backend);

}  // namespace merganser::comm::detail
