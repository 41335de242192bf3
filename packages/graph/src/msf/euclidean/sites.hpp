#pragma once
/// All points in one place, compared one pair at a time.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "merganser/nearest/pair_scan.hpp"
#include "src/msf/euclidean/given.hpp"

namespace merganser::msf::euclidean {

/// All ranks' points on rank 0, by id, and the canonical distance as PointSet promises it, axis by axis. Empty on the others.
class Sites {
 public:
  /// Collective. Memory on rank 0: 8 bytes per coordinate, twice that while they arrive.
  Sites(const Given& given, comm::Transport& transport);

  [[nodiscard]] std::size_t size() const { return axes_ == 0 ? 0 : at_.size() / axes_; }
  [[nodiscard]] std::size_t axes() const { return axes_; }
  /// Coordinates of a point, as they are compared.
  [[nodiscard]] const double* at(std::size_t id) const { return at_.data() + id * axes_; }
  /// What is compared: see euclidean_forest().
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
    return nearest::far_on_sphere(square);
  }
  /// A lower bound of what is compared between a place and anything in a box; above `most` any number above it.
  [[nodiscard]] double compared_to_box(const double* a, const double* lower, const double* upper, double most) const {
    const double limit = pair_limit(most);
    double sum = 0;
    for (std::size_t i = 0; i < axes_ && sum <= limit; ++i) {
      const double gap = std::max(std::max(lower[i] - a[i], a[i] - upper[i]), 0.0);
      const double far = std::max(a[i] - lower[i], upper[i] - a[i]);
      sum = add(sum, std::min(gap, std::max(periods_[i] - far, 0.0)));
    }
    return sphere_ ? nearest::least_on_sphere(sum) : sum;
  }
  /// The same points in another order, for pair_distances(). @param data  their coordinates, as pair_distances() takes them
  [[nodiscard]] nearest::PairPoints pair_points(const double* data) const {
    const bool periodic = std::any_of(periods_.begin(), periods_.end(), [](double p) { return p < kInfinity; });
    return {data, axes_, periodic ? periods_.data() : nullptr, norm_};
  }
  /// A limit for pair_distances(), which knows nothing of the sphere: what it gives for a pair that compares up to `compared` is
  /// not above it.
  [[nodiscard]] double pair_limit(double compared) const {
    return sphere_ && compared > nearest::kFarChord2 ? kInfinity : compared;
  }
  /// What is compared between two places, given what pair_distances() gives for them.
  [[nodiscard]] double compared_of_pair(double pair, const double* a, const double* b) const {
    return sphere_ && pair > nearest::kFarChord2 ? compared(a, b) : pair;
  }
  /// The distance that belongs to what is compared.
  [[nodiscard]] double weight(double compared) const { return weight_of(compared, norm_, sphere_); }
  /// No less than anything compared whose distance is up to that.
  [[nodiscard]] double compared_above(double distance) const {
    return euclidean::compared_above(distance, norm_, sphere_);
  }

 private:
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
