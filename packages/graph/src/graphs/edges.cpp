// Edges of distributed graphs: order-preserving bits of weights, and the block partition of vertices over ranks.
#include "merganser/graphs/edges.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "merganser/base/error.hpp"

namespace merganser::graphs {
namespace {

/// Converts an edge weight, float or double, to bits that compare as unsigned integers as the weights do. Bits of IEEE numbers
/// order so once the sign bit of positive numbers is set and all bits of negative numbers are complemented. -0.0 becomes +0.0
/// first, so that equal weights have equal bits. @throws InputError for NaN
template <class Bits, class Float>
Bits to_ordered_bits(Float weight) {
  if (std::isnan(weight)) throw InputError("a weight is NaN; allowed: any number, infinities too");
  constexpr Bits top = Bits{1} << (8 * sizeof(Bits) - 1);
  const auto bits = std::bit_cast<Bits>(weight == 0 ? Float{0} : weight);
  return (bits & top) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | top);
}

/// Converts order-preserving bits of an edge weight back to the float or double that they stand for.
template <class Float, class Bits>
Float from_ordered_bits(Bits bits) {
  constexpr Bits top = Bits{1} << (8 * sizeof(Bits) - 1);
  return std::bit_cast<Float>((bits & top) != 0 ? static_cast<Bits>(bits ^ top) : static_cast<Bits>(~bits));
}

}  // namespace

std::string_view to_string(WeightKind kind) {
  static constexpr std::string_view kNames[] = {"unsigned", "signed", "float32", "float64"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::uint64_t ordered_bits(double weight) { return to_ordered_bits<std::uint64_t>(weight); }
std::uint32_t ordered_bits(float weight) { return to_ordered_bits<std::uint32_t>(weight); }

// Weight of an edge as a number, from its order-preserving bits and the kind of weights of the graph.
double weight_from_bits(WeightKind kind, std::uint64_t bits) {
  switch (kind) {
    case WeightKind::unsigned_integer:
      return static_cast<double>(bits);
    case WeightKind::signed_integer:
      return static_cast<double>(static_cast<std::int64_t>(bits ^ (1ULL << 63)));
    case WeightKind::float32:
      return static_cast<double>(from_ordered_bits<float>(static_cast<std::uint32_t>(bits)));
    case WeightKind::float64:
      return from_ordered_bits<double>(bits);
  }
  return 0;
}

// Distribution of vertices over ranks in consecutive ranges of equal length, up to one.
Ranges Ranges::even(std::uint64_t vertices, int ranks) {
  Ranges ranges;
  // The first vertices % parts ranges are longer by one; quotient times r cannot overflow, as vertices * r could.
  const auto parts = static_cast<std::uint64_t>(ranks);
  for (std::uint64_t r = 0; r <= parts; ++r)
    ranges.first.push_back(vertices / parts * r + std::min(r, vertices % parts));
  return ranges;
}

// Rank that owns a vertex, by binary search in the ranges.
int Ranges::owner(std::uint64_t vertex) const {
  // Empty ranges have equal ends: the upper bound finds the last one that begins at or before the vertex, which is not empty.
  const auto after = std::upper_bound(first.begin() + 1, first.end(), vertex);
  if (after == first.end()) {
    throw InputError("vertex " + std::to_string(vertex) + "; allowed: 0 to below " + std::to_string(first.back()));
  }
  return static_cast<int>(after - first.begin()) - 1;
}

}  // namespace merganser::graphs
