#pragma once
/// Selection of the vector instruction set (SIMD) that vectorised loops run on: the best that the processor has, or the one that
/// the variable MERGANSER_SIMD names. Merges, forests and clusters have the same bits with all of them; the flow has not, since its
/// transfer between parcels and nodes fuses multiplications and additions where the processor can.
#include <atomic>
#include <string>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Returns the names of the instruction sets that this build is compiled for and this processor supports, the best one first, as
/// MERGANSER_SIMD takes them: "AVX3" (AVX-512), "AVX2", "SSE4" on x86-64, "SVE" and "NEON" on arm64, and "SCALAR", without
/// vectors. nearest::CellList::vector_target() returns the one in use.
[[nodiscard]] std::vector<std::string> vector_targets();

/// Selects, for all vectorised loops of this process, the instruction set that the variable MERGANSER_SIMD names, in any case, with
/// or without hyphens ("AVX-512" is AVX3). Does nothing if the variable is not set or empty, except on processors whose SVE vectors
/// are no longer than those of NEON, where NEON is selected. The variable is read by the first call, later ones do nothing; opening
/// a transport and the first vectorised loop call this function. Thread-safe; local.
/// @throws UsageError if this build or this processor does not support the instruction set
void choose_vectors();

namespace detail {
/// True after choose_vectors() has selected the vector instruction set of this process.
inline std::atomic<bool> vectors_chosen{false};
/// Selects the vector instruction set of this process before its first vectorised loop; later calls cost one load.
inline void ensure_vectors() {
  if (!vectors_chosen.load(std::memory_order_acquire)) choose_vectors();
}
}  // namespace detail

}  // namespace merganser
