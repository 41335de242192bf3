// Pearson's correlation coefficient in two passes: means first, then sums of products of deviations.
#include "merganser/stats/correlation.hpp"

#include <cmath>
#include <cstddef>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser {

// Computes Pearson's correlation coefficient; a constant sample, whose sum of squares is 0, gives 0.
double pearson(std::span<const double> x, std::span<const double> y) {
  if (x.size() != y.size()) {
    throw UsageError("correlation of " + std::to_string(x.size()) + " values with " + std::to_string(y.size()) +
                     "; allowed: as many");
  }
  const auto n = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / n;
    mean_y += y[i] / n;
  }
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

}  // namespace merganser
