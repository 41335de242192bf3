#pragma once
/// Runs of `verify`: every input in every decomposition, search and pruning on one model and number of ranks, compared bit for bit
/// with a serial reference.
#include <cstdint>
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/cluster/options.hpp"

namespace merganser::app {

/// Inputs, methods and expected results of all runs; a launched job reads it as JSON.
struct VerifyPlan {
  int samples = 10;  ///< number of generated inputs
  std::uint64_t seed = 1;
  std::vector<std::string> files;
  std::vector<double> file_ratios;  ///< by file: cell volume / smallest volume that is not small
  std::vector<Search> searches;
  std::vector<Prune> prunes;
  int chaos = 0;  ///< chaos seeds per model, distributed round-robin over the numbers of ranks
  std::vector<int> ranks;
  /// Expected digest of every run, by input (samples, then files) and search.
  std::vector<std::vector<std::string>> expected;

  [[nodiscard]] std::size_t inputs() const { return static_cast<std::size_t>(samples) + files.size(); }
  /// Returns the name of an input for messages: the kind of a sample, or the path of a file.
  [[nodiscard]] std::string input_name(std::size_t input) const;
};
/// Returns a plan as JSON, for a launched job.
[[nodiscard]] Json to_json(const VerifyPlan& plan);
/// Parses a plan. @throws Json::exception if a field is missing
[[nodiscard]] VerifyPlan parse_plan(const Json& json);

/// Outcome of the runs on one model and number of ranks.
struct Tally {
  std::int64_t runs = 0;
  std::int64_t chaos_runs = 0;
  std::int64_t shapes = 0;  ///< decompositions tried, summed over inputs
  std::int64_t failures = 0;
  std::string first_failure;  ///< which run, and the first difference to the reference
  double seconds = 0;         ///< time of all runs
};
/// Returns a tally as JSON, for the process that launched the job.
[[nodiscard]] Json to_json(const Tally& tally);
/// Parses a tally. @throws Json::exception if a field is missing
[[nodiscard]] Tally parse_tally(const Json& json);

/// Number of merge steps of each run.
inline constexpr int kVerifySteps = 2;

/// Computes plan.expected by the slow serial reference, in this process.
void compute_expected(VerifyPlan& plan);

/// Makes all runs on a model. Called by every process of a launched job, or once for threads. @param ranks  threads to start, or
/// the number of processes of the job @param tally  outcome, complete on rank 0 @return exit code of the ranks
int run_all(const VerifyPlan& plan, const std::string& model, int ranks, Tally& tally);

}  // namespace merganser::app
