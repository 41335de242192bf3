// Sort of a few numbers by counting the lesser ones. Compiled once per vector target by Highway; the end of the file has the dispatch.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/msf/euclidean/row_sort.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "merganser/base/detail/highway.hpp"
#include "src/msf/euclidean/row_sort.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::msf::euclidean::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using I = hn::CappedTag<std::int64_t, 8>;

/// Sorts a row (sort_row()).
void SortRow(const std::uint64_t* row, std::uint32_t count, std::uint64_t* sorted) {
  const I d;
  const auto* const numbers = reinterpret_cast<const std::int64_t*>(row);
  alignas(64) std::int64_t rank[kMaxRow];
  for (std::uint32_t first = 0; first < count; first += static_cast<std::uint32_t>(hn::Lanes(d))) {
    const auto x = hn::LoadU(d, numbers + first);
    auto less = hn::Zero(d);
    for (std::uint32_t i = 0; i < count; ++i)
      less =
          hn::Sub(less, hn::VecFromMask(d, hn::Lt(hn::Set(d, numbers[i]), x)));  // less 1 of 2^64: a mask is all bits
    hn::Store(less, d, rank + first);
  }
  for (std::uint32_t i = 0; i < count; ++i) sorted[rank[i]] = row[i];
}

}  // namespace merganser::msf::euclidean::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::msf::euclidean {

HWY_EXPORT(SortRow);

void sort_row(const std::uint64_t* row, std::uint32_t count, std::uint64_t* sorted) {
  MERGANSER_DISPATCH(SortRow)(row, count, sorted);
}

}  // namespace merganser::msf::euclidean
#endif
