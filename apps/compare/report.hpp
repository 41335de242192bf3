#pragma once
/// Two records (or several launches of each) against each other.
#include <string>
#include <vector>

#include "apps/compare/record.hpp"
#include "apps/compare/turns.hpp"

namespace merganser::app {

/// A count or result that differs.
struct Difference {
  std::string key;
  std::string before;
  std::string after;
  bool regression = false;
};

struct RecordComparison {
  SuiteComparison suite;
  std::vector<Difference> counts;                       ///< more or less is done than before
  std::vector<Difference> results;                      ///< equal input, other result
  std::vector<std::string> warnings;                    ///< what makes the records less comparable
  std::vector<std::string> only_before, only_after;     ///< keys of timings that are on one side only
  Order order;                                          ///< of the launches of both sides
  std::size_t launches_before = 0, launches_after = 0;  ///< the most of any timing
  [[nodiscard]] bool regression() const;
};

/// @throws InputError if nothing can be compared, with the reasons
[[nodiscard]] RecordComparison compare_records(const RecordFacts& before, const RecordFacts& after,
                                               const CompareOptions& options);

[[nodiscard]] Json to_json(const RecordComparison& comparison);
/// @param rows  timings shown at most, those with the largest effect first
[[nodiscard]] std::string text_of(const RecordComparison& comparison, std::size_t rows);

}  // namespace merganser::app
