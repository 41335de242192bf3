#pragma once
/// Prim's algorithm on the edges that a caller lists, in scikit-learn's order of equal weights.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <vector>

#include "merganser/msf/grow.hpp"

namespace merganser::msf {

inline constexpr double kInfiniteWeight =
    std::numeric_limits<double>::infinity();  ///< weight where a new component begins

/// Prim's algorithm on rank 0 with a heap of candidate edges, in scikit-learn's order: among equal weights the lowest vertex, then
/// the edge from the vertex that was added first.
class PrimOrder {
 public:
  /// @param ids, places  numbers of vertices by place, and the reverse, where the algorithm is to go by places; empty: it goes by numbers
  explicit PrimOrder(std::size_t vertices, std::span<const std::uint32_t> ids = {},
                     std::span<const std::uint32_t> places = {})
      : ids_(ids), places_(places), vertices_(vertices) {
    edges_.reserve(vertices);
  }

  /// Runs Prim's algorithm from vertex 0 until all vertices are in the tree. @return its edges in the order in which they are added
  /// @param visit  visit(v, offer) is called for each vertex v that is added, and calls offer(from, to, weight) for edges from the tree; all
  /// are places if there are such
  /// @param prepare  prepare(v) is called for a vertex v that may be one of the next to be added
  std::vector<GrownEdge> run(const auto& visit, const auto& prepare) {
    // A candidate of the heap is outdated if its vertex has been added, or has a lighter edge by now.
    const auto vertices = static_cast<std::uint32_t>(vertices_.size());
    for (std::uint32_t number = 0; number < vertices; ++number) {
      const std::uint32_t first = places_.empty() ? number : places_[number];
      if (std::isnan(vertices_[first].least)) continue;
      if (number > 0) edges_.push_back({0, number, kInfiniteWeight});
      insert_vertex(first, visit);
      while (!border_.empty()) {
        const Candidate c = border_.pop();
        if (!border_.empty()) {
          const std::uint32_t next = border_.first().to;
          prefetch(next);
          prepare(next);
        }
        if (!(c.weight <= vertices_[c.to].least)) continue;
        edges_.push_back({id(vertices_[c.to].from), c.id, c.weight});
        insert_vertex(c.to, visit);
      }
    }
    return std::move(edges_);
  }
  /// Runs Prim's algorithm without preparation.
  std::vector<GrownEdge> run(const auto& visit) {
    return run(visit, [](std::uint32_t) {});
  }
  /// Prefetches what an edge to vertex v reads of it.
  [[gnu::always_inline]] void prefetch(std::uint32_t v) const { __builtin_prefetch(&vertices_[v]); }

 private:
  /// Candidate edge of Prim's algorithm, from the tree to a vertex outside.
  struct Candidate {
    double weight;     ///< weight of the edge
    std::uint32_t id;  ///< number of the vertex outside the tree
    std::uint32_t to;  ///< that vertex
    friend bool operator>(const Candidate& x, const Candidate& y) {
      return x.weight != y.weight ? x.weight > y.weight : x.id > y.id;
    }
  };
  /// Candidates in ascending order. Most are the next ones soon after they have been added: those before all others are in a short sorted
  /// list, and only what is not goes through the heap.
  class Border {
   public:
    [[nodiscard]] bool empty() const { return near_.empty() && far_.empty(); }
    /// Adds a candidate.
    void push(const Candidate& c) {
      if (!far_.empty() && c > far_.top()) return far_.push(c);
      near_.push_back(c);
      std::size_t to = near_.size() - 1;
      for (; to > 0 && c > near_[to - 1]; --to) near_[to] = near_[to - 1];
      near_[to] = c;
      if (near_.size() < kMaxNear) return;
      for (std::size_t i = 0; i < kMaxNear / 2; ++i) far_.push(near_[i]);
      near_.erase(near_.begin(), near_.begin() + kMaxNear / 2);
    }
    /// Returns the first candidate.
    [[nodiscard]] const Candidate& first() const { return near_.empty() ? far_.top() : near_.back(); }
    /// Removes the first candidate, and returns it.
    Candidate pop() {
      const Candidate c = first();
      if (near_.empty())
        far_.pop();
      else
        near_.pop_back();
      return c;
    }

   private:
    static constexpr std::size_t kMaxNear = 32;  // length that the list does not reach

    std::vector<Candidate> near_;  // descending, all before those of far_
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> far_;
  };
  /// Vertex with its lightest edge from the tree.
  struct Vertex {
    double least = kInfiniteWeight;  ///< weight of that edge; not a number: the vertex is in the tree
    std::uint32_t from = 0;          ///< end of that edge in the tree
    std::uint32_t place = 0;         ///< of a vertex in the tree: number of vertices that were added before
  };

  /// Returns the number of vertex v.
  [[nodiscard]] std::uint32_t id(std::uint32_t v) const { return ids_.empty() ? v : ids_[v]; }
  /// Adds vertex v to the tree of Prim's algorithm, and the edges to vertices outside that become known to the heap of candidates.
  void insert_vertex(std::uint32_t v, const auto& visit) {
    vertices_[v].least = std::numeric_limits<double>::quiet_NaN();
    vertices_[v].place = static_cast<std::uint32_t>(edges_.size());
    visit(v, [&](std::uint32_t from, std::uint32_t to, double weight) {
      Vertex& end = vertices_[to];
      if (!(weight <= end.least)) return;
      if (weight == end.least) {  // of equal weights the edge from the vertex that was added first
        if (from != v && vertices_[from].place < vertices_[end.from].place) end.from = from;
        return;
      }
      end.least = weight;
      end.from = from;
      border_.push({weight, id(to), to});
    });
  }

  std::span<const std::uint32_t> ids_;
  std::span<const std::uint32_t> places_;
  std::vector<Vertex> vertices_;
  Border border_;
  std::vector<GrownEdge> edges_;
};

}  // namespace merganser::msf
