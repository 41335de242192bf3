#pragma once
/// Overlay networks for announcements: sparse directed graphs over any number of ranks whose arcs are computed, not stored
/// (Manhattan Street Network, torus, hypercube, de Bruijn network), and their diameters.
///
///     const auto network = make_network("manhattan", transport.size(), 3);
///     network->out(rank);  network->in(rank);  diameter(*network).value;
///
/// Every network here is strongly connected for every number of ranks and has no arc from a rank to itself.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "merganser/comm/transport.hpp"

namespace merganser::announce {

/// Overlay network for announcements: a directed graph over the vertices 0 .. vertices() - 1, one per rank, without memory per
/// vertex. All member functions are local.
class Network {
 public:
  virtual ~Network() = default;

  /// Returns the name that make_network() takes: "manhattan", "torus", "hypercube" or "debruijn".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Describes the network for reports and error messages, by name and parameters: "manhattan 4x4x4".
  [[nodiscard]] virtual std::string describe() const = 0;
  /// Returns the number of vertices of the network: the number of ranks.
  [[nodiscard]] int vertices() const noexcept { return vertices_; }
  /// Returns a bound on the out-degree and on the in-degree of every vertex of the network. Local, the same on all ranks.
  [[nodiscard]] int degree() const noexcept { return degree_; }

  /// Returns the out-neighbours of a vertex of the network, each once, without the vertex itself. @throws UsageError unless 0 <= v
  /// < vertices()
  [[nodiscard]] std::vector<int> out(int v) const;
  /// Returns the in-neighbours of a vertex of the network, each once, without the vertex itself. @throws UsageError unless 0 <= v <
  /// vertices()
  [[nodiscard]] std::vector<int> in(int v) const;
  /// Returns the arcs of one rank in the network as a process graph, for Transport::mailbox().
  [[nodiscard]] comm::Graph graph(int rank) const { return {out(rank), in(rank)}; }

  /// Writes the out-neighbours of a vertex, each once, to an array, without allocation or checks. For inner loops.
  /// @param v   vertex in [0, vertices())
  /// @param to  array of at least degree() elements
  /// @return number of out-neighbours
  virtual int out_to(int v, int* to) const noexcept = 0;
  /// Writes the in-neighbours of a vertex, each once, to an array, without allocation or checks. For inner loops.
  /// @param v   vertex in [0, vertices())
  /// @param to  array of at least degree() elements
  /// @return number of in-neighbours
  virtual int in_to(int v, int* to) const noexcept = 0;

  /// Returns vertices of which at least one has an eccentricity equal to the diameter, by a proof in docs/announce.md (mostly:
  /// every vertex is the image of one of them under an automorphism). Empty if no such set is known.
  [[nodiscard]] virtual std::vector<int> representatives() const { return {}; }
  /// Returns a proven upper bound of the diameter; nothing if none is known.
  [[nodiscard]] virtual std::optional<int> diameter_bound() const { return std::nullopt; }

 protected:
  /// Sets the number of vertices of the network. @throws UsageError unless 1 <= vertices
  explicit Network(int vertices);
  int vertices_;    ///< number of vertices, one per rank
  int degree_ = 0;  ///< bound on out-degree and in-degree; derived classes set it
};

/// Computes the extents of a nearly cubic box for K vertices in n dimensions: N_i = ceil(K_i^(1/(n-i))), K_(i+1) = ceil(K_i / N_i),
/// with K_0 = K. Their product is at least K; the first extent belongs to the coordinate that varies fastest.
/// @throws UsageError unless K >= 1 and 1 <= n <= 30
[[nodiscard]] std::vector<int> box_extents(int vertices, int dimension);

/// Network whose vertices are the points of a box, numbered with the first coordinate fastest, of which the first K exist.
///
/// A line of the box is the set of points that differ in one coordinate only. Its existing points are a prefix of it, along which
/// arcs form a ring; so a box that is not full needs no special case.
class BoxNetwork : public Network {
 public:
  /// Returns the numbers of points of the overlay network's box along its dimensions, that of the fastest coordinate first.
  [[nodiscard]] const std::vector<int>& extents() const noexcept { return extents_; }
  /// Returns the number of dimensions of the overlay network's box.
  [[nodiscard]] int dimension() const noexcept { return static_cast<int>(extents_.size()); }
  /// Returns true if all points of the box exist: the number of vertices is the product of the extents.
  [[nodiscard]] bool full() const noexcept { return full_; }
  /// Returns the coordinates of a vertex in the box, the first one, which varies fastest, first.
  [[nodiscard]] std::vector<int> coordinates(int v) const;
  [[nodiscard]] std::string describe() const override;

 protected:
  /// Makes a network on a box with given extents. @throws UsageError unless all are >= 1 and their product is at least `vertices`
  BoxNetwork(int vertices, std::vector<int> extents);
  std::vector<int> extents_;  ///< by dimension: number of points along it
  std::vector<int> strides_;  ///< by dimension: difference of the numbers of adjacent points, at most `vertices`
  bool full_ = false;         ///< all points of the box exist
};

/// Manhattan Street Network of any number of vertices: one out-arc per dimension, in ascending direction if the sum of the other
/// coordinates is even, descending if it is odd, cyclic along the line. Out-degree and in-degree are at most the number of dimensions: a line with one vertex has no arc. Strongly
/// connected: every arc lies on a ring, and going down by one along the last dimension whose coordinate is not 0 leads to vertex 0.
/// Source: [berghoff2018, section II-A]; parity rule: [comellas2008].
class ManhattanStreetNetwork final : public BoxNetwork {
 public:
  /// Makes a network on the box with box_extents(vertices, dimension). @throws UsageError unless vertices >= 1 and 2 <= dimension
  /// <= 30
  ManhattanStreetNetwork(int vertices, int dimension);
  /// Makes a network on a box with given extents. @throws UsageError unless there are 2 to 30 of them, all >= 1, with a product of
  /// at least `vertices`, and vertices >= 1
  ManhattanStreetNetwork(int vertices, std::vector<int> extents);
  [[nodiscard]] std::string_view name() const noexcept override { return "manhattan"; }
  int out_to(int v, int* to) const noexcept override;
  int in_to(int v, int* to) const noexcept override;
  [[nodiscard]] std::vector<int> representatives() const override;

  /// Returns ceil(sum of extents / 2), the formula that 61 of the 63 published diameters follow. The true diameter can be greater
  /// by one.
  [[nodiscard]] int published_diameter() const;
  /// Returns the exact diameter of a full box with even extents by Eq. (1) of [berghoff2018]; nothing for other boxes.
  [[nodiscard]] std::optional<int> regular_diameter() const;
};

/// Torus of any number of vertices in n dimensions: arcs in both directions along every line of the box, cyclic. Degree at most 2
/// n.
class TorusNetwork final : public BoxNetwork {
 public:
  /// Makes a torus on the box with box_extents(vertices, dimension). @throws UsageError unless vertices >= 1 and 1 <= dimension <=
  /// 30
  TorusNetwork(int vertices, int dimension);
  [[nodiscard]] std::string_view name() const noexcept override { return "torus"; }
  int out_to(int v, int* to) const noexcept override;
  int in_to(int v, int* to) const noexcept override { return out_to(v, to); }
  [[nodiscard]] std::vector<int> representatives() const override;
  [[nodiscard]] std::optional<int> diameter_bound() const override;
};

/// Hypercube of any number of vertices K: two existing vertices are neighbours if their numbers differ in one bit. Strongly
/// connected for every K, since clearing a bit always leads to an existing vertex; the diameter is the number of bits, ceil(log2
/// K).
class HypercubeNetwork final : public Network {
 public:
  /// Makes a hypercube of the given number of vertices. @throws UsageError unless vertices >= 1
  explicit HypercubeNetwork(int vertices);
  [[nodiscard]] std::string_view name() const noexcept override { return "hypercube"; }
  [[nodiscard]] std::string describe() const override;
  int out_to(int v, int* to) const noexcept override;
  int in_to(int v, int* to) const noexcept override { return out_to(v, to); }
  [[nodiscard]] std::vector<int> representatives() const override;
  [[nodiscard]] std::optional<int> diameter_bound() const override { return degree_; }
};

/// Generalised de Bruijn network of any number of vertices K and degree d: arcs from v to (d v + r) mod K for r = 0 .. d - 1,
/// without loops and repeated arcs. Strongly connected with a diameter of at most ceil(log_d K), since k hops reach d^k consecutive
/// vertices.
/// Source: [reddy1980], [imase1981].
class DeBruijnNetwork final : public Network {
 public:
  /// Makes a network of the given number of vertices and degree. @throws UsageError unless vertices >= 1 and degree >= 2
  DeBruijnNetwork(int vertices, int degree);
  [[nodiscard]] std::string_view name() const noexcept override { return "debruijn"; }
  [[nodiscard]] std::string describe() const override;
  int out_to(int v, int* to) const noexcept override;
  int in_to(int v, int* to) const noexcept override;
  [[nodiscard]] std::optional<int> diameter_bound() const override;

 private:
  int base_;  // degree d of the generalised de Bruijn network, before it is bounded by the number of vertices
};

/// Returns the names of the overlay networks that make_network() accepts.
[[nodiscard]] std::span<const std::string_view> network_names();
/// Makes an overlay network for announcements by its name, one of network_names(). Local.
/// @param dimension  dimension of "manhattan" and "torus", degree of "debruijn"; "hypercube" ignores it
/// @throws UsageError for an unknown name, with the list of names, and for numbers that the network does not allow
[[nodiscard]] std::unique_ptr<Network> make_network(std::string_view name, int vertices, int dimension);

// ---- distances ----

/// Computes the number of hops in an overlay network from a vertex to every vertex or, reversed, from every vertex to it, by
/// breadth-first search. Local.
/// @return distances by vertex
/// @throws UsageError unless 0 <= from < vertices(), and if the network is not strongly connected
/// Cost: O(arcs) time, 8 bytes of memory per vertex.
[[nodiscard]] std::vector<int> distances(const Network& network, int from, bool reversed = false);
/// Computes the eccentricity of a vertex of an overlay network, the greatest number of hops from it to any vertex, by breadth-first
/// search. Local.
/// @throws UsageError unless 0 <= from < vertices(), and if the network is not strongly connected
/// Cost: O(arcs) time, 4 bytes and one bit of memory per vertex.
[[nodiscard]] int eccentricity(const Network& network, int from);

/// Bounds of the work of diameter() to compute the diameter of an overlay network.
struct DiameterEffort {
  /// Approximate number of arcs that an exact computation may follow; beyond that a sample is taken.
  std::int64_t arcs = 4'000'000'000;
  int sources = 8;         ///< number of vertices in a sample; all are searched from if there are no more
  std::uint64_t seed = 1;  ///< seed by which the vertices of a sample are drawn
};

/// Diameter of an overlay network, or a lower bound of it; diameter() returns it.
struct Diameter {
  int value = 0;             ///< greatest distance found, in hops
  bool exact = true;         ///< true: the diameter; false: a lower bound, since only some vertices were searched from
  std::int64_t sources = 0;  ///< number of vertices that were searched from
  std::string how;           ///< method, for reports: "from every vertex", "from 8 of 2,282,544 vertices"
};

/// Computes the diameter of an overlay network, the time to live of announcements over it. Local.
///
/// The result is exact if the network has representatives(), if a sample reaches diameter_bound() or is of all vertices, or if
/// `effort` allows searches that cover every vertex; else it is a lower bound from a sample, with exact = false.
/// @throws UsageError if the network is not strongly connected
/// Memory: 128 + 4 * degree bytes per vertex if searches from every vertex are needed and allowed, else 5 bytes.
[[nodiscard]] Diameter diameter(const Network& network, const DiameterEffort& effort = {});

/// Dimension of a Manhattan Street Network, with the diameter of that network; choose_dimension() returns it.
struct DimensionChoice {
  int dimension = 0;  ///< number of dimensions, out-arcs of a rank
  Diameter diameter;  ///< steps in which an announcement reaches all ranks, or a lower bound of them
};
/// Returns the least dimension, from 2 to 30, of a Manhattan Street Network whose diameter is at most `budget_steps`: the number of
/// steps in which an announcement must reach all ranks. Local.
/// @return nothing if there is no such dimension
/// @throws UsageError unless ranks >= 1 and budget_steps >= 1
[[nodiscard]] std::optional<DimensionChoice> choose_dimension(int ranks, int budget_steps,
                                                              const DiameterEffort& effort = {});

}  // namespace merganser::announce
