#pragma once
/// Weighted undirected graphs as distributed edge lists: edges, their strict order, ranges of vertices that ranks own.
///
/// Weights are stored as unsigned bits whose order is the order of the weights, so that one code compares integers and
/// floating-point numbers alike. Edges are stored in the smallest of three sizes that holds all ids and weights.
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::graphs {

/// Type of the edge weights of a graph. Unsigned integers below 2^32 and float32 take 32 bits, all others 64.
enum class WeightKind : std::uint8_t { unsigned_integer, signed_integer, float32, float64 };
/// Returns the name of a kind of edge weights, for messages and records: "unsigned", "signed", "float32", "float64".
[[nodiscard]] std::string_view to_string(WeightKind kind);

/// Returns 64 order-preserving bits of an edge weight, which compare as unsigned integers as the weights do. -0.0 has the bits of
/// +0.0.
/// @throws InputError for NaN, which has no place in the order
[[nodiscard]] std::uint64_t ordered_bits(double weight);
/// Returns 32 order-preserving bits of an edge weight, which compare as unsigned integers as the weights do. -0.0 has the bits of
/// +0.0.
/// @throws InputError for NaN, which has no place in the order
[[nodiscard]] std::uint32_t ordered_bits(float weight);
/// Returns the order-preserving bits of an unsigned edge weight: the weight itself.
[[nodiscard]] constexpr std::uint64_t ordered_bits(std::uint64_t weight) { return weight; }
/// Returns the order-preserving bits of a signed edge weight: the sign bit is flipped, so that negative ones come first.
[[nodiscard]] constexpr std::uint64_t ordered_bits(std::int64_t weight) {
  return static_cast<std::uint64_t>(weight) ^ (std::uint64_t{1} << 63);
}
/// Returns the edge weight of a kind that has the given order-preserving bits, as a double (rounded for integers beyond 2^53).
[[nodiscard]] double weight_from_bits(WeightKind kind, std::uint64_t bits);

/// Undirected, weighted edge of a graph with low <= high (low == high is a loop). Edges compare by (weight, low, high): a strict
/// total order but for equal parallel edges, which are interchangeable.
template <class Id, class Bits>
struct EdgeOf {
  /// Type of a vertex id.
  using id_type = Id;
  /// Type of the order-preserving bits of a weight.
  using bits_type = Bits;
  Id low;       ///< lower end, a vertex id
  Id high;      ///< higher end, a vertex id
  Bits weight;  ///< order-preserving bits of the weight
  friend bool operator==(const EdgeOf&, const EdgeOf&) = default;
  friend bool operator<(const EdgeOf& a, const EdgeOf& b) {
    if (a.weight != b.weight) return a.weight < b.weight;
    if (a.low != b.low) return a.low < b.low;
    return a.high < b.high;
  }
};
/// Graph edge of 12 bytes: vertex ids and weights of 32 bits.
using Edge12 = EdgeOf<std::uint32_t, std::uint32_t>;
/// Graph edge of 16 bytes: vertex ids of 32 bits, weights of 64.
using Edge16 = EdgeOf<std::uint32_t, std::uint64_t>;
/// Graph edge of 24 bytes: vertex ids and weights of 64 bits.
using Edge24 = EdgeOf<std::uint64_t, std::uint64_t>;
static_assert(sizeof(Edge12) == 12 && sizeof(Edge16) == 16 && sizeof(Edge24) == 24);

/// Returns the edge between vertices a and b, its ends in ascending order; ids and weight must fit the type of the edge.
template <class Edge, class Id, class Bits>
[[nodiscard]] constexpr Edge make_edge(Id a, Id b, Bits weight) {
  using I = typename Edge::id_type;
  using W = typename Edge::bits_type;
  return a < b ? Edge{static_cast<I>(a), static_cast<I>(b), static_cast<W>(weight)}
               : Edge{static_cast<I>(b), static_cast<I>(a), static_cast<W>(weight)};
}

/// This rank's share of a weighted undirected graph, as a list of edges. Every undirected edge is on one rank (any), once; loops
/// and parallel edges are allowed. `vertices`, `kind` and the size of edges are the same on every rank.
struct EdgeList {
  std::uint64_t vertices = 0;                      ///< number of vertices of the whole graph; ids are 0 .. vertices - 1
  WeightKind kind = WeightKind::unsigned_integer;  ///< type of the weights
  /// Edges on this rank, in any order.
  std::variant<std::vector<Edge12>, std::vector<Edge16>, std::vector<Edge24>> edges;
  /// Original ids of the vertices of this rank's range of Ranges::even(), where a reader relabelled them; empty: not relabelled.
  std::vector<std::uint64_t> names;
  /// Names of the vertices of this rank's range of Ranges::even(), where they are named by text (ReadOptions::names); else empty.
  std::vector<std::string> text_names{};

  /// Returns the number of graph edges on this rank.
  [[nodiscard]] std::size_t size() const {
    return std::visit([](const auto& list) { return list.size(); }, edges);
  }
  /// Calls `use` with every graph edge on this rank, in the order stored; `use` must take all three types of edges.
  template <class Use>
  void for_each(Use&& use) const {
    std::visit(
        [&use](const auto& list) {
          for (const auto& e : list) use(e);
        },
        edges);
  }
};

/// Block partition of the vertices of a graph over ranks: rank r owns the consecutive vertices first[r] .. first[r + 1] - 1.
struct Ranges {
  std::vector<std::uint64_t> first;  ///< ranks + 1 numbers, ascending, the last is the number of vertices

  /// Returns the partition of `vertices` vertices into `ranks` ranges whose lengths differ by at most 1, longer ones first.
  static Ranges even(std::uint64_t vertices, int ranks);
  /// Returns the rank that owns a vertex. Cost: O(log ranks).
  /// @throws InputError for an id that is no vertex
  [[nodiscard]] int owner(std::uint64_t vertex) const;
  /// Returns the number of vertices that a rank owns.
  [[nodiscard]] std::uint64_t size(int rank) const {
    return first[static_cast<std::size_t>(rank) + 1] - first[static_cast<std::size_t>(rank)];
  }
};

}  // namespace merganser::graphs
