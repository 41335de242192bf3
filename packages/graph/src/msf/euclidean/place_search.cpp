// Joints of places among the points of one rank: k nearest points first, a second search only where they do not decide.
#include "src/msf/euclidean/place_search.hpp"

#include <algorithm>

#include "src/msf/euclidean/near_search.hpp"

namespace merganser::msf::euclidean {
namespace {

using nearest::kPairGroup;

/// Place search with a tree of boxes.
template <std::size_t D>
class TreeSearch final : public PlaceSearch {
 public:
  TreeSearch(const PlaceMetric& metric, std::span<const double> places, std::span<const double> cores, std::size_t k)
      : axes_(metric.axes), cores_(cores), k_(k) {
    std::vector<IdentifiedPoint<D>> items(cores.size());
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = {place_at(places.data() + i * axes_), i};
    Metric<D> of;
    std::copy(metric.periods.begin(), metric.periods.end(), of.period.begin());
    of.any_period = std::any_of(metric.periods.begin(), metric.periods.end(), [](double p) { return p < kInfinity; });
    of.norm = metric.norm;
    of.sphere = metric.sphere;
    of.divisor = metric.divisor;
    search_.emplace(items, of, leaf_capacity({}, D), true, [&](std::uint64_t id) { return cores[id]; });
  }

  PlaceJoint join(const double* place, std::vector<Near>& row) const override {
    const Place<D> at = place_at(place);
    const Metric<D>& metric = search_->tree().metric();
    row.assign(k_, Near{});
    search_->nearest_here(at, kInfinity, k_, row.data());
    const double core = metric.weight(row.back().d2);
    Joint best{~std::uint64_t{0}, kInfinity, core, kInfinity};
    for (const Near& near : row) {
      Joint joint{near.id, metric.weight(near.d2), core, 0};
      joint.reachability = std::max({joint.distance, core, cores_[near.id]});
      if (joins_before(joint, best)) best = joint;
    }
    // No reachability is below the core distance, and all points nearer than that are among the k: only one as near or nearer of
    // equal reachability would come before the best of them.
    if (best.reachability > core || best.distance >= core) search_->join_here(at, best);
    return {best, metric.weight(row.front().d2) == 0};
  }

  std::uint32_t region(const double* place) const override {
    const Place<D> at = place_at(place);
    const auto& nodes = search_->tree().nodes();
    std::uint32_t node = 0;
    while (nodes[node].right != 0) {
      const auto& metric = search_->tree().metric();
      const bool right = metric.distance2(at, nodes[nodes[node].right].box) < metric.distance2(at, nodes[node + 1].box);
      node = right ? nodes[node].right : node + 1;
    }
    return node;
  }

 private:
  /// Returns canonical coordinates with zeros on further axes up to D.
  [[nodiscard]] Place<D> place_at(const double* coordinates) const {
    Place<D> at{};
    std::copy_n(coordinates, axes_, at.begin());
    return at;
  }

  std::size_t axes_;
  std::span<const double> cores_;  ///< core distances by id
  std::size_t k_;
  std::optional<NearSearch<D>> search_;  ///< tree of boxes over the points
};

/// Place search over all points, for more axes than trees of boxes have.
class PairsSearch final : public PlaceSearch {
 public:
  PairsSearch(const PlaceMetric& metric, std::span<const double> places, std::span<const double> cores, std::size_t k)
      : metric_(metric), cores_(cores), k_(k) {
    const std::size_t room = (cores.size() + kPairGroup - 1) / kPairGroup * kPairGroup;
    data_.assign(room * metric.axes, 0);
    for (std::size_t i = 0; i < cores.size(); ++i)
      for (std::size_t a = 0; a < metric.axes; ++a)
        data_[(i / 8 * metric.axes + a) * 8 + i % 8] = places[i * metric.axes + a];
    unlimited_.assign(room, kInfinity);
    periodic_ = std::any_of(metric.periods.begin(), metric.periods.end(), [](double p) { return p < kInfinity; });
  }

  PlaceJoint join(const double* place, std::vector<Near>& row) const override {
    std::vector<double> to(unlimited_.size());
    nearest::pair_distances({data_.data(), metric_.axes, periodic_ ? metric_.periods.data() : nullptr, metric_.norm},
                            place, unlimited_.data(), 0, to.size(), to.data());
    row.assign(k_, Near{});
    for (std::size_t i = 0; i < cores_.size(); ++i)
      if (to[i] <= row.back().d2) insert_near(row.data(), k_, {to[i], i});
    const double core = distance(row.back().d2);
    Joint best{~std::uint64_t{0}, kInfinity, core, kInfinity};
    for (std::size_t i = 0; i < cores_.size(); ++i) {
      Joint joint{i, distance(to[i]), core, 0};
      joint.reachability = std::max({joint.distance, core, cores_[i]});
      if (joins_before(joint, best)) best = joint;
    }
    return {best, distance(row.front().d2) == 0};
  }

  std::uint32_t region(const double*) const override { return 0; }

 private:
  /// Returns the distance of two points for the value by which it is compared.
  [[nodiscard]] double distance(double compared) const {
    return distance_from_compared(compared, metric_.norm, metric_.sphere, metric_.divisor);
  }

  PlaceMetric metric_;
  std::span<const double> cores_;  ///< core distances by id
  std::size_t k_;
  std::vector<double> data_;       ///< coordinates in groups of 8 points, axis by axis
  std::vector<double> unlimited_;  ///< limits of pair_distances(): none
  bool periodic_ = false;
};

}  // namespace

std::unique_ptr<const PlaceSearch> make_place_search(const PlaceMetric& metric, std::span<const double> places,
                                                     std::span<const double> cores, std::size_t k) {
  if (metric.axes > kMaxAxes) return std::make_unique<PairsSearch>(metric, places, cores, k);
  return with_axes(metric.axes, [&](auto axes) -> std::unique_ptr<const PlaceSearch> {
    return std::make_unique<TreeSearch<axes.value>>(metric, places, cores, k);
  });
}

}  // namespace merganser::msf::euclidean
