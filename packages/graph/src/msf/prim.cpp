// Reference implementation of spanning trees of points: Prim's algorithm over all pairs on rank 0.
#include "merganser/msf/prim.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/msf/euclidean/sites.hpp"

namespace merganser::msf {
namespace {

using euclidean::Sites;

/// Returns the distance of the points of ids a and b as it is compared: squared, or plain for norms other than squares.
double distance(const Sites& sites, std::size_t a, std::size_t b) { return sites.compared(sites.at(a), sites.at(b)); }

/// Computes the core distance of each gathered point by comparing all pairs: the distance, as compared, to its k-th nearest point,
/// itself being the first. @return by id; 0 for k = 1
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

/// Key by which Prim's reference algorithm strictly orders edges between points: (compared value, lower id, higher id).
struct PointEdgeKey {
  double compared;     ///< mutual reachability distance of the two points, as compared
  std::uint64_t low;   ///< lower id of the two points
  std::uint64_t high;  ///< higher id of the two points
  friend auto operator<=>(const PointEdgeKey&, const PointEdgeKey&) = default;
};

}  // namespace

// Serial oracle of spanning trees of points: Prim's algorithm over all pairs on rank 0, for tests and verification.
Forest prim(const PointSet& points, comm::Transport& transport, int min_samples, double alpha) {
  euclidean::check_uniform_options({.alpha = alpha}, transport);
  const euclidean::CheckedPoints given(points, transport);
  const Sites sites(given, transport, alpha);
  Forest forest{given.total(), graphs::WeightKind::float64, {}};
  auto core = compute_cores(sites, min_samples);  // none on ranks other than 0
  given.stretch(alpha).stretch(core, transport);
  if (sites.size() == 0 || transport.rank() != 0) return forest;
  // Prim's algorithm without a heap: in each step the newest point improves the least edges of the others, and the least of
  // these leads to the next point.
  std::vector<PointEdgeKey> best(sites.size(), {INFINITY, 0, 0});
  std::vector<std::size_t> open(sites.size() - 1);
  std::iota(open.begin(), open.end(), 1);
  for (std::size_t newest = 0; !open.empty();) {
    std::size_t next = 0;
    for (std::size_t k = 0; k < open.size(); ++k) {
      const std::size_t i = open[k];
      const double compared = std::max({distance(sites, i, newest), core[i], core[newest]});
      const PointEdgeKey reach{compared, std::min(i, newest), std::max(i, newest)};
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
