#pragma once
/// Error messages that name array indices, which each language binding prints in its base: from 0 in C, C++ and Python, from 1 in
/// Fortran.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "merganser/base/error.hpp"

namespace merganser {

/// Zero-based index into an array of the caller, as a part of an IndexedText. A negative number that a caller passed is stored
/// converted to std::size_t and printed as negative again.
struct Index {
  std::size_t value;  ///< array index, from 0
};

/// Message with array indices in it, whose base (0 or 1) is chosen when it is printed:
/// IndexedText("point ") + Index{3} + " is not finite".
class IndexedText {
 public:
  IndexedText() = default;
  /// Makes an error message without array indices.
  explicit IndexedText(std::string_view text) : text_(text) {}

  /// Appends text without array indices to an error message.
  friend IndexedText operator+(IndexedText a, std::string_view b) {
    a.text_ += b;
    return a;
  }
  /// Appends an array index to an error message, which to_string() prints in the base of the language.
  friend IndexedText operator+(IndexedText a, Index b) {
    a.indices_.emplace_back(a.text_.size(), b.value);
    return a;
  }
  /// Appends an error message with its array indices to another one.
  friend IndexedText operator+(IndexedText a, const IndexedText& b) {
    for (const auto& [at, value] : b.indices_) a.indices_.emplace_back(a.text_.size() + at, value);
    a.text_ += b.text_;
    return a;
  }

  /// Returns the message with indices printed so that the first element of an array has the index `first`, 0 or 1.
  [[nodiscard]] std::string to_string(std::size_t first = 0) const {
    std::string out;
    std::size_t done = 0;
    for (const auto& [at, value] : indices_) {
      out.append(text_, done, at - done).append(std::to_string(static_cast<std::ptrdiff_t>(value + first)));
      done = at;
    }
    return out.append(text_, done);
  }
  /// Returns the error message with its array indices left out.
  [[nodiscard]] const std::string& words() const noexcept { return text_; }
  /// Returns the array indices in the order of the message: the offset in words() at which each is inserted, in bytes, and its
  /// value, from 0.
  [[nodiscard]] const std::vector<std::pair<std::size_t, std::size_t>>& indices() const noexcept { return indices_; }

 private:
  std::string text_;                                          // the message without its indices
  std::vector<std::pair<std::size_t, std::size_t>> indices_;  // offset in text_, ascending, and index from 0
};

/// Interface of errors whose message names array indices, for bindings that catch such an error and print it in their base.
class HasIndices {
 public:
  virtual ~HasIndices() = default;
  /// Returns the message of the error with its array indices, which a binding prints in its base.
  [[nodiscard]] const IndexedText& indexed_text() const noexcept { return text_; }

 protected:
  explicit HasIndices(IndexedText text) : text_(std::move(text)) {}
  HasIndices(const HasIndices&) = default;
  HasIndices& operator=(const HasIndices&) = default;

 private:
  IndexedText text_;
};

/// Error of class Kind (InputError, UsageError) whose message names array indices; what() prints them from 0.
template <class Kind>
struct Indexed final : Kind, HasIndices {
  explicit Indexed(IndexedText text) : Kind(text.to_string()), HasIndices(std::move(text)) {}
};

}  // namespace merganser
