#pragma once
/// Whether the launches of two sides were taken in turns, and launches that are.
#include <string>
#include <vector>

#include "apps/compare/record.hpp"

namespace merganser::app {

/// In which order the launches of two sides were made, by the times in their records.
struct Order {
  bool known = false;                          ///< every record has a time
  bool in_turns = false;                       ///< nowhere more than two launches of one side in a row
  double blocks_before = 1, blocks_after = 1;  ///< runs of launches of one side
};
/// Several launches in one record are so many in a row. Records of one second may have been made in any order: in turns is
/// assumed of them only if every one of the order's ways is.
[[nodiscard]] Order order_of(const RecordFacts& before, const RecordFacts& after);

/// Words of a command: between blanks; in '...' or "..." blanks belong to a word, and a backslash outside '...' takes the
/// character behind it as it is. Nothing else is special: no shell is started. @throws UsageError for a quote that is not
/// closed, and for no words
[[nodiscard]] std::vector<std::string> words_of(const std::string& command);

/// The records of two sides.
struct Sides {
  RecordFacts before, after;
};
/// Launches two commands so many times each, in turns: one of each, in random order, then again. `--json FILE` is added to
/// their arguments; what they print on standard output is not shown.
/// @param keep  folder for the records, before-1.json and so on; empty: they are not kept
/// @throws InputError for a command that fails or writes no record, Interrupted if a signal came meanwhile
[[nodiscard]] Sides run_in_turns(const std::string& before, const std::string& after, int launches,
                                 const std::string& keep);

}  // namespace merganser::app
