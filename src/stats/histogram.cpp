// Histogram of durations: merging, quantiles by interpolation within buckets, and contents for files.
#include "merganser/stats/histogram.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser {
namespace {

/// Returns whether a bucket of the histogram contains a duration.
bool is_positive(std::uint64_t count) { return count != 0; }

/// Returns the duration in the middle of a bucket of a histogram, in nanoseconds, limited to the range of the samples.
double bucket_middle(std::size_t bucket, const Histogram& h) {
  const auto low = static_cast<double>(Histogram::lowest(bucket));
  const double high = bucket + 1 < Histogram::kBuckets ? static_cast<double>(Histogram::lowest(bucket + 1) - 1)
                                                       : static_cast<double>(h.max());
  return std::clamp((low + high) / 2, static_cast<double>(h.min()), static_cast<double>(h.max()));
}

}  // namespace

// Adds the counts of another histogram of durations, bucket by bucket.
Histogram& Histogram::operator+=(const Histogram& other) {
  if (other.empty()) return *this;
  if (counts_.empty()) reserve();
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  return *this;
}

// Returns a quantile of the durations: its bucket by the cumulated counts, then linear interpolation.
double Histogram::quantile(double q) const {
  if (empty()) throw UsageError("quantile of an empty histogram; allowed: of at least one value");
  // Sample i (from 0) of n is the ((i + 1/2) / n)-quantile; the samples of a bucket are spread evenly over it.
  const double at = std::clamp(q, 0.0, 1.0) * static_cast<double>(count_);
  std::uint64_t below = 0;
  std::size_t b = 0;
  for (; b + 1 < kBuckets; ++b) {
    if (static_cast<double>(below + counts_[b]) >= at && counts_[b] > 0) break;
    below += counts_[b];
  }
  const auto low = static_cast<double>(lowest(b));
  const double high = b + 1 < kBuckets ? static_cast<double>(lowest(b + 1)) : static_cast<double>(max_) + 1;
  const double part = counts_[b] == 0 ? 0 : (at - static_cast<double>(below)) / static_cast<double>(counts_[b]);
  // A bucket that is 1 ns wide contains one value, which needs no interpolation.
  const double value = high - low <= 1 ? low : low + std::clamp(part, 0.0, 1.0) * (high - low);
  return std::clamp(value, static_cast<double>(min_), static_cast<double>(max_));
}

// Returns the sum of the largest durations, taken from the last bucket downwards.
double Histogram::sum_above(double q) const {
  if (empty()) return 0;
  auto left = static_cast<std::uint64_t>(std::floor((1 - std::clamp(q, 0.0, 1.0)) * static_cast<double>(count_)));
  double sum = 0;
  for (std::size_t b = kBuckets; b-- > 0 && left > 0;) {
    const std::uint64_t taken = std::min(left, counts_[b]);
    sum += static_cast<double>(taken) * bucket_middle(b, *this);
    left -= taken;
  }
  return std::min(sum, sum_);
}

std::size_t Histogram::first() const {
  const auto at = std::find_if(counts_.begin(), counts_.end(), is_positive);
  return at == counts_.end() ? 0 : static_cast<std::size_t>(at - counts_.begin());
}

std::span<const std::uint64_t> Histogram::counts() const {
  const auto last = std::find_if(counts_.rbegin(), counts_.rend(), is_positive).base();
  const std::size_t from = first();
  return std::span(counts_).subspan(from, static_cast<std::size_t>(last - counts_.begin()) - from);
}

// Makes a histogram of durations from the contents of a file or message, after checks of buckets, minimum and maximum.
Histogram Histogram::from_parts(const Parts& parts) {
  Histogram h;
  if (parts.counts.empty()) return h;
  if (parts.first >= kBuckets || parts.counts.size() > kBuckets - parts.first)
    throw InputError("histogram: buckets " + std::to_string(parts.first) + " to " +
                     std::to_string(parts.first + parts.counts.size() - 1) + "; allowed: 0 to " +
                     std::to_string(kBuckets - 1));
  h.reserve();
  std::copy(parts.counts.begin(), parts.counts.end(), h.counts_.begin() + static_cast<std::ptrdiff_t>(parts.first));
  for (const auto c : parts.counts) h.count_ += c;
  if (h.count_ == 0) return {};
  h.min_ = parts.min;
  h.max_ = parts.max;
  h.sum_ = parts.sum;
  // Minimum and maximum must fit the counts, or quantiles would leave the range of the durations.
  if (bucket(parts.min) != h.first() || bucket(parts.max) != h.first() + h.counts().size() - 1)
    throw InputError("histogram: minimum " + std::to_string(parts.min) + " and maximum " + std::to_string(parts.max) +
                     " are not in its first and last bucket");
  return h;
}

bool operator==(const Histogram& a, const Histogram& b) {
  if (a.count_ != b.count_ || a.min() != b.min() || a.max_ != b.max_ || a.sum_ != b.sum_) return false;
  return a.empty() || a.counts_ == b.counts_;
}

}  // namespace merganser
