// Decompression of graph files in a build without zlib: refused.
#include "src/graphs/files/text.hpp"

namespace merganser::graphs::detail {

// Opening of a compressed graph file in a build without zlib: always an error.
std::unique_ptr<Inflater> open_gzip(const std::string& path) {
  throw InputError("cannot read " + path +
                   ": it is compressed with gzip and this build has no zlib (Debian: zlib1g-dev); allowed: plain text, "
                   "decompress it first");
}

}  // namespace merganser::graphs::detail
