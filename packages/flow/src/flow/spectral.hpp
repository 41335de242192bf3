#pragma once
/// Fields of a rank's nodes to columns of waves and back: Fourier transforms along x and y, each computed whole on one rank.
#include <functional>
#include <string>

#include "merganser/flow/nodes.hpp"
#include "src/flow/columns.hpp"
#include "src/flow/exchange.hpp"
#include "src/flow/fft/rows.hpp"

namespace merganser::flow {

/// Writes the values of the fields at own column (i, j): `levels` of the first field, then those of the next.
using Pack = std::function<void(std::int64_t i, std::int64_t j, double* values)>;
/// Reads them.
using Unpack = std::function<void(std::int64_t i, std::int64_t j, const double* values)>;
/// Makes columns of waves (k, l) out of others.
using Solve = std::function<void(std::size_t k, std::size_t l, InColumn in, OutColumn out)>;

/// A rank's waves: numbers in x and y.
struct OwnWaves {
  std::size_t first_k;
  std::size_t count_k;
  std::size_t first_l;
  std::size_t count_l;
};

/// A rank's share of the transforms.
class Spectral {
 public:
  /// Collective. @throws UsageError for a library that is not there
  Spectral(comm::Transport& transport, const Decomposition& decomposition, const NodeLayout& layout,
           const std::string& library);

  /// Which waves solve() is asked for here.
  [[nodiscard]] OwnWaves waves() const;
  /// `fields_in` fields at nodes to waves (sums, not scaled), these to others, and back to `fields_out` fields at nodes.
  /// Called by every rank; talks along rows and columns of ranks.
  void solve(std::size_t fields_in, const Pack& pack, const Solve& solve, std::size_t fields_out, const Unpack& unpack);
  /// Derivatives along x (axis 0) or y (1) of `fields` fields. Called by every rank; talks along that axis.
  void derivative(int axis, std::size_t fields, const Pack& pack, const Unpack& unpack);

 private:
  /// Values of a column and where groups of them lie.
  struct Lanes {
    std::size_t groups;  ///< of fft::kLanes
    std::size_t room;    ///< doubles of a column with what vectors may write beyond it
    Cuts cuts;           ///< of the ranks of a row, in doubles
  };
  [[nodiscard]] Lanes lanes(std::size_t fields, const RowExchange& row) const;
  [[nodiscard]] Array4 waves_along(fft::Field& memory, std::size_t k, std::size_t l, std::size_t room) const;

  void forward_x(const Lanes& lanes, const Pack& pack);
  void inverse_x(const Lanes& lanes, const Unpack& unpack);
  void solve_columns(const Lanes& in, const Solve& solve, const Lanes& out);

  std::array<std::size_t, 3> cells_;  ///< of the grid
  std::array<std::size_t, 2> own_;    ///< cells of this rank in x and y
  std::array<double, 2> length_;
  RowExchange along_x_;
  RowExchange along_y_;
  Cuts cuts_x_;  ///< cells of the ranks along x
  Cuts cuts_y_;
  Cuts cuts_k_;  ///< waves in x, of the ranks along y
  Cuts cuts_l_;  ///< waves in y, of the ranks along x
  fft::RealRows rows_x_;
  fft::RealRows rows_y_;
  fft::ComplexRows waves_y_;
  fft::Field nodes_;   ///< own columns
  fft::Field pencil_;  ///< whole in x or in y
  fft::Field wide_;    ///< all waves in x
  fft::Field first_;   ///< own waves
  fft::Field second_;
};

}  // namespace merganser::flow
