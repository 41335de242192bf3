#pragma once
/// Words that other threads or ranks write; std::atomic_ref, which libc++ has from version 19 on, would do the same.
#include <atomic>
#include <cstdint>

#include "merganser/base/language.hpp"

namespace merganser::detail {

/// Reads a word that lies at a multiple of its size, in one piece.
template <class T>
[[nodiscard]] T load_word(const T& word, std::memory_order order) noexcept {
  return __atomic_load_n(&word, static_cast<int>(order));
}

}  // namespace merganser::detail
