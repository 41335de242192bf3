// Real and complex Fourier transforms along rows, by half-length complex ones. Compiled once per vector target by Highway; no
// fused operations, so that the bits are the same on every CPU.
#include "src/flow/fft/rows.hpp"
#include "merganser/base/detail/highway.hpp"

#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/flow/fft/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::fft::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kLanes>;
using V = hn::Vec<D>;

/// SIMD vector of complex numbers, one per transformed column; its constructors are written out because implicit ones lack the
/// options of the target.
struct C {
  V re;
  V im;
  HWY_INLINE C() {}
  HWY_INLINE C(V r, V i) : re(r), im(i) {}
};
/// Sums, differences, conjugates and multiples by i or a real number of SIMD vectors of complex numbers.
HWY_INLINE C operator+(C a, C b) { return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)}; }
HWY_INLINE C operator-(C a, C b) { return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)}; }
HWY_INLINE C conjugate(C a) { return {a.re, hn::Neg(a.im)}; }
HWY_INLINE C times_i(C a) { return {hn::Neg(a.im), a.re}; }
HWY_INLINE C scaled(C a, double by) {
  const V s = hn::Set(D(), by);
  return {hn::Mul(a.re, s), hn::Mul(a.im, s)};
}
/// Multiplies a SIMD vector of complex numbers by a root of unity (twiddle factor).
HWY_INLINE C times(C a, Root w) {
  const V wr = hn::Set(D(), w.re);
  const V wi = hn::Set(D(), w.im);
  return {hn::Sub(hn::Mul(a.re, wr), hn::Mul(a.im, wi)), hn::Add(hn::Mul(a.re, wi), hn::Mul(a.im, wr))};
}
/// Load and store a SIMD vector of complex numbers from separate real and imaginary parts.
HWY_INLINE C load(const double* re, const double* im) { return {hn::LoadU(D(), re), hn::LoadU(D(), im)}; }
HWY_INLINE void store(C a, double* re, double* im) {
  hn::StoreU(a.re, D(), re);
  hn::StoreU(a.im, D(), im);
}

/// Copies a group of kLanes columns, `rows` rows long, from one row stride to another.
HWY_INLINE void copy(const double* HWY_RESTRICT from, std::size_t from_stride, double* HWY_RESTRICT to,
                     std::size_t to_stride, std::size_t rows) {
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t v = 0; v < kLanes; v += hn::Lanes(D()))
      hn::StoreU(hn::LoadU(D(), from + j * from_stride + v), D(), to + j * to_stride + v);
}

/// Computes rows k and h - k of the transform of real rows from rows k and h - k of the half-length transform.
HWY_INLINE void separate(C a, C b, Root w, C& low, C& high) {
  const C even = scaled(a + conjugate(b), 0.5);
  const C odd = times(scaled(times_i(conjugate(b) - a), 0.5), w);
  low = even + odd;
  high = conjugate(even - odd);
}

/// Computes twice rows k and h - k of the half-length transform from rows k and h - k of the transform of real rows: inverts
/// separate() for the same w.
HWY_INLINE void unite(C low, C high, Root w, C& a, C& b) {
  const C even = low + conjugate(high);
  const C odd = times_i(times(low - conjugate(high), {w.re, -w.im}));
  a = even + odd;
  b = conjugate(even - odd);
}

/// Computes the half spectrum of real rows from the half-length transform, kLanes columns.
void separate_group(Block half, std::size_t h, const Root* HWY_RESTRICT w, OutRows out, std::size_t im) {
  for (std::size_t v = 0; v < kLanes; v += hn::Lanes(D())) {
    const C zero = load(half.re + v, half.im + v);
    double* const first = out.begin + v;
    double* const last = first + h * out.stride;
    store({hn::Add(zero.re, zero.im), hn::Zero(D())}, first, first + im);
    store({hn::Sub(zero.re, zero.im), hn::Zero(D())}, last, last + im);
  }
  // At k = h / 2 the pair is one row: `high` is stored first, so that `low` stays.
  for (std::size_t k = 1; 2 * k <= h; ++k)
    for (std::size_t v = 0; v < kLanes; v += hn::Lanes(D())) {
      const std::size_t lo = k * kLanes + v;
      const std::size_t hi = (h - k) * kLanes + v;
      C low;
      C high;
      separate(load(half.re + lo, half.im + lo), load(half.re + hi, half.im + hi), w[k], low, high);
      double* const at = out.begin + k * out.stride + v;
      double* const mirrored = out.begin + (h - k) * out.stride + v;
      store(high, mirrored, mirrored + im);
      store(low, at, at + im);
    }
}

/// Computes the half-length transform from the half spectrum of real rows, kLanes columns: the inverse of separate_group().
void unite_group(InRows in, std::size_t im, std::size_t h, const Root* HWY_RESTRICT w, Block half) {
  for (std::size_t v = 0; v < kLanes; v += hn::Lanes(D())) {
    const V first = hn::LoadU(D(), in.begin + v);
    const V last = hn::LoadU(D(), in.begin + h * in.stride + v);
    store({hn::Add(first, last), hn::Sub(first, last)}, half.re + v, half.im + v);
  }
  for (std::size_t k = 1; 2 * k <= h; ++k)
    for (std::size_t v = 0; v < kLanes; v += hn::Lanes(D())) {
      const std::size_t lo = k * kLanes + v;
      const std::size_t hi = (h - k) * kLanes + v;
      const double* const at = in.begin + k * in.stride + v;
      const double* const mirrored = in.begin + (h - k) * in.stride + v;
      C a;
      C b;
      unite(load(at, at + im), load(mirrored, mirrored + im), w[k], a, b);
      store(b, half.re + hi, half.im + hi);
      store(a, half.re + lo, half.im + lo);
    }
}

/// Differentiates the half-length transform of real rows in place: separates the half spectrum, multiplies row k by i k factor
/// and unites again. Rows 0 and h, the mean and the alternating mode, have derivative 0.
void differentiate_group(Block half, std::size_t h, const Root* HWY_RESTRICT w, double factor) {
  for (std::size_t v = 0; v < kLanes; v += hn::Lanes(D()))
    store({hn::Zero(D()), hn::Zero(D())}, half.re + v, half.im + v);
  for (std::size_t k = 1; 2 * k <= h; ++k)
    for (std::size_t v = 0; v < kLanes; v += hn::Lanes(D())) {
      const std::size_t lo = k * kLanes + v;
      const std::size_t hi = (h - k) * kLanes + v;
      C low;
      C high;
      separate(load(half.re + lo, half.im + lo), load(half.re + hi, half.im + hi), w[k], low, high);
      low = times_i(scaled(low, static_cast<double>(k) * factor));
      high = times_i(scaled(high, static_cast<double>(h - k) * factor));
      C a;
      C b;
      unite(low, high, w[k], a, b);
      store(b, half.re + hi, half.im + hi);
      store(a, half.re + lo, half.im + lo);
    }
}

/// Copies the real rows to be Fourier transformed into the half-length transform: even rows become real parts, odd rows imaginary
/// parts.
Block gather(InRows in, std::size_t h, Block half) {
  copy(in.begin, 2 * in.stride, half.re, kLanes, h);
  copy(in.begin + in.stride, 2 * in.stride, half.im, kLanes, h);
  return half;
}

/// Copies the half-length transform back to real rows: the inverse of gather().
void scatter(Block half, std::size_t h, OutRows out) {
  copy(half.re, kLanes, out.begin, 2 * out.stride, h);
  copy(half.im, kLanes, out.begin + out.stride, 2 * out.stride, h);
}

/// Body of RealRows::forward(): Fourier transforms real rows, one group of kLanes columns after the other.
void forward(const Half& t, InRows in, OutRows out, std::size_t im, std::size_t groups) {
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t at = g * kLanes;
    const Block spectrum = t.transform.run(gather({in.begin + at, in.stride}, t.h, t.block), t.spare);
    separate_group(spectrum, t.h, t.roots, {out.begin + at, out.stride}, im);
  }
}

/// Body of RealRows::inverse(): transforms half spectra back to real rows, one group of kLanes columns after the other.
void inverse(const Half& t, InRows in, std::size_t im, OutRows out, std::size_t groups) {
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t at = g * kLanes;
    unite_group({in.begin + at, in.stride}, im, t.h, t.roots, t.block);
    // Real and imaginary parts exchanged on both sides: the inverse transform.
    const Block result = t.transform.run({t.block.im, t.block.re}, t.spare);
    scatter({result.im, result.re}, t.h, {out.begin + at, out.stride});
  }
}

/// Body of RealRows::derivative(), the spectral derivative of real rows: forward transform, multiplication by i k, inverse
/// transform, group by group.
void derivative(const Half& t, InRows in, OutRows out, double factor, std::size_t groups) {
  for (std::size_t g = 0; g < groups; ++g) {
    const std::size_t at = g * kLanes;
    const Block spectrum = t.transform.run(gather({in.begin + at, in.stride}, t.h, t.block), t.spare);
    differentiate_group(spectrum, t.h, t.roots, factor);
    // run() may return either block; the other one is scratch memory for the inverse.
    const Block free = spectrum.re == t.block.re ? t.spare : t.block;
    const Block result = t.transform.run({spectrum.im, spectrum.re}, free);
    scatter({result.im, result.re}, t.h, {out.begin + at, out.stride});
  }
}

/// Body of ComplexRows: Fourier transforms complex rows in place, one group of kLanes columns after the other.
void complex(Transform& t, std::size_t n, Block block, Block spare, OutRows re, double* im, std::size_t groups) {
  for (std::size_t g = 0; g < groups; ++g) {
    double* const to_re = re.begin + g * kLanes;
    double* const to_im = im + g * kLanes;
    copy(to_re, re.stride, block.re, kLanes, n);
    copy(to_im, re.stride, block.im, kLanes, n);
    const Block result = t.run(block, spare);
    copy(result.re, kLanes, to_re, re.stride, n);
    copy(result.im, kLanes, to_im, re.stride, n);
  }
}

}  // namespace merganser::flow::fft::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::flow::fft {
namespace {

HWY_EXPORT(forward);
HWY_EXPORT(inverse);
HWY_EXPORT(derivative);
HWY_EXPORT(complex);

/// Returns the first of the two blocks of `n` complex rows in `memory`.
Block first_block(Field& memory, std::size_t n) { return {memory.data(), memory.data() + n * kLanes}; }
/// Returns the second of the two blocks of `n` complex rows in `memory`.
Block second_block(Field& memory, std::size_t n) {
  return {memory.data() + 2 * n * kLanes, memory.data() + 3 * n * kLanes};
}

}  // namespace

RealRows::RealRows(const std::string& library, std::size_t n)
    : transform_(make_transform(library, n / 2)), roots_(n / 4 + 1), half_(n / 2), memory_(2 * n * kLanes) {
  for (std::size_t k = 0; k < roots_.size(); ++k) roots_[k] = root(k, n);
}

void RealRows::forward(InRows in, OutRows out, std::size_t im, std::size_t groups) {
  MERGANSER_DISPATCH(forward)(half(), in, out, im, groups);
}

void RealRows::inverse(InRows in, std::size_t im, OutRows out, std::size_t groups) {
  MERGANSER_DISPATCH(inverse)(half(), in, im, out, groups);
}

void RealRows::derivative(InRows in, OutRows out, double period, std::size_t groups) {
  const double factor = std::numbers::pi / (period * static_cast<double>(half_));
  MERGANSER_DISPATCH(derivative)(half(), in, out, factor, groups);
}

Half RealRows::half() {
  return {*transform_, half_, roots_.data(), first_block(memory_, half_), second_block(memory_, half_)};
}

ComplexRows::ComplexRows(const std::string& library, std::size_t n)
    : transform_(make_transform(library, n)), n_(n), memory_(4 * n * kLanes) {}

void ComplexRows::run(OutRows re, double* im, std::size_t groups) {
  MERGANSER_DISPATCH(complex)
  (*transform_, n_, first_block(memory_, n_), second_block(memory_, n_), re, im, groups);
}

}  // namespace merganser::flow::fft
#endif
