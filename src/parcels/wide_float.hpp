#pragma once
/// Arbitrary-width binary floating point, with a mantissa of 64 * kLimbs bits, for the few merged parcels whose shapes
/// cancel in doubles.
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace merganser::detail {

/// Binary floating-point number with + - *. Results are truncated: their error is below 2^(1 - 64 kLimbs) of the larger
/// operand. The exponent has 64 bits, so that nothing overflows. Integer arithmetic only: the same bits on every CPU.
/// Any finite double is exact.
template <int kLimbs>
class WideFloat {
 public:
  static constexpr std::int64_t kBits = 64 * kLimbs;  ///< bits of the mantissa

  WideFloat() = default;
  /// Converts a double to a number with a wide mantissa, without rounding. @param x finite
  explicit WideFloat(double x) {
    if (x == 0) return;
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(x), &exponent);
    limb_[kLimbs - 1] = static_cast<std::uint64_t>(fraction * 0x1p64);
    exponent_ = exponent;
    negative_ = x < 0;
  }

  /// Returns whether the wide number is 0.
  [[nodiscard]] bool is_zero() const { return limb_[kLimbs - 1] == 0; }
  /// Returns whether the wide number is greater than 0.
  [[nodiscard]] bool is_positive() const { return !is_zero() && !negative_; }
  /// Returns the binary exponent e of the wide number, where 2^(e - 1) <= |value| < 2^e. Not for zero.
  [[nodiscard]] std::int64_t exponent() const { return exponent_; }
  /// Returns the wide number over 2^exponent(), rounded to a double; magnitude 1/2 to 1.
  [[nodiscard]] double fraction() const {
    const double size = static_cast<double>(limb_[kLimbs - 1]) * 0x1p-64;
    return negative_ ? -size : size;
  }

  friend WideFloat operator-(WideFloat a) {
    a.negative_ = !a.negative_;
    return a;
  }
  /// Returns the sum of two wide numbers, truncated to the bits of the mantissa.
  friend WideFloat operator+(const WideFloat& a, const WideFloat& b) {
    if (a.is_zero()) return b;
    if (b.is_zero()) return a;
    const bool swap = is_smaller(a, b);
    const WideFloat& large = swap ? b : a;
    const WideFloat& small = swap ? a : b;
    return a.negative_ == b.negative_ ? add(large, small) : subtract(large, small);
  }
  friend WideFloat operator-(const WideFloat& a, const WideFloat& b) { return a + (-b); }

  /// Returns the product of two wide numbers, truncated to the bits of the mantissa.
  friend WideFloat operator*(const WideFloat& a, const WideFloat& b) {
    WideFloat out;
    if (a.is_zero() || b.is_zero()) return out;
    std::array<std::uint64_t, 2 * kLimbs> product{};
    for (std::size_t i = 0; i < kLimbs; ++i) {
      std::uint64_t carry = 0;
      for (std::size_t j = 0; j < kLimbs; ++j) {
        const Double p = static_cast<Double>(a.limb_[i]) * b.limb_[j] + product[i + j] + carry;
        product[i + j] = static_cast<std::uint64_t>(p);
        carry = static_cast<std::uint64_t>(p >> 64);
      }
      product[i + kLimbs] = carry;
    }
    const bool high = product[2 * kLimbs - 1] >> 63 != 0;  // else the product of the fractions is in [1/4, 1/2)
    for (std::size_t i = 0; i < kLimbs; ++i)
      out.limb_[i] = high ? product[i + kLimbs] : product[i + kLimbs] << 1 | product[i + kLimbs - 1] >> 63;
    out.exponent_ = a.exponent_ + b.exponent_ - (high ? 0 : 1);
    out.negative_ = a.negative_ != b.negative_;
    return out;
  }
  WideFloat& operator+=(const WideFloat& b) { return *this = *this + b; }

 private:
  __extension__ using Double = unsigned __int128;
  // The last limb is the most significant; its highest bit is set, unless all are 0.
  using Limbs = std::array<std::uint64_t, kLimbs>;

  /// Returns whether |a| < |b| for two wide numbers, neither of them zero.
  static bool is_smaller(const WideFloat& a, const WideFloat& b) {
    if (a.exponent_ != b.exponent_) return a.exponent_ < b.exponent_;
    for (std::size_t i = kLimbs; i-- > 0;)
      if (a.limb_[i] != b.limb_[i]) return a.limb_[i] < b.limb_[i];
    return false;
  }

  /// Returns the limbs of a mantissa shifted right; bits that leave are lost.
  static Limbs shift_right(const Limbs& from, std::uint64_t bits) {
    Limbs out{};
    if (bits >= static_cast<std::uint64_t>(kBits)) return out;
    const std::size_t limbs = bits / 64;
    const unsigned rest = bits % 64;
    for (std::size_t i = 0; i + limbs < kLimbs; ++i) {
      const std::size_t k = i + limbs;
      out[i] = from[k] >> rest;
      if (rest != 0 && k + 1 < kLimbs) out[i] |= from[k + 1] << (64 - rest);
    }
    return out;
  }

  /// Returns the sum of two wide numbers of equal signs with |a| >= |b|.
  static WideFloat add(const WideFloat& a, const WideFloat& b) {
    const Limbs low = shift_right(b.limb_, static_cast<std::uint64_t>(a.exponent_ - b.exponent_));
    WideFloat out = a;
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i < kLimbs; ++i) {
      const Double sum = static_cast<Double>(a.limb_[i]) + low[i] + carry;
      out.limb_[i] = static_cast<std::uint64_t>(sum);
      carry = static_cast<std::uint64_t>(sum >> 64);
    }
    // A carry doubles the range: one bit is shifted out, and the lost leading 1 set.
    if (carry != 0) {
      out.limb_ = shift_right(out.limb_, 1);
      out.limb_[kLimbs - 1] |= std::uint64_t{1} << 63;
      ++out.exponent_;
    }
    return out;
  }

  /// Returns the sum of two wide numbers of opposite signs with |a| >= |b|; the sign is a's.
  static WideFloat subtract(const WideFloat& a, const WideFloat& b) {
    const Limbs low = shift_right(b.limb_, static_cast<std::uint64_t>(a.exponent_ - b.exponent_));
    Limbs rest{};
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < kLimbs; ++i) {
      const Double difference = static_cast<Double>(a.limb_[i]) - low[i] - borrow;
      rest[i] = static_cast<std::uint64_t>(difference);
      borrow = static_cast<std::uint64_t>(difference >> 64) & 1;
    }
    std::size_t top = kLimbs;
    while (top > 0 && rest[top - 1] == 0) --top;
    WideFloat out;
    if (top == 0) return out;
    // Normalised again: leading zeros, which cancellation leaves, are shifted out.
    const unsigned zeros = static_cast<unsigned>(std::countl_zero(rest[top - 1]));
    for (std::size_t i = 0; i < top; ++i) {
      const std::uint64_t below = zeros != 0 && i > 0 ? rest[i - 1] >> (64 - zeros) : 0;
      out.limb_[i + kLimbs - top] = rest[i] << zeros | below;
    }
    out.exponent_ = a.exponent_ - static_cast<std::int64_t>(64 * (kLimbs - top) + zeros);
    out.negative_ = a.negative_;
    return out;
  }

  Limbs limb_{};               // mantissa, a fraction in [1/2, 1); all 0: the number is 0
  std::int64_t exponent_ = 0;  // of 2
  bool negative_ = false;
};

}  // namespace merganser::detail
