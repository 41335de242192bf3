#pragma once
/// Buffered bit stream over a file, most significant bit of each byte first, with the instantaneous codes of WebGraph
/// [boldi2004]: unary, Elias gamma and delta, zeta.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "src/graphs/files/disk.hpp"

namespace merganser::graphs::detail {

/// Instantaneous codes of natural numbers in BVGraph files.
enum class Code : std::uint8_t { unary, gamma, delta, zeta };

/// Buffered reader of bits and instantaneous codes in a BVGraph file. Numbers are limited to 62 bits, so that no shift and no sum
/// of the decoders overflows.
class BitStream {
 public:
  /// Starts at bit 0 of an open file, which must outlive the stream.
  explicit BitStream(const File& file) : file_(file), bits_(8 * file.size()) {}

  /// Returns the number of bits of the BVGraph file.
  [[nodiscard]] std::uint64_t size() const { return bits_; }
  /// Returns the position of the next bit to be read, from 0.
  [[nodiscard]] std::uint64_t position() const { return at_; }
  /// Moves the stream to a bit, at most to the end of the file. @throws PlacedError for a position beyond the end
  void seek(std::uint64_t bit) {
    if (bit > bits_) fail("place " + std::to_string(bit) + "; allowed: up to bit " + std::to_string(bits_));
    at_ = bit;
  }

  /// Reads `count` bits (0 to 64) of the stream as a number, most significant first. @throws PlacedError if the file ends before
  std::uint64_t bits(int count) {
    if (count == 0) return 0;
    if (std::uint64_t window = 0; count <= kWindow && peek(window)) {
      at_ += static_cast<std::uint64_t>(count);
      return window >> (64 - count);
    }
    if (bits_ - at_ < static_cast<std::uint64_t>(count)) ended();
    std::uint64_t value = 0;
    while (count > 0) {
      const int there = 8 - static_cast<int>(at_ % 8);
      const int take = std::min(there, count);
      value = value << take | (byte(at_ / 8) >> (there - take) & ((1U << take) - 1));
      at_ += static_cast<std::uint64_t>(take);
      count -= take;
    }
    return value;
  }
  /// Reads a unary code: the number of bits 0 before the next bit 1. @throws PlacedError if the file ends before
  std::uint64_t unary() {
    if (std::uint64_t window = 0; peek(window) && window != 0) {
      const auto lead = static_cast<std::uint64_t>(std::countl_zero(window));
      at_ += lead + 1;
      return lead;
    }
    std::uint64_t zeros = 0;
    for (;;) {
      if (at_ >= bits_) ended();
      const int there = 8 - static_cast<int>(at_ % 8);
      const auto rest = static_cast<std::uint8_t>(byte(at_ / 8) << (8 - there));
      if (rest == 0) {
        zeros += static_cast<std::uint64_t>(there);
        at_ += static_cast<std::uint64_t>(there);
        continue;
      }
      const int lead = std::countl_zero(rest);
      at_ += static_cast<std::uint64_t>(lead) + 1;
      return zeros + static_cast<std::uint64_t>(lead);
    }
  }
  /// Reads an Elias gamma code: a unary length, then that many bits. @throws PlacedError at the end of the file
  std::uint64_t gamma() {
    if (std::uint64_t window = 0; peek(window) && window >= kShortGamma) {
      const int lead = std::countl_zero(window);
      at_ += 2 * static_cast<std::uint64_t>(lead) + 1;
      return (window << lead >> (63 - lead)) - 1;
    }
    return read_suffix(unary());
  }
  /// Reads an Elias delta code: a length in gamma code, then that many bits. @throws PlacedError at the end of the file
  std::uint64_t delta() { return read_suffix(gamma()); }
  /// Reads a zeta code of WebGraph with shrinking parameter k, 1 to 32. @throws PlacedError at the end of the file, and for a
  /// number of more than 62 bits
  std::uint64_t zeta(int k) {
    const std::uint64_t h = unary();
    const std::uint64_t width = h * static_cast<std::uint64_t>(k) + static_cast<std::uint64_t>(k) - 1;
    if (h > 62 || width > 62) fail("a number of more than 62 bits");
    // A minimal binary code of [2^(h k), 2^((h + 1) k)): the first `left` numbers take one bit less than the others.
    const std::uint64_t left = std::uint64_t{1} << (width - static_cast<std::uint64_t>(k) + 1);
    const std::uint64_t m = bits(static_cast<int>(width));
    return m < left ? m + left - 1 : (m << 1 | bits(1)) - 1;
  }
  /// Reads a number in any of the instantaneous codes; `k` is the parameter of zeta. @throws PlacedError at the end of the file
  std::uint64_t read(Code code, int k) {
    switch (code) {
      case Code::unary:
        return unary();
      case Code::gamma:
        return gamma();
      case Code::delta:
        return delta();
      case Code::zeta:
        return zeta(k);
    }
    return 0;
  }

  /// Throws the error of a malformed BVGraph file at the position of the stream. @throws PlacedError "PATH: bit 24: what"
  [[noreturn]] void fail(const std::string& what) const {
    throw PlacedError(at_ / 8, file_.path() + ": bit " + std::to_string(at_) + ": " + what);
  }

 private:
  /// Throws the error of a bit stream that ends inside a number. @throws PlacedError
  [[noreturn]] void ended() const { fail("the file ends inside a number"); }
  /// Reads the `width` bits of a gamma or delta code behind its length, and returns the number that they encode with the implicit
  /// leading one. @throws PlacedError for more than 62 bits
  std::uint64_t read_suffix(std::uint64_t width) {
    if (width > 62) fail("a number of more than 62 bits");
    return (std::uint64_t{1} << width | bits(static_cast<int>(width))) - 1;
  }
  /// Returns in `window` the next kWindow bits of the stream or more, from the highest bit on, with zeros behind them.
  /// @return false if the buffer does not hold them; then they are read one byte at a time
  [[nodiscard]] bool peek(std::uint64_t& window) const {
    const std::uint64_t index = at_ / 8 - begin_;  // huge before the buffer
    if (buffer_.size() < 8 || index > buffer_.size() - 8) return false;
    const std::uint8_t* const b = buffer_.data() + index;
    const auto at = [b](int i) { return std::uint64_t{b[i]} << (56 - 8 * i); };  // one load and a swap of bytes
    window = (at(0) | at(1) | at(2) | at(3) | at(4) | at(5) | at(6) | at(7)) << (at_ % 8);
    return true;
  }
  /// Returns byte `index` of the BVGraph file, through the buffer, which is refilled if it does not hold the byte.
  std::uint32_t byte(std::uint64_t index) {
    // Unsigned: an index below begin_ becomes a huge difference, so one comparison covers both sides of the buffer.
    if (index - begin_ >= buffer_.size()) {
      begin_ = index;
      buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, file_.size() - index)));
      file_.read_all(begin_, buffer_.data(), buffer_.size(), "its bits");
    }
    return buffer_[static_cast<std::size_t>(index - begin_)];
  }

  static constexpr int kWindow = 57;  // bits that peek() has at any position in a byte
  static constexpr std::uint64_t kShortGamma = std::uint64_t{1} << 35;  // windows whose gamma code is within them
  static constexpr std::uint64_t kBlock = std::uint64_t{1} << 18;
  const File& file_;
  std::uint64_t bits_;       ///< length of the file in bits
  std::uint64_t at_ = 0;     ///< position of the next bit
  std::uint64_t begin_ = 0;  ///< offset of the buffer in the file, in bytes
  std::vector<std::uint8_t> buffer_;
};

}  // namespace merganser::graphs::detail
