// Student's distribution, by the continued fraction of the incomplete beta function.
#include <array>
#include <cmath>
#include <limits>

#include "merganser/base/error.hpp"
#include "merganser/stats/compare.hpp"

namespace merganser {
namespace {

constexpr double kTiny = 1e-300;

double away_from_zero(double x) { return std::fabs(x) < kTiny ? kTiny : x; }

/// Lentz's evaluation of the fraction. Converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double h = d;
  for (int m = 1; m <= 500; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    h *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    const double step = d * c;
    h *= step;
    if (std::fabs(step - 1) < 1e-15) break;
  }
  return h;
}

/// std::lgamma keeps a global variable; these arguments need no sign.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double student_tail(double t, double freedom) {
  if (!(freedom > 0)) throw UsageError("degrees of freedom are " + std::to_string(freedom) + "; allowed: above 0");
  if (std::isinf(freedom) || freedom > 1e6) return 0.5 * std::erfc(t / std::sqrt(2.0));
  const double both = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
  return t > 0 ? both / 2 : 1 - both / 2;
}

double student_quantile(double tail, double freedom) {
  if (!(tail > 0 && tail < 1)) throw UsageError("a tail is " + std::to_string(tail) + "; allowed: between 0 and 1");
  // A suite asks for the same few thousands of times.
  struct Known {
    double tail = 0, freedom = 0, quantile = 0;
  };
  thread_local std::array<Known, 8> known{};
  thread_local std::size_t next = 0;
  for (const auto& k : known)
    if (k.tail == tail && k.freedom == freedom) return k.quantile;
  double low = -1, high = 1;
  while (student_tail(high, freedom) > tail && high < 1e12) high *= 2;
  while (student_tail(low, freedom) < tail && low > -1e12) low *= 2;
  for (int i = 0; i < 200 && high - low > 1e-12 * (std::fabs(low) + std::fabs(high)); ++i) {
    const double middle = 0.5 * (low + high);
    (student_tail(middle, freedom) > tail ? low : high) = middle;
  }
  known[next] = {tail, freedom, 0.5 * (low + high)};
  const double found = known[next].quantile;
  next = (next + 1) % known.size();
  return found;
}

}  // namespace merganser
