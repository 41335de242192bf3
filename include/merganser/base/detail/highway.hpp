#pragma once
/// For files that Highway compiles once for each kind of vectors: how they call what they export.
#include "merganser/base/vectors.hpp"

/// The function that HWY_EXPORT(name) made, for the vectors that this processor has or MERGANSER_SIMD names; in place of
/// HWY_DYNAMIC_DISPATCH.
#define MERGANSER_DISPATCH(name) (::merganser::detail::ensure_vectors(), HWY_DYNAMIC_DISPATCH(name))
