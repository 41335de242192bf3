#pragma once
/// Headings of edge lists: separator, names of columns, and what the columns hold.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/base/log.hpp"
#include "merganser/base/text.hpp"
#include "merganser/base/text_table.hpp"
#include "src/graphs/files/text.hpp"

namespace merganser::graphs::detail {

inline constexpr std::uint64_t kMaxColumns = 4;          // without a heading that names the columns
inline constexpr std::uint64_t kMaxNamedColumns = 1024;  // with one

/// Returns the position, from 1, of a named column of an edge list: 1 for sources, 2 for targets, 3 for weights; 0 for other names.
inline std::size_t expected_column(std::string_view name) {
  std::string word;
  for (const char c : name)
    if (c != '_' && c != ' ') word += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  constexpr std::array<std::array<std::string_view, 7>, 3> kNames{
      {{"source", "src", "from", "fromnodeid", "fromid", "node1", "vertex1"},
       {"target", "dst", "to", "tonodeid", "toid", "node2", "vertex2"},
       {"weight", "w", "value", "cost", "distance", "length", "capacity"}}};
  for (std::size_t place = 0; place < kNames.size(); ++place)
    for (const auto known : kNames[place])
      if (word == known) return place + 1;
  return 0;
}

/// Returns true if the third cell of a row of an edge list is a number, which may be a weight.
inline bool is_third_a_number(std::string_view row, char separator) {
  TableCells cells(row, separator);
  for (int c = 0; c < 3; ++c)
    if (!cells.next()) return false;
  return cell_kind(cells.cell()) == CellKind::number;
}

/// Chooses the columns of an edge list by the names in its heading, if it names both ends. A third column of numbers has the weights,
/// whatever its name, if no other column is named so. @param below  the row below the heading @return what each column holds, as
/// Preface::roles; empty if the heading does not name both ends, or the columns are in their usual order
/// @throws PlacedError for a heading that names something twice
inline std::vector<std::uint8_t> choose_columns(const std::string& path, std::uint64_t line,
                                                const std::vector<std::string>& names, std::string_view below,
                                                char separator) {
  std::vector<std::uint8_t> roles(names.size(), 3);
  std::array<std::size_t, 3> column{};  // from 1; 0: none
  for (std::size_t c = 0; c < names.size(); ++c) {
    const std::size_t place = expected_column(names[c]);
    if (place == 0) continue;
    if (column[place - 1] != 0)
      throw PlacedError(0, path + ": line " + std::to_string(line) + ": heading, columns " +
                               std::to_string(column[place - 1]) + " " + quote(names[column[place - 1] - 1]) + " and " +
                               std::to_string(c + 1) + " " + quote(names[c]) + "; allowed: one of them");
    column[place - 1] = c + 1;
    roles[c] = static_cast<std::uint8_t>(place - 1);
  }
  if (column[0] == 0 || column[1] == 0) return {};
  const bool ends_first = std::max(column[0], column[1]) == 2;
  const bool third_is_weight = column[2] == 3 || (column[2] == 0 && is_third_a_number(below, separator));
  if (ends_first && names.size() <= kMaxColumns && (names.size() == 2 || third_is_weight)) return {};
  if (names.size() > kMaxNamedColumns)
    throw PlacedError(0, path + ": line " + std::to_string(line) + ": heading of " + std::to_string(names.size()) +
                             " columns; allowed: at most " + std::to_string(kMaxNamedColumns));
  return roles;
}

/// Checks by the heading of an edge list that the columns of ends come before the column of weights. @throws
/// PlacedError if not
inline void check_order(const std::string& path, std::uint64_t line, const std::vector<std::string>& names) {
  for (std::size_t c = 0; c < names.size(); ++c) {
    const std::size_t place = expected_column(names[c]);
    if (place != 0 && (place == 3) != (c == 2))  // both ends may be in either order
      throw PlacedError(0, path + ": line " + std::to_string(line) + ": heading, column " + std::to_string(c + 1) +
                               " " + quote(names[c]) + "; allowed: both ends of an edge first, then its weight");
  }
}

/// Returns the number of cells between the tabs of a row of names, which may be of several words; 0 if tabs do not separate them: there
/// are none outside of quotes, or commas stand beside them.
inline std::uint64_t count_between_tabs(std::string_view first, std::string_view second) {
  std::uint64_t cells = 0;
  bool last_is_empty = false;
  TableCells walk(first, '\t');
  for (; walk.next(); ++cells) {
    const std::string_view cell = walk.cell();
    if (!walk.is_quoted() && (cell.starts_with(',') || cell.ends_with(',') || cell.find('"') != std::string_view::npos))
      return 0;
    last_is_empty = cell.empty() && !walk.is_quoted();
  }
  const auto ends_with_tab = [](std::string_view row) { return trimmed(row, " ").ends_with('\t'); };
  if (cells > 1 && last_is_empty && (second.empty() || ends_with_tab(second)))
    --cells;  // a tab at the end of every row
  return cells > 1 && !walk.is_malformed() ? cells : 0;
}

/// Determines the heading of an edge list with names of vertices, whose separator is known: any text may be an edge, so that a heading
/// is one only if it names both ends (source, target and the like).
inline void find_named_heading(std::string_view first, TableStart& start) {
  std::array<bool, 2> ends{};
  std::vector<std::string> names;
  std::size_t number_at = 0;  // column of a number, from 1; 0: none
  for (TableCells walk(first, start.dialect.separator); names.size() < start.dialect.columns && walk.next();) {
    names.push_back(one_line(walk.cell(), 40));
    if (const std::size_t place = expected_column(walk.cell()); place == 1 || place == 2) ends[place - 1] = true;
    if (number_at == 0 && cell_kind(walk.cell()) == CellKind::number) number_at = names.size();
  }
  const bool heading = ends[0] && ends[1];
  if (heading && start.dialect.heading) {
    start.names = std::move(names);
    return;
  }
  start.dialect.heading = false;
  start.names.clear();
  start.refusal.clear();
  if (heading && number_at != 0)
    start.refusal = "column " + std::to_string(number_at) + ": " + quote(names[number_at - 1]) +
                    ", a number among names of columns; allowed: a heading of names alone, or none";
}

/// Determines separator and heading of an edge list from its first two rows. Names of vertices may be of several words, so that with
/// them tabs separate wherever they stand.
inline TableStart find_start(std::string_view first, std::string_view second, bool named) {
  TableStart start = find_dialect(first, second);
  if (!named) return start;
  if (start.dialect.separator != ';' && start.dialect.separator != '\t') {
    if (const std::uint64_t cells = count_between_tabs(first, second); cells > 0) {
      start = {};
      start.dialect = {'\t', true, cells};
      for (TableCells walk(first, '\t'); walk.next();)
        if (cell_kind(walk.cell()) == CellKind::number) start.dialect.heading = false;
    }
  }
  find_named_heading(first, start);
  return start;
}

}  // namespace merganser::graphs::detail
