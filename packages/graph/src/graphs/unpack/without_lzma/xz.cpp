// Decoder of xz in a build without liblzma: none.
#include "src/graphs/unpack/decoder.hpp"

namespace merganser::graphs::detail {

std::unique_ptr<Decoder> make_xz_decoder() { return nullptr; }

}  // namespace merganser::graphs::detail
