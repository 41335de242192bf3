#pragma once
/// What the readers of process graphs share.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs::detail {

/// A file in memory, and errors that name a place in it.
class FileBytes {
 public:
  enum class Places : std::uint8_t { lines, offsets };
  /// Both texts outlive it.
  FileBytes(const std::string& path, std::string_view bytes, Places places = Places::lines)
      : path_(path), bytes_(bytes), places_(places) {}

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  /// The line that begins at an offset, without its end.
  [[nodiscard]] std::string_view line(std::uint64_t at) const;
  /// "line 3" or "offset 40"; the end of a text is in its last line. Cost: reads the text up to there.
  [[nodiscard]] std::string place(std::uint64_t at) const;
  /// @throws InputError "path: line 3: what"
  [[noreturn]] void fail(std::uint64_t at, const std::string& what) const;

  // A word at a place as a number; what is not allowed is an error.
  /// @param what  as "rank", for the message
  [[nodiscard]] std::int64_t integer(std::uint64_t at, std::string_view word, std::string_view what, std::int64_t low,
                                     std::int64_t high) const;
  /// The same for a number that is read already.
  void check(std::uint64_t at, std::uint64_t value, std::string_view what, std::uint64_t low, std::uint64_t high) const;
  [[nodiscard]] double weight(std::uint64_t at, std::string_view word) const;
  void check_weight(std::uint64_t at, double weight) const;

 private:
  const std::string& path_;
  std::string_view bytes_;
  Places places_;
};

/// Collects arcs in any order and makes the graph. @throws InputError for loops and arcs that stand twice
class ArcList {
 public:
  explicit ArcList(const FileBytes& file) : file_(file) {}
  /// @param at  offset of the line or number that says so
  void add(int from, int to, double bytes, std::uint64_t at);
  [[nodiscard]] std::size_t size() const { return arcs_.size(); }
  /// Largest rank of an arc; -1 without arcs.
  [[nodiscard]] int largest() const { return largest_; }
  /// @throws InputError for an arc to or from a rank that is not below `ranks`
  void check(int ranks) const;
  /// Ranks of all arcs are below `ranks`.
  /// @param base  what the file calls rank 0, for messages
  [[nodiscard]] ProcessGraph graph(int ranks, int base);

 private:
  struct Entry {
    int from;
    int to;
    double bytes;
    std::uint64_t at;
  };
  const FileBytes& file_;
  std::vector<Entry> arcs_;
  int largest_ = -1;
};

/// N of a comment "# ranks N"; empty for other lines.
[[nodiscard]] std::string_view rank_comment(std::string_view line);

/// Ranks that a file may speak of without a line or number for each.
inline std::int64_t most_ranks(std::size_t file_bytes) {
  return std::max<std::int64_t>(std::int64_t{1} << 20,
                                std::min<std::int64_t>(static_cast<std::int64_t>(file_bytes), 2147483647));
}

}  // namespace merganser::graphs::detail
