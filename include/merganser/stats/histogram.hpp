#pragma once
/// Counts of durations in buckets whose width grows with the duration: quantiles of any number of samples in little
/// memory, mergeable by adding counts.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser {

/// Histogram of nanoseconds. Values below 256 ns have a bucket each; above, every octave has 256 buckets, so that a
/// bucket is at most 1/256 of its value wide and its middle at most 0.2 % off. Values from 2^38 ns (275 s) on share the
/// last bucket; minimum, maximum and sum are exact. 62 KiB when in use, nothing before the first sample.
///
/// Bucket of v: v below 256, else e * 256 + (v >> e) with e such that 256 <= v >> e < 512.
class Histogram {
 public:
  static constexpr int kBits = 8;  ///< binary logarithm of the buckets in an octave
  static constexpr int kTopBits = 38;
  static constexpr std::uint64_t kPerOctave = std::uint64_t{1} << kBits;
  static constexpr std::size_t kBuckets = (kTopBits - kBits + 1) * kPerOctave;

  /// Number of the bucket that holds `ns`.
  [[nodiscard]] static constexpr std::size_t bucket(std::uint64_t ns) noexcept {
    if (ns < kPerOctave) return ns;
    if (ns >> kTopBits != 0) return kBuckets - 1;
    const auto e = static_cast<std::uint64_t>(std::bit_width(ns) - 1 - kBits);
    return (e << kBits) + (ns >> e);
  }
  /// Smallest value of a bucket.
  [[nodiscard]] static constexpr std::uint64_t lowest(std::size_t bucket) noexcept {
    if (bucket < 2 * kPerOctave) return bucket;
    const std::uint64_t e = (bucket >> kBits) - 1;
    return (bucket - (e << kBits)) << e;
  }

  /// Adds one sample. Allocates for the first one; reserve() does so before.
  void add(std::uint64_t ns) {
    if (counts_.empty()) reserve();
    ++counts_[bucket(ns)];
    ++count_;
    sum_ += static_cast<double>(ns);
    min_ = ns < min_ ? ns : min_;
    max_ = ns > max_ ? ns : max_;
  }
  /// Allocates the buckets, so that add() does not.
  void reserve() { counts_.resize(kBuckets); }
  Histogram& operator+=(const Histogram& other);

  /// Number of samples.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// True without samples.
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// Smallest sample; 0 where there is none.
  [[nodiscard]] std::uint64_t min() const noexcept { return empty() ? 0 : min_; }
  /// Largest sample; 0 where there is none.
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
  /// Sum of the samples, in nanoseconds.
  [[nodiscard]] double sum() const noexcept { return sum_; }
  /// Mean of the samples, in nanoseconds; 0 where there is none.
  [[nodiscard]] double mean() const noexcept { return empty() ? 0 : sum_ / static_cast<double>(count_); }
  /// Value below which a share q of the samples lies, 0 <= q <= 1: linear inside the bucket, never outside the range of
  /// the samples. @throws UsageError for an empty histogram
  [[nodiscard]] double quantile(double q) const;
  /// Sum of the largest samples, a share 1 - q of all (their number rounded down), each taken as the middle of its
  /// bucket; at most sum(). 0 for an empty histogram.
  [[nodiscard]] double sum_above(double q) const;

  /// The first bucket with a sample; 0 where there is none.
  [[nodiscard]] std::size_t first() const;
  /// Counts of buckets first() .. first() + counts().size() - 1; the first and the last are not zero.
  [[nodiscard]] std::span<const std::uint64_t> counts() const;

  /// What a histogram is made of, as first(), counts(), min(), max() and sum() give it.
  struct Parts {
    std::size_t first = 0;
    std::vector<std::uint64_t> counts;
    std::uint64_t min = 0;
    std::uint64_t max = 0;
    double sum = 0;
  };
  /// The histogram that has these parts.
  /// @throws InputError if the buckets are not there, or minimum and maximum do not lie in the first and the last
  [[nodiscard]] static Histogram of(const Parts& parts);

  friend bool operator==(const Histogram& a, const Histogram& b);

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace merganser
