// Solver of one column at one pair of wavenumbers. Compiled once per vector target by Highway; no fused operations, so that
// the bits are the same on every CPU. Vectors may reach beyond their field, into one that is written later or into padding.
#include "merganser/base/detail/highway.hpp"
#include "src/flow/columns.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/flow/columns_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace merganser::flow::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, fft::kLanes>;
using V = hn::Vec<D>;

/// Load, store and broadcast vectors of doubles of a column.
HWY_INLINE V load(const double* at) { return hn::LoadU(D(), at); }
HWY_INLINE void store(V v, double* at) { hn::StoreU(v, D(), at); }
HWY_INLINE V set(double x) { return hn::Set(D(), x); }

/// Computes a tile of y[b] = x[b] times the matrix of a sine series, for kColumns columns and kVectors vectors of outputs from
/// `at` on.
template <int kColumns, int kVectors>
HWY_INLINE void multiply_tile(const Matrix& m, const double* const (&x)[kColumns], double* const (&y)[kColumns],
                              std::size_t at) {
  const std::size_t lanes = hn::Lanes(D());
  V sum[kColumns][kVectors];
  for (auto& column : sum)
    for (V& s : column) s = hn::Zero(D());
  const double* row = m.values.data() + at;
  for (std::size_t i = 0; i < m.inputs; ++i, row += m.outputs) {
    V value[kVectors];
    for (int v = 0; v < kVectors; ++v) value[v] = hn::Load(D(), row + static_cast<std::size_t>(v) * lanes);
    for (int b = 0; b < kColumns; ++b) {
      const V factor = set(x[b][i]);
      for (int v = 0; v < kVectors; ++v) sum[b][v] = hn::Add(sum[b][v], hn::Mul(value[v], factor));
    }
  }
  for (int b = 0; b < kColumns; ++b)
    for (int v = 0; v < kVectors; ++v) store(sum[b][v], y[b] + at + static_cast<std::size_t>(v) * lanes);
}

/// Computes y[b] = x[b] times the matrix of a sine series for kColumns columns. Each output sums the inputs in ascending order
/// whatever the width of vectors, so the bits are the same on every CPU.
template <int kColumns>
HWY_INLINE void multiply(const Matrix& m, const double* const (&x)[kColumns], double* const (&y)[kColumns]) {
  const std::size_t lanes = hn::Lanes(D());
  std::size_t at = 0;
  for (; at + 2 * lanes <= m.outputs; at += 2 * lanes) multiply_tile<kColumns, 2>(m, x, y, at);
  for (; at < m.outputs; at += lanes) multiply_tile<kColumns, 1>(m, x, y, at);
}

/// Pointers to the real and imaginary part of a complex function of z, for the symmetric or antisymmetric part of a column.
using ComplexPart = std::array<double*, 2>;

/// Intermediate functions of z in the inversion of vorticity of one column, by part: symmetric, antisymmetric.
struct Parts {
  std::array<ComplexPart, 2> zeta;    // smoothed
  std::array<ComplexPart, 2> turn;    // horizontal divergence of (eta, -xi), smoothed: minus Laplace(w)
  std::array<ComplexPart, 2> zeta_z;  // by central differences
  std::array<ComplexPart, 2> w;
  std::array<ComplexPart, 2> w_z;
  std::array<double*, 4> rest;  // difference to the harmonic function of the wall values
  ComplexPart modes;
};

/// Adds at_wall * f_j to y_j, f a harmonic function of z: restores the wall value that was subtracted for the sine series.
HWY_INLINE void add_harmonic(double* HWY_RESTRICT y, double at_wall, const double* HWY_RESTRICT f, std::size_t count) {
  const V a = set(at_wall);
  for (std::size_t j = 0; j < count; j += hn::Lanes(D())) store(hn::Add(load(y + j), hn::Mul(a, load(f + j))), y + j);
}

/// Inverts the vorticity of one part (symmetric or antisymmetric) of a column: computes smoothed zeta, smoothed turn = minus
/// Laplace(w), the vertical velocity w, and w_z, which is of the other part.
HWY_INLINE void solve_part(const Fold& fold, std::size_t part, const SinePart& series, const Wave& wave, InColumn in,
                           const Parts& to) {
  const std::size_t lanes = hn::Lanes(D());
  const std::size_t levels = fold.levels();
  const std::size_t count = fold.count(part);
  const std::size_t begin = part * fold.symmetric;
  const HarmonicPart& f = wave.parts[part];
  const double* const xi_re = in.re + begin;
  const double* const xi_im = in.im + begin;
  const double* const eta_re = xi_re + levels;
  const double* const eta_im = xi_im + levels;
  const double* const zeta_re = eta_re + levels;
  const double* const zeta_im = eta_im + levels;
  const double ks = wave.k * wave.scale;
  const double ls = wave.l * wave.scale;
  const double wall[4] = {ls * xi_im[0] - ks * eta_im[0], ks * eta_re[0] - ls * xi_re[0], wave.scale * zeta_re[0],
                          wave.scale * zeta_im[0]};
  // The harmonic function with the same wall values is subtracted: the rest is 0 at the walls and has a sine series.
  for (std::size_t j = 0; j < count; j += lanes) {
    const V phi = load(f.phi + j);
    const V k = set(ks);
    const V l = set(ls);
    const V s = set(wave.scale);
    const V turn_re = hn::Sub(hn::Mul(l, load(xi_im + j)), hn::Mul(k, load(eta_im + j)));
    const V turn_im = hn::Sub(hn::Mul(k, load(eta_re + j)), hn::Mul(l, load(xi_re + j)));
    store(hn::Sub(turn_re, hn::Mul(set(wall[0]), phi)), to.rest[0] + j);
    store(hn::Sub(turn_im, hn::Mul(set(wall[1]), phi)), to.rest[1] + j);
    store(hn::Sub(hn::Mul(s, load(zeta_re + j)), hn::Mul(set(wall[2]), phi)), to.rest[2] + j);
    store(hn::Sub(hn::Mul(s, load(zeta_im + j)), hn::Mul(set(wall[3]), phi)), to.rest[3] + j);
  }
  const double* const inside[4] = {to.rest[0] + 1, to.rest[1] + 1, to.rest[2] + 1, to.rest[3] + 1};
  double* const smooth[4] = {to.turn[part][0], to.turn[part][1], to.zeta[part][0], to.zeta[part][1]};
  double* const smooth_inside[4] = {smooth[0] + 1, smooth[1] + 1, smooth[2] + 1, smooth[3] + 1};
  for (double* const value : smooth) value[0] = 0;
  multiply<4>(series.smooth, inside, smooth_inside);
  for (int b = 0; b < 4; ++b) add_harmonic(smooth[b], wall[b], f.phi, count);

  // Laplace(w) = -turn. Waves in x and y that alternate from node to node have no derivatives: `kept` leaves them out.
  const double kept = (wave.k * wave.k + wave.l * wave.l) / wave.square;
  const double* const turn_inside[2] = {inside[0], inside[1]};
  double* const modes[2] = {to.modes[0], to.modes[1]};
  multiply<2>(series.analyse, turn_inside, modes);
  for (std::size_t q = 0; q < series.analyse.outputs; q += lanes)
    for (double* const m : modes) store(hn::Mul(hn::Mul(load(m + q), load(f.solve + q)), set(kept)), m + q);
  const double* const solved[2] = {to.modes[0], to.modes[1]};
  double* const w_inside[2] = {to.w[part][0] + 1, to.w[part][1] + 1};
  multiply<2>(series.synthesise, solved, w_inside);
  double* const w_z[2] = {to.w_z[1 - part][0], to.w_z[1 - part][1]};
  multiply<2>(series.derive, solved, w_z);
  for (std::size_t b = 0; b < 2; ++b) {
    to.w[part][b][0] = 0;
    add_harmonic(to.w[part][b], -kept * wall[b], f.theta, count);
    to.w[part][b][0] = 0;
    add_harmonic(w_z[b], -kept * wall[b], f.dtheta, fold.count(1 - part));
  }
}

/// Computes central differences in z of both parts of a column function, one-sided at the wall; they exchange the parts.
HWY_INLINE void differentiate(const Fold& fold, const std::array<ComplexPart, 2>& f,
                              const std::array<ComplexPart, 2>& to, double spacing) {
  const std::size_t s = fold.symmetric;
  const std::size_t a = fold.antisymmetric;
  const bool middle = fold.cells % 2 == 0;
  for (std::size_t b = 0; b < 2; ++b) {
    double* const even = f[0][b];
    double* const odd = f[1][b];
    // Values beyond mid-height follow from the symmetry of each part.
    even[s] = middle ? even[s - 2] : even[s - 1];
    odd[a] = middle ? 0.0 : -odd[a - 1];
    odd[a + 1] = middle ? -odd[a - 1] : -odd[a - 2];
    for (std::size_t part = 0; part < 2; ++part) {
      const double* const from = f[1 - part][b];
      double* const y = to[part][b];
      y[0] = (from[1] - from[0]) / spacing;
      const V over = set(0.5 / spacing);
      for (std::size_t j = 1; j < fold.count(part); j += hn::Lanes(D()))
        store(hn::Mul(hn::Sub(load(from + j + 1), load(from + j - 1)), over), y + j);
    }
  }
}

/// Computes the horizontal components of a divergence-free field (velocity or vorticity) in a column from A, the z derivative of
/// its vertical component, and B, the vertical component of its curl: (d_x A + d_y B) / K^2 into field `first`, (d_y A - d_x B) /
/// K^2 into the next.
HWY_INLINE void combine(const Fold& fold, const Wave& wave, const std::array<ComplexPart, 2>& a,
                        const std::array<ComplexPart, 2>& b, OutColumn out, std::size_t first) {
  const std::size_t levels = fold.levels();
  const V k = set(wave.k / wave.square);
  const V l = set(wave.l / wave.square);
  for (std::size_t second = 0; second < 2; ++second)
    for (std::size_t part = 0; part < 2; ++part) {
      const std::size_t at = (first + second) * levels + part * fold.symmetric;
      const V p = second == 0 ? k : l;
      const V q = second == 0 ? l : hn::Neg(k);
      for (std::size_t j = 0; j < fold.count(part); j += hn::Lanes(D())) {
        store(hn::Neg(hn::Add(hn::Mul(p, load(a[part][1] + j)), hn::Mul(q, load(b[part][1] + j)))), out.re + at + j);
        store(hn::Add(hn::Mul(p, load(a[part][0] + j)), hn::Mul(q, load(b[part][0] + j))), out.im + at + j);
      }
    }
}

/// Copies a complex function of z, both parts, into a field of the inverted column.
HWY_INLINE void store_field(const Fold& fold, const std::array<ComplexPart, 2>& f, OutColumn out, std::size_t field) {
  for (std::size_t part = 0; part < 2; ++part) {
    const std::size_t at = field * fold.levels() + part * fold.symmetric;
    for (std::size_t j = 0; j < fold.count(part); j += hn::Lanes(D())) {
      store(load(f[part][0] + j), out.re + at + j);
      store(load(f[part][1] + j), out.im + at + j);
    }
  }
}

/// Computes a horizontal derivative in an inverted column: field `to` is i times a wavenumber times field `from`.
HWY_INLINE void derive(std::size_t levels, OutColumn out, std::size_t from, std::size_t to, double wavenumber) {
  const V w = set(wavenumber);
  const V minus = set(-wavenumber);
  const double* const re = out.re + from * levels;
  const double* const im = out.im + from * levels;
  for (std::size_t j = 0; j < levels; j += hn::Lanes(D())) {
    const V a = load(re + j);
    const V b = load(im + j);
    store(hn::Mul(minus, b), out.re + to * levels + j);
    store(hn::Mul(w, a), out.im + to * levels + j);
  }
}

/// Body of solve_velocity(): inverts the vorticity of one column at one pair of wavenumbers for velocity and its derivatives.
void velocity(const Fold& fold, const std::array<SinePart, 2>& series, const Wave& wave, double spacing, InColumn in,
              OutColumn out, double* work) {
  const std::size_t length = fft::padded(fold.symmetric) + 2 * fft::kLanes;
  const auto next = [&] {
    double* const at = work;
    work += length;
    return at;
  };
  Parts parts;
  for (std::array<ComplexPart, 2>* f : {&parts.zeta, &parts.turn, &parts.zeta_z, &parts.w, &parts.w_z})
    for (ComplexPart& pair : *f) pair = {next(), next()};
  for (double*& rest : parts.rest) rest = next();
  parts.modes = {next(), next()};

  for (std::size_t part = 0; part < 2; ++part) solve_part(fold, part, series[part], wave, in, parts);
  differentiate(fold, parts.zeta, parts.zeta_z, spacing);
  // Fields in ascending order, since vectors reach into the next one.
  combine(fold, wave, parts.zeta_z, parts.turn, out, Solved::xi);
  store_field(fold, parts.zeta, out, Solved::zeta);
  combine(fold, wave, parts.w_z, parts.zeta, out, Solved::u);
  store_field(fold, parts.w, out, Solved::w);
  const std::size_t levels = fold.levels();
  derive(levels, out, Solved::u, Solved::u_x, wave.k);
  derive(levels, out, Solved::u, Solved::u_y, wave.l);
  derive(levels, out, Solved::v, Solved::v_y, wave.l);
  derive(levels, out, Solved::w, Solved::w_x, wave.k);
  derive(levels, out, Solved::w, Solved::w_y, wave.l);
}

}  // namespace merganser::flow::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace merganser::flow {
namespace {

HWY_EXPORT(velocity);

}  // namespace

std::size_t velocity_work(const Fold& fold) { return 26 * (fft::padded(fold.symmetric) + 2 * fft::kLanes); }

void solve_velocity(const Fold& fold, const std::array<SinePart, 2>& series, const Wave& wave, double spacing,
                    InColumn in, OutColumn out, double* work) {
  MERGANSER_DISPATCH(velocity)(fold, series, wave, spacing, in, out, work);
}

}  // namespace merganser::flow
#endif
