#pragma once
/// Text files, plain or compressed, shared among ranks in pieces of whole lines.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "src/graphs/files/disk.hpp"
#include "src/graphs/files/words.hpp"

namespace merganser::graphs::detail {

/// Consecutive whole lines.
struct Piece {
  std::string_view text;
  std::uint64_t offset = 0;    ///< of the first byte, in the text (decompressed)
  std::uint64_t line = 0;      ///< number of the first line, from 1; 0: not known
  std::uint64_t comments = 0;  ///< lines before it whose first word begins with '%'; with `line` only
};

class Text {
 public:
  virtual ~Text() = default;
  /// Opens a file; one that begins as gzip does is decompressed. Collective.
  /// @throws InputError on every rank for what is no text by its beginning, too: packed otherwise, UTF-16, lines that end with CR
  static std::unique_ptr<Text> open(const std::string& path, comm::Transport& transport);

  [[nodiscard]] const std::string& path() const { return path_; }
  /// The beginning of the text, the same on every rank; blanks stand for a byte order mark.
  [[nodiscard]] const std::string& head() const { return head_; }
  /// Offset of the first line, behind a byte order mark.
  [[nodiscard]] std::uint64_t start() const { return start_; }
  [[nodiscard]] bool compressed() const { return compressed_; }
  /// Bytes on the disk.
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

  struct Each {
    std::uint64_t begin = 0;                         ///< bytes before it are left out; it begins a line
    bool numbered = false;                           ///< pieces have `line` and `comments`
    std::uint64_t longest = std::uint64_t{1} << 20;  ///< line, in bytes
  };
  /// Hands every line of the text to some rank: consecutive ones to each, in order. Collective; an error that `use`
  /// throws on any rank is thrown on all.
  void each(Each how, const std::function<void(const Piece&)>& use) {
    how.begin = std::max(how.begin, start_);
    each_from(how, use);
  }

  /// @throws PlacedError "path: line 3: what" @param at  offset of the line in the text
  [[noreturn]] void fail(const Piece& piece, std::uint64_t at, const std::string& what) const;

 protected:
  virtual void each_from(const Each& how, const std::function<void(const Piece&)>& use) = 0;
  /// Takes a beginning that is that of a text. @throws InputError for another
  void take_head(std::string head);
  Text(std::string path, comm::Transport& transport) : path_(std::move(path)), transport_(transport) {}
  /// Number of the line at an offset; 0 where finding out would take long.
  [[nodiscard]] virtual std::uint64_t line_at(std::uint64_t offset) const = 0;

  std::string path_;
  comm::Transport& transport_;
  std::string head_;
  std::uint64_t start_ = 0;  ///< offset behind a byte order mark
  bool compressed_ = false;
  std::uint64_t file_bytes_ = 0;
};

/// First bytes of a text file on this rank alone, decompressed; blanks stand for a byte order mark.
/// @throws InputError for what is no text, too
[[nodiscard]] std::string head_of(const std::string& path);
/// Refuses a packed file, one packed by gzip too. Local. @throws InputError
void check_unpacked(const std::string& path);
/// First bytes of any file on this rank alone, decompressed. @throws InputError for other packings than gzip
[[nodiscard]] std::string any_head_of(const std::string& path);
inline constexpr std::size_t kHeadBytes = std::size_t{1} << 16;

/// A decompressor on one rank. Without zlib its constructor throws.
class Inflater {
 public:
  virtual ~Inflater() = default;
  /// @return bytes; fewer than asked only at the end. @throws InputError for spoiled data
  virtual std::size_t read(char* to, std::size_t bytes) = 0;
};
/// @throws InputError where this build has no zlib
[[nodiscard]] std::unique_ptr<Inflater> open_gzip(const std::string& path);

}  // namespace merganser::graphs::detail
