#pragma once
/// Runs of `verify`: every input in every decomposition, search and pruning on one model and number of ranks, compared bit for bit
/// with a serial reference.
#include <cstdint>
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/cluster/options.hpp"

namespace merganser::app {

/// Plan of verify: inputs, methods and expected results of all runs; a launched job reads it as JSON.
struct VerifyPlan {
  int samples = 10;                 ///< number of generated sets of parcels
  std::uint64_t seed = 1;           ///< seed of the generated sets of parcels
  std::vector<std::string> files;   ///< parcel files, inputs after the generated ones
  std::vector<double> file_ratios;  ///< by file: cell volume / smallest volume that is not small
  std::vector<Search> searches;     ///< kinds of search for nearest parcels to verify
  std::vector<Prune> prunes;        ///< kinds of pruning of links to verify
  int chaos = 0;                    ///< chaos seeds per model, distributed round-robin over the numbers of ranks
  std::vector<int> ranks;           ///< numbers of ranks to verify on
  /// Expected digest of every run, by input (samples, then files) and search.
  std::vector<std::vector<std::string>> expected;

  /// Returns the number of inputs, generated ones and files.
  [[nodiscard]] std::size_t inputs() const { return static_cast<std::size_t>(samples) + files.size(); }
  /// Returns the name of an input of verify for messages: the kind of a sample, or the path of a file.
  [[nodiscard]] std::string input_name(std::size_t input) const;
};
/// Makes the JSON of a plan of verify, for a launched job.
[[nodiscard]] Json to_json(const VerifyPlan& plan);
/// Parses a plan of verify. @throws Json::exception if a field is missing
[[nodiscard]] VerifyPlan parse_plan(const Json& json);

/// Outcome of the runs of verify on one model and number of ranks; filled by run_all() on rank 0.
struct Tally {
  std::int64_t runs = 0;        ///< number of runs of merge steps without disturbed messages
  std::int64_t chaos_runs = 0;  ///< number of runs under the chaos decorator
  std::int64_t shapes = 0;      ///< decompositions tried, summed over inputs
  std::int64_t failures = 0;    ///< runs whose digest is not that of the serial reference
  std::string first_failure;    ///< first such run, and its first difference to the reference
  double seconds = 0;           ///< time of all runs, s
};
/// Makes the JSON of an outcome of verify, for the process that launched the job.
[[nodiscard]] Json to_json(const Tally& tally);
/// Parses an outcome of verify from a launched job. @throws Json::exception if a field is missing
[[nodiscard]] Tally parse_tally(const Json& json);

/// Number of merge steps of each run of verify.
inline constexpr int kVerifySteps = 2;

/// Computes the expected digests of all inputs and searches of verify by the slow serial reference, in this process.
void compute_expected(VerifyPlan& plan);

/// Executes all runs of verify on a communication model. Called by every process of a launched job, or once for threads.
/// @param ranks  threads to start, or the number of processes of the job @param tally  outcome, complete on rank 0
/// @return exit code of the ranks
int run_all(const VerifyPlan& plan, const std::string& model, int ranks, Tally& tally);

}  // namespace merganser::app
