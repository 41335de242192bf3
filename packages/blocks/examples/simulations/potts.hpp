#pragma once
/// Cellular Potts model: biological cells that grow, move and push each other, on a lattice cut into blocks. The volume,
/// surface and centre of a cell are kept in all blocks that hold a part of it by local exchange.
///
/// Sites are updated in four colours (2 x 2), so that no two sites updated together touch; volumes and surfaces are
/// those from before the colour. Random numbers are functions of (seed, step, colour, site). So the result depends
/// neither on the number of ranks nor on how the lattice is cut, and equals one run on the whole lattice.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <merganser/blocks/local_exchange.hpp>

#include "halo.hpp"

namespace merganser::simulations {

struct PottsModel {
  std::vector<int> blocks{5, 3};  ///< along x and y; both periodic
  int edge = 24;                  ///< sites along a block
  int pitch = 10;                 ///< sites between the seeds of cells
  int volume = 64;                ///< target of a grown cell, in sites
  int reach = 8;                  ///< a site farther than this from the centre of its cell is lost
  double temperature = 5;
  double stiffness = 1;   ///< of the volume
  double tension = 0.05;  ///< of the surface
  double pull = 6;        ///< of the direction in which a cell moves
  std::uint64_t seed = 1;

  [[nodiscard]] Plane plane() const;
  [[nodiscard]] std::int64_t cells() const;
  /// @throws UsageError for numbers that do not fit together
  void check() const;
};

/// What a cell is as a whole. Sums of coordinates are of sites laid out without wrapping around the plane.
struct Cell {
  std::int64_t volume = 0;
  std::int64_t surface = 0;  ///< pairs of a site of the cell and one of its 8 neighbours that is not
  std::int64_t sum_x = 0;
  std::int64_t sum_y = 0;
  Cell& operator+=(const Cell& o);
  friend bool operator==(const Cell&, const Cell&) = default;
};
inline constexpr std::size_t kCellValues = 4;

/// A number of the lattice: 0 is the medium, else a cell.
using Site = std::int32_t;

/// The rule for one site.
class PottsRule {
 public:
  using Lookup = std::function<Cell(Site)>;  ///< a cell as it was before this colour

  explicit PottsRule(const PottsModel& model);
  /// Cell at a site of the start.
  [[nodiscard]] Site start(std::int64_t x, std::int64_t y) const;
  /// What stands at site (x, y) after this colour. `around`: the 3 x 3 sites about it, row by row.
  [[nodiscard]] Site update(std::int64_t step, int colour, std::int64_t x, std::int64_t y,
                            const std::array<Site, 9>& around, const Lookup& cell) const;
  /// What the cells lose and gain when the middle of `around` becomes `to`.
  struct Change {
    Cell from, to;
  };
  [[nodiscard]] Change change(std::int64_t x, std::int64_t y, const std::array<Site, 9>& around, Site to,
                              const Lookup& cell) const;
  /// A site's share in a cell at the start.
  [[nodiscard]] Cell share(std::int64_t x, std::int64_t y, const std::array<Site, 9>& around) const;
  [[nodiscard]] const Plane& plane() const { return plane_; }

 private:
  /// Coordinates of a site in the layout of a cell.
  [[nodiscard]] std::array<std::int64_t, 2> lay_out(std::int64_t x, std::int64_t y, const Cell& c) const;
  [[nodiscard]] bool in_reach(std::int64_t x, std::int64_t y, const Cell& c) const;
  [[nodiscard]] double target(Site cell, std::int64_t step) const;
  [[nodiscard]] double energy(std::int64_t step, const std::array<Site, 9>& around, Site to, int from_side,
                              const Lookup& cell) const;
  [[nodiscard]] std::array<std::int64_t, 2> seed_of(Site cell) const;

  PottsModel model_;
  Plane plane_;
  std::int64_t columns_, rows_;
};

/// The model on blocks. Used by every rank together.
class Potts {
 public:
  /// Collective.
  Potts(comm::Transport& transport, const PottsModel& model, const blocks::BlockPlacement& placement);
  /// Four colours, each with one exchange of halos and one of cells. No collective.
  void step();

  /// Loses a site without telling anybody, as a fault would. For tests of what must find it.
  void disturb();

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const { return cells_.blocks(); }
  [[nodiscard]] const Field<Site>& field(std::size_t local) const { return fields_[local]; }
  [[nodiscard]] std::uint64_t digest() const;  ///< add up over ranks
  /// What this rank knows of the cells in a block.
  [[nodiscard]] std::map<Site, Cell> known(std::size_t local) const;
  [[nodiscard]] const blocks::LocalExchange<std::int64_t>& exchange() const { return cells_; }
  [[nodiscard]] const blocks::BlockExchange& halos() const { return halos_; }
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
  std::vector<std::map<Site, std::int64_t>> parts_;  // by block: sites of each cell
  std::int64_t steps_ = 0;
  std::int64_t flips_ = 0;
};

/// Cells counted on a whole lattice (row by row); coordinates as they are in the plane.
[[nodiscard]] std::map<Site, Cell> recount(const Plane& plane, const std::vector<Site>& lattice);

/// The same model on the whole lattice of one rank, everything counted anew before each colour: the oracle.
class WholePotts {
 public:
  explicit WholePotts(const PottsModel& model);
  void step();
  [[nodiscard]] const std::vector<Site>& lattice() const { return lattice_; }
  [[nodiscard]] std::uint64_t digest() const;

 private:
  PottsRule rule_;
  std::vector<Site> lattice_;
  std::map<Site, Cell> cells_;
  std::int64_t steps_ = 0;
};

/// The whole lattice, on every rank. Collective.
[[nodiscard]] std::vector<Site> gather_lattice(comm::Transport& transport, const Potts& potts, const Plane& plane);
/// Compares what every block knows of its cells with a recount of the whole lattice; empty if all is equal, else the
/// first difference, the same on every rank. Collective.
[[nodiscard]] std::string first_difference(comm::Transport& transport, const Potts& potts, const Plane& plane);

}  // namespace merganser::simulations
