#pragma once
/// Atomic accesses to words in shared memory or in a window, in place of std::atomic_ref, which libc++ has only from version 19 on.
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

/// Replaces, as one atomic access of the given memory order, the value of a word by `desired` if it is `expected`. The word must be
/// aligned to its size. May fail without cause, so that it is to be called in a loop. @param expected  on failure, the value that was found
/// @return whether the word was replaced
template <class T>
[[nodiscard]] bool replace_word(T& word, T& expected, T desired, std::memory_order order) noexcept {
  return __atomic_compare_exchange_n(&word, &expected, desired, true, static_cast<int>(order),
                                     static_cast<int>(std::memory_order_relaxed));
}

}  // namespace merganser::detail
