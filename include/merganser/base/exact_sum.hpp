#pragma once
/// Exact summation of doubles in a fixed-point accumulator, so that sums do not depend on the order of additions.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Accumulator that sums finite doubles exactly and rounds once, in value(): the result has the same bits for any order of the
/// additions and any distribution of the summands over ranks. add() of a number costs a few nanoseconds.
class ExactSum {
 public:
  /// Adds a finite double to the exact sum. @throws InputError if it is not finite
  void add(double x);
  /// Adds all of several finite doubles to the exact sum, with the result of add() for each. Costs about a nanosecond a number for
  /// hundreds of them. @throws InputError if one is not finite
  void add(std::span<const double> numbers);
  /// Adds the exact sum of another accumulator, for example that of another rank.
  void add(const ExactSum& o);
  /// Returns the exact sum of all numbers added, rounded once to the nearest double (ties to even).
  [[nodiscard]] double value() const;
  static constexpr int kWords = 68;  ///< number of integers that words() returns, 32 bits of the sum each
  /// Returns the exact sum as kWords integers in a normal form, for messages: equal sums give equal words.
  [[nodiscard]] std::vector<std::int64_t> words() const;
  /// Makes the accumulator of an exact sum whose words() another rank has sent.
  /// @param words  kWords of them, as words() returned them
  static ExactSum from_words(const std::int64_t* words);

 private:
  void add_scaled(std::int64_t whole, int exponent);

  std::int64_t limbs_[kWords] = {};  // sum in units of 2^-1074, 32 bits in each, the least significant first
  std::int64_t pending_ = 0;         // additions since carries were propagated
};

}  // namespace merganser
