#include "merganser/msf/prim.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/msf/euclidean/sites.hpp"

namespace merganser::msf {
namespace {

using euclidean::Sites;

/// Returns the compared value of two points.
double distance(const Sites& sites, std::size_t a, std::size_t b) { return sites.compared(sites.at(a), sites.at(b)); }

/// Computes the core distance of each point, as compared: to its k-th nearest, itself being the first.
std::vector<double> compute_cores(const Sites& sites, int k) {
  std::vector<double> core(sites.size(), 0);
  if (k <= 1) return core;
  std::vector<double> all(sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i) {
    for (std::size_t j = 0; j < sites.size(); ++j) all[j] = distance(sites, i, j);
    const auto kth = all.begin() + std::min<std::ptrdiff_t>(k, static_cast<std::ptrdiff_t>(all.size())) - 1;
    std::nth_element(all.begin(), kth, all.end());
    core[i] = *kth;
  }
  return core;
}

/// Key of an edge between points, by which edges are strictly ordered: (compared value, lower id, higher id).
struct Reach {
  double compared;
  std::uint64_t low;
  std::uint64_t high;
  friend auto operator<=>(const Reach&, const Reach&) = default;
};

}  // namespace

// Serial oracle of spanning trees of points: Prim's algorithm over all pairs on rank 0, for tests and verification.
Forest prim(const PointSet& points, comm::Transport& transport, int min_samples) {
  const euclidean::Given given(points, transport);
  const Sites sites(given, transport);
  Forest forest{given.total(), graphs::WeightKind::float64, {}};
  if (sites.size() == 0 || transport.rank() != 0) return forest;
  const auto core = compute_cores(sites, min_samples);
  // Prim's algorithm without a heap: in each step the newest point improves the least edges of the others, and the least of
  // these leads to the next point.
  std::vector<Reach> best(sites.size(), {INFINITY, 0, 0});
  std::vector<std::size_t> open(sites.size() - 1);
  std::iota(open.begin(), open.end(), 1);
  for (std::size_t newest = 0; !open.empty();) {
    std::size_t next = 0;
    for (std::size_t k = 0; k < open.size(); ++k) {
      const std::size_t i = open[k];
      const double compared = std::max({distance(sites, i, newest), core[i], core[newest]});
      const Reach reach{compared, std::min(i, newest), std::max(i, newest)};
      if (reach < best[i]) best[i] = reach;
      if (best[i] < best[open[next]]) next = k;
    }
    newest = open[next];
    open[next] = open.back();
    open.pop_back();
    forest.edges.push_back(
        {best[newest].low, best[newest].high, graphs::ordered_bits(sites.weight(best[newest].compared))});
  }
  return forest;
}

}  // namespace merganser::msf
