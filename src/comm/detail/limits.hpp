#pragma once
/// Limits that tests lower to reach the code behind them.
#include <cstddef>

namespace merganser::comm::detail {

/// Longest message that is handed to a library at once; longer ones travel in pieces.
inline std::size_t max_piece_bytes = std::size_t{1} << 30;

}  // namespace merganser::comm::detail
