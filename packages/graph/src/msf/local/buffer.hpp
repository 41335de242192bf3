#pragma once
/// Growing array without initialisation, for the passes of filter-Kruskal that write large numbers of edges.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace merganser::msf {

/// Array of edges, or other trivially copyable values, that grows with realloc() and leaves new values uninitialised.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) { resize(size); }
  Buffer(Buffer&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)),
        size_(std::exchange(o.size_, 0)),
        capacity_(std::exchange(o.capacity_, 0)) {}
  Buffer& operator=(Buffer&& o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    std::swap(capacity_, o.capacity_);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  /// Reserves memory for `capacity` values in all; keeps the present ones. @throws std::bad_alloc
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    void* grown = std::realloc(static_cast<void*>(data_), capacity * sizeof(T));
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
  }
  /// Reserves memory for `more` values behind the present ones, growing by at least half. @return address of the first of them; the
  /// size of the array is unchanged
  T* reserve_more(std::size_t more) {
    if (size_ + more > capacity_) reserve(std::max(size_ + more, capacity_ + capacity_ / 2));
    return data_ + size_;
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
  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] const T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  [[nodiscard]] std::span<T> span() { return {data_, size_}; }
  [[nodiscard]] std::span<const T> span() const { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace merganser::msf
