// The published generator of process graphs, NEVE: its points, its search for close pairs with its losses, and its cross edges.
#include "merganser/graphs/neve_generator.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/text.hpp"
#include "merganser/graphs/detail/strip_graph.hpp"
#include "merganser/graphs/detail/strips.hpp"
#include "merganser/graphs/detail/vertex_arcs.hpp"

namespace merganser::graphs {
namespace {

using namespace graphs::detail;

constexpr std::int64_t kModulus = 2147483647;  ///< of the linear congruential generators of NEVE
constexpr std::int64_t kFactor = 16807;        ///< their multiplier

/// Random numbers of the published program NEVE: those of std::minstd_rand0 with std::uniform_real_distribution<double> of
/// libstdc++, whatever the C++ library.
class Minstd {
 public:
  /// Returns the next random number of [0, 1), from two values of the generator.
  double uniform() {
    constexpr double range = 2147483646.0;
    const double low = next(), high = next();
    const double u = (low + high * range) / (range * range);
    return u < 1 ? u : std::nextafter(1.0, 0.0);
  }

 private:
  /// Advances the linear congruential generator and returns its value less 1, of [0, 2^31 - 2).
  double next() {
    state_ = state_ * kFactor % kModulus;
    return static_cast<double>(state_ - 1);
  }
  std::int64_t state_ = kPublishedSeed;
};

/// Returns kFactor to the power k, for jumps of NEVE's linear congruential generator: modulo kModulus if `modular`, else
/// modulo 2^64 (by overflow of unsigned numbers, as the published program has it).
std::uint64_t multiplier_power(std::uint64_t k, bool modular) {
  const auto reduce = [&](std::uint64_t x) { return modular ? x % static_cast<std::uint64_t>(kModulus) : x; };
  std::uint64_t result = 1, square = kFactor;
  for (; k > 0; k >>= 1) {
    if ((k & 1) != 0) result = reduce(result * square);
    square = reduce(square * square);
  }
  return result;
}

/// Points of the published program NEVE in the unit square, strip by strip; rank r holds strip r.
class PublishedPoints {
 public:
  explicit PublishedPoints(const PublishedOptions& o) : options_(o) {}

  /// Sets the coordinates of the points of a strip by the program's generator of the options. @param x, y  of the length of the
  /// number of points per strip
  void fill(int strip, std::vector<double>& x, std::vector<double>& y) {
    if (options_.numbers == PublishedNumbers::minstd)
      fill_minstd(strip, x, y);
    else
      fill_lcg(strip, x, y);
  }

 private:
  /// Sets the coordinates of a strip by std::minstd_rand0: all strips hold the same points, shifted along y.
  void fill_minstd(int strip, std::vector<double>& x, std::vector<double>& y) {
    if (units_.empty()) {
      Minstd numbers;
      for (std::size_t i = 0; i < 2 * x.size(); ++i) units_.push_back(numbers.uniform());
    }
    const double height = 1.0 / options_.ranks;
    const double low = strip * height, high = low + height;
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = units_[2 * i];
      y[i] = units_[2 * i + 1] * (high - low) + low;
    }
  }

  /// Sets the coordinates of a strip by the program's option --lcg: one sequence over all strips, with a jump to the strip's part.
  void fill_lcg(int strip, std::vector<double>& x, std::vector<double>& y) const {
    const std::uint64_t jump = 2 * static_cast<std::uint64_t>(x.size()) * static_cast<std::uint64_t>(strip);
    const bool exact = options_.numbers == PublishedNumbers::lcg_exact;
    // The published product of matrices overflows: what is left is the power modulo 2^64, as a signed number.
    const std::uint64_t product = kPublishedSeed * multiplier_power(jump, exact);
    std::int64_t state = strip == 0 ? std::int64_t{kPublishedSeed} : static_cast<std::int64_t>(product) % kModulus;
    const double height = 1.0 / options_.ranks, low = strip * height, scale = 1.0 / 2147483647.0;
    const auto unit = [&] {
      const double u = std::fabs(static_cast<double>(state)) * scale;
      state = state * kFactor % kModulus;
      return u;
    };
    for (double& v : x) v = unit();
    for (double& v : y) v = low + height * unit();
  }

  PublishedOptions options_;
  std::vector<double> units_;  ///< random numbers of the one strip that minstd shifts
};

/// Checks the options of the generator of the published process graphs (NEVE), and its percentages of cross edges.
/// @return the radius @throws UsageError
double check_published_options(const PublishedOptions& o, std::span<const double> percents) {
  if (o.ranks < 1) throw UsageError("a process graph of " + std::to_string(o.ranks) + " ranks; allowed: at least 1");
  if (o.vertices < 1 || static_cast<double>(o.vertices) * o.ranks >= 0x1p32) {
    throw UsageError(std::to_string(o.vertices) + " vertices on each of " + std::to_string(o.ranks) +
                     " ranks; allowed: at least 1, and at most 4294967295 on all");
  }
  if (o.numbers == PublishedNumbers::lcg && (o.ranks & (o.ranks - 1)) != 0) {
    throw UsageError("the published generator with --lcg on " + std::to_string(o.ranks) +
                     " ranks; allowed: powers of two");
  }
  for (const double percent : percents)
    if (!(percent >= 0)) throw UsageError(number_text(percent) + " % of cross edges; allowed: at least 0");
  const double radius = published_radius(o.vertices * o.ranks);
  if (1.0 / o.ranks > radius) return radius;
  throw UsageError("the published generator with " + std::to_string(o.vertices) + " vertices on each of " +
                   std::to_string(o.ranks) + " ranks: strips of height " + number_text(1.0 / o.ranks) +
                   "; allowed: greater than the radius, " + number_text(radius));
}

/// Counts the edges between vertices of NEVE's random geometric graph and the close pairs that the published program loses, and
/// adds the arcs between the ranks that these edges join to `arcs`.
void add_vertex_edges(const PublishedOptions& o, PublishedGraph& out, VertexArcs& arcs) {
  PublishedPoints points(o);
  Strips strips(o.ranks, o.vertices, out.radius);
  std::vector<std::int64_t> entries(static_cast<std::size_t>(o.ranks), 0);  // of each rank's edge list
  // Strips are higher than the radius, so a strip has an arc to the one before at most: one edge of the two settles it.
  int joined = 0;  // the last strip that is known to have an edge to the one before
  strips.for_each_pair([&](int strip, std::vector<double>& x, std::vector<double>& y) { points.fill(strip, x, y); },
                       [&](StripVertex a, StripVertex b) {
                         if (a.strip != b.strip && a.index == b.index) {
                           ++out.lost_pairs;
                           return;
                         }
                         ++entries[static_cast<std::size_t>(a.strip)];
                         ++entries[static_cast<std::size_t>(b.strip)];
                         if (a.strip <= joined || a.strip == b.strip) return;
                         joined = a.strip;
                         const auto n = static_cast<std::uint64_t>(o.vertices);
                         arcs.add(static_cast<std::uint64_t>(a.strip) * n, static_cast<std::uint64_t>(b.strip) * n);
                       });
  std::int64_t directed = 0;
  for (const std::int64_t e : entries) {
    directed += e;
    out.percent_base += e / 2;
  }
  out.edges = directed / 2;
}

/// Cross edges that one rank of the published program adds: between a vertex i of the rank and a vertex j of all, drawn
/// at random. A draw is skipped where local indices are equal or the rank has the edge already; edges that other ranks
/// add to the rank's list are not seen.
class CrossEdges {
 public:
  CrossEdges(const PublishedOptions& o, double radius)
      : options_(o), per_rank_(static_cast<std::uint64_t>(o.vertices)), square_(largest_square(radius)) {}

  /// Adds the arcs of `tries` draws of cross edges of a rank to `arcs`, and the number of its distinct new edges to `added`.
  void add_for_rank(int rank, std::int64_t tries, VertexArcs& arcs, std::int64_t& added) {
    const std::uint64_t all = per_rank_ * static_cast<std::uint64_t>(options_.ranks);
    keys_.clear();
    for (std::int64_t k = 0; k < tries; ++k) {
      Random random(options_.seed, stream(Stream::published_cross, static_cast<std::uint64_t>(rank)),
                    static_cast<std::uint32_t>(k));
      const std::uint64_t i = random.below(per_rank_), j = random.below(all);
      if (i == j % per_rank_) continue;
      arcs.add(static_cast<std::uint64_t>(rank) * per_rank_ + i, j);
      const auto other = static_cast<std::int64_t>(j / per_rank_);
      if (std::abs(other - rank) <= 1 && is_close(rank, i, static_cast<int>(other), j % per_rank_)) continue;
      keys_.push_back(i * all + j);
    }
    std::sort(keys_.begin(), keys_.end());
    added += std::unique(keys_.begin(), keys_.end()) - keys_.begin();
  }

 private:
  /// Coordinates of the vertices in the strip of a rank; rank -1: none yet.
  struct Strip {
    int rank = -1;
    std::vector<double> x, y;
  };

  /// Returns true if vertex i of strip a and vertex j of strip b are at most the radius apart, so that an edge joins them.
  bool is_close(int a, std::uint64_t i, int b, std::uint64_t j) {
    const Strip &p = strip(a), &q = strip(b);
    const double dx = p.x[i] - q.x[j], dy = p.y[i] - q.y[j];
    return dx * dx + dy * dy <= square_;
  }
  /// Returns the vertices in the strip of a rank, generated where they are not kept. The strip of a rank and its two neighbours
  /// have different entries of the three.
  const Strip& strip(int rank) {
    Strip& s = strips_[rank % 3];
    if (s.rank != rank) {
      s.rank = rank;
      s.x.resize(per_rank_);
      s.y.resize(per_rank_);
      points_.fill(rank, s.x, s.y);
    }
    return s;
  }

  PublishedOptions options_;
  std::uint64_t per_rank_;
  double square_;
  PublishedPoints points_{options_};
  Strip strips_[3];
  std::vector<std::uint64_t> keys_;
};

}  // namespace

// Expectation of the number of arcs between ranks that random cross edges make, for the comparison with published
// counts.
ExpectedArcs expected_arcs(int ranks, std::int64_t tries) {
  const double p = ranks, load = 2.0 * static_cast<double>(tries) / (p * p), missed = std::exp(-load);
  const double pairs = (p - 1) * (p - 2) / 2;
  return {p * (p - 1) - 2 * pairs * missed, 2 * std::sqrt(pairs * missed * (1 - missed * (1 + load)))};
}

// Process graphs of the published program, one for each percentage of cross edges, from one search for close points.
std::vector<PublishedGraph> generate_published(const PublishedOptions& o, std::span<const double> percents) {
  PublishedGraph base;
  base.radius = check_published_options(o, percents);
  VertexArcs arcs(o.ranks, o.vertices, 0);
  add_vertex_edges(o, base, arcs);
  std::vector<PublishedGraph> graphs;
  for (const double percent : percents) {
    PublishedGraph& out = graphs.emplace_back(base);
    const double wanted = percent * static_cast<double>(out.percent_base) / 100;
    check_arcs(wanted);
    out.tries = static_cast<std::int64_t>(wanted);
    VertexArcs all = arcs;
    CrossEdges cross(o, out.radius);
    for (int r = 0; r < o.ranks; ++r) {
      std::int64_t share = out.tries < o.ranks ? 0 : out.tries / o.ranks;
      if (r == o.ranks - 1) share = out.tries - share * (o.ranks - 1);
      cross.add_for_rank(r, share, all, out.added);
    }
    out.graph = graphs::ProcessGraph(all.rows());
  }
  return graphs;
}

// Process graph of the published program NEVE for one percentage of cross edges, that of the options.
PublishedGraph generate_published(const PublishedOptions& o) {
  return std::move(generate_published(o, std::span(&o.cross, 1)).front());
}

}  // namespace merganser::graphs
