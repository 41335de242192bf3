// Decoder of bzip2 in a build without libbz2: none.
#include "src/graphs/unpack/decoder.hpp"

namespace merganser::graphs::detail {

std::unique_ptr<Decoder> make_bzip2_decoder() { return nullptr; }

}  // namespace merganser::graphs::detail
