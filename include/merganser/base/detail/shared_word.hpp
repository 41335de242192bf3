#pragma once
/// Atomic loads from words in shared memory or in a window, in place of std::atomic_ref, which libc++ has only from version 19 on.
#include <atomic>
#include <cstdint>

#include "merganser/base/language.hpp"

namespace merganser::detail {

/// Loads, as one atomic access of the given memory order, a word that another thread or rank may store to at the same time. The
/// word must be aligned to its size.
template <class T>
[[nodiscard]] T load_word(const T& word, std::memory_order order) noexcept {
  return __atomic_load_n(&word, static_cast<int>(order));
}

}  // namespace merganser::detail
