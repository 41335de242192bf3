#pragma once
/// Sums that depend on no order.
#include <cstdint>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Sum of doubles without rounding until read: the same bits in any order and for any split over ranks.
/// Holds any finite doubles; add() costs a few nanoseconds.
class ExactSum {
 public:
  /// Adds a number. @throws InputError if it is not finite
  void add(double x);
  /// Adds another sum.
  void add(const ExactSum& o);
  /// The sum, rounded once to the nearest double.
  [[nodiscard]] double value() const;
  static constexpr int kWords = 68;  ///< length of words()
  /// The sum for sending; from_words(words()) is the same sum.
  [[nodiscard]] std::vector<std::int64_t> words() const;
  /// The sum that words() were taken of.
  /// @param words  kWords of them, as words() gave them
  static ExactSum from_words(const std::int64_t* words);

 private:
  std::int64_t limbs_[kWords] = {};
  std::int64_t pending_ = 0;
};

}  // namespace merganser
