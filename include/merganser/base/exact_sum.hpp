#pragma once
/// Sums that depend on no order.
#include <cstdint>
#include <vector>

namespace merganser {

/// Sum of doubles without rounding until read: the same bits in any order and for any split over ranks.
/// Holds any finite doubles; add() costs a few nanoseconds.
class ExactSum {
 public:
  void add(double x);
  void add(const ExactSum& o);
  [[nodiscard]] double value() const;
  /// Words for sending; from_words(words()) is the same sum.
  static constexpr int kWords = 68;
  [[nodiscard]] std::vector<std::int64_t> words() const;
  static ExactSum from_words(const std::int64_t* words);

 private:
  std::int64_t limbs_[kWords] = {};
  std::int64_t pending_ = 0;
};

}  // namespace merganser
