#pragma once
/// Numbers for distinct 64-bit keys, in the order of first sight.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// By hashing; or, where keys will be dense, by pages of a table that are made when first touched: no hash, no probing,
/// and neighbours in memory for keys that are neighbours. At most 2^32 - 1 keys.
class IdTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;

  /// @param expected  how many different keys to expect, at most
  /// @param universe  keys are below it; 0: not known
  explicit IdTable(std::size_t expected = 0, std::uint64_t universe = 0) {
    if (universe > 0 && universe / 8 <= expected)
      pages_.resize(static_cast<std::size_t>(universe >> kPageBits) + 1);
    else
      grow(std::bit_ceil(2 * expected + 16));
  }

  /// The key's number, a new one if it has none.
  std::uint32_t insert(std::uint64_t key) {
    std::uint32_t& number = pages_.empty() ? hashed(key) : paged(key);
    if (number == kNone) {
      number = static_cast<std::uint32_t>(keys_.size());
      keys_.push_back(key);
    }
    return number;
  }
  /// The key's number, kNone if it has none.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    if (pages_.empty()) return slots_[slot_of(key)];
    const auto page = static_cast<std::size_t>(key >> kPageBits);
    return page < pages_.size() && pages_[page] ? pages_[page][static_cast<std::size_t>(key & (kPage - 1))] : kNone;
  }
  /// By number.
  [[nodiscard]] const std::vector<std::uint64_t>& keys() const noexcept { return keys_; }

 private:
  static constexpr unsigned kPageBits = 10;
  static constexpr std::size_t kPage = std::size_t{1} << kPageBits;

  std::uint32_t& paged(std::uint64_t key) {
    auto& page = pages_[static_cast<std::size_t>(key >> kPageBits)];
    if (!page) {
      page = std::unique_ptr<std::uint32_t[]>(new std::uint32_t[kPage]);
      std::fill_n(page.get(), kPage, kNone);
    }
    return page[static_cast<std::size_t>(key & (kPage - 1))];
  }
  std::uint32_t& hashed(std::uint64_t key) {
    if (2 * keys_.size() >= slots_.size()) grow(2 * slots_.size());
    return slots_[slot_of(key)];
  }
  [[nodiscard]] std::size_t place(std::uint64_t key) const {
    key = (key ^ (key >> 32)) * 0x9e3779b97f4a7c15ULL;
    return static_cast<std::size_t>(key >> 20) & mask_;
  }
  /// Where the key is, or would be.
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const {
    std::size_t at = place(key);
    while (slots_[at] != kNone && keys_[slots_[at]] != key) at = (at + 1) & mask_;
    return at;
  }
  void grow(std::size_t slots) {
    slots_.assign(slots, kNone);
    mask_ = slots - 1;
    for (std::uint32_t i = 0; i < keys_.size(); ++i) {
      std::size_t at = place(keys_[i]);
      while (slots_[at] != kNone) at = (at + 1) & mask_;
      slots_[at] = i;
    }
  }

  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> slots_;
  std::size_t mask_ = 0;
  std::vector<std::unique_ptr<std::uint32_t[]>> pages_;
};

}  // namespace merganser
