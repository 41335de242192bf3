#pragma once
/// XXH64 of a sequence of 64-bit words, little-endian as on disk: the values of the xxHash library, without needing it.
#include <bit>
#include <cstddef>
#include <cstdint>

namespace merganser::detail {

[[nodiscard]] inline std::uint64_t xxhash64(const std::uint64_t* words, std::size_t count, std::uint64_t seed) {
  constexpr std::uint64_t p1 = 0x9E3779B185EBCA87ULL;
  constexpr std::uint64_t p2 = 0xC2B2AE3D27D4EB4FULL;
  constexpr std::uint64_t p3 = 0x165667B19E3779F9ULL;
  constexpr std::uint64_t p4 = 0x85EBCA77C2B2AE63ULL;
  constexpr std::uint64_t p5 = 0x27D4EB2F165667C5ULL;
  const auto round = [](std::uint64_t lane, std::uint64_t word) { return std::rotl(lane + word * p2, 31) * p1; };

  const std::uint64_t bytes = count * 8;
  std::uint64_t hash = seed + p5;
  if (count >= 4) {
    std::uint64_t lane[4] = {seed + p1 + p2, seed + p2, seed, seed - p1};
    for (; count >= 4; count -= 4, words += 4)
      for (int i = 0; i < 4; ++i) lane[i] = round(lane[i], words[i]);
    hash = std::rotl(lane[0], 1) + std::rotl(lane[1], 7) + std::rotl(lane[2], 12) + std::rotl(lane[3], 18);
    for (const std::uint64_t l : lane) hash = (hash ^ round(0, l)) * p1 + p4;
  }
  hash += bytes;
  for (; count > 0; --count, ++words) hash = std::rotl(hash ^ round(0, *words), 27) * p1 + p4;
  hash = (hash ^ (hash >> 33)) * p2;
  hash = (hash ^ (hash >> 29)) * p3;
  return hash ^ (hash >> 32);
}

}  // namespace merganser::detail
