#pragma once
/// Set of numbers below a limit that only shrinks, with a search for the next one in it.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace merganser::msf {

/// Set of the places 0 .. size - 1 that are left after others have been removed: a bit for each place, and above it levels with a bit
/// for each word of 64 bits that has one. Memory: 64 / 63 bits per place.
class OpenPlaces {
 public:
  /// Makes the set of all places below `size`.
  explicit OpenPlaces(std::size_t size) : size_(size) {
    for (std::size_t bits = size;; bits = (bits + kWord - 1) / kWord) {
      std::vector<std::uint64_t>& level = levels_.emplace_back(bits / kWord + 1, ~std::uint64_t{0});
      level.back() = (std::uint64_t{1} << bits % kWord) - 1;
      if (level.size() == 1) return;
    }
  }

  /// Removes a place from the set.
  void remove(std::size_t place) {
    for (auto& level : levels_) {
      level[place / kWord] &= ~(std::uint64_t{1} << place % kWord);
      if (level[place / kWord] != 0) return;
      place /= kWord;
    }
  }

  /// Returns the first place from `place` on, at most `size`, that is in the set; `size` if there is none.
  [[nodiscard]] std::size_t next(std::size_t place) const {
    for (std::size_t up = 0; up < levels_.size() && place / kWord < levels_[up].size(); ++up) {
      const std::uint64_t left = levels_[up][place / kWord] >> place % kWord << place % kWord;
      if (left == 0) {
        place = place / kWord + 1;
        continue;
      }
      place = place / kWord * kWord + static_cast<std::size_t>(std::countr_zero(left));
      for (; up > 0; --up) place = place * kWord + static_cast<std::size_t>(std::countr_zero(levels_[up - 1][place]));
      return place;
    }
    return size_;
  }

 private:
  static constexpr std::size_t kWord = 64;

  std::size_t size_;
  std::vector<std::vector<std::uint64_t>> levels_;  ///< bits of places, then of words with a bit in the level below
};

}  // namespace merganser::msf
