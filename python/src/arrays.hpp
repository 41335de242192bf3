#pragma once
/// Arrays of NumPy: read where they are, and given without a copy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace merganser::python {

namespace nb = nanobind;

/// Numbers in rows, one after the other. The Python side has brought them into this form (_arrays.py).
template <class T>
using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
/// Numbers one after the other.
template <class T>
using Line = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
/// An array that is given to Python.
template <class T>
using Given = nb::ndarray<nb::numpy, T>;

/// The numbers of an array.
template <class T, class... Rest>
[[nodiscard]] std::span<const T> span_of(const nb::ndarray<const T, Rest...>& array) {
  return {array.data(), array.size()};
}

/// An array over memory that `holder` keeps, which is deleted with the array.
template <class T, class Holder>
[[nodiscard]] Given<T> give(Holder holder, T* (*data)(Holder&), std::initializer_list<std::size_t> shape,
                            std::initializer_list<std::int64_t> strides = {}) {
  auto* const kept = new Holder(std::move(holder));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Holder*>(p); });
  static T none{};
  T* const first = data(*kept);
  return Given<T>(first != nullptr ? first : &none, shape.size(), std::data(shape), owner,
                  strides.size() == 0 ? nullptr : std::data(strides));
}

/// The numbers of a vector as an array of one dimension, without a copy.
template <class T>
[[nodiscard]] Given<T> give(std::vector<T> numbers) {
  const std::size_t n = numbers.size();
  return give<T, std::vector<T>>(std::move(numbers), [](std::vector<T>& v) { return v.data(); }, {n});
}
/// The same as rows of `columns` numbers.
template <class T>
[[nodiscard]] Given<T> give_rows(std::vector<T> numbers, std::size_t columns) {
  const std::size_t n = numbers.size() / columns;
  return give<T, std::vector<T>>(std::move(numbers), [](std::vector<T>& v) { return v.data(); }, {n, columns});
}

}  // namespace merganser::python
