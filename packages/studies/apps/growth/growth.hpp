#pragma once
/// Growth of time and memory with the size of the problem, for the verb bench growth: series of measurements over sizes, their
/// fitted exponents, and the limit that copying the input sets.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/frame/json.hpp"

namespace merganser::app {

/// Algorithm whose growth bench growth measures.
struct GrowthSubject {
  std::string_view name;        ///< word of --only
  std::string_view unit;        ///< what the size counts
  std::vector<double> sizes;    ///< nominal sizes, ascending: 1,000 to 10 million for most
  std::string_view limit_text;  ///< what bounds its time from below on any machine, as GrowthPoint::limit measures it
};

/// One measurement of bench growth: an algorithm at one size.
struct GrowthPoint {
  double size = 0;              ///< units of the problem, as made
  std::vector<double> seconds;  ///< wall time of each repeat
  std::vector<double>
      processor_seconds;   ///< processor time of each repeat, of all threads: less disturbed by other work
  double peak_bytes = 0;   ///< highest resident memory during a repeat less that before the input was made
  double input_bytes = 0;  ///< bytes of the input
  double limit = 0;        ///< processor seconds of one copy of the input, median of the repeats
  std::string result;      ///< what the algorithm found, the same in every repeat

  /// Returns the median processor time for a unit, in ns.
  [[nodiscard]] double ns_per_unit() const;
  /// Returns the peak memory for a unit, in bytes.
  [[nodiscard]] double bytes_per_unit() const { return size > 0 ? peak_bytes / size : 0; }
  /// Returns the median processor time divided by the time of one copy of the input; 0 if there is none.
  [[nodiscard]] double copies() const;
};

/// Power law fitted to a series: value = factor * size^exponent.
struct PowerLaw {
  double exponent = 0;          ///< slope of the logarithms by least squares; 1: linear
  std::optional<double> error;  ///< standard error of the exponent; none for two points
};
/// Fits a power law to a series of at least two positive values by least squares of the logarithms. Local.
/// @throws UsageError for fewer points, and for values that are not positive
[[nodiscard]] PowerLaw fit_power_law(std::span<const double> sizes, std::span<const double> values);

/// Returns the algorithms that bench growth measures. @param quick  true: sizes of at most a hundredth of the greatest
[[nodiscard]] std::vector<GrowthSubject> growth_subjects(bool quick);

/// Measures an algorithm at one size, on one rank, announcements on as many thread ranks as the size says; local.
/// @param name     GrowthSubject::name
/// @param repeats  timed runs after one that warms up
/// @throws VerificationError if two runs found different results
[[nodiscard]] GrowthPoint measure_growth(std::string_view name, double size, int repeats);

/// Returns the series of an algorithm as JSON for a run record: points with time and memory for a unit, exponents, limit.
[[nodiscard]] Json growth_json(const GrowthSubject& subject, const std::vector<GrowthPoint>& points);
/// Formats the series of an algorithm as a table with its exponents.
[[nodiscard]] std::string growth_text(const GrowthSubject& subject, const std::vector<GrowthPoint>& points);

}  // namespace merganser::app
