#pragma once
/// Distributed two-dimensional Fourier transform of fields at nodes: from columns of nodes to columns of waves and back, each
/// line along x and y transformed whole on one rank.
#include <functional>
#include <string>

#include "merganser/flow/nodes.hpp"
#include "src/flow/columns.hpp"
#include "src/flow/exchange.hpp"
#include "src/flow/fft/rows.hpp"

namespace merganser::flow {

/// Callback that writes the node values of the fields to be transformed at own column (i, j): all levels of the first field, then
/// those of the next.
using Pack = std::function<void(std::int64_t i, std::int64_t j, double* values)>;
/// Callback that reads the node values of the fields transformed back at own column (i, j), all levels of one field after the
/// other.
using Unpack = std::function<void(std::int64_t i, std::int64_t j, const double* values)>;
/// Callback of the spectral solver that computes the fields of the column of waves (k, l) from other fields of it.
using Solve = std::function<void(std::size_t k, std::size_t l, InColumn in, OutColumn out)>;

/// Range of the pairs of wavenumbers whose columns one rank solves; filled by Spectral::waves().
struct OwnWaves {
  std::size_t first_k;  ///< index of the first wave in x
  std::size_t count_k;  ///< number of waves in x
  std::size_t first_l;  ///< index of the first wave in y
  std::size_t count_l;  ///< number of waves in y
};

/// Distributed Fourier transforms of the flow's node fields in x and y: the part of one rank.
class Spectral {
 public:
  /// Creates the exchanges among ranks and prepares the Fourier transforms of node fields. Collective. @throws UsageError for a
  /// library that this build lacks
  Spectral(comm::Transport& transport, const Decomposition& decomposition, const NodeLayout& layout,
           const std::string& library);

  /// Returns the pairs of wavenumbers whose columns solve() passes to the callback on this rank.
  [[nodiscard]] OwnWaves waves() const;
  /// Transforms `fields_in` fields at nodes to waves (sums, not scaled), calls `solve` on each column of waves, and transforms
  /// its `fields_out` fields back to nodes. Called by every rank; communicates along rows and columns of ranks.
  void solve(std::size_t fields_in, const Pack& pack, const Solve& solve, std::size_t fields_out, const Unpack& unpack);
  /// Computes spectral derivatives along x (axis 0) or y (1) of `fields` node fields. Called by every rank; communicates along
  /// that axis.
  void derivative(int axis, std::size_t fields, const Pack& pack, const Unpack& unpack);

 private:
  /// Lengths of the values of a column of nodes in the distributed transform, in doubles and in groups of kLanes.
  struct Lanes {
    std::size_t groups;  ///< number of groups of fft::kLanes doubles in a column
    std::size_t room;    ///< doubles of a column, with the padding that vectors may overwrite
    Cuts cuts;           ///< boundaries of the parts of the ranks of a row, in doubles
  };
  [[nodiscard]] Lanes lanes(std::size_t fields, const RowExchange& row) const;
  [[nodiscard]] Array4 waves_along(fft::Field& memory, std::size_t k, std::size_t l, std::size_t room) const;

  void forward_x(const Lanes& lanes, const Pack& pack);
  void inverse_x(const Lanes& lanes, const Unpack& unpack);
  void solve_columns(const Lanes& in, const Solve& solve, const Lanes& out);

  std::array<std::size_t, 3> cells_;  ///< number of cells of the whole grid
  std::array<std::size_t, 2> own_;    ///< number of cells of this rank in x and y
  std::array<double, 2> length_;
  RowExchange along_x_;
  RowExchange along_y_;
  Cuts cuts_x_;  ///< cells of the ranks along x
  Cuts cuts_y_;
  Cuts cuts_k_;  ///< waves in x, divided among the ranks along y
  Cuts cuts_l_;  ///< waves in y, divided among the ranks along x
  fft::RealRows rows_x_;
  fft::RealRows rows_y_;
  fft::ComplexRows waves_y_;
  fft::Field nodes_;   ///< node fields at own columns
  fft::Field pencil_;  ///< node fields whole in x or in y
  fft::Field wide_;    ///< Fourier coefficients of all waves in x
  fft::Field first_;   ///< Fourier coefficients of own waves, before the solve
  fft::Field second_;  ///< Fourier coefficients of own waves, after the solve
};

}  // namespace merganser::flow
