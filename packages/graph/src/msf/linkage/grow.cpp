#include "merganser/msf/grow.hpp"

#include <queue>

#include "merganser/base/error.hpp"
#include "merganser/base/text.hpp"
#include "src/msf/linkage/clusters.hpp"
#include "src/msf/linkage/equal_edges.hpp"

namespace merganser::msf {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Lists of vertices, by vertex: filled in two passes, which count and put.
class Lists {
 public:
  explicit Lists(std::size_t vertices) : ends_(vertices + 1) {}
  void count(std::size_t of) { ++ends_[of]; }
  void counted() {
    std::size_t sum = 0;
    for (auto& end : ends_) sum = std::exchange(end, sum) + sum;
  }
  /// Where the next entry of a list goes. Afterwards ends_[v] is the end of list v.
  std::size_t next(std::size_t of) { return ends_[of]++; }
  [[nodiscard]] std::size_t begin(std::size_t of) const { return of == 0 ? 0 : ends_[of - 1]; }
  [[nodiscard]] std::size_t end(std::size_t of) const { return ends_[of]; }

 private:
  std::vector<std::size_t> ends_;
};

/// The edges at every vertex.
class Adjacency {
 public:
  explicit Adjacency(const Forest& forest)
      : lists_(static_cast<std::size_t>(forest.vertices)),
        to_(2 * forest.edges.size()),
        weight_(2 * forest.edges.size()) {
    for (const auto& e : forest.edges) {
      check(e, forest.vertices);
      lists_.count(e.low);
      lists_.count(e.high);
    }
    lists_.counted();
    for (const auto& e : forest.edges) {
      const double weight = graphs::weight_of(forest.kind, e.weight);
      put(e.low, e.high, weight);
      put(e.high, e.low, weight);
    }
  }

  void each(std::uint32_t v, const auto& body) const {
    for (std::size_t i = lists_.begin(v); i < lists_.end(v); ++i) body(to_[i], weight_[i]);
  }

 private:
  static void check(const graphs::Edge24& e, std::uint64_t vertices) {
    if (e.low < vertices && e.high < vertices && e.low != e.high) return;
    throw InputError("grow: edge " + std::to_string(e.low) + " - " + std::to_string(e.high) +
                     "; allowed: two vertices from 0 to below " + std::to_string(vertices));
  }
  void put(std::uint64_t v, std::uint64_t to, double weight) {
    const std::size_t at = lists_.next(v);
    to_[at] = static_cast<std::uint32_t>(to);
    weight_[at] = weight;
  }

  Lists lists_;
  std::vector<std::uint32_t> to_;
  std::vector<double> weight_;
};

/// Prim's algorithm.
class Prim {
 public:
  explicit Prim(std::size_t vertices) : least_(vertices, kInfinite), inside_(vertices) { edges_.reserve(vertices); }

  std::vector<GrownEdge> run(const auto& each_edge) {
    const auto vertices = static_cast<std::uint32_t>(least_.size());
    for (std::uint32_t first = 0; first < vertices; ++first) {
      if (inside_[first] != 0) continue;
      if (first > 0) edges_.push_back({0, first, kInfinite});
      take(first, each_edge);
      while (!border_.empty()) {
        const Candidate c = border_.top();
        border_.pop();
        if (inside_[c.to] != 0 || c.weight > least_[c.to]) continue;
        edges_.push_back({c.from, c.to, c.weight});
        take(c.to, each_edge);
      }
    }
    return std::move(edges_);
  }

 private:
  struct Candidate {
    double weight;
    std::uint32_t to;
    std::uint32_t from;
    friend bool operator>(const Candidate& x, const Candidate& y) {
      return x.weight != y.weight ? x.weight > y.weight : x.to > y.to;
    }
  };

  void take(std::uint32_t v, const auto& each_edge) {
    inside_[v] = 1;
    const auto wanted = [&](std::uint32_t to, double weight) { return inside_[to] == 0 && weight < least_[to]; };
    each_edge(v, wanted, [&](std::uint32_t to, double weight) {
      if (!wanted(to, weight)) return;
      least_[to] = weight;
      border_.push({weight, to, v});
    });
  }

  std::vector<double> least_;  // weight of an edge between the tree and a vertex
  std::vector<std::uint8_t> inside_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> border_;
  std::vector<GrownEdge> edges_;
};

std::size_t count_finite(const std::vector<GrownEdge>& edges) {
  return static_cast<std::size_t>(
      std::count_if(edges.begin(), edges.end(), [](const GrownEdge& e) { return e.weight < kInfinite; }));
}

}  // namespace

std::vector<GrownEdge> grow(const Forest& forest) {
  check_linkage_size("grow", forest.vertices);
  const Adjacency adjacency(forest);
  auto edges = Prim(static_cast<std::size_t>(forest.vertices)).run([&](std::uint32_t v, const auto&, const auto& body) {
    adjacency.each(v, body);
  });
  if (const auto found = count_finite(edges); found != forest.edges.size()) {
    throw InputError("grow: " + std::to_string(forest.edges.size()) + " edges, " + std::to_string(found) +
                     " without cycles and of finite weight; allowed: edges of a forest");
  }
  return edges;
}

Growth grow(const Forest& forest, const GatheredPoints& points, std::uint64_t most_steps) {
  Growth growth{grow(forest), false};
  if (!points) return growth;
  if (points.sites->size() != forest.vertices) {
    throw InputError("grow: " + std::to_string(points.sites->size()) + " points; allowed: the " +
                     std::to_string(forest.vertices) + " that are the vertices of the forest");
  }
  if (forest.vertices == 0) return {{}, true};
  EqualEdges equal(points, growth.edges, most_steps);
  auto edges =
      Prim(static_cast<std::size_t>(forest.vertices)).run([&](std::uint32_t v, const auto& wanted, const auto& body) {
        equal.take(v, wanted, body);
      });
  if (equal.gave_up()) return growth;
  if (count_finite(edges) + 1 != forest.vertices)
    throw InputError("grow: points that are not those of the forest; allowed: those that it was made of");
  return {std::move(edges), true};
}

Dendrogram dendrogram_in_order(std::span<const GrownEdge> edges, std::span<const std::uint32_t> order) {
  if (order.size() != edges.size()) {
    throw InputError("dendrogram: an order of " + std::to_string(order.size()) +
                     " edges; allowed: " + std::to_string(edges.size()));
  }
  const std::size_t vertices = edges.size() + 1;
  Dendrogram d{vertices, {}};
  d.merges.reserve(edges.size());
  Clusters clusters(vertices);
  for (const std::uint32_t place : order) {
    if (place >= edges.size()) {
      throw InputError("dendrogram: place " + std::to_string(place) + " in an order; allowed: below " +
                       std::to_string(edges.size()));
    }
    const GrownEdge& e = edges[place];
    if (!d.merges.empty() && !(e.weight >= d.merges.back().height)) {
      throw InputError("dendrogram: weight " + number_text(e.weight) + " after " + number_text(d.merges.back().height) +
                       "; allowed: an order of ascending weights");
    }
    const bool known = e.from < vertices && e.to < vertices;
    const std::uint32_t x = known ? clusters.find(e.from) : 0;
    const std::uint32_t y = known ? clusters.find(e.to) : 0;
    if (x == y) {
      throw InputError("dendrogram: edge " + std::to_string(e.from) + " - " + std::to_string(e.to) +
                       " closes a cycle or has no such vertices; allowed: edges of a tree");
    }
    clusters.join(x, y, e.weight, d);
  }
  return d;
}

Dendrogram grown_dendrogram(const std::vector<GrownEdge>& edges) {
  std::vector<double> weights(edges.size());
  std::transform(edges.begin(), edges.end(), weights.begin(), [](const GrownEdge& e) { return e.weight; });
  return dendrogram_in_order(edges, sorted_like_numpy(weights));
}

}  // namespace merganser::msf
