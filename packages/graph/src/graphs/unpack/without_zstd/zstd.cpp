// Decoder of Zstandard in a build without libzstd: none.
#include "src/graphs/unpack/decoder.hpp"

namespace merganser::graphs::detail {

std::unique_ptr<Decoder> make_zstd_decoder() { return nullptr; }

}  // namespace merganser::graphs::detail
