#pragma once
/// Interface of the decoders of compressed data, one for each library: bytes in, bytes out, without files.
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace merganser::graphs::detail {

/// Decoder of compressed streams, from the beginning of one to its end.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Result of a step of a decoder.
  struct Step {
    std::size_t taken = 0;  ///< bytes of the input that were read
    std::size_t made = 0;   ///< bytes of the output that were written
    bool ended = false;     ///< the compressed stream has ended
    std::string error{};    ///< reason why the data are refused; empty: none
  };
  /// Prepares the decoder for the beginning of a compressed stream; must be called before the first step(). @throws std::bad_alloc
  virtual void restart() = 0;
  /// Decodes compressed bytes, as many as are there and fit. @param in  the next bytes of the compressed data; empty at the end of
  /// the file
  virtual Step step(std::span<const char> in, std::span<char> out) = 0;
};

// One function for each library. Each returns a decoder, or null in a build without the library.

/// Returns a decoder of gzip (zlib).
[[nodiscard]] std::unique_ptr<Decoder> make_gzip_decoder();
/// Returns a decoder of bzip2.
[[nodiscard]] std::unique_ptr<Decoder> make_bzip2_decoder();
/// Returns a decoder of xz (liblzma).
[[nodiscard]] std::unique_ptr<Decoder> make_xz_decoder();
/// Returns a decoder of Zstandard.
[[nodiscard]] std::unique_ptr<Decoder> make_zstd_decoder();

}  // namespace merganser::graphs::detail
