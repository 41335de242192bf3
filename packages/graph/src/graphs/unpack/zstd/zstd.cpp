// Decoder of Zstandard by libzstd.
#include <zstd.h>
#include <zstd_errors.h>

#include <new>

#include "src/graphs/unpack/decoder.hpp"

namespace merganser::graphs::detail {
namespace {

/// Decoder of frames of Zstandard, which checks checksums; frames to be skipped are.
class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() : context_(::ZSTD_createDCtx(), ::ZSTD_freeDCtx) {
    if (!context_) throw std::bad_alloc();
  }
  /// Prepares libzstd for the beginning of a frame.
  void restart() override { ::ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only); }
  /// Decodes data of Zstandard. The library takes windows of at most 128 MiB.
  Step step(std::span<const char> in, std::span<char> out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const std::size_t code = ::ZSTD_decompressStream(context_.get(), &to, &from);
    const bool failed = ::ZSTD_isError(code) != 0;
    Step result{from.pos, to.pos, !failed && code == 0, {}};
    if (!failed) return result;
    if (::ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    result.error = ::ZSTD_getErrorCode(code) == ZSTD_error_frameParameter_windowTooLarge
                       ? "to decompress it takes more than 128 MiB; allowed: less, zstd -dk --long=31 FILE first"
                       : ::ZSTD_getErrorName(code);
    return result;
  }

 private:
  std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context_;
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder() { return std::make_unique<ZstdDecoder>(); }

}  // namespace merganser::graphs::detail
