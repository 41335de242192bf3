#pragma once
/// Limits of message lengths that tests lower, to reach the code for longer messages.
#include <cstddef>

namespace merganser::comm::detail {

/// Longest message in bytes that is passed to MPI in one call, whose counts are of type int; longer ones are sent in pieces.
inline std::size_t max_piece_bytes = std::size_t{1} << 30;

}  // namespace merganser::comm::detail
