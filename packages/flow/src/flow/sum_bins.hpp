#pragma once
/// Fast exact sums of many non-negative doubles, for the statistics of the flow.
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/exact_sum.hpp"

namespace merganser::flow {

/// Exact accumulator of non-negative doubles for the flow statistics: sums of mantissas by exponent, integers in two halves, with
/// room for 2^31 additions. An addition is two integer ones, where ExactSum finds its words and needs three. The sum does not
/// depend on the order.
class SumBins {
 public:
  SumBins() : low_(kExponents), high_(kExponents) {}

  /// Adds the number x >= 0 to the exact sum. move_to() throws if one was not finite
  void add(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t exponent = bits >> 52 & (kExponents - 1);
    const std::uint64_t mantissa = (bits & 0xfffffffffffffULL) | (exponent == 0 ? 0 : 1ULL << 52);
    low_[exponent] += mantissa & 0xffffffff;
    high_[exponent] += mantissa >> 32;
  }

  /// Adds the exact sum of the numbers so far to `sum` and clears the bins. @throws InputError naming `what` if a number was
  /// not finite
  void move_to(ExactSum& sum, const std::string& what) {
    if (low_.back() != 0 || high_.back() != 0)
      throw InputError(what + " of a parcel is not finite; allowed: finite numbers");
    for (std::size_t e = 0; e + 1 < kExponents; ++e) {
      const int unit = static_cast<int>(e == 0 ? 1 : e) - 1075;
      add_whole(sum, low_[e], unit);
      add_whole(sum, high_[e], unit + 32);
      low_[e] = high_[e] = 0;
    }
  }

 private:
  static constexpr std::uint64_t kExponents = 2048;

  /// Adds whole * 2^unit to the exact sum, in halves of 32 bits that doubles hold exactly.
  static void add_whole(ExactSum& sum, std::uint64_t whole, int unit) {
    if (whole == 0) return;
    sum.add(std::ldexp(static_cast<double>(whole & 0xffffffff), unit));
    sum.add(std::ldexp(static_cast<double>(whole >> 32), unit + 32));
  }

  std::vector<std::uint64_t> low_, high_;
};

}  // namespace merganser::flow
