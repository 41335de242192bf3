#pragma once
/// Cellular Potts model: biological cells that grow, move and push each other, on a lattice divided into blocks. The volume,
/// surface and centre of a cell are kept equal, by local exchange, in all blocks that hold a part of it.
///
/// Sites are updated in four colours (2 x 2), so that no two sites updated together touch; volumes and surfaces are
/// those from before the colour. Random numbers are functions of (seed, step, colour, site). So the result depends
/// neither on the number of ranks nor on how the lattice is divided, and equals one run on the whole lattice.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <merganser/blocks/local_exchange.hpp>

#include "halo.hpp"

namespace merganser::simulations {

/// Parameters of the cellular Potts simulation.
struct PottsModel {
  std::vector<int> blocks{5, 3};  ///< number along x and y; both axes are periodic
  int edge = 24;                  ///< lattice sites along the edge of a block
  int pitch = 10;                 ///< sites between the seeds of cells
  int volume = 64;                ///< target volume of a grown cell, in sites
  int reach = 8;  ///< a site farther than this from the centre of its cell along an axis becomes medium, in sites
  double temperature = 5;  ///< temperature of the fluctuations, in units of energy
  double stiffness = 1;    ///< energy coefficient of the volume
  double tension = 0.05;   ///< energy coefficient of the surface
  double pull = 6;         ///< energy coefficient of the direction in which a cell moves
  std::uint64_t seed = 1;  ///< seed of all random numbers

  /// Returns the plane of blocks that the Potts lattice is divided into.
  [[nodiscard]] Plane plane() const;
  /// Returns the number of biological cells at the start of the Potts simulation.
  [[nodiscard]] std::int64_t cells() const;
  /// Validates the parameters of the Potts simulation. @throws UsageError for numbers that do not fit together
  void check() const;
};

/// Properties of a whole biological cell of the Potts model, the values of the local exchange. Sums of coordinates are those of
/// its sites, unwrapped across the periodic faces of the plane.
struct Cell {
  std::int64_t volume = 0;   ///< number of lattice sites of the cell
  std::int64_t surface = 0;  ///< pairs of a site of the cell and one of its 8 neighbours that is not
  std::int64_t sum_x = 0;    ///< sum of the sites' x
  std::int64_t sum_y = 0;    ///< sum of the sites' y
  /// Adds the properties of a part of the cell, or a change of them.
  Cell& operator+=(const Cell& o);
  friend bool operator==(const Cell&, const Cell&) = default;
};
/// Number of additive values of a Potts cell in the local exchange.
inline constexpr std::size_t kCellValues = 4;

/// State of a site of the lattice: 0 is the medium, else the number of a cell.
using Site = std::int32_t;

/// Update rule of one lattice site of the Potts model, with the same bits wherever it is evaluated.
class PottsRule {
 public:
  using Lookup = std::function<Cell(Site)>;  ///< returns a cell's properties as they were before this colour

  explicit PottsRule(const PottsModel& model);
  /// Returns the initial state of lattice site (x, y): medium or the number of a cell.
  [[nodiscard]] Site initial_site(std::int64_t x, std::int64_t y) const;
  /// Returns the state of lattice site (x, y) after the update of its colour. @param around  the 3 x 3 sites about it, row by row
  [[nodiscard]] Site update(std::int64_t step, int colour, std::int64_t x, std::int64_t y,
                            const std::array<Site, 9>& around, const Lookup& cell) const;
  /// Signed changes of the properties of two cells when a lattice site passes from the one to the other.
  struct Change {
    Cell from, to;
  };
  /// Returns the changes of volume, surface and centre of both cells when the middle site of `around` becomes `to`.
  [[nodiscard]] Change change(std::int64_t x, std::int64_t y, const std::array<Site, 9>& around, Site to,
                              const Lookup& cell) const;
  /// Returns the contribution of a lattice site to the volume, surface and centre of its cell at the start.
  [[nodiscard]] Cell share(std::int64_t x, std::int64_t y, const std::array<Site, 9>& around) const;
  /// Returns the plane of blocks that the Potts lattice is divided into.
  [[nodiscard]] const Plane& plane() const { return plane_; }

 private:
  /// Returns the coordinates of a lattice site, unwrapped across periodic faces to be near the centre of a cell.
  [[nodiscard]] std::array<std::int64_t, 2> unwrap(std::int64_t x, std::int64_t y, const Cell& c) const;
  /// Returns true if a lattice site is within `reach` sites of the centre of a cell along both axes.
  [[nodiscard]] bool is_in_reach(std::int64_t x, std::int64_t y, const Cell& c) const;
  /// Returns the target volume of a cell in a time step, in sites: cells grow.
  [[nodiscard]] double target(Site cell, std::int64_t step) const;
  /// Returns the change of the Potts energy when the middle site of `around` becomes `to`, copied from side `from_side`.
  [[nodiscard]] double energy(std::int64_t step, const std::array<Site, 9>& around, Site to, int from_side,
                              const Lookup& cell) const;
  /// Returns the coordinates of the lattice site about which a cell begins.
  [[nodiscard]] std::array<std::int64_t, 2> cell_seed(Site cell) const;

  PottsModel model_;
  Plane plane_;
  std::int64_t columns_, rows_;
};

/// Cellular Potts simulation on blocks. Every function not marked "Local" is called by every rank.
class Potts {
 public:
  /// Creates the Potts lattice on this rank's blocks and the cells in the local exchange. Collective.
  Potts(comm::Transport& transport, const PottsModel& model, const blocks::BlockPlacement& placement);
  /// Makes one step of the Potts simulation: four colours, each with one exchange of halos and one of cells. Called by every
  /// rank; no collective call.
  void step();

  /// Removes a lattice site from a cell without reporting it to the local exchange, for tests of the comparison. Local.
  void disturb();

  /// Returns the number of steps of the Potts simulation made. Local.
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// Returns the numbers of the blocks that this rank holds, ascending. Local.
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const { return cells_.blocks(); }
  /// Returns the Potts lattice of block blocks()[local]. Local.
  [[nodiscard]] const Field<Site>& field(std::size_t local) const { return fields_[local]; }
  /// Returns a digest of this rank's lattice sites; digests of ranks are added up. Local.
  [[nodiscard]] std::uint64_t digest() const;
  /// Returns the properties of the Potts cells that block blocks()[local] holds parts of, by number. Local.
  [[nodiscard]] std::map<Site, Cell> stored_cells(std::size_t local) const;
  /// Returns the local exchange that keeps the properties of cells. Local.
  [[nodiscard]] const blocks::LocalExchange<std::int64_t>& exchange() const { return cells_; }
  /// Returns the exchange between blocks that fills ghost sites. Local.
  [[nodiscard]] const blocks::BlockExchange& halos() const { return halos_; }
  /// Returns the number of changes of lattice sites on this rank so far. Local.
  [[nodiscard]] std::int64_t flips() const { return flips_; }

 private:
  void begin();
  void colour(int colour);
  [[nodiscard]] std::array<Site, 9> around(std::size_t local, int x, int y) const;
  [[nodiscard]] Cell cell(std::size_t local, Site site) const;

  PottsModel model_;
  PottsRule rule_;
  blocks::BlockExchange halos_;
  blocks::LocalExchange<std::int64_t> cells_;
  std::vector<Field<Site>> fields_;
  std::vector<std::map<Site, std::int64_t>> parts_;  // by block: number of sites of each cell
  std::int64_t steps_ = 0;
  std::int64_t flips_ = 0;
};

/// Counts volume, surface and coordinates of the cells of a whole Potts lattice (row by row), with coordinates as they are in the
/// plane, not unwrapped. Local.
[[nodiscard]] std::map<Site, Cell> recount(const Plane& plane, const std::vector<Site>& lattice);

/// Cellular Potts simulation on the whole lattice, on one rank, with all cells recounted before each colour: the reference. Local.
class WholePotts {
 public:
  explicit WholePotts(const PottsModel& model);
  /// Makes one step of the Potts simulation on the whole lattice.
  void step();
  /// Returns the states of all lattice sites, row by row.
  [[nodiscard]] const std::vector<Site>& lattice() const { return lattice_; }
  /// Returns a digest of all lattice sites, equal to the sum of Potts::digest() over ranks.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  PottsRule rule_;
  std::vector<Site> lattice_;
  std::map<Site, Cell> cells_;
  std::int64_t steps_ = 0;
};

/// Gathers the whole Potts lattice, row by row, on every rank. Collective.
[[nodiscard]] std::vector<Site> gather_lattice(comm::Transport& transport, const Potts& potts, const Plane& plane);
/// Compares the properties that every block stores of its Potts cells with a recount of the whole lattice. Collective.
/// @return the first difference, the same on every rank; empty if there is none
[[nodiscard]] std::string first_difference(comm::Transport& transport, const Potts& potts, const Plane& plane);

}  // namespace merganser::simulations
