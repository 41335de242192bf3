#pragma once
/// Logarithmic-linear histogram of durations: quantiles of any number of samples in constant memory, mergeable by adding counts.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Histogram of durations in nanoseconds.
///
/// Values below 256 ns have a bucket each; above, every octave has 256 buckets, so that a bucket is at most 1/256 of its value wide
/// and its middle at most 0.2 % off. Values from 2^38 ns (275 s) on share the last bucket; minimum, maximum and sum are exact.
/// Memory: 62 KiB, none before the first sample. Not thread-safe.
///
/// The bucket of v has the number v for v < 256, else e * 256 + (v >> e) with e such that 256 <= v >> e < 512.
class Histogram {
 public:
  static constexpr int kBits = 8;      ///< binary logarithm of the buckets in an octave
  static constexpr int kTopBits = 38;  ///< durations from 2^kTopBits ns on share the last bucket
  static constexpr std::uint64_t kPerOctave = std::uint64_t{1} << kBits;        ///< buckets in an octave
  static constexpr std::size_t kBuckets = (kTopBits - kBits + 1) * kPerOctave;  ///< number of buckets

  /// Returns the number of the bucket, in [0, kBuckets), in which a duration is counted.
  [[nodiscard]] static constexpr std::size_t bucket(std::uint64_t ns) noexcept {
    if (ns < kPerOctave) return ns;
    if (ns >> kTopBits != 0) return kBuckets - 1;
    const auto e = static_cast<std::uint64_t>(std::bit_width(ns) - 1 - kBits);
    return (e << kBits) + (ns >> e);
  }
  /// Returns the smallest duration, in nanoseconds, that is counted in a bucket.
  [[nodiscard]] static constexpr std::uint64_t lowest(std::size_t bucket) noexcept {
    if (bucket < 2 * kPerOctave) return bucket;
    const std::uint64_t e = (bucket >> kBits) - 1;
    return (bucket - (e << kBits)) << e;
  }

  /// Adds one duration in nanoseconds to the histogram. The first call allocates the buckets, unless reserve() has done so.
  void add(std::uint64_t ns) {
    if (counts_.empty()) reserve();
    ++counts_[bucket(ns)];
    ++count_;
    sum_ += static_cast<double>(ns);
    min_ = ns < min_ ? ns : min_;
    max_ = ns > max_ ? ns : max_;
  }
  /// Allocates the buckets of the histogram, so that add() does not allocate within a measurement.
  void reserve() { counts_.resize(kBuckets); }
  /// Adds all durations of another histogram, as if they had been added one by one, except for the rounding of sum().
  Histogram& operator+=(const Histogram& other);

  /// Returns the number of durations that were added to the histogram.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Returns true if no duration was added to the histogram.
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// Returns the smallest duration of the histogram, exact, in nanoseconds; 0 for an empty histogram.
  [[nodiscard]] std::uint64_t min() const noexcept { return empty() ? 0 : min_; }
  /// Returns the largest duration of the histogram, exact, in nanoseconds; 0 for an empty histogram.
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
  /// Returns the sum of the durations of the histogram in nanoseconds.
  [[nodiscard]] double sum() const noexcept { return sum_; }
  /// Returns the mean of the durations of the histogram in nanoseconds; 0 for an empty histogram.
  [[nodiscard]] double mean() const noexcept { return empty() ? 0 : sum_ / static_cast<double>(count_); }
  /// Returns the q-quantile of the samples in nanoseconds, for 0 <= q <= 1: interpolated linearly within its bucket, never outside
  /// the range of the samples. @throws UsageError for an empty histogram
  [[nodiscard]] double quantile(double q) const;
  /// Returns the sum, in nanoseconds, of the largest samples, a share 1 - q of all (their number rounded down), each taken as the
  /// middle of its bucket; at most sum(). 0 for an empty histogram.
  [[nodiscard]] double sum_above(double q) const;

  /// Returns the number of the first bucket with a sample; 0 for an empty histogram.
  [[nodiscard]] std::size_t first() const;
  /// Returns the counts of the buckets from first() to the last with a sample; the first and the last count are not zero.
  [[nodiscard]] std::span<const std::uint64_t> counts() const;

  /// Contents of a histogram of durations for files and messages.
  struct Parts {
    std::size_t first = 0;              ///< first() of the histogram
    std::vector<std::uint64_t> counts;  ///< counts() of the histogram
    std::uint64_t min = 0;              ///< min() of the histogram, in nanoseconds
    std::uint64_t max = 0;              ///< max() of the histogram, in nanoseconds
    double sum = 0;                     ///< sum() of the histogram, in nanoseconds
  };
  /// Makes the histogram with the given contents, as first(), counts(), min(), max() and sum() of another one returned them.
  /// @throws InputError if a bucket number is out of range, or minimum and maximum are not in the first and the last bucket
  [[nodiscard]] static Histogram from_parts(const Parts& parts);

  /// Returns true if counts, minimum, maximum and sum of two histograms are equal.
  friend bool operator==(const Histogram& a, const Histogram& b);

 private:
  std::vector<std::uint64_t> counts_;  // by bucket; empty: not allocated yet
  std::uint64_t count_ = 0;            // durations added
  std::uint64_t min_ = UINT64_MAX;     // in nanoseconds; UINT64_MAX: none was added
  std::uint64_t max_ = 0;              // in nanoseconds
  double sum_ = 0;                     // in nanoseconds
};

}  // namespace merganser
