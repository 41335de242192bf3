#pragma once
/// Pseudo-random edge weights: a hash of the ends of an edge, the same on every rank, for both directions and for parallel
/// edges.
#include <bit>
#include <cstdint>
#include <string_view>

#include "merganser/graphs/edges.hpp"

namespace merganser::graphs {

/// Distributions of generated edge weights.
enum class WeightModel : std::uint8_t {
  uniform,         ///< integers 0 .. 2^32 - 1, or 1 .. limit
  signed_uniform,  ///< integers -2^31 .. 2^31 - 1
  float32,         ///< multiples of 2^-24 in [0, 1)
  float64,         ///< multiples of 2^-53 in [0, 1)
  unit,            ///< 1
  euclidean,       ///< distance of the ends of an edge between points, float32
};

/// Generator of edge weights as a hash of (low, high, seed).
struct WeightMaker {
  WeightModel model = WeightModel::uniform;  ///< distribution of the weights
  std::uint64_t limit = 0;                   ///< of uniform: the greatest weight, below 2^32; 0: all 32-bit numbers
  std::uint64_t seed = 1;                    ///< seed of the hash

  /// Returns the type of the generated edge weights.
  [[nodiscard]] WeightKind kind() const;
  /// Returns the number of bits that a generated weight takes in an edge: 32 or 64.
  [[nodiscard]] int bits() const;

  /// Returns the order-preserving bits of the weight of the edge (low, high), low <= high. Not for euclidean, whose weights are
  /// distances. @throws UsageError for euclidean
  [[nodiscard]] std::uint64_t operator()(std::uint64_t low, std::uint64_t high) const {
    const std::uint64_t h = hash(low, high);
    if (model == WeightModel::uniform) return limit == 0 ? h >> 32 : 1 + ((h >> 32) * limit >> 32);
    return shape(h);
  }

 private:
  /// Returns a bijective mix of 64 bits, for the hash of an edge.
  [[nodiscard]] static std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
    x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93ULL;
    return x ^ (x >> 32);
  }
  /// Returns a hash of an edge's ends and the seed; not symmetric, so low <= high must hold.
  [[nodiscard]] std::uint64_t hash(std::uint64_t low, std::uint64_t high) const {
    return mix(mix(low + seed * 0x9e3779b97f4a7c15ULL) + std::rotl(high * 0x9e3779b97f4a7c15ULL, 23));
  }
  /// Returns the order-preserving bits of the edge weight that hash h gives, in every model but uniform. @throws UsageError for
  /// euclidean
  [[nodiscard]] std::uint64_t shape(std::uint64_t h) const;
};

/// Returns the generator of edge weights with a name: "uniform", "uniform:LIMIT" (1 to 2^32 - 1), "signed", "float32", "float64",
/// "unit" or "euclidean".
/// @throws UsageError for any other name, with the list of names
[[nodiscard]] WeightMaker parse_weights(std::string_view name, std::uint64_t seed);

}  // namespace merganser::graphs
