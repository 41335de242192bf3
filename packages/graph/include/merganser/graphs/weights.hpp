#pragma once
/// Weights made from the ends of an edge: the same on every rank, for both directions and for parallel edges.
#include <bit>
#include <cstdint>
#include <string_view>

#include "merganser/graphs/edges.hpp"

namespace merganser::graphs {

/// What made weights are.
enum class WeightModel : std::uint8_t {
  uniform,         ///< integers 0 .. 2^32 - 1, or 1 .. limit
  signed_uniform,  ///< integers -2^31 .. 2^31 - 1
  float32,         ///< multiples of 2^-24 in [0, 1)
  float64,         ///< multiples of 2^-53 in [0, 1)
  unit,            ///< 1
  euclidean,       ///< distance of the ends of an edge between points, float32
};

/// Weights as a hash of (low, high, seed).
struct WeightMaker {
  WeightModel model = WeightModel::uniform;
  std::uint64_t limit = 0;  ///< of uniform: the greatest weight; 0: all 32-bit numbers
  std::uint64_t seed = 1;

  /// What the bits of its weights stand for.
  [[nodiscard]] WeightKind kind() const;
  /// Bits that a weight takes in an edge: 32 or 64.
  [[nodiscard]] int bits() const;

  /// Order-preserving bits of the weight of an edge. Not for euclidean. @param low, high  with low <= high
  [[nodiscard]] std::uint64_t operator()(std::uint64_t low, std::uint64_t high) const {
    const std::uint64_t h = hash(low, high);
    if (model == WeightModel::uniform) return limit == 0 ? h >> 32 : 1 + ((h >> 32) * limit >> 32);
    return other(h);
  }

 private:
  [[nodiscard]] static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
    return x ^ (x >> 32);
  }
  [[nodiscard]] std::uint64_t hash(std::uint64_t low, std::uint64_t high) const {
    return mix(mix(low + seed * 0x9e3779b97f4a7c15ULL) + std::rotl(high * 0x9e3779b97f4a7c15ULL, 23));
  }
  [[nodiscard]] std::uint64_t other(std::uint64_t h) const;
};

/// "uniform", "uniform:LIMIT" (1 to 2^32 - 1), "signed", "float32", "float64", "unit" or "euclidean".
/// @throws UsageError for anything else
[[nodiscard]] WeightMaker weights_of_name(std::string_view name, std::uint64_t seed);

}  // namespace merganser::graphs
