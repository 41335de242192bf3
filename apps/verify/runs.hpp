#pragma once
/// The runs of `verify`: every input over every shape, search and pruning on one model and number of ranks.
#include <cstdint>
#include <string>
#include <vector>

#include "apps/frame/record.hpp"
#include "merganser/cluster/options.hpp"

namespace merganser::app {

struct VerifyPlan {
  int samples = 10;
  std::uint64_t seed = 1;
  std::vector<std::string> files;
  std::vector<double> file_ratios;  ///< by file: cell volume / smallest volume that is not small
  std::vector<Search> searches;
  std::vector<Prune> prunes;
  int chaos = 0;  ///< chaos seeds per model, dealt to the numbers of ranks in turn
  std::vector<int> ranks;
  /// Digest that every run of an input must have, by input (samples, then files) and search.
  std::vector<std::vector<std::string>> expected;

  [[nodiscard]] std::size_t inputs() const { return static_cast<std::size_t>(samples) + files.size(); }
  [[nodiscard]] std::string input_name(std::size_t input) const;
};
[[nodiscard]] Json to_json(const VerifyPlan& plan);
[[nodiscard]] VerifyPlan verify_plan(const Json& json);

/// What came of the runs on one model and number of ranks.
struct Tally {
  std::int64_t runs = 0;
  std::int64_t chaos_runs = 0;
  std::int64_t shapes = 0;  ///< decompositions tried, summed over inputs
  std::int64_t failures = 0;
  std::string first_failure;  ///< which run, and the first difference to the reference
  double seconds = 0;         ///< that all of them took
};
[[nodiscard]] Json to_json(const Tally& tally);
[[nodiscard]] Tally tally_of(const Json& json);

/// Merge steps that each run makes.
inline constexpr int kVerifySteps = 2;

/// Fills in plan.expected with the slow serial reference.
void compute_expected(VerifyPlan& plan);

/// Makes all runs on a model. `ranks`: as threads; for processes their number. The tally is that of rank 0.
/// @return exit code of the ranks
int run_all(const VerifyPlan& plan, const std::string& model, int ranks, Tally& tally);

}  // namespace merganser::app
