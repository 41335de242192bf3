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

/// Lengths of the two parts of a column of cells + 1 levels, stored as the symmetric part followed by the antisymmetric.
struct Fold {
  explicit Fold(std::size_t cells_in_z)
      : cells(cells_in_z), symmetric(cells / 2 + 1), antisymmetric(cells + 1 - symmetric) {}
  std::size_t cells;
  std::size_t symmetric;      ///< levels 0 .. cells / 2
  std::size_t antisymmetric;  ///< levels 0 .. (cells - 1) / 2; at mid-height it is 0
  /// Returns the number of levels of a column.
  [[nodiscard]] std::size_t levels() const noexcept { return cells + 1; }
  /// Returns the number of levels of a part: 0 the symmetric, 1 the antisymmetric.
  [[nodiscard]] std::size_t count(std::size_t part) const noexcept { return part == 0 ? symmetric : antisymmetric; }
};

/// Dense matrix applied to columns, row-major with one row per input; outputs are padded to whole groups of lanes.
struct Matrix {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  fft::Field values;
};

/// Matrices of the sine series of one part without its value at the wall: levels 1 .. count - 1, as many modes.
struct SinePart {
  Matrix analyse;     ///< levels to modes, times the filter in z
  Matrix smooth;      ///< levels to levels: analyse, then synthesise
  Matrix synthesise;  ///< modes to levels
  Matrix derive;      ///< modes to the derivative, which is of the other part, its level 0 included
};

/// Harmonic functions of z at one pair of wavenumbers, of one part, normalised by their value 1 at the wall.
struct HarmonicPart {
  const double* phi;     ///< phi'' = K^2 phi, 1 at the wall; levels of this part
  const double* theta;   ///< theta'' - K^2 theta = phi, 0 at the wall; levels of this part
  const double* dtheta;  ///< theta'; levels of the other part
  const double* solve;   ///< 1 / (K^2 + m_q^2), modes of this part
};

/// Coefficients of the spectral solver for one pair of wavenumbers.
struct Wave {
  double k;       ///< wavenumber of derivatives in x: 0 for the mode that alternates from node to node
  double l;       ///< wavenumber of derivatives in y
  double square;  ///< K^2 = k^2 + l^2, with the alternating modes included
  double scale;   ///< filter in x and y, divided by the number of nodes in x and y
  std::array<HarmonicPart, 2> parts;  ///< of the symmetric and the antisymmetric part
};

/// Indices of the fields that Columns::velocity() writes.
struct Solved {
  enum : std::size_t { xi, eta, zeta, u, v, w, u_x, u_y, v_y, w_x, w_y, count };
};

/// Real and imaginary parts of the fields of a column, one field after the other; kLanes doubles behind the last are
/// padding, which vectors may read.
struct InColumn {
  const double* re;
  const double* im;
};
/// Writable real and imaginary parts of the fields of a column; vectors may overwrite kLanes doubles behind the last.
struct OutColumn {
  double* re;
  double* im;
};

/// Returns the number of doubles of scratch memory that solve_velocity() needs.
std::size_t velocity_work(const Fold& fold);

/// Computes the fields of Solved for one column whose pair of wavenumbers is not (0, 0).
/// @param spacing  distance of nodes in z, m; @param work  scratch memory of velocity_work() doubles
void solve_velocity(const Fold& fold, const std::array<SinePart, 2>& series, const Wave& wave, double spacing,
                    InColumn in, OutColumn out, double* work);

/// Solver on columns of one grid: its tables of harmonic functions, sine series and filters. Local.
class Columns {
 public:
  /// Computes the tables that do not depend on the wavenumbers. @param lengths  edges of the box, m @param cells  cells
  /// along its axes, even in x and y, at least 4 in z
  Columns(const std::array<double, 3>& lengths, const std::array<std::size_t, 3>& cells);

  /// Computes the tables of this rank's waves: k in [first_k, first_k + count_k), and l likewise. l may lie above half of the
  /// cells in y, as in spectra.
  void prepare(std::size_t first_k, std::size_t count_k, std::size_t first_l, std::size_t count_l);
  /// Computes the fields of Solved of one column from its xi, eta, zeta. k and l: a pair of wavenumbers that prepare()
  /// covered.
  void velocity(std::size_t k, std::size_t l, InColumn in, OutColumn out);
  /// Computes the potential chi of one column and its derivatives in x and y from the column's excess of volume.
  void potential(std::size_t k, std::size_t l, InColumn in, OutColumn out);

  [[nodiscard]] const Fold& fold() const noexcept { return fold_; }

 private:
  /// Wavenumbers and filter along x or y, by index of the wave.
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
  std::array<std::size_t, 9> places_{};  ///< offsets of the tables of a pair of wavenumbers
  std::size_t first_k_ = 0;
  std::vector<std::int64_t> slot_;  ///< by |l|: index of its tables, -1 for none
  std::size_t slots_ = 0;
  fft::Field tables_;
  fft::Field work_;
};

}  // namespace merganser::flow
