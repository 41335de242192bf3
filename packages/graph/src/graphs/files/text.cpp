// Parallel reading of text graph files: plain ones by ranges of bytes, compressed ones by distribution of lines from rank 0.
#include "src/graphs/files/text.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/base/text_table.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/graphs/decompressor.hpp"

namespace merganser::graphs::detail {
namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;     ///< bytes of a text file read at once
constexpr std::size_t kLineRoom = std::size_t{1} << 16;  ///< bytes for the beginning of a line, before it is enlarged
constexpr std::uint64_t kCountedBytes = std::uint64_t{1} << 28;  ///< most bytes read to find the number of a line

/// Returns the number of line feeds in a text, as count_lines(), in loops that compilers make vectors of.
std::uint64_t count_line_feeds(std::string_view text) {
  constexpr std::size_t kLanes = 64, kRounds = 255;  // a count in a byte holds that many
  std::uint64_t count = 0;
  while (text.size() >= kLanes) {
    std::array<std::uint8_t, kLanes> counts{};
    const std::size_t rounds = std::min(kRounds, text.size() / kLanes);
    for (std::size_t round = 0; round < rounds; ++round)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        counts[lane] = static_cast<std::uint8_t>(counts[lane] + (text[round * kLanes + lane] == '\n' ? 1 : 0));
    for (const std::uint8_t c : counts) count += c;
    text.remove_prefix(rounds * kLanes);
  }
  return count + count_lines(text);
}

/// Counts the comments of a METIS file in a piece of text: lines whose first word begins with '%'.
std::uint64_t comments_in(std::string_view text) {
  if (text.find('%') == std::string_view::npos) return 0;  // as nearly always
  std::uint64_t count = 0;
  for (std::size_t at = 0; at < text.size();) {
    while (at < text.size() && Words::is_separator(text[at])) ++at;
    if (at == text.size()) break;
    count += text[at] == '%' ? 1U : 0U;
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return count;
}

/// Numbers of lines and of comment lines of a text graph file before a piece of it, from which its lines are numbered.
struct LineCounts {
  std::uint64_t lines = 0;
  std::uint64_t comments = 0;
};

/// Checks that the beginning of a graph file is text, and replaces a byte order mark by blanks. Local. @return the length of the
/// mark
/// @throws InputError for UTF-16, archives, and lines that end with CR alone
std::uint64_t check_text(const std::string& path, std::string& head) {
  if (const auto what = foreign_text(head); !what.empty()) throw InputError(path + ": " + what);
  for (auto at = head.find('\r'); at != std::string::npos && at + 1 < head.size(); at = head.find('\r', at + 1)) {
    if (head[at + 1] == '\n') continue;
    throw InputError(path + ": line " + std::to_string(1 + count_lines(std::string_view(head).substr(0, at))) + ": " +
                     std::string(kBareReturnText));
  }
  if (!head.starts_with(kUtf8Mark)) return 0;
  head.replace(0, kUtf8Mark.size(), kUtf8Mark.size(), ' ');
  return kUtf8Mark.size();
}

/// Returns true if the first bytes of a file are the signature of a compression.
bool is_compressed(std::string_view head) { return find_compression(head) != Compression::none; }

/// Graph file that open_with_head() has opened, and its first bytes, unchanged.
struct OpenedFile {
  std::unique_ptr<File> file;
  std::string head;
};

/// Opens a graph file and reads its first kHeadBytes bytes, not decompressed. Local. @throws InputError if it cannot be read
OpenedFile open_with_head(const std::string& path) {
  OpenedFile begun{std::make_unique<File>(path), {}};
  begun.head.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kHeadBytes, begun.file->size())));
  begun.head.resize(begun.file->read(0, begun.head.data(), begun.head.size()));
  return begun;
}

/// Returns the first kHeadBytes bytes of a compressed file, decompressed. Local. @throws InputError if it cannot be read
std::string read_decompressed_head(const std::string& path) {
  std::string head(kHeadBytes, '\0');
  head.resize(Decompressor::open(path)->read(head.data(), head.size()));
  return head;
}

/// Uncompressed text graph file: each rank reads the lines that begin in its share of the bytes.
class PlainText final : public Text {
 public:
  /// Takes the file that this rank has opened, and checks that its beginning is text. Collective. @throws InputError on every rank
  PlainText(OpenedFile begun, comm::Transport& transport)
      : Text(begun.file->path(), transport), file_(std::move(begun.file)) {
    agree_first(transport, [&] { set_head(std::move(begun.head)); });
    file_bytes_ = file_->size();
  }

 private:
  /// Calls `use` with this rank's lines of the plain text file in pieces; numbered ones are read twice. Collective.
  void each_from(const Each& how, const std::function<void(const Piece&)>& use) override {
    LineCounts before;
    if (how.numbered) {
      if (transport_.size() > 1) before = count_before(how);
      if (transport_.rank() == 0) {
        before.lines = count_lines(std::string_view(head_).substr(0, how.begin));
        before.comments = comments_in(std::string_view(head_).substr(0, how.begin));
      }
    }
    agree_first(transport_, [&] {
      walk(how, [&](Piece piece) {
        if (how.numbered) {
          piece.line = before.lines + 1;
          piece.comments = before.comments;
          before.lines += count_line_feeds(piece.text);
          before.comments += comments_in(piece.text);
        }
        use(piece);
      });
    });
  }

  /// Returns the numbers of lines and comments of the plain text file before this rank's lines, from which the reader of METIS files
  /// takes vertices; the other ranks' lines are read for it once more, each by its rank. Rank 0 gets no count of the lines before
  /// `how.begin`. Collective.
  LineCounts count_before(const Each& how) {
    LineCounts mine;
    agree_first(transport_, [&] {
      walk(how, [&](const Piece& piece) {
        mine.lines += count_line_feeds(piece.text) + (piece.text.ends_with('\n') ? 0 : 1);
        mine.comments += comments_in(piece.text);
      });
      if (how.begin > 0 && transport_.rank() == 0) {
        mine.lines += count_lines(std::string_view(head_).substr(0, how.begin));
        mine.comments += comments_in(std::string_view(head_).substr(0, how.begin));
      }
    });
    const auto all = comm::all_gather_value(transport_, mine);
    LineCounts before;
    for (std::size_t rank = 0; rank < static_cast<std::size_t>(transport_.rank()); ++rank) {
      before.lines += all[rank].lines;
      before.comments += all[rank].comments;
    }
    return before;
  }

  /// Returns the number of the line at an offset of the plain text file, from 1, by reading all bytes before; 0 beyond
  /// kCountedBytes. Local; for errors.
  [[nodiscard]] std::uint64_t line_at(std::uint64_t offset) const override {
    if (offset > kCountedBytes) return 0;
    std::uint64_t line = 1;
    std::string buffer(static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, offset)), '\0');
    for (std::uint64_t at = 0; at < offset;) {
      const std::size_t got =
          file_->read(at, buffer.data(), static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), offset - at)));
      if (got == 0) break;
      line += count_lines(std::string_view(buffer).substr(0, got));
      at += got;
    }
    return line;
  }

  /// Returns the offset of the first line of the plain text file that begins at or after `offset` (and not before `lowest`).
  [[nodiscard]] std::uint64_t line_begin(std::uint64_t offset, std::uint64_t lowest) const {
    if (offset <= lowest) return lowest;
    std::string buffer(4096, '\0');
    for (std::uint64_t at = offset - 1;;) {
      const std::size_t got = file_->read(at, buffer.data(), buffer.size());
      if (got == 0) return file_->size();
      const std::size_t end = std::string_view(buffer).substr(0, got).find('\n');
      if (end != std::string_view::npos) return at + end + 1;
      at += got;
      buffer.resize(kChunk);
    }
  }

  /// Calls `use` with the lines of the plain text file that begin in this rank's share of the bytes, in pieces of whole lines. A
  /// line that spans the end of the share belongs to this rank. Local.
  void walk(const Each& how, const std::function<void(const Piece&)>& use) const {
    const std::uint64_t bytes = file_->size() - std::min(how.begin, file_->size());
    const auto ranks = static_cast<std::uint64_t>(transport_.size());
    const auto rank = static_cast<std::uint64_t>(transport_.rank());
    const auto part = [&](std::uint64_t r) { return how.begin + bytes / ranks * r + std::min(r, bytes % ranks); };
    const std::uint64_t end = part(rank + 1);
    std::uint64_t at = line_begin(part(rank), how.begin);
    RawBuffer buffer(kChunk + kLineRoom);
    std::size_t had = 0;  // bytes at the beginning of the buffer: a line without its end
    while (at < end) {
      const std::uint64_t rest = file_->size() - std::min(file_->size(), at + had);
      const auto ask = static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, rest));
      if (had + ask > buffer.bytes()) buffer = enlarged(buffer, had, 2 * (had + ask));
      char* const begin = reinterpret_cast<char*>(buffer.data());
      const std::size_t got = file_->read(at + had, begin + had, ask);
      const std::string_view text(begin, had + got);
      std::size_t cut = std::string::npos;  // behind the last line that begins before `end`
      if (end - 1 - at < text.size()) cut = text.find('\n', end - 1 - at);
      const bool last = cut != std::string::npos || got < ask || ask == rest;
      if (cut != std::string::npos)
        ++cut;
      else
        cut = last ? text.size() : text.rfind('\n') + 1;
      if (cut == 0 && !last && text.size() > how.longest) too_long(at, how.longest);
      if (cut > 0) use({text.substr(0, cut), at, 0, 0});
      if (last) break;
      at += cut;
      had = text.size() - cut;
      std::memmove(begin, begin + cut, had);
    }
  }
  /// Returns a larger buffer with the first `used` bytes of another. Local.
  static RawBuffer enlarged(const RawBuffer& buffer, std::size_t used, std::size_t bytes) {
    RawBuffer larger(bytes);
    std::memcpy(larger.data(), buffer.data(), used);
    return larger;
  }
  /// Throws the error of a line that is longer than the format allows. @throws PlacedError at its first byte
  [[noreturn]] void too_long(std::uint64_t at, std::uint64_t longest) const {
    fail_at_byte(path_, at, "a line of more than " + std::to_string(longest) + " bytes; allowed: at most that");
  }

  std::unique_ptr<File> file_;
};

/// Text graph file that is compressed. A compressed stream cannot be entered in the middle, so rank 0 decompresses the text and
/// distributes its lines, in each round a block to every rank.
class CompressedText final : public Text {
 public:
  /// Takes a compressed file, and checks that its decompressed beginning is text. Collective. @throws InputError on every rank
  CompressedText(const File& file, comm::Transport& transport) : Text(file.path(), transport) {
    compressed_ = true;
    file_bytes_ = file.size();
    agree_first(transport, [&] { set_head(read_decompressed_head(path_)); });
  }

 private:
  /// Calls `use` with the lines that rank 0 sends to this rank. Collective.
  void each_from(const Each& how, const std::function<void(const Piece&)>& use) override {
    agree_first(transport_, [&] { distribute_lines(how, use); });
  }

  /// Header of a block of lines that rank 0 sends: offset and number of its first line in the decompressed text, comment lines
  /// before it; more: 1 if another round follows.
  struct BlockHeader {
    std::uint64_t offset, line, comments, more;
  };

  // Lines of compressed texts are always numbered (Piece::line), so that this is never needed.
  [[nodiscard]] std::uint64_t line_at(std::uint64_t) const override { return 0; }

  /// Distributes the decompressed lines from rank 0 to all ranks in rounds of one all-to-all exchange each. Collective. An error of
  /// this rank is thrown only after the last round, since the other ranks are in the exchanges until then.
  void distribute_lines(const Each& how, const std::function<void(const Piece&)>& use) {
    std::exception_ptr error;
    const auto keep = [&](const auto& f) {
      if (error) return;
      try {
        f();
      } catch (...) {
        error = std::current_exception();
      }
    };
    LineDistributor dealer{path_, how};
    for (bool more = true; more;) {
      std::vector<std::vector<std::byte>> out(static_cast<std::size_t>(transport_.size()));
      if (transport_.rank() == 0) {
        bool spoiled = false;  // decompression failed, so that no further round can distribute a line
        for (auto& block : out) {
          keep([&] { dealer.fill(block); });
          spoiled = spoiled || (error && block.empty());
          if (block.size() < sizeof(BlockHeader)) block.assign(sizeof(BlockHeader), std::byte{0});
        }
        const std::uint64_t goes_on = dealer.done || spoiled ? 0 : 1;
        for (auto& block : out) std::memcpy(block.data() + offsetof(BlockHeader, more), &goes_on, sizeof goes_on);
      }
      const auto in = transport_.all_to_all(out);
      BlockHeader label{};
      std::memcpy(&label, in[0].data(), sizeof label);
      more = label.more != 0;
      const std::string_view text(reinterpret_cast<const char*>(in[0].data()) + sizeof label,
                                  in[0].size() - sizeof label);
      if (!text.empty()) keep([&] { use({text, label.offset, label.line, label.comments}); });
    }
    if (error) std::rethrow_exception(error);
  }

  /// State of the distribution of a compressed file's lines on rank 0: decompressed text that is not distributed yet, and its place.
  struct LineDistributor {
    const std::string& path;                ///< path of the compressed file
    const Each& how;                        ///< first line and longest line allowed
    std::unique_ptr<Decompressor> input{};  ///< decompressor, opened at the first block
    std::string rest{};                     ///< decompressed text behind the last block
    std::uint64_t offset = 0, line = 1,
                  comments = 0;    ///< place of `rest`: offset, number of its first line, comments before
    std::size_t ask = kHeadBytes;  // more each time: most compressed files that are read are short
    bool done = false;

    /// Fills a block for one rank with a BlockHeader and the next whole lines of the decompressed text; after the end it stays
    /// empty.
    /// @throws InputError for corrupt data and lines that are too long
    void fill(std::vector<std::byte>& block) {
      if (done) return;
      if (!input) input = Decompressor::open(path);
      std::size_t cut = 0;
      while (cut == 0 && !done) {
        const std::size_t had = rest.size();
        if (had >= kChunk && had + kChunk > rest.capacity())  // a line that does not end
          check_memory(path, 4.0 * static_cast<double>(had + kChunk), 1,
                       "line " + std::to_string(line) + " has more than " + std::to_string(had) + " bytes");
        rest.resize(had + ask);
        const std::size_t got = input->read(rest.data() + had, ask);
        rest.resize(had + got);
        done = got < ask;
        ask = std::min(2 * ask, kChunk);
        cut = done ? rest.size() : rest.rfind('\n') + 1;
        if (cut == 0 && rest.size() > how.longest)
          throw PlacedError(offset, path + ": line " + std::to_string(line) + ": more than " +
                                        std::to_string(how.longest) + " bytes; allowed: at most that");
      }
      const std::string_view all(rest.data(), cut);
      const auto skip = static_cast<std::size_t>(std::min<std::uint64_t>(cut, how.begin - std::min(how.begin, offset)));
      const std::string_view text = all.substr(skip);
      const BlockHeader label{offset + skip, line + count_lines(all.substr(0, skip)),
                              comments + comments_in(all.substr(0, skip)), 0};
      block.resize(sizeof label + text.size());
      std::memcpy(block.data(), &label, sizeof label);
      if (!text.empty()) std::memcpy(block.data() + sizeof label, text.data(), text.size());
      offset += cut;
      line += count_line_feeds(all);
      comments += comments_in(all);
      rest.erase(0, cut);
    }
  };
};

}  // namespace

// Text of a graph file for its reader: the first bytes show if it is compressed.
std::unique_ptr<Text> Text::open(const std::string& path, comm::Transport& transport) {
  OpenedFile begun;
  agree_first(transport, [&] { begun = open_with_head(path); });
  if (is_compressed(begun.head)) return std::make_unique<CompressedText>(*begun.file, transport);
  return std::make_unique<PlainText>(std::move(begun), transport);
}

void Text::set_head(std::string head) {
  start_ = check_text(path_, head);
  head_ = std::move(head);
}

// Error of a reader at a line, or at a byte where counting the lines before would take too long.
void Text::fail(const Piece& piece, std::uint64_t at, const std::string& what) const {
  const std::uint64_t line =
      piece.line > 0 ? piece.line + count_lines(piece.text.substr(0, at - piece.offset)) : line_at(at);
  if (line == 0) fail_at_byte(path_, at, what);
  throw PlacedError(at, path_ + ": line " + std::to_string(line) + ": " + what);
}

// Check of graph files in binary formats, which are not decompressed.
void check_unpacked(const std::string& path) {
  if (const auto what = known_signature(open_with_head(path).head); !what.empty()) throw InputError(path + ": " + what);
}

// First bytes of a graph file, decompressed, from which its format is detected.
std::string read_head(const std::string& path) {
  std::string head = open_with_head(path).head;
  if (is_compressed(head)) return read_decompressed_head(path);
  if (const auto what = known_signature(head); !what.empty()) throw InputError(path + ": " + what);
  return head;
}

std::string read_text_head(const std::string& path) {
  std::string head = read_head(path);
  static_cast<void>(check_text(path, head));
  return head;
}

}  // namespace merganser::graphs::detail
