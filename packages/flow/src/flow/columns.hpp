#pragma once
/// What the inversion does to a column of nodes in z, at one pair of wavenumbers in x and y.
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

/// Places of the two parts of a column of cells + 1 levels: symmetric ones, then antisymmetric ones.
struct Fold {
  explicit Fold(std::size_t cells_in_z)
      : cells(cells_in_z), symmetric(cells / 2 + 1), antisymmetric(cells + 1 - symmetric) {}
  std::size_t cells;
  std::size_t symmetric;      ///< levels 0 .. cells / 2
  std::size_t antisymmetric;  ///< levels 0 .. (cells - 1) / 2; at mid-height it is 0
  /// All of them.
  [[nodiscard]] std::size_t levels() const noexcept { return cells + 1; }
  /// Levels of a part: 0 the symmetric, 1 the antisymmetric.
  [[nodiscard]] std::size_t count(std::size_t part) const noexcept { return part == 0 ? symmetric : antisymmetric; }
};

/// A dense matrix, one row per input, outputs padded to whole groups of lanes.
struct Matrix {
  std::size_t inputs = 0;
  std::size_t outputs = 0;
  fft::Field values;
};

/// Sine series of one part without its value at the wall: levels 1 .. count - 1, as many modes.
struct SinePart {
  Matrix analyse;     ///< levels to modes, times the filter in z
  Matrix smooth;      ///< levels to levels: analyse, then synthesise
  Matrix synthesise;  ///< modes to levels
  Matrix derive;      ///< modes to the derivative, which is of the other part, its level 0 included
};

/// Functions of z at one pair of wavenumbers, of one part: where the value at the wall is 1.
struct HarmonicPart {
  const double* phi;     ///< phi'' = K^2 phi, 1 at the wall; levels of this part
  const double* theta;   ///< theta'' - K^2 theta = phi, 0 at the wall; levels of this part
  const double* dtheta;  ///< its derivative; levels of the other part
  const double* solve;   ///< 1 / (K^2 + m_q^2), modes of this part
};

/// Numbers of one pair of wavenumbers.
struct Wave {
  double k;       ///< of derivatives in x: 0 for what alternates from node to node
  double l;       ///< in y
  double square;  ///< K^2, of all waves
  double scale;   ///< filter in x and y, over the number of nodes in x and y
  std::array<HarmonicPart, 2> parts;
};

/// Places of the fields that velocity() makes.
struct Solved {
  enum : std::size_t { xi, eta, zeta, u, v, w, u_x, u_y, v_y, w_x, w_y, count };
};

/// Real and imaginary parts of the fields of a column, one after the other; behind the last, kLanes doubles are free.
struct InColumn {
  const double* re;
  const double* im;
};
struct OutColumn {
  double* re;
  double* im;
};

/// Doubles of memory that solve_velocity() works in.
std::size_t velocity_work(const Fold& fold);

/// The column of one wave, which is not the mean. @param spacing  of nodes in z
void solve_velocity(const Fold& fold, const std::array<SinePart, 2>& series, const Wave& wave, double spacing,
                    InColumn in, OutColumn out, double* work);

/// Solves on columns of one grid.
class Columns {
 public:
  /// @param lengths  of the box; @param cells  along its axes, even in x and y, at least 4 in z
  Columns(const std::array<double, 3>& lengths, const std::array<std::size_t, 3>& cells);

  /// Prepares the waves that this rank has: numbers in x and y. Those in y may lie above half of the cells, as in spectra.
  void prepare(std::size_t first_k, std::size_t count_k, std::size_t first_l, std::size_t count_l);
  /// From xi, eta, zeta to the fields of Solved. k and l: numbers of a wave that is prepared.
  void velocity(std::size_t k, std::size_t l, InColumn in, OutColumn out);
  /// From the excess of volume to the potential chi, and its derivatives in x and y.
  void potential(std::size_t k, std::size_t l, InColumn in, OutColumn out);

  [[nodiscard]] const Fold& fold() const noexcept { return fold_; }

 private:
  /// By number of a wave along x or y.
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
  std::array<std::size_t, 9> places_{};  ///< of the tables of a wave
  std::size_t first_k_ = 0;
  std::vector<std::int64_t> slot_;  ///< of each |l|: its place among the tables, -1 for none
  std::size_t slots_ = 0;
  fft::Field tables_;
  fft::Field work_;
};

}  // namespace merganser::flow
