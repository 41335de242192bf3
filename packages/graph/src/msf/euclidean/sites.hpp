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
  /// Gathers the canonical coordinates of all ranks' points on rank 0. Collective. Memory there: 8 bytes per coordinate, twice that
  /// while they arrive. @param alpha  number by which weights are divided, EuclideanOptions::alpha
  Sites(const CheckedPoints& given, comm::Transport& transport, double alpha = 1);

  /// Returns the number of gathered points on this rank: all on rank 0, none on the others.
  [[nodiscard]] std::size_t size() const { return axes_ == 0 ? 0 : at_.size() / axes_; }
  /// Returns the number of coordinates of a point that are compared.
  [[nodiscard]] std::size_t axes() const { return axes_; }
  /// Returns the axes() coordinates of the gathered point of an id that are compared.
  [[nodiscard]] const double* at(std::size_t id) const { return at_.data() + id * axes_; }
  /// Returns the distance of two points as it is compared: squared, or plain for norms other than squares; the same bits as
  /// Metric::distance2().
  [[nodiscard]] double compared(const double* a, const double* b) const {
    // The canonical formula in its order of additions; on the sphere points far apart compare by the antipode.
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
  /// Returns a lower bound of the compared distances between points of two boxes, given by their lower and upper corners; any number
  /// above `most` if it is above. Both corners of the box of one point are its coordinates.
  [[nodiscard]] double compared_between_boxes(const double* lower, const double* upper, const double* other_lower,
                                              const double* other_upper, double most) const {
    const double limit = pair_limit(most);
    double sum = 0;
    if (plain_) {
      for (std::size_t i = 0; i < axes_ && sum <= limit; ++i) {
        const double gap = std::max(std::max(other_lower[i] - upper[i], lower[i] - other_upper[i]), 0.0);
        sum += gap * gap;
      }
      return sum;
    }
    for (std::size_t i = 0; i < axes_ && sum <= limit; ++i) {
      const double gap = std::max(std::max(other_lower[i] - upper[i], lower[i] - other_upper[i]), 0.0);
      const double far = std::max(upper[i] - other_lower[i], other_upper[i] - lower[i]);
      sum = add(sum, std::min(gap, std::max(periods_[i] - far, 0.0)));
    }
    return sphere_ ? nearest::sphere_lower_bound(sum) : sum;
  }
  /// Returns a view of points in the metric of the gathered points for nearest::pair_distances(). @param data  their coordinates,
  /// in groups of 8 points, axis by axis
  [[nodiscard]] nearest::PairPoints pair_points(const double* data) const {
    return {data, axes_, periodic() ? periods_.data() : nullptr, norm_};
  }
  /// Returns a limit for nearest::pair_distances(), which has no metric of the sphere: its value for a pair whose compared value
  /// is at most `compared` does not exceed it.
  [[nodiscard]] double pair_limit(double compared) const {
    return sphere_ && compared > nearest::kFarChord2 ? kInfinity : compared;
  }
  /// Returns the compared distance of two points, given the value of nearest::pair_distances() for them, which has no metric of the
  /// sphere.
  [[nodiscard]] double compared_from_pair(double pair, const double* a, const double* b) const {
    return sphere_ && pair > nearest::kFarChord2 ? compared(a, b) : pair;
  }
  /// Returns the metric of the gathered points for a tree of boxes of D axes, at least axes().
  template <std::size_t D>
  [[nodiscard]] Metric<D> metric() const {
    Metric<D> metric;
    std::copy(periods_.begin(), periods_.end(), metric.period.begin());
    metric.any_period = periodic();
    metric.norm = norm_;
    metric.sphere = sphere_;
    metric.divisor = divisor_;
    return metric;
  }
  /// Returns the weight of an edge between points, their distance divided by alpha, for a compared distance.
  [[nodiscard]] double weight(double compared) const { return stretch_.weight(compared); }
  /// Returns the weight of an edge for a core distance.
  [[nodiscard]] double weight_of_core(double core) const { return stretch_.weight_of_core(core); }
  /// Returns an upper bound of the compared values of all pairs of points for which an edge weighs at most `weight`.
  [[nodiscard]] double compared_above(double weight) const {
    constexpr double kMore = 1 + 1e-12;  // exceeds the rounding of the division by alpha
    const double most = stretch_.alpha == 1 ? weight : weight * stretch_.alpha * kMore;
    return euclidean::compared_above(most, norm_, sphere_, divisor_);
  }

 private:
  /// Returns whether an axis is periodic.
  [[nodiscard]] bool periodic() const {
    return std::any_of(periods_.begin(), periods_.end(), [](double p) { return p < kInfinity; });
  }
  /// Returns a partial norm of the separations of two points extended by the separation s on one more axis.
  [[nodiscard]] double add(double sum, double s) const {
    if (norm_ == Norm::squares) return sum + s * s;
    return norm_ == Norm::most ? std::max(sum, s) : sum + s;
  }

  std::size_t axes_;
  std::vector<double> periods_;  ///< by axis; infinite: not periodic
  Norm norm_;
  bool sphere_;             ///< points are on the unit sphere
  bool plain_;              ///< Euclidean distances in a space without periods
  double divisor_;          ///< what compared values are divided by for distances; 0: they are not
  Stretch stretch_;         ///< conversion of compared distances to weights
  std::vector<double> at_;  ///< coordinates by id
};

}  // namespace merganser::msf::euclidean
