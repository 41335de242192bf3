// The flow module's own Fourier transforms: one column per lane of a vector. Compiled once per vector target by Highway; no
// fused operations, so that the bits are the same on every CPU.
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "merganser/base/detail/highway.hpp"
#include "src/flow/fft/transform.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/flow/fft/lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::fft::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kLanes>;
using V = hn::Vec<D>;

/// SIMD vector of complex numbers, one per transformed column. Its constructors are written out because implicit ones are compiled
/// without the options of the target, so that the compiler could not inline Highway's functions into them.
struct C {
  V re;
  V im;
  HWY_INLINE C() {}
  HWY_INLINE C(V r, V i) : re(r), im(i) {}
};
/// Add and subtract SIMD vectors of complex numbers.
HWY_INLINE C operator+(C a, C b) { return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)}; }
HWY_INLINE C operator-(C a, C b) { return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)}; }
/// Multiplies a SIMD vector of complex numbers by a real number.
HWY_INLINE C scaled(C a, double by) {
  const V s = hn::Set(D(), by);
  return {hn::Mul(a.re, s), hn::Mul(a.im, s)};
}
/// Compute a - i b and a + i b of SIMD vectors of complex numbers.
HWY_INLINE C minus_i(C a, C b) { return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)}; }
HWY_INLINE C plus_i(C a, C b) { return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)}; }

/// Multiplies a SIMD vector of complex numbers by a root of unity (twiddle factor).
HWY_INLINE C times(C a, Root w) {
  const V wr = hn::Set(D(), w.re);
  const V wi = hn::Set(D(), w.im);
  return {hn::Sub(hn::Mul(a.re, wr), hn::Mul(a.im, wi)), hn::Add(hn::Mul(a.re, wi), hn::Mul(a.im, wr))};
}
/// Load and store a SIMD vector of complex numbers at element `at` of a block of columns.
HWY_INLINE C load(const Block& b, std::size_t at) { return {hn::Load(D(), b.re + at), hn::Load(D(), b.im + at)}; }
HWY_INLINE void store(C a, const Block& b, std::size_t at) {
  hn::Store(a.re, D(), b.re + at);
  hn::Store(a.im, D(), b.im + at);
}

/// Computes the butterfly of a Stockham stage: the Fourier transform of kRadix values in place.
template <int kRadix>
HWY_INLINE void combine(C* HWY_RESTRICT a) {
  if constexpr (kRadix == 2) {
    const C b = a[0] - a[1];
    a[0] = a[0] + a[1];
    a[1] = b;
  } else if constexpr (kRadix == 3) {
    const C sum = a[1] + a[2];
    const C mean = a[0] - scaled(sum, 0.5);
    const C across = scaled(a[1] - a[2], std::numbers::sqrt3 / 2);
    a[0] = a[0] + sum;
    a[1] = minus_i(mean, across);
    a[2] = plus_i(mean, across);
  } else if constexpr (kRadix == 4) {
    const C even = a[0] + a[2];
    const C even_less = a[0] - a[2];
    const C odd = a[1] + a[3];
    const C odd_less = a[1] - a[3];
    a[0] = even + odd;
    a[1] = minus_i(even_less, odd_less);
    a[2] = even - odd;
    a[3] = plus_i(even_less, odd_less);
  } else {
    static_assert(kRadix == 5);
    // Cosines and sines of 72 and 144 degrees.
    constexpr double c1 = 0.30901699437494742410;
    constexpr double c2 = -0.80901699437494742410;
    constexpr double s1 = 0.95105651629515357212;
    constexpr double s2 = 0.58778525229247312917;
    const C p1 = a[1] + a[4];
    const C p2 = a[2] + a[3];
    const C m1 = a[1] - a[4];
    const C m2 = a[2] - a[3];
    const C even1 = a[0] + (scaled(p1, c1) + scaled(p2, c2));
    const C even2 = a[0] + (scaled(p1, c2) + scaled(p2, c1));
    const C odd1 = scaled(m1, s1) + scaled(m2, s2);
    const C odd2 = scaled(m1, s2) - scaled(m2, s1);
    a[0] = a[0] + (p1 + p2);
    a[1] = minus_i(even1, odd1);
    a[4] = plus_i(even1, odd1);
    a[2] = minus_i(even2, odd2);
    a[3] = plus_i(even2, odd2);
  }
}

/// Runs one stage of the Stockham Fourier transform from x, sorted by frequency so far in runs of s.stride elements, to y.
template <int kRadix>
void run_stage(const FftStage& s, const Block& x, const Block& y) {
  const std::size_t run = s.stride * kLanes;
  const std::size_t apart = s.rest * run;
  for (std::size_t p = 0; p < s.rest; ++p) {
    const Root* const w = s.roots.data() + p * (kRadix - 1);
    const std::size_t in = p * run;
    const std::size_t out = p * kRadix * run;
    for (std::size_t q = 0; q < run; q += hn::Lanes(D())) {
      C a[kRadix];
      for (int r = 0; r < kRadix; ++r) a[r] = load(x, in + static_cast<std::size_t>(r) * apart + q);
      combine<kRadix>(a);
      store(a[0], y, out + q);
      for (int r = 1; r < kRadix; ++r)
        store(p == 0 ? a[r] : times(a[r], w[r - 1]), y, out + static_cast<std::size_t>(r) * run + q);
    }
  }
}

/// Runs one Stockham stage of any radix from x to y, by the definition of the Fourier transform: radix^2 operations, for primes
/// above 5.
void run_any(const FftStage& s, const Block& x, const Block& y) {
  const std::size_t run = s.stride * kLanes;
  const std::size_t apart = s.rest * run;
  const std::size_t radix = s.radix;
  for (std::size_t p = 0; p < s.rest; ++p)
    for (std::size_t q = 0; q < run; q += hn::Lanes(D()))
      for (std::size_t r = 0; r < radix; ++r) {
        C sum = load(x, p * run + q);
        for (std::size_t t = 1; t < radix; ++t)
          sum = sum + times(load(x, p * run + t * apart + q), s.small_roots[r * t % radix]);
        if (p > 0 && r > 0) sum = times(sum, s.roots[p * (radix - 1) + r - 1]);
        store(sum, y, (p * radix + r) * run + q);
      }
}

/// Runs all stages of a Stockham Fourier transform, alternating between the blocks x and y. @return the block that holds the result
Block run_stages(const std::vector<FftStage>& stages, Block x, Block y) {
  for (const FftStage& s : stages) {
    switch (s.radix) {
      case 2:
        run_stage<2>(s, x, y);
        break;
      case 3:
        run_stage<3>(s, x, y);
        break;
      case 4:
        run_stage<4>(s, x, y);
        break;
      case 5:
        run_stage<5>(s, x, y);
        break;
      default:
        run_any(s, x, y);
    }
    std::swap(x, y);
  }
  return x;
}

}  // namespace merganser::flow::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::flow::fft {

// Roots of unity of all transforms, of equal bits with all vectors.
Root root(std::size_t power, std::size_t n) {
  // Long double has one format on all processors of x86-64, and is rounded once to the nearest double.
  const long double angle =
      -2 * std::numbers::pi_v<long double> * static_cast<long double>(power % n) / static_cast<long double>(n);
  return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
}

namespace {

HWY_EXPORT(run_stages);

/// Returns the radices of a Fourier transform of length n in the order of its stages: fours first, then primes ascending.
std::vector<std::size_t> factors(std::size_t n) {
  std::vector<std::size_t> found;
  for (; n % 4 == 0; n /= 4) found.push_back(4);
  for (std::size_t p = 2; n > 1; ++p)
    for (; n % p == 0; n /= p) found.push_back(p);
  return found;
}

/// Fourier transform "lanes" of the flow module, the autosort transform of [stockham1966]: each stage writes its results where
/// the next one reads them, in natural order.
class Lanes final : public Transform {
 public:
  explicit Lanes(std::size_t n) {
    std::size_t length = n;
    std::size_t stride = 1;
    for (const std::size_t radix : factors(n)) {
      FftStage s{radix, length / radix, stride, {}, {}};
      for (std::size_t p = 0; p < s.rest; ++p)
        for (std::size_t r = 1; r < radix; ++r) s.roots.push_back(root(p * r, length));
      if (radix > 5)
        for (std::size_t r = 0; r < radix; ++r) s.small_roots.push_back(root(r, radix));
      stages_.push_back(std::move(s));
      length /= radix;
      stride *= radix;
    }
  }

  Block run(Block block, Block spare) override { return MERGANSER_DISPATCH(run_stages)(stages_, block, spare); }

 private:
  std::vector<FftStage> stages_;
};

}  // namespace

std::unique_ptr<Transform> make_lanes(std::size_t n) { return std::make_unique<Lanes>(n); }

}  // namespace merganser::flow::fft
#endif
