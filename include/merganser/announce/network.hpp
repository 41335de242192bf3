#pragma once
/// Networks for announcements: sparse directed graphs over any number of ranks whose arcs follow by arithmetic.
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

/// A directed graph over the vertices 0 .. vertices() - 1. Nothing is stored per vertex.
class Network {
 public:
  virtual ~Network() = default;

  /// The name that make_network() takes: "manhattan", "torus", "hypercube", "debruijn".
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Name and size for people: "manhattan 4x4x4".
  [[nodiscard]] virtual std::string describe() const = 0;
  /// Number of vertices.
  [[nodiscard]] int vertices() const noexcept { return vertices_; }
  /// The greatest number of arcs that leave (or enter) a vertex, as the construction bounds it.
  [[nodiscard]] int degree() const noexcept { return degree_; }

  /// Neighbours of v, each once, without v. @throws UsageError unless 0 <= v < vertices()
  [[nodiscard]] std::vector<int> out(int v) const;
  /// Vertices with an arc to v, each once, without v. @throws UsageError unless 0 <= v < vertices()
  [[nodiscard]] std::vector<int> in(int v) const;
  /// The arcs of one rank, for a Mailbox.
  [[nodiscard]] comm::Graph graph(int rank) const { return {out(rank), in(rank)}; }

  /// out() for inner loops: writes to `to`, which has room for degree() vertices; returns how many there are.
  virtual int out_to(int v, int* to) const noexcept = 0;
  /// in() for inner loops, likewise.
  virtual int in_to(int v, int* to) const noexcept = 0;

  /// Vertices such that a greatest distance starts at one of them, which is proven (docs/announce.md), mostly because
  /// every vertex is the image of one of them under an automorphism; empty: nothing is known.
  [[nodiscard]] virtual std::vector<int> representatives() const { return {}; }
  /// A proven upper bound of the diameter; nothing where none is known.
  [[nodiscard]] virtual std::optional<int> diameter_bound() const { return std::nullopt; }

 protected:
  /// @throws UsageError unless 1 <= vertices
  explicit Network(int vertices);
  int vertices_;
  int degree_ = 0;
};

/// The extents of the box that holds K vertices in n dimensions: N_i = ceil(K_i^(1/(n-i))), K_(i+1) = ceil(K_i / N_i).
/// Their product is at least K; the last extent is the slowest. @throws UsageError unless K >= 1, 1 <= n <= 30
[[nodiscard]] std::vector<int> box_extents(int vertices, int dimension);

/// A box whose vertices 0 .. K - 1 exist, in the order of ids, first coordinate fastest. A line is what differs in one
/// coordinate only; what exists of it is a prefix, and that is made a ring. So an incomplete box needs no special case.
class BoxNetwork : public Network {
 public:
  /// Lengths of the box, the first coordinate first.
  [[nodiscard]] const std::vector<int>& extents() const noexcept { return extents_; }
  /// Number of coordinates.
  [[nodiscard]] int dimension() const noexcept { return static_cast<int>(extents_.size()); }
  /// True if the last hyperplane is complete: K is the product of the extents.
  [[nodiscard]] bool full() const noexcept { return full_; }
  /// Coordinates of a vertex.
  [[nodiscard]] std::vector<int> coordinates(int v) const;
  [[nodiscard]] std::string describe() const override;

 protected:
  BoxNetwork(int vertices, std::vector<int> extents);
  std::vector<int> extents_;
  std::vector<int> strides_;
  bool full_ = false;
};

/// Manhattan Street Network of any number of vertices: one arc per dimension, upwards where the sum of the other
/// coordinates is even, downwards where it is odd, round in the ring of the line. Degree n. Strongly connected: every arc
/// lies on a ring, and lowering the highest coordinate that is not 0 step by step leads to vertex 0.
/// Source: [berghoff2018, section II-A]; parity rule: [comellas2008].
class ManhattanStreetNetwork final : public BoxNetwork {
 public:
  /// @throws UsageError unless vertices >= 1 and 2 <= dimension <= 30
  ManhattanStreetNetwork(int vertices, int dimension);
  /// With extents of your own. @throws UsageError unless there are two or more, all >= 1, their product holds `vertices`
  ManhattanStreetNetwork(int vertices, std::vector<int> extents);
  [[nodiscard]] std::string_view name() const noexcept override { return "manhattan"; }
  int out_to(int v, int* to) const noexcept override;
  int in_to(int v, int* to) const noexcept override;
  [[nodiscard]] std::vector<int> representatives() const override;

  /// ceil(sum of extents / 2): what the published diameters follow, in 61 of 63 cases. The true diameter can be one more.
  [[nodiscard]] int published_diameter() const;
  /// Eq. (1) of [berghoff2018] for a full box of even extents, where it is exact; nothing for other boxes.
  [[nodiscard]] std::optional<int> regular_diameter() const;
};

/// The same box with arcs both ways along every line: degree 2 n.
class TorusNetwork final : public BoxNetwork {
 public:
  TorusNetwork(int vertices, int dimension);
  [[nodiscard]] std::string_view name() const noexcept override { return "torus"; }
  int out_to(int v, int* to) const noexcept override;
  int in_to(int v, int* to) const noexcept override { return out_to(v, to); }
  [[nodiscard]] std::vector<int> representatives() const override;
  [[nodiscard]] std::optional<int> diameter_bound() const override;
};

/// v and w are neighbours if their numbers differ in one bit and both exist. Strongly connected for every number of
/// vertices: clearing a bit always leads to a vertex that exists; the diameter is the number of bits, ceil(log2 K).
class HypercubeNetwork final : public Network {
 public:
  explicit HypercubeNetwork(int vertices);
  [[nodiscard]] std::string_view name() const noexcept override { return "hypercube"; }
  [[nodiscard]] std::string describe() const override;
  int out_to(int v, int* to) const noexcept override;
  int in_to(int v, int* to) const noexcept override { return out_to(v, to); }
  [[nodiscard]] std::vector<int> representatives() const override;
  [[nodiscard]] std::optional<int> diameter_bound() const override { return degree_; }
};

/// Generalised de Bruijn network: v leads to (d v + r) mod K for r = 0 .. d - 1, for any K; arcs of a vertex to itself
/// and repeated ones are left out. Strongly connected with a diameter of at most ceil(log_d K): after k steps the
/// vertices reached are d^k consecutive ones. Source: [reddy1980], [imase1981].
class DeBruijnNetwork final : public Network {
 public:
  /// @throws UsageError unless degree >= 2
  DeBruijnNetwork(int vertices, int degree);
  [[nodiscard]] std::string_view name() const noexcept override { return "debruijn"; }
  [[nodiscard]] std::string describe() const override;
  int out_to(int v, int* to) const noexcept override;
  int in_to(int v, int* to) const noexcept override;
  [[nodiscard]] std::optional<int> diameter_bound() const override;

 private:
  int base_;
};

/// The names that make_network knows.
[[nodiscard]] std::span<const std::string_view> network_names();
/// Makes a network by its name. `dimension`: of manhattan and torus; the degree of debruijn; hypercube ignores it.
/// @throws UsageError for an unknown name, with the list, and for numbers that the network does not allow
[[nodiscard]] std::unique_ptr<Network> make_network(std::string_view name, int vertices, int dimension);

// ---- distances ----

/// Steps from `from` to every vertex (or, reversed, from every vertex to it). O(arcs) time, 8 bytes per vertex.
[[nodiscard]] std::vector<int> distances(const Network& network, int from, bool reversed = false);
/// The greatest of them. 4 bytes and a bit per vertex.
[[nodiscard]] int eccentricity(const Network& network, int from);

/// How far a search for a diameter goes.
struct DiameterEffort {
  std::int64_t arcs =
      4'000'000'000;       ///< as many arcs may be followed, about, to be exact; above that a sample is taken
  int sources = 8;         ///< vertices of a sample
  std::uint64_t seed = 1;  ///< that draws them
};

/// The greatest distance in a network, or the greatest that was found.
struct Diameter {
  int value = 0;             ///< the greatest distance found
  bool exact = true;         ///< false: a lower bound, since only some vertices were searched from
  std::int64_t sources = 0;  ///< searched from
  std::string how;           ///< "from every vertex", "from 1 vertex, all are alike", "from 8 of 2,282,544 vertices"
};

/// The diameter: exact from the representatives of the symmetry if that is proven, from every vertex where `effort`
/// allows, or as soon as a proven bound is reached; else a lower bound from a sample, and said so.
/// Memory: 128 + 4 * degree bytes a vertex where the search from every vertex is needed and allowed, else 5 bytes.
[[nodiscard]] Diameter diameter(const Network& network, const DiameterEffort& effort = {});

/// Answer to: which dimension of a Manhattan Street Network spreads an announcement within so many steps?
struct DimensionChoice {
  int dimension = 0;  ///< the least that will do
  Diameter diameter;  ///< of that network
};
/// The least dimension of a Manhattan Street Network that will do. Local.
/// @return nothing if no dimension up to 30 will do
/// @throws UsageError unless ranks >= 1 and budget_steps >= 1
[[nodiscard]] std::optional<DimensionChoice> choose_dimension(int ranks, int budget_steps,
                                                              const DiameterEffort& effort = {});

}  // namespace merganser::announce
