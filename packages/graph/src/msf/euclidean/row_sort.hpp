#pragma once
/// Sort of a few numbers without branches on their order, for neighbour lists of points.
#include <cstdint>

namespace merganser::msf::euclidean {

inline constexpr std::uint32_t kMaxRow = 16;  ///< most numbers that sort_row() sorts

/// Sorts different numbers below 2^63 in ascending order. Local.
/// @param row    kMaxRow numbers, of which the first `count` are sorted; the others may be any numbers
/// @param sorted receives `count` numbers, not in place
void sort_row(const std::uint64_t* row, std::uint32_t count, std::uint64_t* sorted);

}  // namespace merganser::msf::euclidean
