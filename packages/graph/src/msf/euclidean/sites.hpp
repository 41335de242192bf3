#pragma once
/// Points of all ranks gathered on rank 0, compared pair by pair: for Prim's algorithm and the order of equal edges.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "merganser/nearest/pair_scan.hpp"
#include "src/msf/euclidean/given.hpp"

namespace merganser::msf::euclidean {

/// Points of all ranks on rank 0, by id, with the canonical distance that spanning trees of points are defined by. Empty on the
/// other ranks.
class Sites {
 public:
  /// Gathers the points. Collective. Memory on rank 0: 8 bytes per coordinate, twice that while they arrive.
  Sites(const Given& given, comm::Transport& transport);

  /// Returns the number of points here.
  [[nodiscard]] std::size_t size() const { return axes_ == 0 ? 0 : at_.size() / axes_; }
  [[nodiscard]] std::size_t axes() const { return axes_; }
  /// Returns the coordinates of a point that are compared.
  [[nodiscard]] const double* at(std::size_t id) const { return at_.data() + id * axes_; }
  /// Returns the compared value of two points: their squared distance, or distance for norms other than squares; the same bits
  /// as Metric::distance2().
  [[nodiscard]] double compared(const double* a, const double* b) const {
    double sum = 0;
    for (std::size_t i = 0; i < axes_; ++i) {
      double s = std::fabs(a[i] - b[i]);
      s = std::min(s, std::fabs(periods_[i] - s));
      sum = add(sum, s);
    }
    if (!sphere_ || !(sum > nearest::kFarChord2)) return sum;
    double square = 0;
    for (std::size_t i = 0; i < axes_; ++i) square += (a[i] + b[i]) * (a[i] + b[i]);
    return nearest::sphere_far_distance(square);
  }
  /// Returns a lower bound of the compared values between a place and points of a box; any number above `most` if it is above.
  [[nodiscard]] double compared_to_box(const double* a, const double* lower, const double* upper, double most) const {
    const double limit = pair_limit(most);
    double sum = 0;
    for (std::size_t i = 0; i < axes_ && sum <= limit; ++i) {
      const double gap = std::max(std::max(lower[i] - a[i], a[i] - upper[i]), 0.0);
      const double far = std::max(a[i] - lower[i], upper[i] - a[i]);
      sum = add(sum, std::min(gap, std::max(periods_[i] - far, 0.0)));
    }
    return sphere_ ? nearest::sphere_lower_bound(sum) : sum;
  }
  /// Returns a view of points with this metric for nearest::pair_distances(). @param data  coordinates in its layout
  [[nodiscard]] nearest::PairPoints pair_points(const double* data) const {
    const bool periodic = std::any_of(periods_.begin(), periods_.end(), [](double p) { return p < kInfinity; });
    return {data, axes_, periodic ? periods_.data() : nullptr, norm_};
  }
  /// Returns a limit for nearest::pair_distances(), which has no metric of the sphere: its value for a pair whose compared value
  /// is at most `compared` does not exceed it.
  [[nodiscard]] double pair_limit(double compared) const {
    return sphere_ && compared > nearest::kFarChord2 ? kInfinity : compared;
  }
  /// Returns the compared value of two places, given the value of nearest::pair_distances() for them.
  [[nodiscard]] double compared_from_pair(double pair, const double* a, const double* b) const {
    return sphere_ && pair > nearest::kFarChord2 ? compared(a, b) : pair;
  }
  /// Returns the distance for a compared value: the weight of an edge.
  [[nodiscard]] double weight(double compared) const { return distance_from_compared(compared, norm_, sphere_); }
  /// Returns an upper bound of the compared values whose distance is at most `distance`.
  [[nodiscard]] double compared_above(double distance) const {
    return euclidean::compared_above(distance, norm_, sphere_);
  }

 private:
  /// Adds the separation on one axis to a partial sum.
  [[nodiscard]] double add(double sum, double s) const {
    if (norm_ == Norm::squares) return sum + s * s;
    return norm_ == Norm::most ? std::max(sum, s) : sum + s;
  }

  std::size_t axes_;
  std::vector<double> periods_;
  Norm norm_;
  bool sphere_;
  std::vector<double> at_;
};

}  // namespace merganser::msf::euclidean
