#pragma once
/// Which kind of vector instructions the kernels run on: the best that the processor has, or the one that the variable
/// MERGANSER_SIMD names. Merges, forests and clusters have the same bits with all of them; the flow has not, since its transfer
/// between parcels and nodes fuses multiplications and additions where the processor can.
#include <atomic>
#include <string>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Lists the kinds of vectors that this build has kernels for and this processor can run, the best one first, as MERGANSER_SIMD
/// takes them: "AVX3" (AVX-512), "AVX2", "SSE4", "SSSE3" on x86-64, "SVE" and "NEON" on arm64, and "SCALAR", one number at a time.
/// nearest::CellList::vector_target() tells the one that runs.
[[nodiscard]] std::vector<std::string> vector_targets();

/// Lets all kernels of this process run on the kind of vectors that the variable MERGANSER_SIMD names, upper case or lower, with
/// or without hyphens; "AVX-512" is AVX3. Does nothing where it is not set or empty. The variable is read once, by the first
/// call; opening a transport makes it, and so does the first kernel.
/// @throws UsageError if no kernel is there for it, or the processor cannot run it
void choose_vectors();

namespace detail {
/// Whether choose_vectors() has returned once.
inline std::atomic<bool> vectors_chosen{false};
inline void ensure_vectors() {
  if (!vectors_chosen.load(std::memory_order_acquire)) choose_vectors();
}
}  // namespace detail

}  // namespace merganser
