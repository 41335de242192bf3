#pragma once
/// Release of the memory of a vector before its lifetime ends.
#include "merganser/base/language.hpp"

namespace merganser {

/// Removes all elements of a vector and frees its memory, which `vector = {}` and clear() keep.
template <class Vector>
void release_memory(Vector& vector) noexcept {
  Vector().swap(vector);
}

}  // namespace merganser
