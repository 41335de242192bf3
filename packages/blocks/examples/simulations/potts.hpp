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

/// Parameters of the Potts simulation.
struct PottsModel {
  std::vector<int> blocks{5, 3};  ///< number along x and y; both axes are periodic
  int edge = 24;                  ///< sites along a block
  int pitch = 10;                 ///< sites between the seeds of cells
  int volume = 64;                ///< target volume of a grown cell, in sites
  int reach = 8;  ///< a site farther than this from the centre of its cell along an axis becomes medium, in sites
  double temperature = 5;  ///< temperature of the fluctuations, in units of energy
  double stiffness = 1;    ///< energy coefficient of the volume
  double tension = 0.05;   ///< energy coefficient of the surface
  double pull = 6;         ///< energy coefficient of the direction in which a cell moves
  std::uint64_t seed = 1;  ///< seed of all random numbers

  /// Returns the plane of blocks.
  [[nodiscard]] Plane plane() const;
  /// Returns the number of cells at the start.
  [[nodiscard]] std::int64_t cells() const;
  /// Checks the parameters. @throws UsageError for numbers that do not fit together
  void check() const;
};

/// Properties of a whole cell. Sums of coordinates are those of its sites, unwrapped across the periodic faces of the plane.
struct Cell {
  std::int64_t volume = 0;
  std::int64_t surface = 0;  ///< pairs of a site of the cell and one of its 8 neighbours that is not
  std::int64_t sum_x = 0;
  std::int64_t sum_y = 0;
  /// Adds the properties of a part, or a change of them.
  Cell& operator+=(const Cell& o);
  friend bool operator==(const Cell&, const Cell&) = default;
};
/// Number of additive values of a cell in the exchange.
inline constexpr std::size_t kCellValues = 4;

/// State of a site of the lattice: 0 is the medium, else the number of a cell.
using Site = std::int32_t;

/// Update rule of one site, with the same bits wherever it is evaluated.
class PottsRule {
 public:
  using Lookup = std::function<Cell(Site)>;  ///< returns a cell as it was before this colour

  explicit PottsRule(const PottsModel& model);
  /// Returns the initial state of site (x, y).
  [[nodiscard]] Site initial_site(std::int64_t x, std::int64_t y) const;
  /// Returns the state of site (x, y) after this colour. @param around  the 3 x 3 sites about it, row by row
  [[nodiscard]] Site update(std::int64_t step, int colour, std::int64_t x, std::int64_t y,
                            const std::array<Site, 9>& around, const Lookup& cell) const;
  /// Signed changes of two cells when a site passes from the one to the other.
  struct Change {
    Cell from, to;
  };
  /// Returns the changes of both cells when the middle of `around` becomes `to`.
  [[nodiscard]] Change change(std::int64_t x, std::int64_t y, const std::array<Site, 9>& around, Site to,
                              const Lookup& cell) const;
  /// Returns the contribution of a site to its cell at the start.
  [[nodiscard]] Cell share(std::int64_t x, std::int64_t y, const std::array<Site, 9>& around) const;
  [[nodiscard]] const Plane& plane() const { return plane_; }

 private:
  /// Returns the coordinates of a site, unwrapped to be near the centre of a cell.
  [[nodiscard]] std::array<std::int64_t, 2> unwrap(std::int64_t x, std::int64_t y, const Cell& c) const;
  /// Returns true if a site is within `reach` of the centre of a cell along both axes.
  [[nodiscard]] bool is_in_reach(std::int64_t x, std::int64_t y, const Cell& c) const;
  /// Returns the target volume of a cell in a step.
  [[nodiscard]] double target(Site cell, std::int64_t step) const;
  /// Returns the change of energy when the middle of `around` becomes `to`, copied from side `from_side`.
  [[nodiscard]] double energy(std::int64_t step, const std::array<Site, 9>& around, Site to, int from_side,
                              const Lookup& cell) const;
  /// Returns the site at which a cell begins.
  [[nodiscard]] std::array<std::int64_t, 2> cell_seed(Site cell) const;

  PottsModel model_;
  Plane plane_;
  std::int64_t columns_, rows_;
};

/// The Potts simulation on blocks. Every function not marked "Local" is called by every rank.
class Potts {
 public:
  /// Creates lattice and cells. Collective.
  Potts(comm::Transport& transport, const PottsModel& model, const blocks::BlockPlacement& placement);
  /// Makes one step: four colours, each with one exchange of halos and one of cells. Called by every rank; no collective call.
  void step();

  /// Removes a site from a cell without reporting it, for tests of the comparison. Local.
  void disturb();

  /// Returns the number of steps made. Local.
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// Returns the blocks of this rank, ascending. Local.
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const { return cells_.blocks(); }
  /// Returns the lattice of block blocks()[local]. Local.
  [[nodiscard]] const Field<Site>& field(std::size_t local) const { return fields_[local]; }
  /// Returns a digest of this rank's sites; digests of ranks are added up. Local.
  [[nodiscard]] std::uint64_t digest() const;
  /// Returns the cells that block blocks()[local] holds parts of. Local.
  [[nodiscard]] std::map<Site, Cell> stored_cells(std::size_t local) const;
  /// Returns the exchange of cells. Local.
  [[nodiscard]] const blocks::LocalExchange<std::int64_t>& exchange() const { return cells_; }
  /// Returns the exchange of halos. Local.
  [[nodiscard]] const blocks::BlockExchange& halos() const { return halos_; }
  /// Returns the number of sites changed on this rank so far. Local.
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

/// Counts the cells of a whole lattice (row by row), with coordinates as they are in the plane, not unwrapped. Local.
[[nodiscard]] std::map<Site, Cell> recount(const Plane& plane, const std::vector<Site>& lattice);

/// The Potts simulation on the whole lattice, on one rank, with all cells recounted before each colour: the reference. Local.
class WholePotts {
 public:
  explicit WholePotts(const PottsModel& model);
  /// Makes one step.
  void step();
  [[nodiscard]] const std::vector<Site>& lattice() const { return lattice_; }
  /// Returns a digest of all sites, equal to the sum of Potts::digest() over ranks.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  PottsRule rule_;
  std::vector<Site> lattice_;
  std::map<Site, Cell> cells_;
  std::int64_t steps_ = 0;
};

/// Returns the whole lattice, row by row, on every rank. Collective.
[[nodiscard]] std::vector<Site> gather_lattice(comm::Transport& transport, const Potts& potts, const Plane& plane);
/// Compares the properties that every block stores of its cells with a recount of the whole lattice. Collective.
/// @return the first difference, the same on every rank; empty if there is none
[[nodiscard]] std::string first_difference(comm::Transport& transport, const Potts& potts, const Plane& plane);

}  // namespace merganser::simulations
