// Generators without communication of G(n, m), preferential attachment, grids, paths, stars and complete graphs: each edge is a
// function of the seed and its number.
#include <algorithm>

#include "merganser/base/random.hpp"
#include "src/graphs/generate/spec.hpp"

namespace merganser::graphs::detail {
namespace {

/// Pseudo-random permutation of 0 .. size - 1 that any rank can evaluate anywhere: a Feistel network on the next power of two,
/// applied until the image lies inside (cycle walking). It is injective, so m images are m different pairs of G(n, m).
class Permutation {
 public:
  /// Derives the keys of the six half-rounds of the Feistel network from the seed.
  Permutation(std::uint64_t size, std::uint64_t seed) : size_(size) {
    const int bits = std::max(2, static_cast<int>(std::bit_width(size - 1)));
    lower_ = bits / 2;
    lower_mask_ = (std::uint64_t{1} << lower_) - 1;
    upper_mask_ = (std::uint64_t{1} << (bits - lower_)) - 1;
    for (std::uint64_t& key : keys_) key = seed = mix64(seed + 0x9e3779b97f4a7c15ULL);
  }
  /// Returns the image of x under the pseudo-random permutation, x < size.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t x) const {
    do {
      std::uint64_t low = x & lower_mask_, high = x >> lower_;
      for (std::size_t round = 0; round < keys_.size(); round += 2) {
        high ^= mix64(low + keys_[round]) & upper_mask_;
        low ^= mix64(high + keys_[round + 1]) & lower_mask_;
      }
      x = high << lower_ | low;
    } while (x >= size_);
    return x;
  }

 private:
  std::uint64_t size_;
  int lower_ = 1;
  std::uint64_t lower_mask_ = 1;
  std::uint64_t upper_mask_ = 1;
  std::array<std::uint64_t, 6> keys_{};
};

/// Ends of edges in preferential attachment [batagelj2005]: the edges of vertex v >= 1 are e = v * degree + 0 .. degree - 1;
/// an edge has the places 2 e (which holds v) and 2 e + 1 (which holds the vertex of an earlier place, drawn uniformly). The
/// places of vertex 0 hold 0. The vertex of a place is recomputed by repeating the draws of its edge, wherever that edge is
/// [sanders2016].
class AttachmentPlaces {
 public:
  /// @param degree  edges of each new vertex @param seed  seed of the draws
  AttachmentPlaces(std::uint64_t degree, std::uint64_t seed)
      : degree_(degree), key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)} {}
  /// Returns the earlier vertex to which edge `edge` of preferential attachment leads.
  [[nodiscard]] std::uint64_t target(std::uint64_t edge) const {
    for (;;) {
      const std::uint64_t place = draw(edge);
      edge = place / 2;
      if (place % 2 == 0 || edge < degree_) return edge / degree_;
    }
  }

 private:
  /// Draws a place uniformly among those of the vertices before the edge's own: the upper half of a product, without a division.
  [[nodiscard]] std::uint64_t draw(std::uint64_t edge) const {
    const auto r =
        philox({static_cast<std::uint32_t>(edge), static_cast<std::uint32_t>(edge >> 32), 0, kBaStream}, key_);
    __extension__ using Wide = unsigned __int128;
    const std::uint64_t bits = r[0] | static_cast<std::uint64_t>(r[1]) << 32;
    return static_cast<std::uint64_t>(static_cast<Wide>(bits) * (edge / degree_ * degree_ * 2) >> 64);
  }

  std::uint64_t degree_;
  std::array<std::uint32_t, 2> key_;
};

}  // namespace

// Generator of G(n, m): the first m images of a random permutation of all pairs of vertices.
template <class Edge>
void make_gnm(const Spec& spec, const Part& part, Sink<Edge>& sink) {
  const auto [first, last] = part.range(spec.edges);
  sink.reserve(last - first);
  if (first == last) return;
  const std::uint64_t n = spec.vertices;
  const Permutation permutation(n % 2 == 0 ? n / 2 * (n - 1) : n * (n / 2), part.seed);
  for (std::uint64_t edge = first; edge < last; ++edge) {
    const Pair pair = pair_at(permutation(edge));
    sink(pair.a, pair.b);
  }
}

// Generator of preferential attachment: each rank recomputes the targets of its own edges, without communication.
template <class Edge>
void make_ba(const Spec& spec, const Part& part, Sink<Edge>& sink) {
  const std::uint64_t degree = spec.extent[0];
  const AttachmentPlaces places(degree, part.seed);
  const auto [first, last] = part.range(spec.edges);
  sink.reserve(last - first);
  for (std::uint64_t edge = first + degree; edge < last + degree; ++edge) sink(edge / degree, places.target(edge));
}

// Generator of grids: each vertex has an edge to the next vertex along each axis.
template <class Edge>
void make_grid(const Spec& spec, const Part& part, Sink<Edge>& sink) {
  const auto [first, last] = part.range(spec.vertices);
  sink.reserve((last - first) * static_cast<std::uint64_t>(spec.dimension));
  const std::array<std::uint64_t, 3> stride{spec.extent[1] * spec.extent[2], spec.extent[2], 1};
  for (std::uint64_t v = first; v < last; ++v) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::uint64_t extent = spec.extent[axis];
      const std::uint64_t at = v / stride[axis] % extent;
      if (at + 1 < extent)
        sink(v, v + stride[axis]);
      else if (spec.periodic && extent > 2)
        sink(v, v - at * stride[axis]);
    }
  }
}

// Generator of paths: vertices v and v + 1 are joined.
template <class Edge>
void make_path(const Spec& spec, const Part& part, Sink<Edge>& sink) {
  const auto [first, last] = part.range(spec.edges);
  sink.reserve(last - first);
  for (std::uint64_t v = first; v < last; ++v) sink(v, v + 1);
}

// Generator of stars: vertex 0 is joined to all others.
template <class Edge>
void make_star(const Spec& spec, const Part& part, Sink<Edge>& sink) {
  const auto [first, last] = part.range(spec.edges);
  sink.reserve(last - first);
  for (std::uint64_t v = first; v < last; ++v) sink(0, v + 1);
}

// Generator of complete graphs: this rank's range of the list of all pairs of vertices, row by row.
template <class Edge>
void make_complete(const Spec& spec, const Part& part, Sink<Edge>& sink) {
  const auto [first, last] = part.range(spec.edges);
  sink.reserve(last - first);
  if (first == last) return;
  Pair pair = pair_at(first);
  for (std::uint64_t edge = first; edge < last; ++edge) {
    sink(pair.a, pair.b);
    if (++pair.b == pair.a) pair = {pair.a + 1, 0};
  }
}

#define MERGANSER_FOR_EDGE(Edge)                                  \
  template void make_gnm(const Spec&, const Part&, Sink<Edge>&);  \
  template void make_ba(const Spec&, const Part&, Sink<Edge>&);   \
  template void make_grid(const Spec&, const Part&, Sink<Edge>&); \
  template void make_path(const Spec&, const Part&, Sink<Edge>&); \
  template void make_star(const Spec&, const Part&, Sink<Edge>&); \
  template void make_complete(const Spec&, const Part&, Sink<Edge>&);
MERGANSER_FOR_EDGE(Edge12)
MERGANSER_FOR_EDGE(Edge16)
MERGANSER_FOR_EDGE(Edge24)
#undef MERGANSER_FOR_EDGE

}  // namespace merganser::graphs::detail
