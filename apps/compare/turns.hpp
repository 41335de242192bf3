#pragma once
/// Order of the launches of two sides of a comparison: detection from their records, and launching in turns.
#include <string>
#include <vector>

#include "apps/compare/record.hpp"

namespace merganser::app {

/// Order in which the launches of two sides of a comparison were made, by the times in their records; filled by detect_order().
struct Order {
  bool known = false;                          ///< all records have a time
  bool in_turns = false;                       ///< at most two launches of one side in a row
  double blocks_before = 1, blocks_after = 1;  ///< number of uninterrupted sequences of launches of each side
};
/// Determines the order of the launches of two sides of a comparison from the times in their records. Launches in one record count
/// as made in a row. Records of the same second are taken in the order that is furthest from turns.
[[nodiscard]] Order detect_order(const RecordFacts& before, const RecordFacts& after);

/// Splits a command of compare --run into words at blanks. Within '...' or "..." blanks belong to a word, and a backslash outside
/// '...' quotes the next character. Nothing else is special, and no shell is started. @throws UsageError for a quote that is not
/// closed, and for no words
[[nodiscard]] std::vector<std::string> split_words(const std::string& command);

/// Facts of the run records of the two sides of a comparison.
struct Sides {
  RecordFacts before, after;
};
/// Launches two commands `launches` times each, in pairs of one of each in random order. `--json FILE` is appended to their
/// arguments; their standard output is discarded.
/// @param keep  folder for the records, before-1.json and so on; empty: they are not kept
/// @throws InputError for a command that fails or writes no record, Interrupted if a signal came meanwhile
[[nodiscard]] Sides run_in_turns(const std::string& before, const std::string& after, int launches,
                                 const std::string& keep);

}  // namespace merganser::app
