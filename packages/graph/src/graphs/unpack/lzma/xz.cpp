// Decoder of xz by liblzma.
#include <lzma.h>

#include <new>

#include "src/graphs/unpack/decoder.hpp"

namespace merganser::graphs::detail {
namespace {

/// Most memory that a stream of xz may need, in bytes: xz -9 needs 65 MiB, and a file may ask for 4 GiB.
constexpr std::uint64_t kMaxMemory = std::uint64_t{1} << 28;

/// Decoder of xz streams, which checks checksums.
class XzDecoder final : public Decoder {
 public:
  XzDecoder() = default;
  ~XzDecoder() override { ::lzma_end(&stream_); }
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  /// Prepares liblzma for the beginning of an xz stream. @throws std::bad_alloc
  void restart() override {
    if (::lzma_stream_decoder(&stream_, kMaxMemory, LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK) throw std::bad_alloc();
  }
  /// Decodes xz data.
  Step step(std::span<const char> in, std::span<char> out) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret code = ::lzma_code(&stream_, LZMA_RUN);
    if (code == LZMA_MEM_ERROR) throw std::bad_alloc();
    Step result{in.size() - stream_.avail_in, out.size() - stream_.avail_out, code == LZMA_STREAM_END, {}};
    if (code != LZMA_OK && code != LZMA_STREAM_END && code != LZMA_BUF_ERROR) result.error = reason(code);
    return result;
  }

 private:
  /// Returns the text of an error of liblzma.
  static std::string reason(lzma_ret code) {
    switch (code) {
      case LZMA_FORMAT_ERROR:
        return "no beginning of an xz stream";
      case LZMA_DATA_ERROR:
        return "a checksum or a code is wrong";
      case LZMA_OPTIONS_ERROR:
        return "a filter that liblzma does not know";
      case LZMA_UNSUPPORTED_CHECK:
        return "a checksum that liblzma does not know";
      case LZMA_MEMLIMIT_ERROR:
        return "to decompress it takes more than 256 MiB; allowed: less, xz -dk FILE first";
      default:
        return "liblzma says " + std::to_string(code);
    }
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

std::unique_ptr<Decoder> make_xz_decoder() { return std::make_unique<XzDecoder>(); }

}  // namespace merganser::graphs::detail
