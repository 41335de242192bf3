// Decoder of gzip by zlib.
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "src/graphs/unpack/decoder.hpp"

namespace merganser::graphs::detail {
namespace {

/// Decoder of gzip members, which checks lengths and checksums.
class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() = default;
  ~GzipDecoder() override {
    if (begun_) ::inflateEnd(&stream_);
  }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  /// Prepares zlib for the beginning of a gzip member. @throws std::bad_alloc
  void restart() override {
    constexpr int kGzipAlone = 16;  // zlib streams without the header of gzip are not taken
    const int code = begun_ ? ::inflateReset(&stream_) : ::inflateInit2(&stream_, MAX_WBITS + kGzipAlone);
    if (code != Z_OK) throw std::bad_alloc();
    begun_ = true;
  }
  /// Decodes gzip data.
  Step step(std::span<const char> in, std::span<char> out) override {
    const auto most = [](std::size_t bytes) {
      return static_cast<unsigned>(std::min<std::size_t>(bytes, std::numeric_limits<int>::max()));
    };
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = most(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = most(out.size());
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_MEM_ERROR) throw std::bad_alloc();
    Step result{most(in.size()) - stream_.avail_in, most(out.size()) - stream_.avail_out, code == Z_STREAM_END, {}};
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      result.error = stream_.msg != nullptr ? stream_.msg : "zlib says " + std::to_string(code);
    return result;
  }

 private:
  z_stream stream_{};
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_gzip_decoder() { return std::make_unique<GzipDecoder>(); }

}  // namespace merganser::graphs::detail
