// Decoder of bzip2 by libbz2.
#include <bzlib.h>

#include <algorithm>
#include <limits>
#include <new>

#include "src/graphs/unpack/decoder.hpp"

namespace merganser::graphs::detail {
namespace {

/// Decoder of bzip2 streams, which checks checksums.
class Bzip2Decoder final : public Decoder {
 public:
  Bzip2Decoder() = default;
  ~Bzip2Decoder() override {
    if (begun_) ::BZ2_bzDecompressEnd(&stream_);
  }
  Bzip2Decoder(const Bzip2Decoder&) = delete;
  Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;

  /// Prepares libbz2 for the beginning of a bzip2 stream. @throws std::bad_alloc
  void restart() override {
    if (begun_) ::BZ2_bzDecompressEnd(&stream_);
    stream_ = {};
    begun_ = ::BZ2_bzDecompressInit(&stream_, 0, 0) == BZ_OK;
    if (!begun_) throw std::bad_alloc();
  }
  /// Decodes bzip2 data.
  Step step(std::span<const char> in, std::span<char> out) override {
    const auto most = [](std::size_t bytes) {
      return static_cast<unsigned>(std::min<std::size_t>(bytes, std::numeric_limits<int>::max()));
    };
    stream_.next_in = const_cast<char*>(in.data());
    stream_.avail_in = most(in.size());
    stream_.next_out = out.data();
    stream_.avail_out = most(out.size());
    const int code = ::BZ2_bzDecompress(&stream_);
    if (code == BZ_MEM_ERROR) throw std::bad_alloc();
    Step result{most(in.size()) - stream_.avail_in, most(out.size()) - stream_.avail_out, code == BZ_STREAM_END, {}};
    if (code == BZ_DATA_ERROR_MAGIC)
      result.error = "no beginning of a bzip2 stream";
    else if (code == BZ_DATA_ERROR)
      result.error = "a checksum or a code is wrong";
    else if (code != BZ_OK && code != BZ_STREAM_END)
      result.error = "libbz2 says " + std::to_string(code);
    return result;
  }

 private:
  bz_stream stream_{};
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_bzip2_decoder() { return std::make_unique<Bzip2Decoder>(); }

}  // namespace merganser::graphs::detail
