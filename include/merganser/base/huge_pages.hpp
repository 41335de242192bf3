#pragma once
/// Memory of large standard vectors on huge pages, where the system has them on request: as of RawBuffer.
#include <cstddef>
#include <vector>

#include "merganser/base/aligned_memory.hpp"

namespace merganser {

/// Makes room in a vector as reserve() does, on huge pages from 8 MiB on: the first write to each small page would cost a page fault.
/// Keeps the elements and the size of the vector. Local. @throws std::bad_alloc
template <class T>
void reserve_on_huge_pages(std::vector<T>& vector, std::size_t count) {
  if (count <= vector.capacity()) return;
  vector.reserve(count);
  advise_huge_pages(vector.data(), count * sizeof(T));
}

}  // namespace merganser
