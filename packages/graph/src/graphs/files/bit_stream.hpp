#pragma once
/// Bits of a file from the highest of each byte on, and the codes of WebGraph [boldi2004].
#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "src/graphs/files/disk.hpp"

namespace merganser::graphs::detail {

enum class Code : std::uint8_t { unary, gamma, delta, zeta };

class BitStream {
 public:
  explicit BitStream(const File& file) : file_(file), bits_(8 * file.size()) {}

  [[nodiscard]] std::uint64_t size() const { return bits_; }
  [[nodiscard]] std::uint64_t place() const { return at_; }
  /// @throws PlacedError behind the end
  void seek(std::uint64_t bit) {
    if (bit > bits_) fail("place " + std::to_string(bit) + "; allowed: up to bit " + std::to_string(bits_));
    at_ = bit;
  }

  /// Up to 64 bits, the first one highest.
  std::uint64_t bits(int count) {
    if (count == 0) return 0;
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
  /// Zeros before the next one.
  std::uint64_t unary() {
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
  std::uint64_t gamma() { return after(unary()); }
  std::uint64_t delta() { return after(gamma()); }
  std::uint64_t zeta(int k) {
    const std::uint64_t h = unary();
    const std::uint64_t width = h * static_cast<std::uint64_t>(k) + static_cast<std::uint64_t>(k) - 1;
    if (h > 62 || width > 62) fail("a number of more than 62 bits");
    const std::uint64_t left = std::uint64_t{1} << (width - static_cast<std::uint64_t>(k) + 1);
    const std::uint64_t m = bits(static_cast<int>(width));
    return m < left ? m + left - 1 : (m << 1 | bits(1)) - 1;
  }
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

  [[noreturn]] void fail(const std::string& what) const {
    throw PlacedError(at_ / 8, file_.path() + ": bit " + std::to_string(at_) + ": " + what);
  }

 private:
  [[noreturn]] void ended() const { fail("the file ends inside a number"); }
  std::uint64_t after(std::uint64_t width) {
    if (width > 62) fail("a number of more than 62 bits");
    return (std::uint64_t{1} << width | bits(static_cast<int>(width))) - 1;
  }
  std::uint32_t byte(std::uint64_t index) {
    if (index - begin_ >= buffer_.size()) {
      begin_ = index;
      buffer_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kBlock, file_.size() - index)));
      file_.read_all(begin_, buffer_.data(), buffer_.size(), "its bits");
    }
    return buffer_[static_cast<std::size_t>(index - begin_)];
  }

  static constexpr std::uint64_t kBlock = std::uint64_t{1} << 18;
  const File& file_;
  std::uint64_t bits_;
  std::uint64_t at_ = 0;
  std::uint64_t begin_ = 0;
  std::vector<std::uint8_t> buffer_;
};

}  // namespace merganser::graphs::detail
