// Reimplementation of NumPy's argsort (introsort, without vector instructions), to leave equal numbers in the same order:
// quicksort around the median of the first, middle and last, insertion sort of up to 16 numbers, heap sort beyond a depth.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/msf/grow.hpp"
#include "src/msf/linkage/clusters.hpp"

namespace merganser::msf {
namespace {

using IndexPosition = std::vector<std::uint32_t>::iterator;

/// Range of the indices that the argsort has yet to sort, from first to last, both included.
struct IndexRange {
  IndexPosition first;
  IndexPosition last;
  int depth;  ///< number of partitions still allowed before heap sort takes over
};

/// NumPy's argsort (introsort) of edge weights. All comparisons and swaps are made in NumPy's order, since the sort is not stable.
class NumpyArgsort {
 public:
  explicit NumpyArgsort(std::span<const double> weights) : weights_(weights) {}

  /// Sorts a range of indices by the weights that they refer to, as NumPy's introsort does.
  void sort(IndexRange part) {
    std::vector<IndexRange> waiting;
    for (;;) {
      if (part.depth < 0)
        heap_sort(part);
      else
        insertion_sort(divide_to_small(part, waiting));
      if (waiting.empty()) return;
      part = waiting.back();
      waiting.pop_back();
    }
  }

 private:
  static constexpr std::ptrdiff_t kSmall = 15;  // greatest last - first that insertion sort gets

  [[nodiscard]] bool less(const IndexPosition& x, const IndexPosition& y) const { return weights_[*x] < weights_[*y]; }

  /// Partitions a range of indices until it is small, and pushes the larger parts on `waiting`. NumPy tests the depth of these
  /// only.
  /// @return the small range, which insertion sort gets
  IndexRange divide_to_small(IndexRange part, std::vector<IndexRange>& waiting) {
    while (part.last - part.first > kSmall) {
      const IndexPosition middle = partition(part.first, part.last);
      IndexRange larger{part.first, middle - 1, part.depth - 1};
      part = {middle + 1, part.last, part.depth - 1};
      if (part.last - part.first > larger.last - larger.first) std::swap(larger, part);
      waiting.push_back(larger);
    }
    return part;
  }

  /// Partitions a range of indices around the median weight of the first, middle and last. @return the final position of that index
  IndexPosition partition(IndexPosition first, IndexPosition last) {
    // The pivot is at last - 1 during both scans; it bounds the upward one, and `first`, which is not above it, the downward one.
    const IndexPosition middle = first + ((last - first) >> 1);
    if (less(middle, first)) std::swap(*middle, *first);
    if (less(last, middle)) std::swap(*last, *middle);
    if (less(middle, first)) std::swap(*middle, *first);
    const double pivot = weights_[*middle];
    IndexPosition low = first;
    IndexPosition high = last - 1;
    std::swap(*middle, *high);
    for (;;) {
      do ++low;
      while (weights_[*low] < pivot);
      do --high;
      while (pivot < weights_[*high]);
      if (low >= high) break;
      std::swap(*low, *high);
    }
    std::swap(*low, *(last - 1));
    return low;
  }

  /// Sorts a short range of the argsort's indices by their weights, by insertion.
  void insertion_sort(const IndexRange& part) {
    for (IndexPosition next = part.first; next <= part.last; ++next) {
      const std::uint32_t moved = *next;
      IndexPosition to = next;
      for (; to > part.first && weights_[moved] < weights_[*(to - 1)]; --to) *to = *(to - 1);
      *to = moved;
    }
  }

  /// Sorts a range of indices by their weights with a binary heap, for ranges that were partitioned too often.
  void heap_sort(const IndexRange& part) {
    const auto count = part.last - part.first + 1;
    for (auto root = count / 2; root > 0; --root) sink(part.first, root, count, part.first[root - 1]);
    for (auto last = count; last > 1; --last) {
      const std::uint32_t moved = part.first[last - 1];
      part.first[last - 1] = *part.first;
      sink(part.first, 1, last - 1, moved);
    }
  }

  /// Sifts an index down by its weight from node `at` of a binary heap of `count` nodes, which are numbered from 1.
  void sink(IndexPosition heap, std::ptrdiff_t at, std::ptrdiff_t count, std::uint32_t entry) const {
    for (auto child = 2 * at; child <= count; child = 2 * at) {
      if (child < count && weights_[heap[child - 1]] < weights_[heap[child]]) ++child;
      if (!(weights_[entry] < weights_[heap[child - 1]])) break;
      heap[at - 1] = heap[child - 1];
      at = child;
    }
    heap[at - 1] = entry;
  }

  std::span<const double> weights_;  // numbers that the indices are sorted by
};

}  // namespace

// Order of merges of equal height as scikit-learn has it, which sorts edges by NumPy's argsort.
std::vector<std::uint32_t> sorted_like_numpy(std::span<const double> weights) {
  check_linkage_size("sort", weights.size(), "weights");
  for (const double w : weights)
    if (std::isnan(w)) throw InputError("sort: a weight is not a number; allowed: numbers, infinity too");
  std::vector<std::uint32_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0U);
  if (order.empty()) return order;
  const int depth = 2 * (static_cast<int>(std::bit_width(order.size())) - 1);
  NumpyArgsort(weights).sort({order.begin(), order.end() - 1, depth});
  return order;
}

}  // namespace merganser::msf
