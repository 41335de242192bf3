#pragma once
/// Numbers for distinct 64-bit keys, in the order of first sight.
#include <bit>
#include <cstdint>
#include <vector>

namespace merganser::msf {

class IdTable {
 public:
  explicit IdTable(std::size_t expected = 0) { grow(std::bit_ceil(2 * expected + 16)); }

  /// The key's number, a new one if it has none.
  std::uint32_t insert(std::uint64_t key) {
    if (2 * keys_.size() >= slots_.size()) grow(2 * slots_.size());
    std::size_t at = place(key);
    for (; slots_[at] != kFree; at = (at + 1) & mask_)
      if (keys_[slots_[at]] == key) return slots_[at];
    slots_[at] = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(key);
    return slots_[at];
  }
  [[nodiscard]] const std::vector<std::uint64_t>& keys() const noexcept { return keys_; }

 private:
  static constexpr std::uint32_t kFree = 0xffffffffU;
  [[nodiscard]] std::size_t place(std::uint64_t key) const {
    key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::size_t>(key >> 20) & mask_;
  }
  void grow(std::size_t slots) {
    slots_.assign(slots, kFree);
    mask_ = slots - 1;
    for (std::uint32_t i = 0; i < keys_.size(); ++i) {
      std::size_t at = place(keys_[i]);
      while (slots_[at] != kFree) at = (at + 1) & mask_;
      slots_[at] = i;
    }
  }
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> slots_;
  std::size_t mask_ = 0;
};

}  // namespace merganser::msf
