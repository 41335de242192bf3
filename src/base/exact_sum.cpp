// Exact summation of doubles in limbs of 32 bits with delayed carries; one rounding, ties to even.
#include "merganser/base/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser {
namespace {

// A sum is an integer in units of 2^-1074, the smallest double, in limbs of 32 bits, each in a word of 64: the upper half takes the
// carries of up to 2^30 additions (each adds less than 2^32 to a limb) before they must be propagated. 68 limbs hold 2176 bits: the
// 2098 from the least bit of the smallest double to the greatest of the largest, and the carries of 2^63 such numbers.
constexpr int kLimbBits = 32;
constexpr int kUnit = -1074;
constexpr std::int64_t kLimbMask = (std::int64_t{1} << kLimbBits) - 1;
constexpr std::int64_t kMaxPending = std::int64_t{1} << 30;  // additions before a limb could overflow

/// Propagates the carries of an exact sum until every limb but the last is in [0, 2^32). This form is unique; the last limb has the
/// sign of the sum.
void normalise(std::int64_t* limbs) {
  for (int i = 0; i + 1 < ExactSum::kWords; ++i) {
    limbs[i + 1] += limbs[i] >> kLimbBits;
    limbs[i] &= kLimbMask;
  }
}

/// Rounds a normalised, non-negative exact sum to the nearest double, ties to even: 53 bits from the highest one set, then the next
/// bit and whether any below it is set.
double round_sum(const std::int64_t* limbs) {
  // Highest set bit of the sum; the mantissa is the 53 bits from there on.
  int top = ExactSum::kWords - 1;
  while (top > 0 && limbs[top] == 0) --top;
  const int length = top * kLimbBits + static_cast<int>(std::bit_width(static_cast<std::uint64_t>(limbs[top])));
  const auto bit = [&](int i) { return (limbs[i / kLimbBits] >> (i % kLimbBits)) & 1; };
  const int shift = length > 53 ? length - 53 : 0;
  std::uint64_t mantissa = 0;
  for (int i = length - 1; i >= shift; --i) mantissa = mantissa << 1 | static_cast<std::uint64_t>(bit(i));
  if (shift > 0 && bit(shift - 1)) {
    bool sticky = (mantissa & 1) != 0;
    for (int i = 0; i < shift - 1 && !sticky; ++i) sticky = bit(i) != 0;
    if (sticky) ++mantissa;
  }
  return std::ldexp(static_cast<double>(mantissa), shift + kUnit);
}

}  // namespace

// Adds a double to the exact sum: its mantissa to the limbs that its exponent selects.
void ExactSum::add(double x) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const auto exponent = static_cast<int>(bits >> 52 & 0x7ff);
  if (exponent == 0x7ff) throw InputError("a sum met " + std::to_string(x) + "; allowed: finite values");
  const std::uint64_t fraction = bits & 0xfffffffffffffULL;
  const std::uint64_t mantissa = exponent == 0 ? fraction : fraction | 1ULL << 52;
  // Bit of the sum that the lowest bit of the mantissa falls on; 53 bits, shifted by up to 31, touch at most three limbs.
  const int place = exponent == 0 ? 0 : exponent - 1;
  std::int64_t* limb = limbs_ + place / kLimbBits;
  const int shift = place % kLimbBits;
  const std::int64_t parts[3] = {static_cast<std::int64_t>(mantissa << shift) & kLimbMask,
                                 static_cast<std::int64_t>(mantissa >> (kLimbBits - shift)) & kLimbMask,
                                 static_cast<std::int64_t>(mantissa >> 1 >> (2 * kLimbBits - 1 - shift))};
  // 0 or -1: (part ^ sign) - sign is then part or -part.
  const std::int64_t sign = -static_cast<std::int64_t>(bits >> 63);
  for (int i = 0; i < 3; ++i) limb[i] += (parts[i] ^ sign) - sign;
  if (++pending_ >= kMaxPending) {
    normalise(limbs_);
    pending_ = 0;
  }
}

/// Adds an integer times the unit of the doubles with this biased exponent to the exact sum.
void ExactSum::add_scaled(std::int64_t whole, int exponent) {
  const int place = exponent == 0 ? 0 : exponent - 1;
  std::int64_t* const limb = limbs_ + place / kLimbBits;
  const int shift = place % kLimbBits;
  const std::uint64_t size = whole < 0 ? 0 - static_cast<std::uint64_t>(whole) : static_cast<std::uint64_t>(whole);
  const std::uint64_t parts[3] = {(size << shift) & kLimbMask, (size >> (kLimbBits - shift)) & kLimbMask,
                                  size >> 1 >> (2 * kLimbBits - 1 - shift)};
  for (int i = 0; i < 3; ++i)
    limb[i] += whole < 0 ? -static_cast<std::int64_t>(parts[i]) : static_cast<std::int64_t>(parts[i]);
  if (++pending_ >= kMaxPending) {
    normalise(limbs_);
    pending_ = 0;
  }
}

// Adds numbers by way of the sums of their mantissas by exponent: one addition each instead of three, and hardly any that waits for
// the one before.
void ExactSum::add(std::span<const double> numbers) {
  constexpr std::size_t kAtOnce = 512;  // mantissas of 53 bits whose sum fits into 63
  constexpr std::size_t kFew = 64;      // for fewer the search for exponents does not pay
  constexpr int kInfinite = 0x7ff;
  if (numbers.size() < kFew) {
    for (const double x : numbers) add(x);
    return;
  }
  std::int64_t sums[kInfinite + 1] = {};  // of the mantissas, by exponent; all 0 between lots
  while (numbers.size() >= kFew) {
    const auto lot = numbers.first(std::min(numbers.size(), kAtOnce));
    int least = kInfinite;
    int most = 0;
    for (const double x : lot) {
      const auto bits = std::bit_cast<std::uint64_t>(x);
      const auto exponent = static_cast<int>(bits >> 52 & kInfinite);
      const std::uint64_t mantissa = (bits & 0xfffffffffffffULL) | static_cast<std::uint64_t>(exponent != 0) << 52;
      const std::int64_t sign = -static_cast<std::int64_t>(bits >> 63);
      sums[exponent] += (static_cast<std::int64_t>(mantissa) ^ sign) - sign;
      least = std::min(least, exponent);
      most = std::max(most, exponent);
    }
    if (most == kInfinite) break;  // the loop below finds which, and throws
    for (int e = least; e <= most; ++e) {
      if (sums[e] != 0) add_scaled(sums[e], e);
      sums[e] = 0;
    }
    numbers = numbers.subspan(lot.size());
  }
  for (const double x : numbers) add(x);
}

// Adds another exact sum, as of another rank, limb by limb.
void ExactSum::add(const ExactSum& o) {
  const ExactSum other = from_words(o.words().data());
  normalise(limbs_);
  for (int i = 0; i < kWords; ++i) limbs_[i] += other.limbs_[i];
  pending_ = 1;
}

// Rounds the exact sum once; the result is independent of the order of additions.
double ExactSum::value() const {
  ExactSum copy = *this;
  normalise(copy.limbs_);
  const bool negative = copy.limbs_[kWords - 1] < 0;
  if (negative) {
    for (std::int64_t& limb : copy.limbs_) limb = -limb;
    normalise(copy.limbs_);
  }
  const double size = round_sum(copy.limbs_);
  return negative ? -size : size;
}

std::vector<std::int64_t> ExactSum::words() const {
  std::vector<std::int64_t> words(limbs_, limbs_ + kWords);
  normalise(words.data());
  return words;
}

ExactSum ExactSum::from_words(const std::int64_t* words) {
  ExactSum sum;
  for (int i = 0; i < kWords; ++i) sum.limbs_[i] = words[i];
  normalise(sum.limbs_);
  return sum;
}

}  // namespace merganser
