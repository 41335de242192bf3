#pragma once
/// Counter-based random numbers (Philox4x32-10): a number is a function of (seed, stream, index) and its position alone, so that
/// any rank can generate any part of a configuration.
#include <array>
#include <cstdint>

#include "merganser/base/language.hpp"

namespace merganser {

/// Hashes 64 bits by a bijection in which every bit of the result depends on every bit of x: the finaliser of SplitMix64.
/// Source: [steele2014].
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Computes one block of Philox4x32-10: 128 random bits from a 128-bit counter and a 64-bit key. Source: [salmon2011].
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                            std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53U} * counter[0];
    const std::uint64_t p1 = std::uint64_t{0xCD9E8D57U} * counter[2];
    counter = {static_cast<std::uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(p1),
               static_cast<std::uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  return counter;
}

/// Sequence of pseudo-random numbers of one (seed, stream, index): up to 2^33 words of 64 bits. Sequences with different arguments
/// are independent. Not thread-safe.
class Random {
 public:
  /// Starts at the beginning of the pseudo-random sequence of (seed, stream, index). O(1).
  /// @param seed    seed that the user of a program chooses
  /// @param stream  number of the use of random numbers within the program, or of the object for which they are drawn
  /// @param index   sub-sequence within the stream
  Random(std::uint64_t seed, std::uint64_t stream, std::uint32_t index)
      : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        stream_{static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)},
        index_(index) {}

  /// Returns the next 64 pseudo-random bits of the sequence.
  std::uint64_t bits() {
    if (half_ == 0) block_ = philox({next_++, index_, stream_[0], stream_[1]}, key_);
    const std::uint64_t word = block_[2 * half_] | static_cast<std::uint64_t>(block_[2 * half_ + 1]) << 32;
    half_ ^= 1;
    return word;
  }
  /// Returns the next pseudo-random number, uniform in [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Returns the next pseudo-random number, uniform from `low` to `high` (which rounding may reach).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Returns the next pseudo-random integer, uniform in [0, bound), for bound >= 1. The bias is at most 2^-64 * bound: the high
  /// word of a product, without rejection, so each call takes exactly one word of the sequence.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(bits()) * bound) >> 64);
  }

 private:
  std::array<std::uint32_t, 2> key_;      // seed, as the key of Philox
  std::array<std::uint32_t, 2> stream_;   // third and fourth word of its counter
  std::array<std::uint32_t, 4> block_{};  // the last block of Philox: two words of 64 bits
  std::uint32_t index_;                   // second word of the counter
  std::uint32_t next_ = 0;                // counter of the next block
  std::uint32_t half_ = 0;                // word of block_ that comes next; 0: a new block is needed
};

}  // namespace merganser
