#pragma once
/// Dispatch macro of the files that Highway compiles once for each vector instruction set.
#include "merganser/base/vectors.hpp"

/// Expands to the function that HWY_EXPORT(name) made for the instruction set in use: the best that the processor has, or the one
/// that MERGANSER_SIMD names. Replaces HWY_DYNAMIC_DISPATCH, which does not read that variable.
#define MERGANSER_DISPATCH(name) (::merganser::detail::ensure_vectors(), HWY_DYNAMIC_DISPATCH(name))
