#pragma once
/// Spoiled files.
#include <algorithm>
#include <cstdint>
#include <string>

#include "merganser/base/random.hpp"

namespace merganser::test {

/// One to four changes of bits, bytes, words of eight bytes or pieces up to `longest` bytes, or less of the file; what they
/// are depends on the seed alone.
inline std::string mutated(std::string bytes, std::uint64_t seed, std::size_t longest = 32) {
  Random random(seed, 0x6d757461746564ULL, 0);
  const auto place = [&] { return static_cast<std::size_t>(random.below(std::max<std::size_t>(1, bytes.size()))); };
  const auto length = [&] { return static_cast<std::size_t>(1 + random.below(longest)); };
  constexpr char kText[] = "0123456789-+.,:%# \n\teEnaifpcsx";
  for (std::uint64_t changes = 1 + random.below(4); changes > 0 && !bytes.empty(); --changes) {
    switch (random.below(8)) {
      case 0:
        bytes[place()] ^= static_cast<char>(1U << random.below(8));
        break;
      case 1:
        bytes[place()] = static_cast<char>(random.below(256));
        break;
      case 2: {  // a number, a length or an address
        const std::size_t at = random.below(2) == 1 ? place() / 8 * 8 : place();
        const std::uint64_t value = random.below(2) == 1 ? ~0ULL >> random.below(64) : 1ULL << random.below(64);
        for (std::size_t i = 0; i < 8 && at + i < bytes.size(); ++i) bytes[at + i] = static_cast<char>(value >> 8 * i);
        break;
      }
      case 3:
        bytes.resize(place());
        break;
      case 4:
        bytes.erase(place(), length());
        break;
      case 5: {
        const std::string piece = bytes.substr(place(), length());
        bytes.insert(place(), piece);
        break;
      }
      case 6: {
        const std::string piece = bytes.substr(place(), length());
        bytes.replace(place(), piece.size(), piece);
        break;
      }
      default:
        bytes[place()] = kText[random.below(sizeof kText - 1)];
    }
  }
  return bytes;
}

}  // namespace merganser::test
