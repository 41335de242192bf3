// Decoder of gzip in a build without zlib: none.
#include "src/graphs/unpack/decoder.hpp"

namespace merganser::graphs::detail {

std::unique_ptr<Decoder> make_gzip_decoder() { return nullptr; }

}  // namespace merganser::graphs::detail
