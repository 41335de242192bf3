#pragma once
/// Memory of large standard vectors on huge pages, where the system has them on request: as of RawBuffer.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace merganser {

/// Makes room in a vector as reserve() does, on huge pages from 8 MiB on: the first write to each small page would cost a page fault.
/// What the vector had is kept. Local. @throws std::bad_alloc
template <class T>
void reserve_on_huge_pages(std::vector<T>& vector, std::size_t count) {
  constexpr std::uintptr_t kHugePage = std::uintptr_t{1} << 21;  // bytes
  if (count <= vector.capacity()) return;
  vector.reserve(count);
  const auto at = reinterpret_cast<std::uintptr_t>(vector.data());
  const std::uintptr_t begin = (at + kHugePage - 1) / kHugePage * kHugePage;
  const std::uintptr_t end = (at + count * sizeof(T)) / kHugePage * kHugePage;
  if (count * sizeof(T) < 4 * kHugePage || begin >= end) return;
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace merganser
