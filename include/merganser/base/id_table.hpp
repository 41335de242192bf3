#pragma once
/// Hash table that numbers distinct 64-bit keys consecutively, in the order of their first insertion.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Map of 64-bit keys to the numbers 0, 1, 2, ... in the order of first insertion; at most 2^32 - 1 keys. Keys are never removed.
///
/// Implemented by open addressing; or, where the keys are dense in their range, by a direct table whose pages of 1,024 entries are
/// allocated when first written: no hash, no probing, and adjacent keys are adjacent in memory. Not thread-safe.
class IdTable {
 public:
  static constexpr std::uint32_t kNone = 0xffffffffU;  ///< result of find() for a key that was not inserted

  /// Makes an empty table. It is direct if `universe` is known and at most about eight times `expected`, else a hash table.
  /// @param expected  number of distinct keys to reserve room for; more may be inserted
  /// @param universe  exclusive upper bound of the keys; 0: unknown. A greater key must not be inserted
  explicit IdTable(std::size_t expected = 0, std::uint64_t universe = 0) {
    if (universe > 0 && universe / 8 <= expected)
      pages_.resize(static_cast<std::size_t>(universe >> kPageBits) + 1);
    else
      grow(std::bit_ceil(2 * expected + 16));
  }

  /// Returns the number of a 64-bit key; a key that is not in the table is inserted and gets the next number. Amortised O(1).
  std::uint32_t insert(std::uint64_t key) {
    std::uint32_t& number = pages_.empty() ? hash_entry(key) : page_entry(key);
    if (number == kNone) {
      number = static_cast<std::uint32_t>(keys_.size());
      keys_.push_back(key);
    }
    return number;
  }
  /// Returns the number of a key, kNone if it was not inserted. O(1) on average.
  [[nodiscard]] std::uint32_t find(std::uint64_t key) const {
    if (pages_.empty()) return slots_[find_slot(key)];
    const auto page = static_cast<std::size_t>(key >> kPageBits);
    return page < pages_.size() && pages_[page] ? pages_[page][static_cast<std::size_t>(key & (kPage - 1))] : kNone;
  }
  /// Returns the distinct keys of the hash table, each at the index that is its number.
  [[nodiscard]] const std::vector<std::uint64_t>& keys() const noexcept { return keys_; }
  /// Returns the first slot of the probe sequence of a key among 2^bits slots, by multiplying twice: the highest bits of a
  /// product depend on all bits of the key, and are folded into the lower ones in between. @param bits  1 to 63
  [[nodiscard]] static std::size_t first_slot(std::uint64_t key, unsigned bits) {
    constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
    key *= kFactor;
    return static_cast<std::size_t>((key ^ (key >> 32)) * kFactor >> (64 - bits));
  }

 private:
  static constexpr unsigned kPageBits = 10;
  static constexpr std::size_t kPage = std::size_t{1} << kPageBits;  // entries of a page of the direct table

  /// Returns the entry of a key in the direct table; allocates its page of 1,024 entries on first use.
  std::uint32_t& page_entry(std::uint64_t key) {
    auto& page = pages_[static_cast<std::size_t>(key >> kPageBits)];
    if (!page) {
      page = std::unique_ptr<std::uint32_t[]>(new std::uint32_t[kPage]);
      std::fill_n(page.get(), kPage, kNone);
    }
    return page[static_cast<std::size_t>(key & (kPage - 1))];
  }
  /// Returns the slot of a key in the hash table, which is doubled before more than half of its slots are in use.
  std::uint32_t& hash_entry(std::uint64_t key) {
    // At most half of the slots are in use, so every probe sequence ends at a free one.
    if (2 * keys_.size() >= slots_.size()) grow(2 * slots_.size());
    return slots_[find_slot(key)];
  }
  /// Returns the slot of a key by linear probing, or the free one in which it would be inserted.
  [[nodiscard]] std::size_t find_slot(std::uint64_t key) const {
    std::size_t at = first_slot(key, bits_);
    while (slots_[at] != kNone && keys_[slots_[at]] != key) at = (at + 1) & mask_;
    return at;
  }
  /// Resizes the hash table to a power of two of slots and inserts all keys anew.
  void grow(std::size_t slots) {
    slots_.assign(slots, kNone);
    mask_ = slots - 1;
    bits_ = static_cast<unsigned>(std::bit_width(mask_));
    for (std::uint32_t i = 0; i < keys_.size(); ++i) {
      std::size_t at = first_slot(keys_[i], bits_);
      while (slots_[at] != kNone) at = (at + 1) & mask_;
      slots_[at] = i;
    }
  }

  std::vector<std::uint64_t> keys_;                      // distinct keys, by number
  std::vector<std::uint32_t> slots_;                     // hash slots: numbers of keys; a power of two of them
  std::size_t mask_ = 0;                                 // slots - 1
  unsigned bits_ = 0;                                    // of the number of a slot
  std::vector<std::unique_ptr<std::uint32_t[]>> pages_;  // numbers by key; empty: hashing is used
};

}  // namespace merganser
