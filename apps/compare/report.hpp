#pragma once
/// Comparison of two run records, or of several launches of each, and its report.
#include <string>
#include <vector>

#include "apps/compare/record.hpp"
#include "apps/compare/turns.hpp"

namespace merganser::app {

/// Count or result that differs between both sides of a comparison of run records.
struct Difference {
  std::string key;          ///< name of the count of messages or bytes, or of the result
  std::string before;       ///< value in the run record before
  std::string after;        ///< value in the run record after
  bool regression = false;  ///< true: a different result, or a count of messages that has become larger
};

/// Result of the comparison of two sides of run records, before and after; filled by compare_records().
struct RecordComparison {
  SuiteComparison suite;                                ///< statistical comparison of all timings
  std::vector<Difference> counts;                       ///< counts of messages and bytes that differ
  std::vector<Difference> results;                      ///< results that differ although the input is equal
  std::vector<std::string> warnings;                    ///< differences that make the records less comparable
  std::vector<std::string> only_before, only_after;     ///< keys of timings that are on one side only
  Order order;                                          ///< order of the launches of both sides
  std::size_t launches_before = 0, launches_after = 0;  ///< largest number of launches of any timing
  /// Returns true if times have become significantly longer, a count larger, or a result different.
  [[nodiscard]] bool regression() const;
};

/// Compares two sides of run records of one command: timings, counts, results. Local. @throws InputError with the reasons if they
/// have no comparable timing
[[nodiscard]] RecordComparison compare_records(const RecordFacts& before, const RecordFacts& after,
                                               const CompareOptions& options);

/// Makes the JSON of a comparison of run records, for compare --json.
[[nodiscard]] Json to_json(const RecordComparison& comparison);
/// Formats a comparison of run records as tables and a verdict. @param rows  largest number of timings shown, those with the
/// largest effect first
[[nodiscard]] std::string format_comparison(const RecordComparison& comparison, std::size_t rows);

}  // namespace merganser::app
