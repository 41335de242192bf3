#pragma once
/// Growing array without initialisation, for the passes of filter-Kruskal that write large numbers of edges.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "merganser/base/aligned_memory.hpp"

namespace merganser::msf {

/// Array of edges, or other trivially copyable values, on huge pages; new values are uninitialised.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) { resize(size); }
  Buffer(Buffer&& o) noexcept
      : memory_(std::move(o.memory_)), size_(std::exchange(o.size_, 0)), capacity_(std::exchange(o.capacity_, 0)) {}
  Buffer& operator=(Buffer&& o) noexcept {
    std::swap(memory_, o.memory_);
    std::swap(size_, o.size_);
    std::swap(capacity_, o.capacity_);
    return *this;
  }
  ~Buffer() = default;

  /// Reserves memory for `capacity` values in all; keeps the present ones. @throws std::bad_alloc
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    RawBuffer grown(capacity * sizeof(T));
    if (size_ > 0) std::memcpy(grown.data(), memory_.data(), size_ * sizeof(T));
    memory_ = std::move(grown);
    capacity_ = memory_.bytes() / sizeof(T);
  }
  /// Reserves memory for `more` values behind the present ones, growing by at least half. @return address of the first of them; the
  /// size of the array is unchanged
  T* reserve_more(std::size_t more) {
    if (size_ + more > capacity_) reserve(std::max(size_ + more, capacity_ + capacity_ / 2));
    return data() + size_;
  }
  /// Changes the number of values of the array; new ones are uninitialised. @throws std::bad_alloc
  void resize(std::size_t size) {
    reserve(size);
    size_ = size;
  }
  /// Appends copies of values (edges that a filter keeps) to the array. @throws std::bad_alloc
  void append(std::span<const T> values) {
    if (values.empty()) return;
    std::memcpy(static_cast<void*>(reserve_more(values.size())), values.data(), values.size_bytes());
    size_ += values.size();
  }
  [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(memory_.data()); }
  [[nodiscard]] const T* data() const noexcept { return reinterpret_cast<const T*>(memory_.data()); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  [[nodiscard]] std::span<T> span() { return {data(), size_}; }
  [[nodiscard]] std::span<const T> span() const { return {data(), size_}; }

 private:
  RawBuffer memory_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;  // in values
};

}  // namespace merganser::msf
