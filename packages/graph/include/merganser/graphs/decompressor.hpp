#pragma once
/// Reading of files that are compressed with gzip, bzip2, xz or Zstandard, which their first bytes show.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "merganser/base/language.hpp"

namespace merganser::graphs {

/// Compressions of files that Decompressor reads, if the build has the library.
enum class Compression : std::uint8_t { none, gzip, bzip2, xz, zstd };

/// Length of the beginning of a file that find_compression() needs, in bytes.
inline constexpr std::size_t kCompressionBytes = 6;
/// Returns the compression that the first bytes of a file show. Local.
[[nodiscard]] Compression find_compression(std::string_view head);
/// Returns a path without the extension of a compression (.gz, .bz2, .xz, .zst), if it ends in one. Local.
[[nodiscard]] std::string_view without_compression(std::string_view path);

/// Decompressor of a file on one rank, which reads from the beginning to the end. Several compressed streams one after the other
/// are one text, as the tools of all four compressions read them.
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Opens a compressed file. Local. @throws InputError if it cannot be read, is not compressed, or by a compression for which the
  /// build lacks the library: then the error names the Debian package
  [[nodiscard]] static std::unique_ptr<Decompressor> open(const std::string& path);
  /// Reads up to `bytes` decompressed bytes. Memory: of xz up to 256 MiB, of Zstandard up to 128 MiB, of the others a few MiB.
  /// @return bytes read; fewer only at the end
  /// @throws InputError for data that are spoiled, end too early or need more memory, with the place in the compressed file
  virtual std::size_t read(char* to, std::size_t bytes) = 0;
};

}  // namespace merganser::graphs
