#pragma once
/// Reference for the inversion, by its definition in long double: sums over all nodes for each wave, without transforms or folded
/// columns. For tiny grids.
#include <complex>
#include <functional>
#include <vector>

#include "tests/flow/fields.hpp"

namespace merganser::test {

/// The inversion on the whole box on one rank, in O(n^2) operations.
class Reference {
 public:
  using Real = long double;
  using Complex = std::complex<Real>;
  /// Values at nodes, at [(i ny + j) levels + k].
  using Field = std::vector<Real>;
  /// Complex values of waves, at [(k ny + l) levels + z].
  using Waves = std::vector<Complex>;
  using Column = std::vector<Complex>;

  explicit Reference(const Grid& grid)
      : nx(n(grid, 0)), ny(n(grid, 1)), nz(n(grid, 2)), levels(nz + 1), extent(grid.box.extent) {}

  std::size_t nx, ny, nz, levels;
  Vec3 extent;
  /// Results of velocity().
  Field xi, eta, zeta, u, v, w, u_x, u_y, u_z, v_x, v_y, v_z, w_x, w_y;

  std::size_t at(std::size_t i, std::size_t j, std::size_t k) const { return (i * ny + j) * levels + k; }

  /// Computes velocity and gradient from xi, eta, zeta.
  void velocity() {
    Waves a = waves(xi), b = waves(eta), c = waves(zeta);
    Waves velocity_u(a.size()), velocity_v(a.size()), velocity_w(a.size());
    for (std::size_t k = 0; k < nx; ++k)
      for (std::size_t l = 0; l < ny; ++l) {
        const std::size_t first = at(k, l, 0);
        const auto column = [&](const Waves& f) {
          return Column(f.begin() + as(first), f.begin() + as(first + levels));
        };
        Column x = decompose(k, l, column(a)), y = decompose(k, l, column(b)), z = decompose(k, l, column(c));
        for (Column* f : {&x, &y, &z})
          for (std::size_t q = 0; q < levels; ++q) (*f)[q] *= filter(k, l, q);
        Column zeta_here = combine(k, l, z);
        Column u_here(levels), v_here(levels), w_here(levels);
        if (k + l == 0) {
          mean(x, y, u_here, v_here);
        } else {
          const Column e = decompose(k, l, difference(zeta_here));
          const Complex dx = slope(k, nx, extent[0]), dy = slope(l, ny, extent[1]);
          const Real square = wave2(k, l);
          for (std::size_t q = 0; q < levels; ++q) {
            const Complex d = dx * y[q] - dy * x[q];
            x[q] = (dx * e[q] + dy * d) / square;
            y[q] = (dy * e[q] - dx * d) / square;
          }
          Column w_z(levels);
          vertical(k, l, x, y, w_here, w_z);
          for (std::size_t z_level = 0; z_level < levels; ++z_level) {
            u_here[z_level] = (dx * w_z[z_level] + dy * zeta_here[z_level]) / square;
            v_here[z_level] = (dy * w_z[z_level] - dx * zeta_here[z_level]) / square;
          }
        }
        const auto put = [&](const Column& f, Waves& to) { std::copy(f.begin(), f.end(), to.begin() + as(first)); };
        put(combine(k, l, x), a);
        put(combine(k, l, y), b);
        put(zeta_here, c);
        put(u_here, velocity_u);
        put(v_here, velocity_v);
        put(w_here, velocity_w);
      }
    xi = nodes(a), eta = nodes(b), zeta = nodes(c);
    u = nodes(velocity_u), v = nodes(velocity_v), w = nodes(velocity_w);
    u_x = derivative(u, 0), u_y = derivative(u, 1), v_y = derivative(v, 1);
    w_x = derivative(w, 0), w_y = derivative(w, 1);
    u_z = v_x = v_z = u;
    for (std::size_t i = 0; i < u.size(); ++i) {
      u_z[i] = w_x[i] + eta[i];
      v_x[i] = u_y[i] + zeta[i];
      v_z[i] = w_y[i] - xi[i];
    }
  }

  /// Returns the divergence of (f_x, f_y, f_z).
  Field divergence(const Field& f_x, const Field& f_y, const Field& f_z) const {
    Field sum = derivative(f_x, 0);
    const Field y = derivative(f_y, 1);
    for (std::size_t i = 0; i < nx * ny; ++i) {
      const Column column(f_z.begin() + as(i * levels), f_z.begin() + as((i + 1) * levels));
      const Column z = difference(column);
      for (std::size_t k = 0; k < levels; ++k) sum[i * levels + k] += y[i * levels + k] + z[k].real();
    }
    return sum;
  }

  /// Returns the gradient of chi where Laplace(chi) = excess.
  std::array<Field, 3> displacement(const Field& excess) const {
    Waves f = waves(excess);
    const Real spacing = extent[2] / static_cast<Real>(nz);
    for (std::size_t k = 0; k < nx; ++k)
      for (std::size_t l = 0; l < ny; ++l) {
        const std::size_t first = at(k, l, 0);
        // Dense matrix, solved by Gaussian elimination.
        std::vector<Column> rows(levels, Column(levels + 1));
        for (std::size_t q = 0; q < levels; ++q) {
          rows[q][q] = -2 / (spacing * spacing) - wave2(k, l);
          rows[q][q == 0 ? 1 : q - 1] += 1 / (spacing * spacing);
          rows[q][q == nz ? nz - 1 : q + 1] += 1 / (spacing * spacing);
          rows[q][levels] = f[first + q];
        }
        for (std::size_t q = 0; q < levels; ++q) f[first + q] = 0;
        if (k + l == 0) continue;
        for (std::size_t q = 0; q < levels; ++q)
          for (std::size_t r = q + 1; r < levels; ++r) {
            const Complex share = rows[r][q] / rows[q][q];
            for (std::size_t c = q; c <= levels; ++c) rows[r][c] -= share * rows[q][c];
          }
        for (std::size_t q = levels; q-- > 0;) {
          Complex rest = rows[q][levels];
          for (std::size_t c = q + 1; c < levels; ++c) rest -= rows[q][c] * f[first + c];
          f[first + q] = rest / rows[q][q];
        }
      }
    const Field chi = nodes(f);
    Field up(chi.size());
    for (std::size_t i = 0; i < nx * ny; ++i)
      for (std::size_t k = 1; k < nz; ++k)
        up[i * levels + k] = (chi[i * levels + k + 1] - chi[i * levels + k - 1]) / (2 * spacing);
    return {derivative(chi, 0), derivative(chi, 1), up};
  }

 private:
  static std::size_t n(const Grid& grid, std::size_t axis) { return static_cast<std::size_t>(grid.cells[axis]); }
  static std::ptrdiff_t as(std::size_t i) { return static_cast<std::ptrdiff_t>(i); }
  static constexpr Real pi = std::numbers::pi_v<Real>;
  static Complex turn(std::size_t jk, std::size_t n) {
    const Real angle = 2 * pi * static_cast<Real>(jk % n) / static_cast<Real>(n);
    return {std::cos(angle), std::sin(angle)};
  }
  static Real signed_wave(std::size_t k, std::size_t n, Real length) {
    return 2 * pi / length * (2 * k <= n ? static_cast<Real>(k) : static_cast<Real>(k) - static_cast<Real>(n));
  }
  static Complex slope(std::size_t k, std::size_t n, Real length) {
    return {0, 2 * k == n ? 0 : signed_wave(k, n, length)};
  }
  Real wave2(std::size_t k, std::size_t l) const {
    const Real x = signed_wave(k, nx, extent[0]), y = signed_wave(l, ny, extent[1]);
    return x * x + y * y;
  }
  Real mode(std::size_t q) const { return pi * static_cast<Real>(q) / extent[2]; }
  Real height(std::size_t z) const { return extent[2] * static_cast<Real>(z) / static_cast<Real>(nz); }

  Waves waves(const Field& f) const {
    Waves out(f.size());
    for (std::size_t k = 0; k < nx; ++k)
      for (std::size_t l = 0; l < ny; ++l)
        for (std::size_t z = 0; z < levels; ++z)
          for (std::size_t i = 0; i < nx; ++i)
            for (std::size_t j = 0; j < ny; ++j)
              out[at(k, l, z)] +=
                  f[at(i, j, z)] * std::conj(turn(i * k, nx) * turn(j * l, ny)) / static_cast<Real>(nx * ny);
    return out;
  }
  Field nodes(const Waves& f) const {
    Field out(f.size());
    for (std::size_t i = 0; i < nx; ++i)
      for (std::size_t j = 0; j < ny; ++j)
        for (std::size_t z = 0; z < levels; ++z) {
          Complex sum = 0;
          for (std::size_t k = 0; k < nx; ++k)
            for (std::size_t l = 0; l < ny; ++l) sum += f[at(k, l, z)] * turn(i * k, nx) * turn(j * l, ny);
          out[at(i, j, z)] = sum.real();
        }
    return out;
  }
  Field derivative(const Field& f, int axis) const {
    Waves w = waves(f);
    for (std::size_t k = 0; k < nx; ++k)
      for (std::size_t l = 0; l < ny; ++l)
        for (std::size_t z = 0; z < levels; ++z)
          w[at(k, l, z)] *= axis == 0 ? slope(k, nx, extent[0]) : slope(l, ny, extent[1]);
    return nodes(w);
  }
  Column difference(const Column& f) const {
    const Real spacing = extent[2] / static_cast<Real>(nz);
    Column d(levels);
    d[0] = (f[1] - f[0]) / spacing;
    d[nz] = (f[nz] - f[nz - 1]) / spacing;
    for (std::size_t z = 1; z < nz; ++z) d[z] = (f[z + 1] - f[z - 1]) / (2 * spacing);
    return d;
  }
  /// Returns phi_- at height z; phi_+ is phi_- at the mirrored height.
  Real phi(std::size_t k, std::size_t l, std::size_t z) const {
    const Real wave = std::sqrt(wave2(k, l)), length = extent[2];
    return k + l == 0 ? 1 - height(z) / length : std::sinh(wave * (length - height(z))) / std::sinh(wave * length);
  }
  Column decompose(std::size_t k, std::size_t l, const Column& f) const {
    Column s(levels);
    s[0] = f[0];
    s[nz] = f[nz];
    for (std::size_t q = 1; q < nz; ++q)
      for (std::size_t z = 1; z < nz; ++z)
        s[q] += 2 / static_cast<Real>(nz) * (f[z] - f[0] * phi(k, l, z) - f[nz] * phi(k, l, nz - z)) *
                std::sin(mode(q) * height(z));
    return s;
  }
  Column combine(std::size_t k, std::size_t l, const Column& s) const {
    Column f(levels);
    for (std::size_t z = 0; z < levels; ++z) {
      f[z] = s[0] * phi(k, l, z) + s[nz] * phi(k, l, nz - z);
      for (std::size_t q = 1; q < nz; ++q) f[z] += s[q] * std::sin(mode(q) * height(z));
    }
    return f;
  }
  Real filter(std::size_t k, std::size_t l, std::size_t q) const {
    if (k + l == 0) return 1;
    const auto smooth = [](Real share) { return std::exp(-36 * std::pow(std::fabs(share), Real{36})); };
    const Real of_z = q == 0 || q == nz ? 1 : smooth(static_cast<Real>(q) / static_cast<Real>(nz));
    return of_z * smooth(signed_wave(k, nx, extent[0]) / (pi * static_cast<Real>(nx) / extent[0])) *
           smooth(signed_wave(l, ny, extent[1]) / (pi * static_cast<Real>(ny) / extent[1]));
  }
  void mean(const Column& x, const Column& y, Column& u_mean, Column& v_mean) const {
    const Real length = extent[2];
    const auto parabola = [&](Real s) { return length / 2 * (s * s / (length * length) - Real{1} / 3); };
    for (std::size_t z = 0; z < levels; ++z) {
      const Real up = height(z), down = length - up;
      u_mean[z] = y[nz] * parabola(up) - y[0] * parabola(down);
      v_mean[z] = -x[nz] * parabola(up) + x[0] * parabola(down);
      for (std::size_t q = 1; q < nz; ++q) {
        u_mean[z] -= y[q] / mode(q) * std::cos(mode(q) * up);
        v_mean[z] += x[q] / mode(q) * std::cos(mode(q) * up);
      }
    }
  }
  /// Returns theta_- at height z and its derivative; theta_+ is theta_- at the mirrored height, with the opposite derivative.
  Real theta(std::size_t k, std::size_t l, std::size_t z) const {
    const Real wave = std::sqrt(wave2(k, l)), length = extent[2], up = height(z), down = length - up;
    const Real q = std::cosh(wave * length) / std::sinh(wave * length), r = 1 / std::sinh(wave * length);
    return (r * wave * down * phi(k, l, nz - z) - q * wave * up * phi(k, l, z)) / (2 * wave * wave);
  }
  Real theta_slope(std::size_t k, std::size_t l, std::size_t z) const {
    const Real wave = std::sqrt(wave2(k, l)), length = extent[2], up = height(z), down = length - up;
    const Real q = std::cosh(wave * length) / std::sinh(wave * length), r = 1 / std::sinh(wave * length);
    const Real lower = -wave * std::cosh(wave * down) * r, upper = wave * std::cosh(wave * up) * r;
    return -((q * wave * up - 1) * lower - r * wave * down * upper) / (2 * wave * wave);
  }
  void vertical(std::size_t k, std::size_t l, const Column& x, const Column& y, Column& f, Column& f_z) const {
    const Complex dx = slope(k, nx, extent[0]), dy = slope(l, ny, extent[1]);
    const auto source = [&](std::size_t q) { return dy * x[q] - dx * y[q]; };
    for (std::size_t z = 0; z < levels; ++z) {
      f[z] = source(0) * theta(k, l, z) + source(nz) * theta(k, l, nz - z);
      f_z[z] = source(0) * theta_slope(k, l, z) - source(nz) * theta_slope(k, l, nz - z);
      for (std::size_t q = 1; q < nz; ++q) {
        const Complex share = source(q) / (wave2(k, l) + mode(q) * mode(q));
        f[z] -= share * std::sin(mode(q) * height(z));
        f_z[z] -= share * mode(q) * std::cos(mode(q) * height(z));
      }
    }
    f[0] = f[nz] = 0;
  }
};

}  // namespace merganser::test
