#pragma once
/// Exchange of arrays between NumPy and C++ without copies: views of arguments, and arrays that own vectors of C++.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace merganser::python {

namespace nb = nanobind;

/// NumPy array of shape (n, c) in C order, as an argument of the extension module. The Python side has converted it (_arrays.py).
template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
/// Contiguous NumPy array of one dimension, as an argument of the extension module.
template <class T>
using Line = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
/// NumPy array that a binding returns to Python, over memory of C++.
template <class T>
using Given = nb::ndarray<nb::numpy, T>;

/// Returns a span over all numbers of a contiguous NumPy array, in the order of its memory.
template <class T, class... Rest>
[[nodiscard]] std::span<const T> to_span(const nb::ndarray<const T, Rest...>& array) {
  return {array.data(), array.size()};
}

/// Returns a NumPy array over memory that the C++ object `holder` owns; the holder is moved to the heap and deleted with the array.
/// @param data  function that returns the address of the numbers in the holder, called after the move
/// @param shape, strides  in numbers, not bytes; no strides: C order
template <class T, class Holder>
[[nodiscard]] Given<T> move_to_numpy(Holder holder, T* (*data)(Holder&), std::initializer_list<std::size_t> shape,
                                     std::initializer_list<std::int64_t> strides = {}) {
  auto* const kept = new Holder(std::move(holder));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Holder*>(p); });
  static T none{};
  T* const first = data(*kept);  // null for an empty vector, which NumPy would replace by memory of its own
  return Given<T>(first != nullptr ? first : &none, shape.size(), std::data(shape), owner,
                  strides.size() == 0 ? nullptr : std::data(strides));
}

/// Moves a std::vector into a NumPy array of one dimension, without a copy of its numbers.
template <class T>
[[nodiscard]] Given<T> move_to_numpy(std::vector<T> numbers) {
  const std::size_t n = numbers.size();
  return move_to_numpy<T, std::vector<T>>(std::move(numbers), [](std::vector<T>& v) { return v.data(); }, {n});
}
/// Moves a std::vector into a NumPy array of shape (size / columns, columns), without a copy of its numbers.
template <class T>
[[nodiscard]] Given<T> move_rows_to_numpy(std::vector<T> numbers, std::size_t columns) {
  const std::size_t n = numbers.size() / columns;
  return move_to_numpy<T, std::vector<T>>(std::move(numbers), [](std::vector<T>& v) { return v.data(); }, {n, columns});
}

}  // namespace merganser::python
