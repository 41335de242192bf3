#pragma once
/// What the readers of graph files share.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/graphs/process_graph.hpp"
#include "src/graphs/files/disk.hpp"

namespace merganser::graphs::detail {

/// Where in a file something stands.
struct Place {
  std::string_view unit;  ///< "line" or "offset"
  std::uint64_t number = 0;
};
[[noreturn]] void fail_at(const std::string& path, Place place, const std::string& what);

/// A text line by line, without its line ends.
class Lines {
 public:
  explicit Lines(std::string_view text) : text_(text) {}
  /// @return false at the end
  bool next() {
    if (at_ >= text_.size()) return false;
    const auto end = std::min(text_.find('\n', at_), text_.size());
    line_ = text_.substr(at_, end - at_);
    if (!line_.empty() && line_.back() == '\r') line_.remove_suffix(1);
    at_ = end + 1;
    ++number_;
    return true;
  }
  [[nodiscard]] std::string_view line() const { return line_; }
  [[nodiscard]] Place place() const { return {"line", number_}; }
  /// First character that is not blank; 0 if there is none.
  [[nodiscard]] char first() const {
    const auto at = line_.find_first_not_of(" \t");
    return at == std::string_view::npos ? '\0' : line_[at];
  }

 private:
  std::string_view text_;
  std::string_view line_;
  std::size_t at_ = 0;
  std::uint64_t number_ = 0;
};

/// Pieces between blanks.
void split_blanks(std::string_view text, std::vector<std::string_view>& pieces);

/// Reads numbers at one place of a file; what is not allowed is an error that names it.
class PlacedNumbers {
 public:
  PlacedNumbers(const std::string& path, Place place) : path_(path), place_(place) {}
  /// @param what  as "rank", for the message
  [[nodiscard]] std::int64_t integer(std::string_view text, std::string_view what, std::int64_t low,
                                     std::int64_t high) const;
  [[nodiscard]] double weight(std::string_view text) const;
  void check_weight(double weight) const;

 private:
  const std::string& path_;
  Place place_;
};

/// Collects arcs in any order and makes the graph. @throws InputError for loops and arcs that stand twice
class ArcList {
 public:
  explicit ArcList(const std::string& path, std::string_view unit) : path_(path), unit_(unit) {}
  void add(int from, int to, double bytes, std::uint64_t place);
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
    std::uint64_t place;
  };
  const std::string& path_;
  std::string_view unit_;
  std::vector<Entry> arcs_;
  int largest_ = -1;
};

/// Ranks that a file may speak of without a line or number for each.
inline std::int64_t most_ranks(std::size_t file_bytes) {
  return std::max<std::int64_t>(std::int64_t{1} << 20,
                                std::min<std::int64_t>(static_cast<std::int64_t>(file_bytes), 2147483647));
}

}  // namespace merganser::graphs::detail
