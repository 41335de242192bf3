// Generators of random process graphs: regular by switching, small-world, preferential attachment, geometric, and added random
// edges.
#include "src/graphs/process/random.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "merganser/base/random.hpp"

namespace merganser::graphs::detail {
namespace {

using EdgeKeys = std::unordered_set<std::uint64_t>;  ///< edges between ranks of a process graph, as pair_key()

/// Undirected edge between two ranks of a process graph.
struct Edge {
  int a;
  int b;
};

/// Converts undirected edges between ranks to the rows of a process graph, with both arcs of every edge.
Rows to_rows(int ranks, const std::vector<Edge>& edges) {
  Rows rows = empty_rows(ranks);
  for (const Edge& e : edges) add_edge(rows, e.a, e.b);
  return rows;
}

/// Draws a uniform random integer of [0, bound), such as a rank of a process graph.
int draw_below(Random& random, int bound) { return static_cast<int>(random.below(static_cast<std::uint64_t>(bound))); }

/// Returns the squared distance of two coordinates on the periodic unit interval, for geometric process graphs.
double periodic_square(double a, double b) {
  double d = std::abs(a - b);
  if (d > 0.5) d = 1 - d;
  return d * d;
}

}  // namespace

// Random regular process graph: starts from a circulant graph, then swaps ends of random pairs of edges.
Rows random_regular(int ranks, int degree, std::uint64_t seed) {
  std::vector<Edge> edges;
  for (int r = 0; r < ranks; ++r) {
    for (int step = 1; step <= degree / 2; ++step)
      edges.push_back({r, static_cast<int>((r + std::int64_t{step}) % ranks)});
    if (degree % 2 == 1 && r < ranks / 2) edges.push_back({r, r + ranks / 2});
  }
  EdgeKeys known(2 * edges.size());
  for (const Edge& e : edges) known.insert(pair_key(e.a, e.b));
  Random random(seed, stream(Stream::switches), 0);
  // Switching: a-b and c-d become a-d and c-b, which keeps all degrees. Swaps that would make a loop or a parallel edge are
  // skipped. Ten tries per edge leave nothing of the circulant graph.
  for (std::uint64_t tries = edges.size() > 1 ? 10 * edges.size() : 0; tries > 0; --tries) {
    Edge& first = edges[random.below(edges.size())];
    Edge& second = edges[random.below(edges.size())];
    Edge other = second;
    if (random.below(2) == 1) std::swap(other.a, other.b);
    if (first.a == other.b || other.a == first.b || first.a == other.a || first.b == other.b) continue;
    const std::uint64_t one = pair_key(first.a, other.b), two = pair_key(other.a, first.b);
    if (known.count(one) != 0 || known.count(two) != 0) continue;
    known.erase(pair_key(first.a, first.b));
    known.erase(pair_key(other.a, other.b));
    known.insert(one);
    known.insert(two);
    second = {other.a, first.b};
    first.b = other.b;
  }
  return to_rows(ranks, edges);
}

// Small-world process graph: a ring of near neighbours, some of whose edges move to random ranks.
Rows small_world(int ranks, int degree, double rewire, std::uint64_t seed) {
  std::vector<Edge> edges;
  std::vector<int> degrees(static_cast<std::size_t>(ranks), degree);
  for (int step = 1; step <= degree / 2; ++step)
    for (int r = 0; r < ranks; ++r) edges.push_back({r, static_cast<int>((r + std::int64_t{step}) % ranks)});
  EdgeKeys known(2 * edges.size());
  for (const Edge& e : edges) known.insert(pair_key(e.a, e.b));
  Random random(seed, stream(Stream::rewire), 0);
  for (Edge& e : edges) {
    // A rank that is joined to all others could not get a new neighbour: the search below would not end.
    if (!(random.uniform() < rewire) || degrees[static_cast<std::size_t>(e.a)] >= ranks - 1) continue;
    int end = draw_below(random, ranks);
    while (end == e.a || known.count(pair_key(e.a, end)) != 0) end = draw_below(random, ranks);
    known.erase(pair_key(e.a, e.b));
    known.insert(pair_key(e.a, end));
    --degrees[static_cast<std::size_t>(e.b)];
    ++degrees[static_cast<std::size_t>(end)];
    e.b = end;
  }
  return to_rows(ranks, edges);
}

// Preferential attachment: each new rank is joined to `links` different earlier ranks, drawn in proportion to their degrees.
Rows power_law(int ranks, int links, std::uint64_t seed) {
  std::vector<Edge> edges;
  std::vector<int> ends;  // every rank as often as it has edges, so that a uniform draw is proportional to degree
  const auto add = [&](int a, int b) {
    edges.push_back({a, b});
    ends.push_back(a);
    ends.push_back(b);
  };
  for (int a = 0; a <= std::min(links, ranks - 1); ++a)
    for (int b = 0; b < a; ++b) add(b, a);
  Random random(seed, stream(Stream::attach), 0);
  std::vector<int> chosen;
  for (int r = links + 1; r < ranks; ++r) {
    chosen.clear();
    while (static_cast<int>(chosen.size()) < links) {
      const int end = ends[random.below(ends.size())];
      if (std::find(chosen.begin(), chosen.end(), end) == chosen.end()) chosen.push_back(end);
    }
    for (const int end : chosen) add(end, r);
  }
  return to_rows(ranks, edges);
}

// Random geometric process graph: points in a grid of cells, each compared with those of adjacent cells.
Rows geometric(int ranks, double radius, std::uint64_t seed) {
  std::vector<double> x(static_cast<std::size_t>(ranks)), y(x.size());
  // At least three cells an axis, or one that holds all: with two, a cell would be both neighbours of another, and pairs counted
  // twice.
  const double fit = radius > 0 ? std::min(1 / radius, std::sqrt(static_cast<double>(ranks)) + 1) : 1;
  const int cells = fit >= 3 ? static_cast<int>(fit) : 1;
  std::vector<std::vector<int>> members(static_cast<std::size_t>(cells) * static_cast<std::size_t>(cells));
  const auto cell_index = [&](double u) { return std::min(cells - 1, static_cast<int>(u * cells)); };
  const auto cell_at = [&](int cx, int cy) -> auto& {
    return members[static_cast<std::size_t>((cy + cells) % cells) * static_cast<std::size_t>(cells) +
                   static_cast<std::size_t>((cx + cells) % cells)];
  };
  Rows rows = empty_rows(ranks);
  for (int r = 0; r < ranks; ++r) {
    const auto i = static_cast<std::size_t>(r);
    Random random(seed, stream(Stream::geometric), static_cast<std::uint32_t>(r));
    x[i] = random.uniform();
    y[i] = random.uniform();
    const int cx = cell_index(x[i]), cy = cell_index(y[i]), reach = cells > 1 ? 1 : 0;
    for (int dy = -reach; dy <= reach; ++dy)
      for (int dx = -reach; dx <= reach; ++dx)
        for (const int other : cell_at(cx + dx, cy + dy)) {
          const auto j = static_cast<std::size_t>(other);
          if (periodic_square(x[i], x[j]) + periodic_square(y[i], y[j]) <= radius * radius) add_edge(rows, other, r);
        }
    cell_at(cx, cy).push_back(r);
  }
  return rows;
}

// Random edges added to a process graph: rejection while most pairs of ranks are free, else selection sampling over all pairs.
void add_random_edges(Rows& rows, std::int64_t edges, std::uint64_t seed) {
  const auto ranks = static_cast<std::int64_t>(rows.size());
  EdgeKeys known;
  for (std::size_t a = 0; a < rows.size(); ++a)
    for (const auto& arc : rows[a]) known.insert(pair_key(static_cast<int>(a), arc.to));
  const std::int64_t free = ranks * (ranks - 1) / 2 - static_cast<std::int64_t>(known.size());
  Random random(seed, stream(Stream::degree), 0);
  if (edges <= free / 2) {  // rejection sampling: at least half of the pairs without an edge stay without one
    while (edges > 0) {
      const int a = draw_below(random, static_cast<int>(ranks)), b = draw_below(random, static_cast<int>(ranks));
      if (a == b || !known.insert(pair_key(a, b)).second) continue;
      add_edge(rows, a, b);
      --edges;
    }
    return;
  }
  // Selection sampling: each free pair in order is taken with probability (edges still wanted) / (free pairs left), which yields
  // exactly `edges` of them.
  std::int64_t left = free;
  for (int a = 0; a < static_cast<int>(ranks) && edges > 0; ++a)
    for (int b = a + 1; b < static_cast<int>(ranks) && edges > 0; ++b) {
      if (known.count(pair_key(a, b)) != 0) continue;
      if (static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(left--))) >= edges) continue;
      add_edge(rows, a, b);
      --edges;
    }
}

}  // namespace merganser::graphs::detail
