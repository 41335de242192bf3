// Operations a b + c that are rounded once on every instruction set, for kernels that Highway compiles once per vector target;
// private to the flow module. Highway's MulAdd, MulSub and NegMulAdd round twice where the target has no fused operations
// (SSE4, no vectors), so that a run would have other bits there. There std::fma is called for each lane. By its definition it is
// rounded once; the C library uses the processor's operation where there is one, and makes the exact result in software else. That
// is slow, and right: processors without the operation are older than 2013, and a run on them, or with MERGANSER_SIMD=SSE4, is
// there to be compared.
#if defined(MERGANSER_FLOW_FUSED) == defined(HWY_TARGET_TOGGLE)
#ifdef MERGANSER_FLOW_FUSED
#undef MERGANSER_FLOW_FUSED
#else
#define MERGANSER_FLOW_FUSED
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Computes a b + c of numbers, rounded once.
HWY_INLINE double fused_add(double a, double b, double c) {
#if HWY_NATIVE_FMA
  return __builtin_fma(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}
/// Computes a b + c of vectors of doubles, rounded once, lane by lane.
template <class V>
HWY_INLINE V fused_add(V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::MulAdd(a, b, c);
#else
  const hn::DFromV<V> d;
  constexpr std::size_t kLanes = hn::MaxLanes(hn::DFromV<V>());
  alignas(64) double x[kLanes];
  alignas(64) double y[kLanes];
  alignas(64) double z[kLanes];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  hn::Store(c, d, z);
  for (std::size_t lane = 0; lane < kLanes; ++lane) z[lane] = std::fma(x[lane], y[lane], z[lane]);
  return hn::Load(d, z);
#endif
}
/// Computes a b - c of vectors of doubles, rounded once, lane by lane.
template <class V>
HWY_INLINE V fused_subtract(V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::MulSub(a, b, c);
#else
  return fused_add(a, b, hn::Neg(c));
#endif
}
/// Computes c - a b of vectors of doubles, rounded once, lane by lane.
template <class V>
HWY_INLINE V fused_subtract_from(V a, V b, V c) {
#if HWY_NATIVE_FMA
  return hn::NegMulAdd(a, b, c);
#else
  return fused_add(hn::Neg(a), b, c);
#endif
}

}  // namespace merganser::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
