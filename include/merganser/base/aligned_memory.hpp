#pragma once
/// Memory of tables that are too large for caches: begins at a cache line, uninitialised, on huge pages where the system has them.
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "merganser/base/language.hpp"

namespace merganser {

/// Allocates uninitialised memory that begins at a cache line; from 8 MiB on, on huge pages where the system has them, which spares
/// page faults and address translations. Local. Free it by std::free().
/// @param bytes  wanted; on return rounded up to what was allocated @throws std::bad_alloc
[[nodiscard]] void* allocate_aligned(std::size_t& bytes);

/// Asks the system to back memory that was not written to yet by huge pages, for those that lie in it as a whole; ignored below 8 MiB
/// and where the system has none on request. Local.
void advise_huge_pages(void* memory, std::size_t bytes) noexcept;

/// Allocator of standard containers that uses allocate_aligned().
template <class T>
struct AlignedAllocator {
  using value_type = T;  ///< type of the elements of the container that allocates
  AlignedAllocator() = default;
  /// Converts from an allocator for another element type; these allocators hold no state.
  template <class U>
  AlignedAllocator(const AlignedAllocator<U>&) noexcept {}
  /// Allocates cache-aligned memory for n elements. @throws std::bad_alloc
  T* allocate(std::size_t n) {
    std::size_t bytes = n * sizeof(T);
    return static_cast<T*>(allocate_aligned(bytes));
  }
  /// Frees memory that allocate() returned.
  void deallocate(T* p, std::size_t) noexcept { std::free(p); }
  friend bool operator==(const AlignedAllocator&, const AlignedAllocator&) = default;
};

/// Owner of uninitialised memory, on huge pages where the system has them; pages are not touched before use.
class RawBuffer {
 public:
  RawBuffer() = default;
  /// Allocates memory that begins at a cache line. @throws std::bad_alloc
  explicit RawBuffer(std::size_t bytes) : data_(bytes > 0 ? allocate_aligned(bytes) : nullptr), bytes_(bytes) {}
  /// Returns the address of the memory; null if the buffer has no bytes.
  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(data_.get()); }
  /// Returns the length of the memory in bytes, after rounding up to cache lines or huge pages.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<void, Free> data_;
  std::size_t bytes_ = 0;
};

}  // namespace merganser
