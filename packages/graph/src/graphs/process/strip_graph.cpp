// Process graphs of kind "rgg": edges between random points in strips, cross edges by percent, and cross edges by mean degree.
#include "merganser/graphs/detail/strip_graph.hpp"

#include <cmath>

#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"
#include "merganser/graphs/detail/strips.hpp"
#include "merganser/graphs/detail/vertex_arcs.hpp"
#include "src/graphs/process/random.hpp"

namespace merganser::graphs::detail {
namespace {

/// Point of the unit square, at which a vertex of a strip graph lies.
struct Point {
  double x;
  double y;
};

/// Random points of the vertices of a strip graph, computed on demand: the unit square is cut into horizontal strips, one for each
/// rank.
class StripPoints {
 public:
  explicit StripPoints(const ProcessGraphOptions& o) : seed_(o.seed), strips_(o.ranks) {}
  /// Returns the point of a vertex by its strip and its index in the strip: a function of the seed and these two.
  [[nodiscard]] Point at(int strip, std::uint32_t index) const {
    Random random(seed_, stream(Stream::points, static_cast<std::uint64_t>(strip)), index);
    const double x = random.uniform();
    return {x, (strip + random.uniform()) / strips_};
  }

 private:
  std::uint64_t seed_;
  int strips_;
};

/// Checks the options of strip graphs. @throws UsageError for options out of range or that contradict each other, and
/// for more vertices than fit in memory
void check_strip_options(const ProcessGraphOptions& o, std::span<const double> percents) {
  if (o.vertices < 1) throw UsageError(std::to_string(o.vertices) + " vertices per rank; allowed: at least 1");
  const double all = static_cast<double>(o.vertices) * o.ranks;
  if (all >= 0x1p32) throw UsageError(number_text(all) + " vertices on all ranks; allowed: at most 4294967295");
  check_vertices(static_cast<double>(o.vertices), 64);  // of the strips in work
  if (o.ghost_bytes > 0) check_vertices(all, 56);       // each may have neighbours elsewhere
  if (!(o.degree >= 0)) throw UsageError("a mean degree of " + number_text(o.degree) + "; allowed: at least 0");
  for (const double percent : percents) {
    if (!(percent >= 0)) throw UsageError(number_text(percent) + " % of cross edges; allowed: at least 0");
    if (percent > 0 && o.degree > 0)
      throw UsageError("cross edges by percent and by degree at once; allowed: one of the two");
  }
  if (!(o.ghost_bytes >= 0) || !std::isfinite(o.ghost_bytes))
    throw UsageError(number_text(o.ghost_bytes) + " bytes per ghost; allowed: a finite number >= 0");
}

/// Draws the cross edges of a strip graph: distinct pairs of vertices without an edge, `percent` of the number of edges, as low
/// vertex * vertices + high vertex, ascending. @throws UsageError if that is more than half of all such pairs, beyond which
/// rejection would be slow
std::vector<std::uint64_t> cross_pairs(const ProcessGraphOptions& o, double percent, const StripGraph& graph) {
  const std::uint64_t per_rank = static_cast<std::uint64_t>(o.vertices);
  const std::uint64_t all = per_rank * static_cast<std::uint64_t>(o.ranks);
  const double free =
      static_cast<double>(all) * (static_cast<double>(all) - 1) / 2 - static_cast<double>(graph.vertex_edges);
  const double wanted = std::floor(percent * static_cast<double>(graph.vertex_edges) / 100);
  if (wanted > free / 2) {
    throw UsageError(number_text(percent) + " % of " + std::to_string(graph.vertex_edges) +
                     " edges as cross edges; allowed: at most half of the " + number_text(free) +
                     " pairs without an edge");
  }
  check_arcs(wanted);
  const StripPoints points(o);
  const double square = largest_square(graph.radius);
  const int reach = Strips(o.ranks, o.vertices, graph.radius).reach();
  // Edges are not stored: whether a pair has one follows from its coordinates, which are computed anew.
  const auto joined = [&](std::uint64_t a, std::uint64_t b) {
    const auto sa = static_cast<int>(a / per_rank), sb = static_cast<int>(b / per_rank);
    if (sb - sa > reach) return false;
    const Point p = points.at(sa, static_cast<std::uint32_t>(a % per_rank));
    const Point q = points.at(sb, static_cast<std::uint32_t>(b % per_rank));
    return (p.x - q.x) * (p.x - q.x) + (p.y - q.y) * (p.y - q.y) <= square;
  };
  std::vector<std::uint64_t> keys;
  const auto target = static_cast<std::size_t>(cross_count(percent, graph.vertex_edges));
  keys.reserve(target);
  // Draws as many as are missing, drops duplicates, and repeats.
  for (std::uint64_t draw = 0; keys.size() < target;) {
    for (std::size_t more = target - keys.size(); more > 0; --more, ++draw) {
      Random random(o.seed, stream(Stream::cross, draw >> 32), static_cast<std::uint32_t>(draw));
      const std::uint64_t i = random.below(all), j = random.below(all);
      const std::uint64_t a = std::min(i, j), b = std::max(i, j);
      if (a != b && !joined(a, b)) keys.push_back(a * all + b);
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }
  return keys;
}

/// Adds random cross edges between ranks to the rows of a strip graph until the mean degree of the process graph is o.degree.
/// @throws UsageError for a degree below that without cross edges, or above ranks - 1
void raise_degree(StripGraph& graph, const ProcessGraphOptions& o) {
  const ProcessGraph base(graph.rows);  // joined, for counting
  const auto wanted = static_cast<std::int64_t>(std::llround(o.degree * o.ranks / 2));
  const std::int64_t there = base.arcs() / 2;
  const double most = o.ranks - 1;
  if (wanted < there || o.degree > most) {
    throw UsageError("a mean degree of " + number_text(o.degree) + "; allowed: " + number_text(base.mean_degree()) +
                     ", that without cross edges, to " + number_text(most));
  }
  check_arcs(2.0 * static_cast<double>(wanted));
  graph.cross_edges = wanted - there;
  std::vector<std::size_t> before;
  for (const auto& row : graph.rows) before.push_back(row.size());
  add_random_edges(graph.rows, graph.cross_edges, o.seed);
  if (o.ghost_bytes == 0) return;
  for (std::size_t r = 0; r < graph.rows.size(); ++r)  // an edge between ranks stands for one between two vertices
    for (std::size_t i = before[r]; i < graph.rows[r].size(); ++i) graph.rows[r][i].bytes = o.ghost_bytes;
}

/// Counts the edges between vertices of a strip graph that are at most the radius apart, and adds the arcs between the ranks that
/// they join to `arcs`.
void add_vertex_edges(const ProcessGraphOptions& o, StripGraph& graph, VertexArcs& arcs) {
  const StripPoints points(o);
  Strips strips(o.ranks, o.vertices, graph.radius);
  const auto vertex = [&](StripVertex v) {
    return static_cast<std::uint64_t>(v.strip) * static_cast<std::uint64_t>(o.vertices) + v.index;
  };
  // With unit weights one edge of two strips suffices; the flags spare the others a key each.
  std::vector<std::uint8_t> met(static_cast<std::size_t>(strips.reach()) + 1);  // strips before the current one
  int current = -1;
  strips.for_each_pair(
      [&](int strip, std::vector<double>& x, std::vector<double>& y) {
        for (std::size_t i = 0; i < x.size(); ++i) {
          const Point p = points.at(strip, static_cast<std::uint32_t>(i));
          x[i] = p.x;
          y[i] = p.y;
        }
      },
      [&](StripVertex a, StripVertex b) {
        ++graph.vertex_edges;
        if (a.strip == b.strip) return;
        if (arcs.is_unit()) {
          if (a.strip != current) std::fill(met.begin(), met.end(), std::uint8_t{0});
          current = a.strip;
          std::uint8_t& seen = met[static_cast<std::size_t>(a.strip - b.strip)];
          if (seen != 0) return;
          seen = 1;
        }
        arcs.add(vertex(a), vertex(b));
      });
}

}  // namespace

// Process graphs of a random geometric graph whose vertices are distributed in strips, one for each percentage of cross
// edges, from one search for close points.
std::vector<StripGraph> strip_graphs(const ProcessGraphOptions& o, std::span<const double> percents) {
  check_strip_options(o, percents);
  StripGraph base;
  base.radius = published_radius(o.vertices * o.ranks);
  VertexArcs arcs(o.ranks, o.vertices, o.ghost_bytes);
  add_vertex_edges(o, base, arcs);
  const auto all = static_cast<std::uint64_t>(o.vertices) * static_cast<std::uint64_t>(o.ranks);
  std::vector<StripGraph> graphs;
  for (const double percent : percents) {
    StripGraph& graph = graphs.emplace_back(base);
    VertexArcs more = arcs;
    if (percent > 0) {
      const auto keys = cross_pairs(o, percent, graph);
      graph.cross_edges = static_cast<std::int64_t>(keys.size());
      for (const std::uint64_t key : keys) more.add(key / all, key % all);
    }
    graph.rows = more.rows();
    if (o.degree > 0) raise_degree(graph, o);
  }
  return graphs;
}

}  // namespace merganser::graphs::detail
