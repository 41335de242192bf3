// Distances and diameters of overlay networks for announcements, by breadth-first search over arcs that are computed on the fly.
#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <unordered_set>

#include "merganser/announce/network.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"

namespace merganser::announce {
namespace {

/// Throws UsageError for an overlay network that is not strongly connected, with the number of vertices reached from one.
[[noreturn]] void throw_not_connected(const Network& network, int from, std::size_t reached) {
  throw UsageError("network " + network.describe() + ": only " + std::to_string(reached) + " of " +
                   std::to_string(network.vertices()) + " vertices can be reached from vertex " + std::to_string(from) +
                   "; a network for announcements must be strongly connected");
}

/// Runs a breadth-first search in an overlay network by levels; visit(v, level) marks v and returns true if it was not marked
/// before. Returns the greatest level. @throws UsageError if a vertex is not reached
template <class Visit>
int search(const Network& network, int from, bool reversed, std::vector<int>& queue, const Visit& visit) {
  // The queue holds the vertices of all levels; begin .. end is the level that is expanded.
  std::vector<int> to(static_cast<std::size_t>(network.degree()) + 1);
  queue.clear();
  queue.reserve(static_cast<std::size_t>(network.vertices()));
  queue.push_back(from);
  visit(from, 0);
  int level = 0;
  std::size_t begin = 0;
  for (std::size_t end = 1; begin < end; end = queue.size()) {
    for (; begin < end; ++begin) {
      const int count = reversed ? network.in_to(queue[begin], to.data()) : network.out_to(queue[begin], to.data());
      for (int i = 0; i < count; ++i) {
        if (visit(to[static_cast<std::size_t>(i)], level + 1)) queue.push_back(to[static_cast<std::size_t>(i)]);
      }
    }
    if (queue.size() > end) ++level;
  }
  if (queue.size() != static_cast<std::size_t>(network.vertices())) throw_not_connected(network, from, queue.size());
  return level;
}

constexpr std::size_t kWords = 8;
constexpr std::size_t kLanes = 64 * kWords;       // breadth-first searches that run at a time
using Lanes = std::array<std::uint64_t, kWords>;  // one bit per search

/// Breadth-first searches from up to 512 vertices at a time, one bit ("lane") each: a search has reached v after one more level if
/// it had reached v or an in-neighbour of v before. A pass over all arcs then advances all searches by one level.
class ManySearches {
 public:
  /// Stores the in-neighbours of all vertices of the overlay network.
  explicit ManySearches(const Network& network) : vertices_(static_cast<std::size_t>(network.vertices())) {
    std::vector<int> from(static_cast<std::size_t>(network.degree()) + 1);
    first_.reserve(vertices_ + 1);
    first_.push_back(0);
    for (int v = 0; v < network.vertices(); ++v) {
      const int count = network.in_to(v, from.data());
      in_.insert(in_.end(), from.begin(), from.begin() + count);
      first_.push_back(in_.size());
    }
  }

  /// Returns the eccentricity of each of `sources`, vertices of the overlay network, at most kLanes of them.
  std::vector<int> eccentricities(std::span<const int> sources) {
    now_.assign(vertices_, Lanes{});
    next_.resize(vertices_);
    all_ = Lanes{};
    for (std::size_t i = 0; i < sources.size(); ++i) {
      now_[static_cast<std::size_t>(sources[i])][i / 64] |= std::uint64_t{1} << (i % 64);
      all_[i / 64] |= std::uint64_t{1} << (i % 64);
    }
    std::vector<int> last(sources.size(), 0);
    levels_ = 0;
    // The eccentricity of a source is the last level at which its search reached a new vertex.
    for (Lanes moved = advance(); moved != Lanes{}; moved = advance()) {
      ++levels_;
      for (std::size_t i = 0; i < sources.size(); ++i) {
        if ((moved[i / 64] >> (i % 64) & 1) != 0) last[i] = levels_;
      }
    }
    return last;
  }
  /// Returns the number of levels of the searches of the last call of eccentricities(), its cost in passes over all arcs.
  [[nodiscard]] int levels() const noexcept { return levels_; }

 private:
  /// Advances all breadth-first searches by one level. Returns the lanes of those that reached a new vertex.
  Lanes advance() {
    Lanes moved{};
    for (std::size_t v = 0; v < vertices_; ++v) {
      Lanes reached = now_[v];
      if (reached != all_) {  // a vertex that all searches have reached gains nothing more
        for (std::size_t a = first_[v]; a < first_[v + 1]; ++a) {
          const Lanes& from = now_[static_cast<std::size_t>(in_[a])];
          for (std::size_t w = 0; w < kWords; ++w) reached[w] |= from[w];
        }
        for (std::size_t w = 0; w < kWords; ++w) moved[w] |= reached[w] ^ now_[v][w];
      }
      next_[v] = reached;
    }
    now_.swap(next_);
    return moved;
  }

  std::size_t vertices_;  // of the overlay network
  // Compressed rows of in-neighbours: those of v are in_[first_[v]] to in_[first_[v + 1] - 1].
  std::vector<std::size_t> first_;
  std::vector<int> in_;
  std::vector<Lanes> now_, next_;  // by vertex: searches that have reached it
  Lanes all_{};                    // lanes in use
  int levels_ = 0;                 // of the last call of eccentricities()
};

/// Returns the exact diameter of an overlay network from the eccentricities of a set of vertices that is proven to suffice.
Diameter diameter_from(const Network& network, const std::vector<int>& sources) {
  Diameter found;
  for (const int v : sources) found.value = std::max(found.value, eccentricity(network, v));
  found.sources = static_cast<std::int64_t>(sources.size());
  found.how = sources.size() == 1 ? "from one vertex, which is proven to do"
                                  : "from " + count_text(found.sources) + " vertices, which are proven to do";
  return found;
}

/// Set of the vertices of an overlay network whose eccentricity is not yet known to be at most the greatest distance found. By the
/// triangle inequality ecc(v) <= dist(v, w) + ecc(w), so a search from w bounds all vertices from which w is near.
class UnboundedVertices {
 public:
  explicit UnboundedVertices(const Network& network)
      : network_(network), open_(static_cast<std::size_t>(network.vertices())), done_(open_.size(), 0) {
    std::iota(open_.begin(), open_.end(), 0);
  }

  /// Returns whether the eccentricities of all vertices are bounded, so that the diameter is exact.
  [[nodiscard]] bool empty() const noexcept { return open_.empty(); }
  /// Draws up to kLanes vertices of the set at random, as sources of the next breadth-first searches.
  std::vector<int> draw(Random& random) {
    const std::size_t count = std::min(kLanes, open_.size());
    for (std::size_t i = 0; i < count; ++i) std::swap(open_[i], open_[i + random.below(open_.size() - i)]);
    return {open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  /// Marks all vertices from which w is at most `slack` hops away as bounded: a ball around w along reversed arcs.
  void bound(int w, int slack) {
    std::vector<int> near(static_cast<std::size_t>(network_.degree()) + 1);
    std::vector<int> ball{w};
    std::unordered_set<int> in_ball{w};
    std::size_t begin = 0;
    // Levels of a search along reversed arcs: all vertices from which w is within `slack` hops.
    for (int step = 0; step < slack; ++step) {
      for (const std::size_t end = ball.size(); begin < end; ++begin) {
        const int count = network_.in_to(ball[begin], near.data());
        for (int i = 0; i < count; ++i) {
          if (in_ball.insert(near[static_cast<std::size_t>(i)]).second)
            ball.push_back(near[static_cast<std::size_t>(i)]);
        }
      }
    }
    for (const int v : ball) done_[static_cast<std::size_t>(v)] = 1;
  }
  /// Removes the vertices marked by bound() from the set.
  void remove_bounded() {
    std::erase_if(open_, [this](int v) { return done_[static_cast<std::size_t>(v)] != 0; });
  }

 private:
  const Network& network_;
  std::vector<int> open_;   // vertices whose eccentricity is not bounded yet
  std::vector<char> done_;  // by vertex: marked by bound()
};

/// Computes the diameter of an overlay network by searches from random vertices until every vertex is searched from or bounded, or
/// `effort` is spent; then the result is a lower bound.
Diameter from_every_vertex(const Network& network, const DiameterEffort& effort) {
  const double arcs = static_cast<double>(network.vertices()) * network.degree();
  double left = static_cast<double>(effort.arcs);
  Diameter found;
  ManySearches searches(network);
  UnboundedVertices unbounded(network);
  Random random(effort.seed, 1, 0);
  while (!unbounded.empty() && left >= 0) {
    const std::vector<int> sources = unbounded.draw(random);
    const std::vector<int> reach = searches.eccentricities(sources);
    found.value = std::max(found.value, *std::max_element(reach.begin(), reach.end()));
    // A vertex at d hops from a source has an eccentricity of at most d plus that of the source.
    for (std::size_t i = 0; i < sources.size(); ++i) unbounded.bound(sources[i], found.value - reach[i]);
    unbounded.remove_bounded();
    found.sources += static_cast<std::int64_t>(sources.size());
    left -= arcs * searches.levels();
  }
  found.exact = unbounded.empty();
  found.how =
      "from " + count_text(found.sources) +
      (found.exact ? " vertices, which bound the others" : " of " + count_text(network.vertices()) + " vertices");
  if (found.sources == network.vertices()) found.how = "from every vertex";
  return found;
}

/// Computes a lower bound of the diameter of an overlay network from a sample of vertices; exact if it reaches a proven upper
/// bound.
Diameter from_sample(const Network& network, const DiameterEffort& effort) {
  const auto bound = network.diameter_bound();
  const int k = network.vertices();
  Diameter found;
  Random random(effort.seed, 0, 0);
  // A sample gives a lower bound of the diameter; one that meets the proven upper bound is exact.
  for (int i = 0; i < std::max(1, effort.sources) && found.value != bound; ++i) {
    const auto v = static_cast<int>(random.below(static_cast<std::uint64_t>(k)));
    found.value = std::max(found.value, eccentricity(network, v));
    ++found.sources;
  }
  found.exact = found.value == bound || found.sources >= k;
  found.how = "from " + count_text(found.sources) + " of " + count_text(k) + " vertices" +
              (found.exact ? ", a proven bound was reached" : "");
  return found;
}

}  // namespace

// Computes the hops between one vertex of an overlay network and all others, in one direction of the arcs.
std::vector<int> distances(const Network& network, int from, bool reversed) {
  (void)(reversed ? network.in(from) : network.out(from));  // throws for a number that is no vertex
  std::vector<int> steps(static_cast<std::size_t>(network.vertices()), -1);
  std::vector<int> queue;
  search(network, from, reversed, queue, [&](int v, int level) {
    int& s = steps[static_cast<std::size_t>(v)];
    if (s >= 0) return false;
    s = level;
    return true;
  });
  return steps;
}

// Computes the eccentricity of a vertex of an overlay network with one bit of memory per vertex.
int eccentricity(const Network& network, int from) {
  (void)network.out(from);  // throws for a number that is no vertex
  std::vector<std::uint64_t> seen(static_cast<std::size_t>(network.vertices()) / 64 + 1);
  std::vector<int> queue;
  return search(network, from, false, queue, [&](int v, int) {
    const std::uint64_t bit = std::uint64_t{1} << (static_cast<unsigned>(v) % 64);
    std::uint64_t& word = seen[static_cast<std::size_t>(v) / 64];
    if ((word & bit) != 0) return false;
    word |= bit;
    return true;
  });
}

// Computes the diameter of an overlay network: by proven representatives, by a sample that reaches a proven bound, by searches from
// every vertex, or else from a sample alone.
Diameter diameter(const Network& network, const DiameterEffort& effort) {
  const double k = network.vertices();
  const double arcs = k * network.degree();
  const double allowed = static_cast<double>(effort.arcs);
  const auto proven = network.representatives();
  if (!proven.empty() && static_cast<double>(proven.size()) * arcs <= std::max(allowed, arcs)) {
    return diameter_from(network, proven);
  }
  const std::optional<int> bound = network.diameter_bound();
  if (bound) {  // a sample mostly reaches it, which proves the diameter
    const Diameter found = from_sample(network, effort);
    if (found.exact) return found;
  }
  // One level of kLanes searches costs about as much as following all arcs once. The levels are estimated by those from vertex 0.
  const double passes = std::min(1.0, k / kLanes);
  if (passes * arcs * (eccentricity(network, 0) + 1) <= allowed) {
    return from_every_vertex(network, effort);
  }
  return from_sample(network, effort);
}

// Returns the least dimension of a Manhattan Street Network with a diameter of at most `budget_steps`.
std::optional<DimensionChoice> choose_dimension(int ranks, int budget_steps, const DiameterEffort& effort) {
  if (budget_steps < 1) {
    throw UsageError("choose_dimension: " + std::to_string(budget_steps) + " steps; allowed: at least 1");
  }
  constexpr int kMaxDimensions = 30;
  for (int n = 2; n <= kMaxDimensions; ++n) {
    const ManhattanStreetNetwork network(ranks, n);
    if (eccentricity(network, 0) > budget_steps) continue;  // a lower bound of the diameter that is cheap to compute
    const Diameter found = diameter(network, effort);
    if (found.value <= budget_steps) return DimensionChoice{n, found};
  }
  return std::nullopt;
}

}  // namespace merganser::announce
