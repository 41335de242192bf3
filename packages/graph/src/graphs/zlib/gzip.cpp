// Decompression of graph files with zlib.
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/graphs/files/text.hpp"

namespace merganser::graphs::detail {
namespace {

/// Decompressor of a graph file by gzFile of zlib, which reads concatenated gzip members as one stream.
class Zlib final : public Inflater {
 public:
  /// Opens a gzip file. @throws InputError if it cannot be read
  explicit Zlib(const std::string& path) : path_(path), file_(::gzopen(path.c_str(), "rb")) {
    if (file_ == nullptr)
      throw InputError("cannot read " + path + ": " + std::strerror(errno) + "; allowed: a file that can be read");
    ::gzbuffer(file_, 1U << 17);
  }
  ~Zlib() override { ::gzclose(file_); }
  Zlib(const Zlib&) = delete;
  Zlib& operator=(const Zlib&) = delete;

  /// Reads up to `bytes` decompressed bytes of the graph file. @return bytes read; fewer only at the end. @throws PlacedError for
  /// corrupt or truncated gzip data
  std::size_t read(char* to, std::size_t bytes) override {
    std::size_t done = 0;
    while (done < bytes) {
      const int got = ::gzread(file_, to + done, static_cast<unsigned>(std::min<std::size_t>(bytes - done, 1U << 30)));
      if (got > 0) done += static_cast<std::size_t>(got);
      int code = Z_OK;
      const char* const why = ::gzerror(file_, &code);
      // gzread() returns fewer bytes at a truncated end, without an error; only gzerror() reports it.
      if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
        throw PlacedError(0, path_ + ": byte " + std::to_string(::gzoffset(file_)) + ": spoiled gzip data (" +
                                 (code == Z_BUF_ERROR ? "it ends too early" : why) + ")");
      }
      if (got == 0) break;
    }
    return done;
  }

 private:
  std::string path_;
  gzFile file_;
};

}  // namespace

std::unique_ptr<Inflater> open_gzip(const std::string& path) { return std::make_unique<Zlib>(path); }

}  // namespace merganser::graphs::detail
