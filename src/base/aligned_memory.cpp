#include "merganser/base/aligned_memory.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <new>

namespace merganser {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21;  // bytes

}  // namespace

// Allocates whole cache lines, or from four huge pages on whole huge pages, for madvise().
void* allocate_aligned(std::size_t& bytes) {
  // aligned_alloc() requires a multiple of the alignment.
  const std::size_t step = bytes >= 4 * kHugePage ? kHugePage : 64;
  if (bytes > PTRDIFF_MAX - step) throw std::bad_alloc();
  bytes = (bytes + step - 1) / step * step;
  void* const memory = std::aligned_alloc(step, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  advise_huge_pages(memory, bytes);
  return memory;
}

// Advice for the whole huge pages within the memory; a system that refuses it serves small pages.
void advise_huge_pages(void* memory, std::size_t bytes) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(memory);
  const std::uintptr_t begin = (at + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (at + bytes) / kHugePage * kHugePage;
  if (bytes < 4 * kHugePage || begin >= end) return;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace merganser
