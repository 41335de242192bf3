#pragma once
/// Texts of errors that name positions in arrays of a caller's: counted from 0 in C, C++ and Python, from 1 in Fortran.
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "merganser/base/error.hpp"

namespace merganser {

/// A position in an array of the caller's, from 0, within a text. A number below 0 that somebody gave as one stays that.
struct Index {
  std::size_t value;
};

/// A text with positions in it, which can be counted from 0 or 1: IndexedText("point ") + Index{3} + " is not finite".
class IndexedText {
 public:
  IndexedText() = default;
  explicit IndexedText(std::string_view text) : text_(text) {}

  /// Appends words.
  friend IndexedText operator+(IndexedText a, std::string_view b) {
    a.text_ += b;
    return a;
  }
  /// Appends a position.
  friend IndexedText operator+(IndexedText a, Index b) {
    a.indices_.emplace_back(a.text_.size(), b.value);
    return a;
  }
  /// Appends a text with its positions.
  friend IndexedText operator+(IndexedText a, const IndexedText& b) {
    for (const auto& [at, value] : b.indices_) a.indices_.emplace_back(a.text_.size() + at, value);
    a.text_ += b.text_;
    return a;
  }

  /// The text, with positions counted from `first`.
  [[nodiscard]] std::string text(std::size_t first = 0) const {
    std::string out;
    std::size_t done = 0;
    for (const auto& [at, value] : indices_) {
      out.append(text_, done, at - done).append(std::to_string(static_cast<std::ptrdiff_t>(value + first)));
      done = at;
    }
    return out.append(text_, done);
  }
  /// The words alone.
  [[nodiscard]] const std::string& words() const noexcept { return text_; }
  /// By position: where among the words it stands, and its value.
  [[nodiscard]] const std::vector<std::pair<std::size_t, std::size_t>>& indices() const noexcept { return indices_; }

 private:
  std::string text_;
  std::vector<std::pair<std::size_t, std::size_t>> indices_;  // ascending
};

/// What an error with positions in its text is, besides an Error.
class HasIndices {
 public:
  virtual ~HasIndices() = default;
  /// The text of the error.
  [[nodiscard]] const IndexedText& indexed_text() const noexcept { return text_; }

 protected:
  explicit HasIndices(IndexedText text) : text_(std::move(text)) {}
  HasIndices(const HasIndices&) = default;
  HasIndices& operator=(const HasIndices&) = default;

 private:
  IndexedText text_;
};

/// An error (InputError, UsageError) that names positions; what() counts them from 0.
template <class Kind>
struct Indexed final : Kind, HasIndices {
  explicit Indexed(IndexedText text) : Kind(text.text()), HasIndices(std::move(text)) {}
};

}  // namespace merganser
