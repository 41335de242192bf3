#include "merganser/msf/prim.hpp"

#include <algorithm>
#include <cmath>

#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/distribute_points.hpp"

namespace merganser::msf {
namespace {

struct Site {
  Vec3 at;
  std::uint64_t id;
};

std::vector<Site> all_sites(const PointSet& points, comm::Transport& transport) {
  const euclidean::Given given(points, transport);
  std::vector<Site> mine(given.size());
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = {given.at(i), given.id(i)};
  std::vector<Site> all = comm::all_gather(transport, mine).flat();
  std::sort(all.begin(), all.end(), [](const Site& a, const Site& b) { return a.id < b.id; });
  return all;
}

/// Squared distance from each to its k-th nearest, itself being the first.
std::vector<double> squared_cores(const std::vector<Site>& sites, const Box& box, int k) {
  std::vector<double> core(sites.size(), 0);
  if (k <= 1) return core;
  std::vector<double> d2(sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i) {
    for (std::size_t j = 0; j < sites.size(); ++j) d2[j] = box.distance2(sites[i].at, sites[j].at);
    const auto kth = d2.begin() + std::min<std::ptrdiff_t>(k, static_cast<std::ptrdiff_t>(d2.size())) - 1;
    std::nth_element(d2.begin(), kth, d2.end());
    core[i] = *kth;
  }
  return core;
}

struct Reach {
  double squared;
  std::uint64_t low;
  std::uint64_t high;
  friend bool operator<(const Reach& a, const Reach& b) {
    if (a.squared != b.squared) return a.squared < b.squared;
    if (a.low != b.low) return a.low < b.low;
    return a.high < b.high;
  }
};

}  // namespace

Forest prim(const PointSet& points, comm::Transport& transport, int min_samples) {
  const std::vector<Site> sites = all_sites(points, transport);
  Forest forest{sites.size(), graphs::WeightKind::float64, {}};
  if (sites.empty() || transport.rank() != 0) return forest;
  Box box{{0, 0, 0}, {1, 1, 1}, {false, false, false}};
  for (const Period& period : points.periods) {
    box.extent[static_cast<std::size_t>(period.axis)] = period.length;
    box.periodic[static_cast<std::size_t>(period.axis)] = true;
  }
  const auto core = squared_cores(sites, box, min_samples);
  std::vector<Reach> best(sites.size(), {INFINITY, 0, 0});
  std::vector<std::size_t> open(sites.size() - 1);
  for (std::size_t i = 0; i < open.size(); ++i) open[i] = i + 1;
  for (std::size_t newest = 0; !open.empty();) {
    std::size_t next = 0;
    for (std::size_t k = 0; k < open.size(); ++k) {
      const std::size_t i = open[k];
      const double d2 = std::max({box.distance2(sites[i].at, sites[newest].at), core[i], core[newest]});
      const Reach reach{d2, std::min(sites[i].id, sites[newest].id), std::max(sites[i].id, sites[newest].id)};
      if (reach < best[i]) best[i] = reach;
      if (best[i] < best[open[next]]) next = k;
    }
    newest = open[next];
    open[next] = open.back();
    open.pop_back();
    forest.edges.push_back({best[newest].low, best[newest].high, graphs::bits_of(std::sqrt(best[newest].squared))});
  }
  return forest;
}

}  // namespace merganser::msf
