// Tables of the flow's spectral solver for columns of nodes (sine series, filters, harmonic functions), and the columns that need
// no vector kernel: the mean over x and y, and the Poisson problem of the volume correction.
#include "src/flow/columns.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace merganser::flow {
namespace {

// Tables are computed in long double, which has one format on all processors of x86-64, and rounded once: docs/flow-solver.md, Bits.
using Wide = long double;
constexpr Wide kWidePi = std::numbers::pi_v<Wide>;

Wide to_wide(std::size_t n) { return static_cast<Wide>(n); }

/// Returns the exponential spectral filter of order 36 of [hou2007] at a fraction wave / highest of the largest wavenumber.
Wide filter(std::size_t wave, std::size_t highest) {
  return std::exp(-36 * std::pow(to_wide(wave) / to_wide(highest), static_cast<Wide>(36)));
}

/// Compute sin(pi q j / n) and cos(pi q j / n) for the sine series; the product qj is reduced by the period, so that
/// large arguments stay accurate.
Wide sine(std::size_t qj, std::size_t n) { return std::sin(kWidePi * to_wide(qj % (2 * n)) / to_wide(n)); }
Wide cosine(std::size_t qj, std::size_t n) { return std::cos(kWidePi * to_wide(qj % (2 * n)) / to_wide(n)); }

/// Builds a matrix applied to columns of the spectral solver from value(input, output); outputs are padded with zeros to whole
/// groups of lanes.
Matrix matrix(std::size_t inputs, std::size_t outputs, auto&& value) {
  Matrix m{inputs, fft::padded(outputs), {}};
  m.values.resize(m.inputs * m.outputs);
  for (std::size_t i = 0; i < inputs; ++i)
    for (std::size_t o = 0; o < outputs; ++o) m.values[i * m.outputs + o] = static_cast<double>(value(i, o));
  return m;
}

/// Computes the matrices of the sine series in z of one part (0 symmetric, 1 antisymmetric) of a column. Modes of odd number are
/// symmetric about mid-height, those of even number antisymmetric, so each part has half of the modes and its matrices a quarter
/// of the entries.
SinePart sine_part(const Fold& fold, std::size_t part, double length) {
  const std::size_t n = fold.cells;
  const std::size_t inside = fold.count(part) - 1;
  const auto mode = [part](std::size_t i) { return part == 0 ? 2 * i + 1 : 2 * i + 2; };
  // Level j of a part represents levels j and n - j of the column, unless they are one.
  const auto weight = [n](std::size_t j) { return (2 * j == n ? 2 : 4) / to_wide(n); };
  SinePart s;
  s.analyse = matrix(inside, inside, [&](std::size_t i, std::size_t o) {
    return weight(i + 1) * sine(mode(o) * (i + 1), n) * filter(mode(o), n);
  });
  s.smooth = matrix(inside, inside, [&](std::size_t i, std::size_t o) {
    Wide sum = 0;
    for (std::size_t q = 0; q < inside; ++q)
      sum += sine(mode(q) * (i + 1), n) * sine(mode(q) * (o + 1), n) * filter(mode(q), n);
    return weight(i + 1) * sum;
  });
  s.synthesise = matrix(inside, inside, [&](std::size_t i, std::size_t o) { return sine(mode(i) * (o + 1), n); });
  s.derive = matrix(inside, fold.count(1 - part), [&](std::size_t i, std::size_t o) {
    return kWidePi * to_wide(mode(i)) / length * cosine(mode(i) * o, n);
  });
  return s;
}

/// Harmonic functions of z of the lower wall at one level of a column, for K > 0; filled by lower_harmonic(): phi, which is 1 at
/// the wall, theta, whose second derivative there is 1, and the derivative of theta.
struct Harmonic {
  Wide phi;
  Wide theta;
  Wide dtheta;
};

/// Evaluates the harmonic functions of the lower wall, for the wavenumber K = `wave`, 1/m, at height `above` the lower wall,
/// `below` the upper, m. Only exponentials of negative arguments occur, so that nothing overflows at large wavenumbers.
Harmonic lower_harmonic(Wide wave, Wide length, Wide above, Wide below) {
  const Wide e = std::exp(-wave * length);
  const Wide up = std::exp(-wave * above);
  const Wide down = std::exp(-wave * below);
  const Wide denominator = 1 - e * e;
  const Wide phi = (up - e * down) / denominator;
  const Wide phi_up = (down - e * up) / denominator;
  const Wide dphi = -wave * (up + e * down) / denominator;
  const Wide dphi_up = wave * (down + e * up) / denominator;
  const Wide q = (1 + e * e) / denominator;
  const Wide r = 2 * e / denominator;
  const Wide twice = 2 * wave * wave;
  return {phi, wave * (r * below * phi_up - q * above * phi) / twice,
          (dphi + wave * (r * below * dphi_up - q * above * dphi)) / twice};
}

/// Returns the absolute wavenumber, 1/m, of Fourier index k of n along x or y; indices above n / 2 stand for negative waves.
double whole_wave(std::size_t k, std::size_t n, double length) {
  const std::size_t least = std::min(k, n - k);
  return static_cast<double>(2 * kWidePi * to_wide(least) / length);
}
/// Returns the signed wavenumber, 1/m, that spectral derivatives along x or y multiply with; 0 for the mode that alternates from
/// node to node, whose derivative is 0 at all nodes.
double derivative_wave(std::size_t k, std::size_t n, double length) {
  if (2 * k == n) return 0;
  return 2 * k < n ? whole_wave(k, n, length) : -whole_wave(k, n, length);
}

}  // namespace

// Tables of the spectral solver that all columns share: sine series, filters, wavenumbers.
Columns::Columns(const std::array<double, 3>& lengths, const std::array<std::size_t, 3>& cells)
    : fold_(cells[2]),
      lengths_(lengths),
      cells_(cells),
      series_{sine_part(fold_, 0, lengths[2]), sine_part(fold_, 1, lengths[2])},
      work_(velocity_work(fold_)) {
  const std::size_t s = fft::padded(fold_.symmetric);
  const std::size_t a = fft::padded(fold_.antisymmetric);
  std::size_t at = 0;
  std::size_t i = 0;
  for (const std::size_t size : {s, s, a, s, a, a, s, a}) {
    places_[i++] = at;
    at += size;
  }
  places_[i] = at;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    Axis& x = axes_[axis];
    for (std::size_t k = 0; k < cells[axis]; ++k) {
      x.wave.push_back(whole_wave(k, cells[axis], lengths[axis]));
      x.derivative.push_back(derivative_wave(k, cells[axis], lengths[axis]));
      x.filter.push_back(static_cast<double>(filter(std::min(k, cells[axis] - k), cells[axis] / 2)));
    }
  }
  for (std::size_t j = 0; j < 2 * cells[2]; ++j) {
    sines_.push_back(static_cast<double>(sine(j, cells[2])));
    cosines_.push_back(static_cast<double>(cosine(j, cells[2])));
  }
}

// Tables of the spectral solver for this rank's pairs of wavenumbers, computed once per grid.
void Columns::prepare(std::size_t first_k, std::size_t count_k, std::size_t first_l, std::size_t count_l) {
  first_k_ = first_k;
  slot_.assign(cells_[1] / 2 + 1, -1);
  slots_ = 0;
  // Waves l and -l share their tables, which depend on |l| alone.
  for (std::size_t l = first_l; l < first_l + count_l; ++l) {
    std::int64_t& slot = slot_[std::min(l, cells_[1] - l)];
    if (slot < 0) slot = static_cast<std::int64_t>(slots_++);
  }
  tables_.assign(count_k * slots_ * places_.back(), 0.0);
  for (std::size_t k = 0; k < count_k; ++k)
    for (std::size_t l = 0; l < slot_.size(); ++l)
      // The mean (0, 0) has no harmonic functions: mean_flow() treats it.
      if (slot_[l] >= 0 && first_k + k + l > 0)
        fill(tables_.data() + (k * slots_ + static_cast<std::size_t>(slot_[l])) * places_.back(), first_k + k, l);
}

/// Computes the tables of harmonic functions of one pair of wavenumbers (k, l) into `at`.
void Columns::fill(double* at, std::size_t k, std::size_t l) const {
  const Wide x = whole_wave(k, cells_[0], lengths_[0]);
  const Wide y = whole_wave(l, cells_[1], lengths_[1]);
  const Wide wave = std::sqrt(x * x + y * y);
  const std::size_t n = fold_.cells;
  // The functions of the lower and the upper wall mirror each other: their sum is symmetric, their difference
  // antisymmetric about mid-height.
  for (std::size_t part = 0; part < 2; ++part) {
    double* const phi = at + places_[part * 4];
    double* const theta = at + places_[part * 4 + 1];
    double* const dtheta = at + places_[part * 4 + 2];
    double* const solve = at + places_[part * 4 + 3];
    const Wide sign = part == 0 ? 1 : -1;
    for (std::size_t j = 0; j < fold_.symmetric; ++j) {
      const Wide above = lengths_[2] * to_wide(j) / to_wide(n);
      const Wide below = lengths_[2] * to_wide(n - j) / to_wide(n);
      const Harmonic here = lower_harmonic(wave, lengths_[2], above, below);
      const Harmonic mirrored = lower_harmonic(wave, lengths_[2], below, above);
      if (j < fold_.count(part)) {
        phi[j] = static_cast<double>(here.phi + sign * mirrored.phi);
        theta[j] = j == 0 ? 0.0 : static_cast<double>(here.theta + sign * mirrored.theta);
      }
      if (j < fold_.count(1 - part)) dtheta[j] = static_cast<double>(here.dtheta - sign * mirrored.dtheta);
    }
    for (std::size_t i = 0; i + 1 < fold_.count(part); ++i) {
      const Wide m = kWidePi * to_wide(2 * i + 1 + part) / lengths_[2];
      solve[i] = static_cast<double>(1 / (wave * wave + m * m));
    }
  }
}

/// Returns the coefficients of the spectral solver for one pair of wavenumbers that prepare() covered.
Wave Columns::wave(std::size_t k, std::size_t l) const {
  const Axis& x = axes_[0];
  const Axis& y = axes_[1];
  Wave w{x.derivative[k],
         y.derivative[l],
         x.wave[k] * x.wave[k] + y.wave[l] * y.wave[l],
         x.filter[k] * y.filter[l] / (static_cast<double>(cells_[0]) * static_cast<double>(cells_[1])),
         {}};
  const auto slot = static_cast<std::size_t>(slot_[std::min(l, cells_[1] - l)]);
  const double* const at = tables_.data() + ((k - first_k_) * slots_ + slot) * places_.back();
  for (std::size_t part = 0; part < 2; ++part) {
    const std::size_t* const place = places_.data() + part * 4;
    w.parts[part] = {at + place[0], at + place[1], at + place[2], at + place[3]};
  }
  return w;
}

// Inversion of vorticity in one column: div-free velocity and its derivatives.
void Columns::velocity(std::size_t k, std::size_t l, InColumn in, OutColumn out) {
  if (k + l == 0)
    mean_flow(in, out);
  else
    solve_velocity(fold_, series_, wave(k, l), lengths_[2] / static_cast<double>(fold_.cells), in, out, work_.data());
}

/// Inverts vorticity for velocity in the column of the mean over x and y: u' = eta and v' = -xi determine u and v up to a constant,
/// which is chosen for a mean of zero.
void Columns::mean_flow(InColumn in, OutColumn out) {
  const std::size_t levels = fold_.levels();
  const double scale = 1 / (static_cast<double>(cells_[0]) * static_cast<double>(cells_[1]));
  std::fill_n(out.re, Solved::count * levels, 0.0);
  std::fill_n(out.im, Solved::count * levels, 0.0);
  for (std::size_t i = 0; i < 3 * levels; ++i) out.re[i] = in.re[i] * scale;
  mean_velocity(out.re + Solved::eta * levels, out.re + Solved::u * levels);
  mean_velocity(out.re + Solved::xi * levels, out.re + Solved::v * levels);
  for (std::size_t i = 0; i < levels; ++i) out.re[Solved::v * levels + i] *= -1;
}

/// Integrates one component of horizontal mean vorticity over z to a mean velocity: the linear part in closed form, the rest,
/// which is 0 at the walls, by its sine series.
void Columns::mean_velocity(const double* vorticity, double* velocity) {
  const std::size_t n = fold_.cells;
  const double length = lengths_[2];
  std::vector<double> f(n + 1);
  for (std::size_t j = 0; j < fold_.symmetric; ++j) {
    const double a = j < fold_.antisymmetric ? vorticity[fold_.symmetric + j] : 0.0;
    f[j] = vorticity[j] + a;
    f[n - j] = vorticity[j] - a;
  }
  const double bottom = f[0];
  const double top = f[n];
  // The integral of linear vorticity, with zero mean.
  const auto parabola = [&](double share) { return length / 2 * (share * share - 1.0 / 3); };
  std::vector<double> mean(n + 1);
  for (std::size_t j = 0; j <= n; ++j) {
    const double up = static_cast<double>(j) / static_cast<double>(n);
    const double down = static_cast<double>(n - j) / static_cast<double>(n);
    mean[j] = top * parabola(up) - bottom * parabola(down);
    f[j] -= top * up + bottom * down;
  }
  for (std::size_t q = 1; q < n; ++q) {
    double sum = 0;
    for (std::size_t j = 1; j < n; ++j) sum += f[j] * sines_[q * j % (2 * n)];
    const double over = 2 / static_cast<double>(n) * sum * length / (std::numbers::pi * static_cast<double>(q));
    for (std::size_t j = 0; j <= n; ++j) mean[j] -= over * cosines_[q * j % (2 * n)];
  }
  for (std::size_t j = 0; j < fold_.symmetric; ++j) velocity[j] = (mean[j] + mean[n - j]) / 2;
  for (std::size_t j = 0; j < fold_.antisymmetric; ++j) velocity[fold_.symmetric + j] = (mean[j] - mean[n - j]) / 2;
}

// Poisson problem of one column for the displacement that evens out volume.
void Columns::potential(std::size_t k, std::size_t l, InColumn in, OutColumn out) {
  const std::size_t levels = fold_.levels();
  if (k + l == 0) {
    std::fill_n(out.re, 3 * levels, 0.0);
    std::fill_n(out.im, 3 * levels, 0.0);
    return;
  }
  const double spacing = lengths_[2] / static_cast<double>(fold_.cells);
  const double x = axes_[0].wave[k];
  const double y = axes_[1].wave[l];
  const double across = (x * x + y * y) * spacing * spacing;
  const double scale = spacing * spacing / (static_cast<double>(cells_[0]) * static_cast<double>(cells_[1]));
  for (std::size_t part = 0; part < 2; ++part) {
    const std::size_t at = part * fold_.symmetric;
    solve_part(part, across, {in.re + at, in.im + at}, scale, {out.re + at, out.im + at});
  }
  const double wave_x = axes_[0].derivative[k];
  const double wave_y = axes_[1].derivative[l];
  for (std::size_t j = 0; j < levels; ++j) {
    out.re[levels + j] = -wave_x * out.im[j];
    out.im[levels + j] = wave_x * out.re[j];
    out.re[2 * levels + j] = -wave_y * out.im[j];
    out.im[2 * levels + j] = wave_y * out.re[j];
  }
}

/// Solves the vertical Poisson problem of the volume correction for one part (symmetric or antisymmetric) of a column: (chi_(j+1)
/// - 2 chi_j + chi_(j-1)) - across chi_j = scale in_j, mirrored at the wall, by the Thomas algorithm. The matrix is strictly
/// diagonally dominant since across > 0, so no pivoting is needed.
void Columns::solve_part(std::size_t part, double across, InColumn in, double scale, OutColumn out) {
  const std::size_t count = fold_.count(part);
  const bool middle = fold_.cells % 2 == 0;  // a level lies at mid-height
  const double diagonal = -(2 + across);
  double* const upper = work_.data();
  double before_re = 0;
  double before_im = 0;
  double before_upper = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const bool last = j + 1 == count;
    // The level beyond mid-height is one of this part again, with the sign of its symmetry.
    const double lower = j == 0 ? 0 : (last && middle && part == 0 ? 2 : 1);
    const double here = last && !middle ? (part == 0 ? diagonal + 1 : diagonal - 1) : diagonal;
    const double over = 1 / (here - lower * before_upper);
    before_upper = upper[j] = (j == 0 ? 2 : 1) * over;
    before_re = out.re[j] = (scale * in.re[j] - lower * before_re) * over;
    before_im = out.im[j] = (scale * in.im[j] - lower * before_im) * over;
  }
  for (std::size_t j = count - 1; j-- > 0;) {
    out.re[j] -= upper[j] * out.re[j + 1];
    out.im[j] -= upper[j] * out.im[j + 1];
  }
}

}  // namespace merganser::flow
