#pragma once
/// Dispatch macro of the files that Highway compiles once for each vector instruction set.
#include <cstdint>

#include "merganser/base/vectors.hpp"

namespace merganser::detail {

/// Returns the bits that hn::StoreMaskBits() wrote for a vector of up to 16 lanes, the lowest lane first, on processors of either byte
/// order.
inline std::uint32_t mask_bits_of(const std::uint8_t (&bytes)[8]) { return bytes[0] | std::uint32_t{bytes[1]} << 8U; }

}  // namespace merganser::detail

/// Expands to the function that HWY_EXPORT(name) made for the instruction set in use: the best that the processor has, or the one
/// that MERGANSER_SIMD names. Replaces HWY_DYNAMIC_DISPATCH, which does not read that variable.
#define MERGANSER_DISPATCH(name) (::merganser::detail::ensure_vectors(), HWY_DYNAMIC_DISPATCH(name))
