#include "merganser/msf/prim.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "src/msf/euclidean/sites.hpp"

namespace merganser::msf {
namespace {

using euclidean::Sites;

double distance(const Sites& sites, std::size_t a, std::size_t b) { return sites.compared(sites.at(a), sites.at(b)); }

/// From each to its k-th nearest, itself being the first; as compared.
std::vector<double> cores_of(const Sites& sites, int k) {
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

struct Reach {
  double compared;
  std::uint64_t low;
  std::uint64_t high;
  friend auto operator<=>(const Reach&, const Reach&) = default;
};

}  // namespace

Forest prim(const PointSet& points, comm::Transport& transport, int min_samples) {
  const euclidean::Given given(points, transport);
  const Sites sites(given, transport);
  Forest forest{given.total(), graphs::WeightKind::float64, {}};
  if (sites.size() == 0 || transport.rank() != 0) return forest;
  const auto core = cores_of(sites, min_samples);
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
    forest.edges.push_back({best[newest].low, best[newest].high, graphs::bits_of(sites.weight(best[newest].compared))});
  }
  return forest;
}

}  // namespace merganser::msf
