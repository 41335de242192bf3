// Overlay networks for announcements without a box, hypercube and de Bruijn network, and the choice of a network by its name.
#include "merganser/announce/network.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"

namespace merganser::announce {

Network::Network(int vertices) : vertices_(vertices) {
  if (vertices < 1) throw UsageError("network: " + std::to_string(vertices) + " vertices; allowed: at least 1");
}

namespace {

/// Checks that a number is that of a vertex of an overlay network. @throws UsageError if not
void check_vertex(const Network& network, int v) {
  if (v >= 0 && v < network.vertices()) return;
  throw UsageError("network: vertex " + std::to_string(v) + "; allowed: 0 to " +
                   std::to_string(network.vertices() - 1));
}

/// Appends vertex w to the `count` neighbours of v in `to`, unless it is v or among them. Returns the new count.
int append_distinct(int v, int w, int* to, int count) {
  if (w == v || std::find(to, to + count, w) != to + count) return count;
  to[count] = w;
  return count + 1;
}

}  // namespace

std::vector<int> Network::out(int v) const {
  check_vertex(*this, v);
  std::vector<int> to(static_cast<std::size_t>(degree_));
  to.resize(static_cast<std::size_t>(out_to(v, to.data())));
  return to;
}

std::vector<int> Network::in(int v) const {
  check_vertex(*this, v);
  std::vector<int> to(static_cast<std::size_t>(degree_));
  to.resize(static_cast<std::size_t>(in_to(v, to.data())));
  return to;
}

HypercubeNetwork::HypercubeNetwork(int vertices) : Network(vertices) {
  degree_ = static_cast<int>(std::bit_width(static_cast<unsigned>(vertices - 1)));
}

std::string HypercubeNetwork::describe() const { return "hypercube of " + std::to_string(degree_) + " bits"; }

// Writes the neighbours of a vertex of the hypercube: the existing vertices whose numbers differ in one bit.
int HypercubeNetwork::out_to(int v, int* to) const noexcept {
  int count = 0;
  for (int bit = 0; bit < degree_; ++bit) {
    const int w = v ^ (1 << bit);
    if (w < vertices_) to[count++] = w;
  }
  return count;
}

/// Returns the vertex with all bits set but the highest: the vertex with the highest bit alone, which always exists, differs from
/// it in all bits, so their distance is the number of bits, an upper bound of every distance.
std::vector<int> HypercubeNetwork::representatives() const { return {degree_ == 0 ? 0 : (1 << (degree_ - 1)) - 1}; }

DeBruijnNetwork::DeBruijnNetwork(int vertices, int degree) : Network(vertices), base_(degree) {
  if (degree < 2) throw UsageError("debruijn: degree " + std::to_string(degree) + "; allowed: at least 2");
  degree_ = std::min(degree, vertices - 1);
}

std::string DeBruijnNetwork::describe() const { return "debruijn of degree " + std::to_string(base_); }

// Writes the out-neighbours (d v + r) mod K of a vertex v of the de Bruijn network, without v and repetitions.
int DeBruijnNetwork::out_to(int v, int* to) const noexcept {
  int count = 0;
  auto w = static_cast<int>(std::int64_t{v} * base_ % vertices_);
  for (int r = 0; r < base_ && count < degree_; ++r) {
    count = append_distinct(v, w, to, count);
    if (++w == vertices_) w = 0;
  }
  return count;
}

/// Writes the in-neighbours of a vertex of the de Bruijn network. An in-neighbour u of v satisfies d u + r = v + m K for some r and
/// m in [0, d); each m gives exactly one u.
int DeBruijnNetwork::in_to(int v, int* to) const noexcept {
  int count = 0;
  for (int m = 0; m < base_ && count < degree_; ++m) {
    count = append_distinct(v, static_cast<int>((v + std::int64_t{m} * vertices_) / base_), to, count);
  }
  return count;
}

// Returns the least k with d^k >= K, the hops after which a de Bruijn network has reached all vertices.
std::optional<int> DeBruijnNetwork::diameter_bound() const {
  int steps = 0;
  for (std::int64_t reached = 1; reached < vertices_; reached *= base_) ++steps;
  return steps;
}

std::span<const std::string_view> network_names() {
  static constexpr std::array<std::string_view, 4> kNames{"manhattan", "torus", "hypercube", "debruijn"};
  return kNames;
}

// Makes an overlay network by its name, for the option of programs.
std::unique_ptr<Network> make_network(std::string_view name, int vertices, int dimension) {
  if (name == "manhattan") return std::make_unique<ManhattanStreetNetwork>(vertices, dimension);
  if (name == "torus") return std::make_unique<TorusNetwork>(vertices, dimension);
  if (name == "hypercube") return std::make_unique<HypercubeNetwork>(vertices);
  if (name == "debruijn") return std::make_unique<DeBruijnNetwork>(vertices, dimension);
  throw UsageError("unknown network " + std::string(name) + "; known: " + joined(network_names()));
}

}  // namespace merganser::announce
