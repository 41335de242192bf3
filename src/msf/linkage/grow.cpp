#include "merganser/msf/grow.hpp"

#include <queue>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "src/msf/linkage/clusters.hpp"

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

/// The pairs of a point and one of its nearest with no greater core distance: their distance is the core distance.
class CorePairs {
 public:
  CorePairs(const NearestPoints& nearest, std::uint64_t vertices) : nearest_(nearest), lists_(0) {
    if (nearest.each == 0) return;
    const auto count = static_cast<std::size_t>(vertices);
    if (nearest.points.size() != count * nearest.each || nearest.core_distances.size() != count) {
      throw InputError("grow: nearest points " + std::to_string(nearest.points.size()) + ", core distances " +
                       std::to_string(nearest.core_distances.size()) + "; allowed: " + std::to_string(nearest.each) +
                       " and 1 for each of " + std::to_string(count) + " vertices");
    }
    for (const auto p : nearest.points) {
      if (p >= 0 && static_cast<std::uint64_t>(p) < vertices) continue;
      throw InputError("grow: a nearest point " + std::to_string(p) + "; allowed: 0 to below " +
                       std::to_string(vertices));
    }
    lists_ = Lists(count);
    pairs([&](std::uint32_t, std::uint32_t lower) { lists_.count(lower); });
    lists_.counted();
    higher_.resize(count == 0 ? 0 : lists_.end(count));
    pairs([&](std::uint32_t higher, std::uint32_t lower) { higher_[lists_.next(lower)] = higher; });
  }

  void each(std::uint32_t v, const auto& body) const {
    if (nearest_.each == 0) return;
    lower(v, [&](std::uint32_t to) { body(to, nearest_.core_distances[v]); });
    for (std::size_t i = lists_.begin(v); i < lists_.end(v); ++i) body(higher_[i], nearest_.core_distances[higher_[i]]);
  }

 private:
  void lower(std::uint32_t v, const auto& body) const {
    for (const auto p : nearest_.points.subspan(v * nearest_.each, nearest_.each)) {
      const auto to = static_cast<std::uint32_t>(p);
      if (to != v && nearest_.core_distances[to] <= nearest_.core_distances[v]) body(to);
    }
  }
  void pairs(const auto& body) const {
    for (std::uint32_t v = 0; v < nearest_.core_distances.size(); ++v) lower(v, [&](std::uint32_t to) { body(v, to); });
  }

  const NearestPoints& nearest_;
  Lists lists_;                        // of the points that have a point among their nearest
  std::vector<std::uint32_t> higher_;  // in these lists
};

/// Prim's algorithm.
class Growth {
 public:
  explicit Growth(std::size_t vertices) : least_(vertices, kInfinite), inside_(vertices) { edges_.reserve(vertices); }

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
    each_edge(v, [&](std::uint32_t to, double weight) {
      if (inside_[to] != 0 || !(weight < least_[to])) return;
      least_[to] = weight;
      border_.push({weight, to, v});
    });
  }

  std::vector<double> least_;  // weight of an edge between the tree and a vertex
  std::vector<std::uint8_t> inside_;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> border_;
  std::vector<GrownEdge> edges_;
};

}  // namespace

std::vector<GrownEdge> grow(const Forest& forest, const NearestPoints& nearest) {
  check_linkage_size("grow", forest.vertices);
  const Adjacency adjacency(forest);
  const CorePairs pairs(nearest, forest.vertices);
  auto edges = Growth(static_cast<std::size_t>(forest.vertices)).run([&](std::uint32_t v, const auto& body) {
    adjacency.each(v, body);
    pairs.each(v, body);
  });
  const auto found = static_cast<std::size_t>(
      std::count_if(edges.begin(), edges.end(), [](const GrownEdge& e) { return e.weight < kInfinite; }));
  if (nearest.each == 0 && found != forest.edges.size()) {
    throw InputError("grow: " + std::to_string(forest.edges.size()) + " edges, " + std::to_string(found) +
                     " without cycles and of finite weight; allowed: edges of a forest");
  }
  return edges;
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

Dendrogram grown_dendrogram(const Forest& forest, const NearestPoints& nearest) {
  if (forest.vertices == 0) return {};
  const auto edges = grow(forest, nearest);
  std::vector<double> weights(edges.size());
  std::transform(edges.begin(), edges.end(), weights.begin(), [](const GrownEdge& e) { return e.weight; });
  return dendrogram_in_order(edges, sorted_like_numpy(weights));
}

}  // namespace merganser::msf
