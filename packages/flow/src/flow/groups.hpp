// Groups of four rows of numbers, of parcels or of nodes, that are transposed into vectors and back, for kernels that Highway compiles
// once per vector target; private to the flow module. A group is as many rows as a vector of at most four doubles has lanes.
#if defined(MERGANSER_FLOW_GROUPS) == defined(HWY_TARGET_TOGGLE)
#ifdef MERGANSER_FLOW_GROUPS
#undef MERGANSER_FLOW_GROUPS
#else
#define MERGANSER_FLOW_GROUPS
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "src/flow/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using G = hn::CappedTag<double, 4>;
using W = hn::Vec<G>;
constexpr std::size_t kGroup = hn::MaxLanes(G());
constexpr std::size_t kPerFour = 4 / kGroup;  // vectors of four numbers

/// Sites and rows of a group of parcels.
struct GroupRows {
  const double* site[kGroup];
  const double* row[kGroup];
  HWY_INLINE GroupRows(const Site* sites, const double* rows, const std::uint32_t* index) {
    for (std::size_t i = 0; i < kGroup; ++i) {
      site[i] = &sites[index[i]].x;
      row[i] = rows + index[i] * Row::width;
    }
  }
};

/// Transposes a square block: lane j of vector i becomes lane i of vector j.
HWY_INLINE void transpose([[maybe_unused]] W (&m)[kGroup]) {
#if HWY_TARGET != HWY_SCALAR
  const G d;
  const W low = hn::InterleaveLower(d, m[0], m[1]);
  const W high = hn::InterleaveUpper(d, m[0], m[1]);
  if constexpr (kGroup == 4) {
    const W low2 = hn::InterleaveLower(d, m[kGroup - 2], m[kGroup - 1]);
    const W high2 = hn::InterleaveUpper(d, m[kGroup - 2], m[kGroup - 1]);
    m[0] = hn::ConcatLowerLower(d, low2, low);
    m[1] = hn::ConcatLowerLower(d, high2, high);
    m[kGroup - 2] = hn::ConcatUpperUpper(d, low2, low);
    m[kGroup - 1] = hn::ConcatUpperUpper(d, high2, high);
  } else {
    m[0] = low;
    m[1] = high;
  }
#endif
}

/// Four adjacent numbers of the parcels of a group, one vector of lanes for each.
struct Four {
  W v[4];
};

/// Loads the numbers at .. at + 3 of the rows of a group.
template <class T>
HWY_INLINE void load_four(T* const (&rows)[kGroup], std::size_t at, Four& to) {
  for (std::size_t block = 0; block < 4; block += kGroup) {
    W m[kGroup];
    for (std::size_t i = 0; i < kGroup; ++i) m[i] = hn::LoadU(G(), rows[i] + at + block);
    transpose(m);
    for (std::size_t i = 0; i < kGroup; ++i) to.v[block + i] = m[i];
  }
}
/// Stores the numbers at .. at + 3 of the rows of a group.
HWY_INLINE void store_four(const Four& from, std::size_t at, double* const (&rows)[kGroup]) {
  for (std::size_t block = 0; block < 4; block += kGroup) {
    W m[kGroup];
    for (std::size_t i = 0; i < kGroup; ++i) m[i] = from.v[block + i];
    transpose(m);
    for (std::size_t i = 0; i < kGroup; ++i) hn::StoreU(m[i], G(), rows[i] + at + block);
  }
}

/// Four adjacent numbers of one row.
struct RowPart {
  W v[kPerFour];
};
/// Loads four adjacent numbers.
HWY_INLINE void load_row(const double* from, RowPart& to) {
  for (std::size_t p = 0; p < kPerFour; ++p) to.v[p] = hn::LoadU(G(), from + p * kGroup);
}
/// Stores four adjacent numbers.
HWY_INLINE void store_row(const RowPart& from, double* to) {
  for (std::size_t p = 0; p < kPerFour; ++p) hn::StoreU(from.v[p], G(), to + p * kGroup);
}
/// Four adjacent numbers of each row of a group.
struct FourRows {
  RowPart of[kGroup];
};
/// Transposes four numbers of the rows of a group, one vector of lanes for each, into one row after the other.
HWY_INLINE void turn(const Four& from, FourRows& to) {
  for (std::size_t block = 0; block < 4; block += kGroup) {
    W m[kGroup];
    for (std::size_t i = 0; i < kGroup; ++i) m[i] = from.v[block + i];
    transpose(m);
    for (std::size_t i = 0; i < kGroup; ++i) to.of[i].v[block / kGroup] = m[i];
  }
}

#if HWY_TARGET == HWY_SCALAR
/// Loads the numbers at and at + 1 of the rows of a group.
template <class T>
HWY_INLINE void load_two(T* const (&rows)[kGroup], std::size_t at, W (&to)[2]) {
  for (std::size_t c = 0; c < 2; ++c) to[c] = hn::LoadU(G(), rows[0] + at + c);
}
/// Stores the numbers at and at + 1 of the rows of a group.
HWY_INLINE void store_two(const W (&from)[2], std::size_t at, double* const (&rows)[kGroup]) {
  for (std::size_t c = 0; c < 2; ++c) hn::StoreU(from[c], G(), rows[0] + at + c);
}
#else
/// Loads the numbers at and at + 1 of the rows of a group.
template <class T>
HWY_INLINE void load_two(T* const (&rows)[kGroup], std::size_t at, W (&to)[2]) {
  const G d;
  const hn::CappedTag<double, 2> pair;
  if constexpr (kGroup == 4) {
    const W even = hn::Combine(d, hn::LoadU(pair, rows[kGroup - 2] + at), hn::LoadU(pair, rows[0] + at));
    const W odd = hn::Combine(d, hn::LoadU(pair, rows[kGroup - 1] + at), hn::LoadU(pair, rows[1] + at));
    to[0] = hn::InterleaveLower(d, even, odd);
    to[1] = hn::InterleaveUpper(d, even, odd);
  } else {
    const W even = hn::LoadU(d, rows[0] + at);
    const W odd = hn::LoadU(d, rows[1] + at);
    to[0] = hn::InterleaveLower(d, even, odd);
    to[1] = hn::InterleaveUpper(d, even, odd);
  }
}
/// Stores the numbers at and at + 1 of the rows of a group.
HWY_INLINE void store_two(const W (&from)[2], std::size_t at, double* const (&rows)[kGroup]) {
  const G d;
  const hn::Half<G> half;
  const W even = hn::InterleaveLower(d, from[0], from[1]);
  const W odd = hn::InterleaveUpper(d, from[0], from[1]);
  if constexpr (kGroup == 4) {
    hn::StoreU(hn::LowerHalf(half, even), half, rows[0] + at);
    hn::StoreU(hn::LowerHalf(half, odd), half, rows[1] + at);
    hn::StoreU(hn::UpperHalf(half, even), half, rows[kGroup - 2] + at);
    hn::StoreU(hn::UpperHalf(half, odd), half, rows[kGroup - 1] + at);
  } else {
    hn::StoreU(even, d, rows[0] + at);
    hn::StoreU(odd, d, rows[1] + at);
  }
}
#endif

}  // namespace merganser::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
