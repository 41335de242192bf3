#pragma once
/// Running a body on every rank, with the rules for errors: one clear line, one exit code, no rank left waiting.
#include <functional>
#include <span>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::app {

/// Options that say which ranks run and how they talk.
struct RankOptions {
  std::string comm = "auto";
  int ranks = 0;
  std::string decorators;
};
/// Names of the models in this build, "auto" first: "auto|threads|p2p".
[[nodiscard]] std::string model_names();
/// Of the models whose ranks are processes, as conditions of options have them: "p2p|rma".
[[nodiscard]] std::string process_model_names();

/// For those who type `typed` as to a launcher.
[[nodiscard]] inline Instead ranks_advice(std::string typed) {
  return {std::move(typed),
          "allowed: --ranks {value} for threads, merganser run -n {value} -- {command} ... for processes"};
}
/// The same where the verb starts its ranks itself.
[[nodiscard]] inline Instead own_ranks_advice(std::string typed) {
  return {std::move(typed), "allowed: --ranks {value}"};
}

template <class V>
void describe(RankOptions& o, V&& option) {
  option.section("Ranks");
  option("comm", o.comm, "communication model; auto measures those that are there and keeps the fastest",
         Kind{model_names()});
  option("ranks", o.ranks, "ranks as threads of this process; under a launcher: a check of its number (0: any)",
         at_least(0), ranks_advice("-n"), ranks_advice("-np"), ranks_advice("--np"));
  option("decorators", o.decorators, "comma list of checked and chaos:SEED, for tests", Kind{"LIST"});
}

/// An error that every rank has thrown: on_ranks() prints it once, and every rank returns.
struct CollectiveError : Error {
  CollectiveError(const Error& e) : Error(e.what(), e.exit_code()) {}  // NOLINT(google-explicit-constructor)
};

/// Runs `f`, which throws on every rank or on none, and rethrows its errors as CollectiveError, which on_ranks() prints once.
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

/// How commands decide between models that "auto" has measured: as the library does, the first within 5 % of the fastest;
/// equals are also those that a bootstrap does not tell apart from the fastest.
[[nodiscard]] comm::ModelChoice choose_model(std::span<const comm::MeasuredModel> models);

/// Runs `body` once on every rank. An error ends the job with one message, however many ranks meet it; if it is not
/// shared by all, the message names the rank.
/// @return the exit code: 0, or, in processes, that of an error that all ranks share. @throws Error on threads
int on_ranks(const RankOptions& options, const std::function<void(comm::Transport&)>& body);

}  // namespace merganser::app
