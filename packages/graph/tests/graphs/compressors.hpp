#pragma once
/// Helpers of tests: compression of bytes by the four libraries, as their tools write it.
#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <array>
#include <stdexcept>
#include <string>

#include "merganser/graphs/decompressor.hpp"

namespace merganser::test {

/// Compression and the extension of its files.
struct Packer {
  graphs::Compression compression;
  const char* extension;
};
inline constexpr std::array kPackers{Packer{graphs::Compression::gzip, ".gz"},
                                     Packer{graphs::Compression::bzip2, ".bz2"}, Packer{graphs::Compression::xz, ".xz"},
                                     Packer{graphs::Compression::zstd, ".zst"}};

inline std::string gzipped(const std::string& bytes) {
  z_stream stream{};
  constexpr int kGzip = 16;
  if (deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string out(deflateBound(&stream, bytes.size()) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<unsigned>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// Returns bytes as a compressed stream.
inline std::string compressed_with(graphs::Compression how, const std::string& bytes) {
  if (how == graphs::Compression::gzip) return gzipped(bytes);
  std::string out(bytes.size() + bytes.size() / 50 + 1024, '\0');
  if (how == graphs::Compression::bzip2) {
    auto length = static_cast<unsigned>(out.size());
    BZ2_bzBuffToBuffCompress(out.data(), &length, const_cast<char*>(bytes.data()), static_cast<unsigned>(bytes.size()),
                             9, 0, 0);
    out.resize(length);
  } else if (how == graphs::Compression::xz) {
    std::size_t length = 0;
    lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                            bytes.size(), reinterpret_cast<std::uint8_t*>(out.data()), &length, out.size());
    out.resize(length);
  } else {
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);  // as the tool zstd
    out.resize(ZSTD_compress2(context, out.data(), out.size(), bytes.data(), bytes.size()));
    ZSTD_freeCCtx(context);
  }
  return out;
}

}  // namespace merganser::test
