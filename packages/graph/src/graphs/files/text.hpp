#pragma once
/// Parallel reading of text files, plain or compressed: distributed over ranks in pieces of whole lines.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "src/graphs/files/disk.hpp"
#include "src/graphs/files/words.hpp"

namespace merganser::graphs::detail {

/// Piece of a text graph file: consecutive whole lines that one rank parses.
struct Piece {
  std::string_view text;       ///< the lines, with their ends
  std::uint64_t offset = 0;    ///< offset of the first byte in the (decompressed) text
  std::uint64_t line = 0;      ///< number of the first line in the file, from 1; 0: not known
  std::uint64_t comments = 0;  ///< lines before the piece whose first word begins with '%'; with `line` only
};

/// Text graph file, plain or compressed (decompressor.hpp), that is open on all ranks: its lines are distributed over the ranks, of a
/// compressed file by rank 0.
class Text {
 public:
  virtual ~Text() = default;
  /// Opens a text graph file; one that begins with the signature of a compression is decompressed. Collective.
  /// @throws InputError on every rank if it cannot be read, or its beginning is no text: an archive, UTF-16, lines
  /// that end with CR
  static std::unique_ptr<Text> open(const std::string& path, comm::Transport& transport);

  /// Returns the path of the graph file.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Returns up to kHeadBytes bytes of the beginning of the text, the same on every rank; blanks replace a byte order mark.
  [[nodiscard]] const std::string& head() const { return head_; }
  /// Returns the offset of the first line of the text: the length of a byte order mark, if there is one.
  [[nodiscard]] std::uint64_t start() const { return start_; }
  /// Returns true if the graph file is compressed.
  [[nodiscard]] bool compressed() const { return compressed_; }
  /// Returns the size of the graph file on disk, in bytes (compressed, if it is).
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

  /// Parameters of the distribution of a text file's lines over ranks by for_each_piece().
  struct Each {
    std::uint64_t begin = 0;                         ///< offset of the first line that is read
    bool numbered = false;                           ///< pieces have `line` and `comments`
    std::uint64_t longest = std::uint64_t{1} << 20;  ///< longest line allowed, in bytes
  };
  /// Distributes the lines of the text file over ranks: calls `use` with pieces, every line on one rank and in ascending order on
  /// each. Collective; an error that `use` throws on any rank is thrown on all.
  void for_each_piece(Each how, const std::function<void(const Piece&)>& use) {
    how.begin = std::max(how.begin, start_);
    each_from(how, use);
  }

  /// Throws the error of a line of a text graph file. @param at  offset of a line of the piece in the text
  /// @throws PlacedError "path: line 3: what"
  [[noreturn]] void fail(const Piece& piece, std::uint64_t at, const std::string& what) const;

 protected:
  /// Distributes the lines from `how.begin` on (at or behind start()) over ranks: the implementation of for_each_piece().
  /// Collective.
  virtual void each_from(const Each& how, const std::function<void(const Piece&)>& use) = 0;
  /// Checks and stores `head`, the beginning of the text file. Local. @throws InputError if it is no text
  void set_head(std::string head);
  Text(std::string path, comm::Transport& transport) : path_(std::move(path)), transport_(transport) {}
  /// Returns the number of the line at an offset of the text, from 1, for errors; 0 if counting would take too long. Local.
  [[nodiscard]] virtual std::uint64_t line_at(std::uint64_t offset) const = 0;

  std::string path_;
  comm::Transport& transport_;
  std::string head_;
  std::uint64_t start_ = 0;  ///< offset behind a byte order mark
  bool compressed_ = false;
  std::uint64_t file_bytes_ = 0;
};

/// Reads the first bytes of a text file, decompressed; blanks replace a byte order mark. Local.
/// @throws InputError if it cannot be read or is no text
[[nodiscard]] std::string read_text_head(const std::string& path);
/// Checks that a file is not compressed, as binary formats must not be. Local. @throws InputError if it is
void check_unpacked(const std::string& path);
/// Reads the first bytes of a graph file in any format, decompressed. Local. @throws InputError for compressions that are not read
[[nodiscard]] std::string read_head(const std::string& path);
/// Length of the beginning of a file that formats and headers are determined from, in bytes.
inline constexpr std::size_t kHeadBytes = std::size_t{1} << 16;

}  // namespace merganser::graphs::detail
