#pragma once
/// Limits that tests lower to reach the code behind them.
#include <cstddef>

namespace merganser::comm::detail {

/// Longest message in bytes that is passed to a library in one call; longer ones are sent in pieces.
inline std::size_t max_piece_bytes = std::size_t{1} << 30;

}  // namespace merganser::comm::detail
