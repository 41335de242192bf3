#pragma once
/// Spectral solver of the flow model, one column of nodes in z at one pair of wavenumbers in x and y.
///
/// A column is kept as its parts that are symmetric and antisymmetric about mid-height, x_j = s_j + a_j and
/// x_(n-j) = s_j - a_j: the symmetric part has the sine modes of odd number, the antisymmetric part those of even number,
/// and no operation mixes them but derivatives, which exchange them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/flow/fft/rows.hpp"

namespace merganser::flow {

/// Lengths of the two parts of a column of nodes, symmetric and antisymmetric about mid-height, stored in this order.
struct Fold {
  explicit Fold(std::size_t cells_in_z)
      : cells(cells_in_z), symmetric(cells / 2 + 1), antisymmetric(cells + 1 - symmetric) {}
  std::size_t cells;          ///< number of grid cells in z
  std::size_t symmetric;      ///< length of the symmetric part: levels 0 .. cells / 2
  std::size_t antisymmetric;  ///< length of the antisymmetric part: levels 0 .. (cells - 1) / 2; at mid-height it is 0
  /// Returns the number of levels of a column of nodes in z.
  [[nodiscard]] std::size_t levels() const noexcept { return cells + 1; }
  /// Returns the number of levels of a part of a column: 0 the symmetric, 1 the antisymmetric.
  [[nodiscard]] std::size_t count(std::size_t part) const noexcept { return part == 0 ? symmetric : antisymmetric; }
};

/// Dense matrix that the spectral solver applies to columns of nodes or modes in z, row-major with one row per input.
struct Matrix {
  std::size_t inputs = 0;   ///< number of rows
  std::size_t outputs = 0;  ///< number of columns, padded with zeros to whole groups of lanes
  fft::Field values;
};

/// Matrices of the sine series in z of one part of a column without its value at the wall: levels 1 .. count - 1, as many modes.
struct SinePart {
  Matrix analyse;     ///< levels to modes, times the filter in z
  Matrix smooth;      ///< levels to levels: analyse, then synthesise
  Matrix synthesise;  ///< sine modes in z to levels
  Matrix derive;      ///< modes to the derivative, which is of the other part, its level 0 included
};

/// Tables of the harmonic functions of z at one pair of wavenumbers, for one part of a column, normalised by their value 1 at the
/// wall.
struct HarmonicPart {
  const double* phi;     ///< phi'' = K^2 phi, 1 at the wall; levels of this part
  const double* theta;   ///< theta'' - K^2 theta = phi, 0 at the wall; levels of this part
  const double* dtheta;  ///< theta'; levels of the other part
  const double* solve;   ///< 1 / (K^2 + m_q^2), modes of this part
};

/// Coefficients of the spectral solver for one pair of wavenumbers in x and y; filled by Columns::wave().
struct Wave {
  double k;       ///< wavenumber of derivatives in x, 1/m: 0 for the mode that alternates from node to node
  double l;       ///< wavenumber of derivatives in y, 1/m
  double square;  ///< K^2 = k^2 + l^2, 1/m^2, with the alternating modes included
  double scale;   ///< filter in x and y, divided by the number of nodes in x and y
  std::array<HarmonicPart, 2> parts;  ///< harmonic functions of the symmetric and the antisymmetric part
};

/// Indices of the fields of a column that the inversion Columns::velocity() writes: vorticity, velocity, its gradient.
struct Solved {
  enum : std::size_t { xi, eta, zeta, u, v, w, u_x, u_y, v_y, w_x, w_y, count };
};

/// Read-only real and imaginary parts of the Fourier coefficients of a column's fields, one field after the other; kLanes doubles
/// behind the last are padding, which vectors may read.
struct InColumn {
  const double* re;
  const double* im;
};
/// Writable real and imaginary parts of the Fourier coefficients of a column's fields; vectors may overwrite kLanes doubles
/// behind the last.
struct OutColumn {
  double* re;
  double* im;
};

/// Returns the number of doubles of scratch memory that solve_velocity() needs.
std::size_t velocity_work(const Fold& fold);

/// Inverts vorticity in one column whose pair of wavenumbers is not (0, 0): computes the fields of Solved.
/// @param spacing  distance of nodes in z, m; @param work  scratch memory of velocity_work() doubles
void solve_velocity(const Fold& fold, const std::array<SinePart, 2>& series, const Wave& wave, double spacing,
                    InColumn in, OutColumn out, double* work);

/// Spectral solver on the columns of one grid, with its tables of harmonic functions, sine series and filters. Local.
class Columns {
 public:
  /// Computes the tables of the spectral solver that do not depend on the wavenumbers. @param lengths  edges of the box, m @param
  /// cells  cells along its axes, even in x and y, at least 4 in z
  Columns(const std::array<double, 3>& lengths, const std::array<std::size_t, 3>& cells);

  /// Computes the tables of harmonic functions of this rank's waves: k in [first_k, first_k + count_k), and l likewise. l may lie
  /// above half of the cells in y, as in spectra.
  void prepare(std::size_t first_k, std::size_t count_k, std::size_t first_l, std::size_t count_l);
  /// Inverts vorticity in one column: computes the fields of Solved from its xi, eta, zeta. k and l: a pair of wavenumbers that
  /// prepare() covered.
  void velocity(std::size_t k, std::size_t l, InColumn in, OutColumn out);
  /// Computes the potential chi of one column and its derivatives in x and y from the column's excess of volume.
  void potential(std::size_t k, std::size_t l, InColumn in, OutColumn out);

  /// Returns the lengths of the symmetric and the antisymmetric part of the grid's columns.
  [[nodiscard]] const Fold& fold() const noexcept { return fold_; }

 private:
  /// Tables of the spectral solver along x or y, by index of the wave: absolute wavenumbers, wavenumbers of derivatives, filter.
  struct Axis {
    std::vector<double> wave;
    std::vector<double> derivative;
    std::vector<double> filter;
  };

  [[nodiscard]] Wave wave(std::size_t k, std::size_t l) const;
  void fill(double* at, std::size_t k, std::size_t l) const;
  void mean_flow(InColumn in, OutColumn out);
  void mean_velocity(const double* vorticity, double* velocity);
  void solve_part(std::size_t part, double across, InColumn in, double scale, OutColumn out);

  Fold fold_;
  std::array<double, 3> lengths_;
  std::array<std::size_t, 3> cells_;
  std::array<SinePart, 2> series_;
  std::array<Axis, 2> axes_;
  std::vector<double> sines_;  ///< sin(pi j / cells[2])
  std::vector<double> cosines_;
  std::array<std::size_t, 9> places_{};  ///< offsets of the eight tables of a pair of wavenumbers, and their length
  std::size_t first_k_ = 0;
  std::vector<std::int64_t> slot_;  ///< by |l|: index of the tables of that wave in y, -1 for none
  std::size_t slots_ = 0;
  fft::Field tables_;
  fft::Field work_;
};

}  // namespace merganser::flow
