#pragma once
/// Running of a command's body on every rank, with its rules for errors: one line, one exit code, and no rank left blocked.
#include <functional>
#include <span>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::app {

/// Options that select the communication model and the number of ranks.
struct RankOptions {
  std::string comm = "auto";  ///< name of a model, or "auto": the fastest one
  int ranks = 0;              ///< threads to run; under a launcher its number of ranks, or 0
  std::string decorators;     ///< comma list of interposition layers, as "checked,chaos:7"
};
/// Returns the names of the communication models in this build, "auto" first, as "auto|threads|p2p".
[[nodiscard]] std::string model_names();
/// Returns the names of the communication models whose ranks are processes, as conditions of options take them: "p2p|rma".
[[nodiscard]] std::string process_model_names();
/// Returns the words that shells propose for communication models: the given ones, and then the models in this build.
[[nodiscard]] Proposes known_models(std::vector<std::string> words = {"all"});

/// Returns the advice for users who type `typed`, a launcher's option for the number of ranks, to a verb that starts no processes.
[[nodiscard]] inline Instead ranks_advice(std::string typed) {
  return {std::move(typed),
          "allowed: --ranks {value} for threads, merganser run -n {value} -- {command} ... for processes"};
}
/// Returns the advice for users who type `typed`, a launcher's option for the number of ranks, to a verb that starts its ranks
/// itself.
[[nodiscard]] inline Instead own_ranks_advice(std::string typed) {
  return {std::move(typed), "allowed: --ranks {value}"};
}

/// Passes name, value, meaning and range of the options of communication model and ranks to option(...).
template <class V>
void describe(RankOptions& o, V&& option) {
  option.section("Ranks");
  option("comm", o.comm, "communication model; auto measures those that are there and keeps the fastest",
         Kind{model_names()});
  option("ranks", o.ranks, "ranks as threads of this process; under a launcher: a check of its number (0: any)",
         at_least(0), ranks_advice("-n"), ranks_advice("-np"), ranks_advice("--np"));
  option("decorators", o.decorators, "comma list of checked and chaos:SEED, for tests", Kind{"LIST"});
}

/// Error that every rank has thrown: run_on_ranks() prints it once, and every rank returns its exit code.
struct CollectiveError : Error {
  CollectiveError(const Error& e) : Error(e.what(), e.exit_code()) {}  // NOLINT(google-explicit-constructor)
};

/// Calls `f`, which throws on every rank or on none, and rethrows its errors as CollectiveError, which run_on_ranks() prints once.
/// Collective if `f` is.
template <class F>
auto collective_try(F&& f) {
  try {
    return f();
  } catch (const comm::Released&) {
    throw;
  } catch (const Error& e) {
    throw CollectiveError(e);
  }
}

/// Chooses between the communication models that "auto" has measured, in place of the library's own rule: the first within 5 % of
/// the fastest. It reports as equal also those that a bootstrap does not distinguish from the fastest. Deterministic; local.
[[nodiscard]] comm::ModelChoice choose_model(std::span<const comm::MeasuredModel> models);

/// Runs `body` of a command once on every rank: in threads of this process, or in the processes of the launched job. An error
/// ends the run with one message, however many ranks throw it; unless it is a CollectiveError, the message names the rank. Called
/// by every process.
/// @return the exit code: 0, or in processes that of a CollectiveError
/// @throws Error with threads: that of the rank that failed
int run_on_ranks(const RankOptions& options, const std::function<void(comm::Transport&)>& body);

}  // namespace merganser::app
