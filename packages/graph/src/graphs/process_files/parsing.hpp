#pragma once
/// Shared parts of the parsers of process graphs: errors that name a line or offset, checked numbers, a list of arcs.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/graphs/process_graph.hpp"

namespace merganser::graphs::detail {

/// Bytes of a whole process graph file in memory; the errors of its parser name a place in the file.
class FileBytes {
 public:
  /// Unit in which errors name places of a process graph file: lines of text, offsets of bytes.
  enum class Places : std::uint8_t { lines, offsets };
  /// Refers to the path and bytes of a process graph file, which must outlive this object.
  FileBytes(const std::string& path, std::string_view bytes, Places places = Places::lines)
      : path_(path), bytes_(bytes), places_(places) {}

  /// Returns the path of the process graph file.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Returns all bytes of the process graph file.
  [[nodiscard]] std::string_view bytes() const { return bytes_; }
  /// Returns the line of the process graph file that begins at an offset, without its end.
  [[nodiscard]] std::string_view line(std::uint64_t at) const;
  /// Returns the place of an offset of the process graph file, "line 3" or "offset 40"; the end of a text is in its last line.
  /// Cost: reads the text up to there.
  [[nodiscard]] std::string place(std::uint64_t at) const;
  /// Throws the error of a place in the process graph file. @throws InputError "path: line 3: what"
  [[noreturn]] void fail(std::uint64_t at, const std::string& what) const;

  /// Parses a whole number of [low, high] in a process graph file. @param at  its offset @param what  the quantity, as "rank", for
  /// the message
  /// @throws InputError for other words and numbers
  [[nodiscard]] std::int64_t integer(std::uint64_t at, std::string_view word, std::string_view what, std::int64_t low,
                                     std::int64_t high) const;
  /// Checks that a number of a process graph file is in [low, high]. @param at  its offset @param what  the quantity, for the
  /// message
  /// @throws InputError if it is not
  void check(std::uint64_t at, std::uint64_t value, std::string_view what, std::uint64_t low, std::uint64_t high) const;
  /// Parses the weight of a process graph's arc. @param at  its offset @throws InputError for a word that is no finite number >= 0
  [[nodiscard]] double weight(std::uint64_t at, std::string_view word) const;
  /// Checks the weight of a process graph's arc. @param at  its offset @throws InputError unless the weight is finite and >= 0
  void check_weight(std::uint64_t at, double weight) const;

 private:
  const std::string& path_;
  std::string_view bytes_;
  Places places_;
};

/// List of the arcs of a process graph file in any order, with their places in the file, from which the process graph is made.
class ProcessArcs {
 public:
  /// Creates an empty list; errors are reported as those of `file`, which must outlive the list.
  explicit ProcessArcs(const FileBytes& file) : file_(file) {}
  /// Adds an arc of the process graph. @param bytes  its weight @param at  offset of its line or number, for messages
  void add(int from, int to, double bytes, std::uint64_t at);
  /// Returns the number of arcs of the process graph added so far.
  [[nodiscard]] std::size_t size() const { return arcs_.size(); }
  /// Returns the largest rank at an end of an arc; -1 without arcs.
  [[nodiscard]] int largest() const { return largest_; }
  /// Checks that the ranks at the ends of all arcs are below `ranks`. @throws InputError naming the first arc whose ranks are not
  void check(int ranks) const;
  /// Returns the process graph of `ranks` ranks with the arcs added; the ranks of all arcs must be below `ranks`, as check()
  /// ensures.
  /// @param base  number of rank 0 in the file (0 or 1), for messages
  /// @throws InputError for loops and repeated arcs
  [[nodiscard]] ProcessGraph graph(int ranks, int base);

 private:
  /// Arc of a process graph file and its offset in the file.
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

/// Sink of parse_metis_rows() and parse_matrix_entries() that collects the arcs of a process graph file. Loops are left out.
class ArcSink {
 public:
  /// Rules by which entries of a METIS or Matrix Market file become arcs of a process graph.
  struct Rules {
    bool weighted = false;            ///< entries have weights; else each is 1
    bool both = false;                ///< an entry stands for both directions
    std::uint64_t most = UINT64_MAX;  ///< number of entries that the file announces
  };
  /// Adds arcs to `list`; the file and the list must outlive the sink.
  ArcSink(const FileBytes& file, ProcessArcs& list, const Rules& rules) : file_(file), list_(list), rules_(rules) {}

  /// Adds the arcs of an entry at offset `at` of the file, between ranks counted from 0. @throws InputError for a bad weight, and
  /// for more entries than the file announces
  void entry(std::uint64_t at, std::uint64_t from, std::uint64_t to, std::string_view weight);
  /// Throws the error of a line of the process graph file. @throws InputError "path: line 3: what"
  [[noreturn]] void fail(std::uint64_t at, const std::string& what) const { file_.fail(at, what); }
  /// Returns the number of entries passed to entry(), loops included.
  [[nodiscard]] std::uint64_t entries() const { return entries_; }

 private:
  const FileBytes& file_;
  ProcessArcs& list_;
  Rules rules_;
  std::uint64_t entries_ = 0;
};

/// Returns the word N of a comment "# ranks N" in a file of pairs, the number of ranks; an empty one for other lines.
[[nodiscard]] std::string_view rank_comment(std::string_view line);

/// Returns the largest number of ranks accepted from a file of `file_bytes` bytes that has no line or number for each: ranks
/// without arcs take no bytes, so a short file could announce any number of them and exhaust the memory.
inline std::int64_t max_ranks(std::size_t file_bytes) {
  return std::max<std::int64_t>(std::int64_t{1} << 20,
                                std::min<std::int64_t>(static_cast<std::int64_t>(file_bytes), 2147483647));
}

}  // namespace merganser::graphs::detail
