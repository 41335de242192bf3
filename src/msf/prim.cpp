#include "merganser/msf/prim.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "merganser/comm/collectives.hpp"
#include "src/msf/euclidean/given.hpp"

namespace merganser::msf {
namespace {

/// All points of all ranks, by id, and the canonical distance as PointSet promises it, axis by axis.
class Sites {
 public:
  Sites(const PointSet& points, comm::Transport& transport)
      : given_(points, transport), axes_(given_.axes()), at_(given_.total() * axes_) {
    std::vector<std::uint64_t> ids(given_.size());
    std::vector<double> mine(given_.size() * axes_);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      ids[i] = given_.id(i);
      given_.place(i, mine.data() + i * axes_);
    }
    const auto all_ids = comm::all_gather(transport, ids).flat();
    const auto all = comm::all_gather(transport, mine).flat();
    for (std::size_t i = 0; i < all_ids.size(); ++i)
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(i * axes_), axes_,
                  at_.begin() + static_cast<std::ptrdiff_t>(all_ids[i] * axes_));
  }

  [[nodiscard]] std::size_t size() const { return given_.total(); }
  /// What is compared: see euclidean_forest().
  [[nodiscard]] double distance(std::size_t a, std::size_t b) const {
    double sum = 0;
    for (std::size_t i = 0; i < axes_; ++i) {
      double s = std::fabs(at_[a * axes_ + i] - at_[b * axes_ + i]);
      s = std::min(s, std::fabs(given_.periods()[i] - s));
      if (given_.norm() == euclidean::Norm::squares) s *= s;
      sum = given_.norm() == euclidean::Norm::most ? std::max(sum, s) : sum + s;
    }
    if (!given_.sphere() || !(sum > nearest::kFarChord2)) return sum;
    double square = 0;
    for (std::size_t i = 0; i < axes_; ++i) {
      const double s = at_[a * axes_ + i] + at_[b * axes_ + i];
      square += s * s;
    }
    return nearest::far_on_sphere(square);
  }
  [[nodiscard]] double weight(double compared) const {
    return euclidean::weight_of(compared, given_.norm(), given_.sphere());
  }

 private:
  euclidean::Given given_;
  std::size_t axes_;
  std::vector<double> at_;
};

/// From each to its k-th nearest, itself being the first; as compared.
std::vector<double> cores_of(const Sites& sites, int k) {
  std::vector<double> core(sites.size(), 0);
  if (k <= 1) return core;
  std::vector<double> all(sites.size());
  for (std::size_t i = 0; i < sites.size(); ++i) {
    for (std::size_t j = 0; j < sites.size(); ++j) all[j] = sites.distance(i, j);
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
  const Sites sites(points, transport);
  Forest forest{sites.size(), graphs::WeightKind::float64, {}};
  if (sites.size() == 0 || transport.rank() != 0) return forest;
  const auto core = cores_of(sites, min_samples);
  std::vector<Reach> best(sites.size(), {INFINITY, 0, 0});
  std::vector<std::size_t> open(sites.size() - 1);
  std::iota(open.begin(), open.end(), 1);
  for (std::size_t newest = 0; !open.empty();) {
    std::size_t next = 0;
    for (std::size_t k = 0; k < open.size(); ++k) {
      const std::size_t i = open[k];
      const double compared = std::max({sites.distance(i, newest), core[i], core[newest]});
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
