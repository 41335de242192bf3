#pragma once
/// Weighted undirected graphs as lists of edges spread over ranks.
///
/// Weights are kept as unsigned bits whose order is the order of the weights, so that one code compares integers and
/// floating-point numbers alike. Edges are kept in the smallest of three sizes that holds all ids and weights.
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::graphs {

/// What the bits of a weight stand for. Unsigned integers below 2^32 and float32 take 32 bits, all others 64.
enum class WeightKind : std::uint8_t { unsigned_integer, signed_integer, float32, float64 };
/// The name of a kind, for people and records.
[[nodiscard]] std::string_view name_of(WeightKind kind);

/// Order-preserving bits of a weight. -0.0 is +0.0. NaN has no place in the order: @throws InputError
[[nodiscard]] std::uint64_t bits_of(double weight);
/// The same in 32 bits. @throws InputError for NaN
[[nodiscard]] std::uint32_t bits_of(float weight);
/// Unsigned integers are their own bits.
[[nodiscard]] constexpr std::uint64_t bits_of(std::uint64_t weight) { return weight; }
/// Of signed integers the sign is turned.
[[nodiscard]] constexpr std::uint64_t bits_of(std::int64_t weight) {
  return static_cast<std::uint64_t>(weight) ^ (std::uint64_t{1} << 63);
}
/// The weight that bits stand for, as a double (rounded for integers beyond 2^53).
[[nodiscard]] double weight_of(WeightKind kind, std::uint64_t bits);

/// An edge. low <= high (low == high is a loop). Edges compare by (weight, low, high): a strict total order but for equal
/// parallel edges, which stand for each other.
template <class Id, class Bits>
struct EdgeOf {
  /// Type of an id.
  using id_type = Id;
  /// Type of the bits of a weight.
  using bits_type = Bits;
  Id low;
  Id high;
  Bits weight;
  friend bool operator==(const EdgeOf&, const EdgeOf&) = default;
  friend bool operator<(const EdgeOf& a, const EdgeOf& b) {
    if (a.weight != b.weight) return a.weight < b.weight;
    if (a.low != b.low) return a.low < b.low;
    return a.high < b.high;
  }
};
/// Edge of 12 bytes: ids and weights of 32 bits.
using Edge12 = EdgeOf<std::uint32_t, std::uint32_t>;
/// Edge of 16 bytes: ids of 32 bits, weights of 64.
using Edge16 = EdgeOf<std::uint32_t, std::uint64_t>;
/// Edge of 24 bytes: ids and weights of 64 bits.
using Edge24 = EdgeOf<std::uint64_t, std::uint64_t>;
static_assert(sizeof(Edge12) == 12 && sizeof(Edge16) == 16 && sizeof(Edge24) == 24);

/// Edge with its ends in order.
template <class Edge, class Id, class Bits>
[[nodiscard]] constexpr Edge make_edge(Id a, Id b, Bits weight) {
  using I = typename Edge::id_type;
  using W = typename Edge::bits_type;
  return a < b ? Edge{static_cast<I>(a), static_cast<I>(b), static_cast<W>(weight)}
               : Edge{static_cast<I>(b), static_cast<I>(a), static_cast<W>(weight)};
}

/// One rank's share of a graph. Every undirected edge is on one rank (any), once; loops and parallel edges are allowed.
/// `vertices`, `kind` and the size of edges are the same on every rank.
struct EdgeList {
  std::uint64_t vertices = 0;  ///< ids are 0 .. vertices - 1
  WeightKind kind = WeightKind::unsigned_integer;
  std::variant<std::vector<Edge12>, std::vector<Edge16>, std::vector<Edge24>> edges;
  /// Names of the vertices of this rank's part of Ranges::even, where a file calls them otherwise; empty: ids are names.
  std::vector<std::uint64_t> names;

  /// Edges on this rank.
  [[nodiscard]] std::size_t size() const {
    return std::visit([](const auto& list) { return list.size(); }, edges);
  }
  /// Calls `use` with every edge on this rank, in their order, whatever their size.
  template <class Use>
  void each(Use&& use) const {
    std::visit(
        [&use](const auto& list) {
          for (const auto& e : list) use(e);
        },
        edges);
  }
};

/// Vertices dealt to ranks in consecutive ranges: rank r owns first[r] .. first[r + 1] - 1.
struct Ranges {
  std::vector<std::uint64_t> first;  ///< ranks + 1 numbers, ascending, the last is the number of vertices

  /// Ranges of equal length, up to one.
  static Ranges even(std::uint64_t vertices, int ranks);
  /// Rank that owns a vertex.
  [[nodiscard]] int owner(std::uint64_t vertex) const;
  /// Vertices that a rank owns.
  [[nodiscard]] std::uint64_t size(int rank) const {
    return first[static_cast<std::size_t>(rank) + 1] - first[static_cast<std::size_t>(rank)];
  }
};

}  // namespace merganser::graphs
