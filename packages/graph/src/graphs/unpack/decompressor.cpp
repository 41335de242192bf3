// Decompression of files: compressions by their first bytes, and the walk over the compressed streams of a file, which the decoder
// of the library decodes.
#include "merganser/graphs/decompressor.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "merganser/base/text_table.hpp"
#include "src/graphs/files/disk.hpp"
#include "src/graphs/unpack/decoder.hpp"

namespace merganser::graphs {
namespace {

using namespace std::string_view_literals;
using namespace detail;

/// Compression of files: how it is recognised, and what decodes it.
struct KnownCompression {
  Compression compression;
  std::string_view signature;  ///< first bytes of a file
  std::string_view extension;  ///< of file names
  const char* name;            ///< for errors
  const char* library;         ///< that decodes it, for errors
  const char* package;         ///< of Debian, with the library
  std::unique_ptr<Decoder> (*make)();
};
constexpr std::array kCompressions{
    KnownCompression{Compression::gzip, "\x1f\x8b"sv, ".gz"sv, "gzip", "zlib", "zlib1g-dev", make_gzip_decoder},
    KnownCompression{Compression::bzip2, "BZh"sv, ".bz2"sv, "bzip2", "libbz2", "libbz2-dev", make_bzip2_decoder},
    KnownCompression{Compression::xz, "\xfd\x37zXZ\0"sv, ".xz"sv, "xz", "liblzma", "liblzma-dev", make_xz_decoder},
    KnownCompression{Compression::zstd, "\x28\xb5\x2f\xfd"sv, ".zst"sv, "Zstandard", "libzstd", "libzstd-dev",
                     make_zstd_decoder},
};

/// Decompressor of a file by the decoder of its compression.
class FileDecompressor final : public Decompressor {
 public:
  /// Opens the file and prepares the decoder. @throws InputError
  explicit FileDecompressor(const std::string& path) : file_(path), buffer_(kBuffer) {
    refill();
    const Compression found = find_compression({buffer_.data(), filled_});
    const auto known = std::find_if(kCompressions.begin(), kCompressions.end(),
                                    [&](const KnownCompression& k) { return k.compression == found; });
    if (known == kCompressions.end())
      throw InputError(path + ": not compressed; allowed: files of gzip, bzip2, xz or Zstandard");
    name_ = known->name;
    decoder_ = known->make();
    if (!decoder_)
      throw InputError(path + ": compressed with " + known->name + ", and this build has no " + known->library +
                       " (Debian: " + known->package + "); allowed: plain text, decompress it first");
    decoder_->restart();
  }

  /// Reads the next decompressed bytes. @throws PlacedError for spoiled data
  std::size_t read(char* to, std::size_t bytes) override {
    std::size_t done = 0;
    while (done < bytes && (!between_ || begin_stream())) {
      if (taken_ == filled_) refill();
      const auto step = decoder_->step({buffer_.data() + taken_, filled_ - taken_}, {to + done, bytes - done});
      taken_ += step.taken;
      done += step.made;
      if (!step.error.empty()) refuse(step.error);
      if (!step.ended && step.taken == 0 && step.made == 0) refuse_end();
      between_ = step.ended;
    }
    return done;
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 17;

  /// Replaces the compressed bytes in memory, all of which are used up, by the next ones of the file.
  void refill() {
    offset_ += filled_;
    taken_ = 0;
    filled_ = file_.read(offset_, buffer_.data(), buffer_.size());
  }
  /// Begins the next compressed stream behind the end of another; zeros in between fill blocks of xz files and of tapes. @return
  /// false at the end of the file
  bool begin_stream() {
    for (;;) {
      while (taken_ < filled_ && buffer_[taken_] == '\0') ++taken_;
      if (taken_ < filled_) break;
      refill();
      if (filled_ == 0) return false;
    }
    decoder_->restart();
    between_ = false;
    return true;
  }
  /// Throws the error of data that the decoder refuses. @throws PlacedError
  [[noreturn]] void refuse(const std::string& why) const {
    throw PlacedError(
        0, file_.path() + ": byte " + std::to_string(offset_ + taken_) + ": spoiled " + name_ + " data (" + why + ")");
  }
  /// Throws the error of a decoder that goes no further: the file has ended, or the decoder does nothing. @throws PlacedError
  [[noreturn]] void refuse_end() const { refuse(taken_ == filled_ ? "it ends too early" : "nothing comes out"); }

  File file_;
  std::vector<char> buffer_;
  std::uint64_t offset_ = 0;  ///< of the buffer in the file
  std::size_t filled_ = 0;    ///< bytes in the buffer
  std::size_t taken_ = 0;     ///< bytes of the buffer that are decoded
  bool between_ = false;      ///< a compressed stream has ended, and the next one has not begun
  std::string name_;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace

Compression find_compression(std::string_view head) {
  for (const KnownCompression& known : kCompressions)
    if (head.starts_with(known.signature) && (known.compression != Compression::bzip2 || begins_as_bzip2(head)))
      return known.compression;
  return Compression::none;
}

std::string_view without_compression(std::string_view path) {
  for (const KnownCompression& known : kCompressions)
    if (path.ends_with(known.extension)) return path.substr(0, path.size() - known.extension.size());
  return path;
}

std::unique_ptr<Decompressor> Decompressor::open(const std::string& path) {
  return std::make_unique<FileDecompressor>(path);
}

}  // namespace merganser::graphs
