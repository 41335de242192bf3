#pragma once
/// Droplets whose interface moves through a grid of blocks (phase field, Allen-Cahn with a double obstacle). Only blocks
/// near the interface exist: they are created and removed by the ranks that hold it, over an announcement network, and the
/// result is that of a run on all cells, bit for bit.
///
/// The field is exactly 0 or 1 away from the interface, and the interface moves at most one cell per step. So a position
/// without interface needs no block, as long as one exists when the interface arrives: it is proposed when the interface is
/// time_to_live + 2 cells away, and kept while the interface is within 2 * time_to_live + 2.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <merganser/blocks/block_ownership.hpp>

#include "halo.hpp"

namespace merganser::simulations {

/// Parameters of the droplet simulation.
struct DropletModel {
  std::vector<int> blocks{16, 8};  ///< number along x and y; both axes are periodic
  int edge = 16;                   ///< cells along the edge of a block
  double radius = 34;              ///< radius of both droplets, in cells
  double speed = 0.2;              ///< speed at which the droplets pass each other along x, cells per step
  double drift = 0.1;              ///< speed at which both move along y, cells per step
  double growth = 0.005;           ///< speed of the interface outwards, cells per step, about

  /// Returns the plane of blocks that the droplets move in.
  [[nodiscard]] Plane plane() const;
  /// Validates the parameters of the droplet simulation. @throws UsageError for numbers that do not fit together
  void check() const;
};

/// Update rule of the phase field of the droplets in one cell, with the same bits wherever it is evaluated.
class DropletRule {
 public:
  explicit DropletRule(const DropletModel& model);
  /// Returns the initial value of the droplets' phase field in cell (x, y) of the plane, in [0, 1].
  [[nodiscard]] double initial_value(std::int64_t x, std::int64_t y) const;
  /// Phase field in a cell and its four neighbours, in [0, 1].
  struct Cross {
    double middle, left, right, below, above;
  };
  /// Returns the phase field of a cell in row y of the plane after one step, in [0, 1].
  [[nodiscard]] double update(std::int64_t y, const Cross& c) const;
  /// Returns true if a cell is part of the interface of a droplet: not 0 or 1, or different from a neighbour. Blocks must cover it.
  [[nodiscard]] static bool is_interface(const Cross& c) {
    return (c.middle != 0 && c.middle != 1) || c.left != c.middle || c.right != c.middle || c.below != c.middle ||
           c.above != c.middle;
  }
  /// Returns the plane of blocks that the droplets move in.
  [[nodiscard]] const Plane& plane() const { return plane_; }

 private:
  DropletModel model_;
  Plane plane_;
};

/// Droplet simulation on all cells of the plane, on one rank: the reference that runs on blocks are compared with. Local.
class WholeDroplet {
 public:
  explicit WholeDroplet(const DropletModel& model);
  /// Makes one step of the droplet simulation on all cells.
  void step();
  /// Returns the phase field of all cells of the plane, row by row.
  [[nodiscard]] const std::vector<double>& cells() const { return cells_; }
  /// Returns a digest of the phase field in all cells, equal to the sum of Droplet::digest() over ranks.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  [[nodiscard]] DropletRule::Cross cross(std::int64_t x, std::int64_t y) const;
  DropletRule rule_;
  std::vector<double> cells_, next_;
};

/// Returns the Manhattan Street Network of the least dimension whose time to live fits the blocks of a model, for a number of
/// ranks. Local. @throws UsageError if there is none: larger blocks are needed
[[nodiscard]] std::unique_ptr<announce::Network> droplet_network(const DropletModel& model, int ranks);

/// Droplet simulation on blocks that are created and removed. Every function not marked "Local" is called by every rank.
class Droplet {
 public:
  /// Creates the announcement network, the blocks near the interfaces of the droplets and their phase fields. Collective.
  Droplet(comm::Transport& transport, const DropletModel& model, blocks::BlockDirectory::Owner rule);
  /// Makes one step of the droplet simulation: one exchange of halos, one hop of announcements. Called by every rank; no
  /// collective call.
  /// @throws VerificationError if the interface reaches the edge of the blocks
  void step();

  /// Changes the last bit of the phase field in one cell of this rank, for tests of the comparison with WholeDroplet. Local.
  void disturb();

  /// Returns the number of time steps of the droplet simulation made. Local.
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// Returns this rank's copy of the directory of existing blocks. Local.
  [[nodiscard]] const blocks::BlockDirectory& directory() const { return ownership_->directory(); }
  /// Returns the network that blocks are announced over. Local.
  [[nodiscard]] const announce::AnnouncementNetwork& network() const { return *network_; }
  /// Returns the exchange between blocks that fills ghost cells. Local.
  [[nodiscard]] const blocks::BlockExchange& halos() const { return *halos_; }
  /// Returns the numbers of the blocks that this rank holds, ascending. Local.
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const { return halos_->blocks(); }
  /// Returns the phase field of block blocks()[local]. Local.
  [[nodiscard]] const Field<double>& field(std::size_t local) const { return fields_[local]; }
  /// Returns the phase field, 0 or 1, of all cells at a position without a block; the same on every rank. Local.
  [[nodiscard]] double bulk(std::int64_t block) const { return bulk_[static_cast<std::size_t>(block)]; }
  /// Returns a digest of the phase field in the cells of this rank's blocks; on rank 0 also of positions without a block. Digests
  /// of ranks are added up. Local.
  [[nodiscard]] std::uint64_t digest() const;
  /// Returns the number of updates of cells on this rank so far. Local.
  [[nodiscard]] std::int64_t cell_updates() const { return updates_; }

 private:
  void create_blocks(blocks::BlockDirectory::Owner rule);
  void update_placement();
  void check_gone(std::int64_t block, const Field<double>& field) const;
  void exchange();
  void close_edges(std::size_t local);
  void advance();
  void measure_distances(std::size_t local);
  void propose_and_remove();
  [[nodiscard]] DropletRule::Cross cross(std::size_t local, int x, int y) const;

  /// Per side of a block, the distance in cells of the nearest cell of the interface from the neighbour there.
  using Distances = std::vector<int>;

  comm::Transport& transport_;
  DropletModel model_;
  DropletRule rule_;
  std::unique_ptr<announce::AnnouncementNetwork> network_;
  std::optional<blocks::BlockOwnership> ownership_;
  std::optional<blocks::BlockExchange> halos_;
  int create_ = 0;  // distance within which a block is proposed, in cells
  int keep_ = 0;    // distance within which a block is kept, in cells
  std::vector<Field<double>> fields_;
  std::vector<Distances> distances_;  // by block
  std::vector<std::uint8_t> wanted_;  // by block: 1 if a neighbour's interface is near
  std::vector<double> bulk_;          // by position
  std::int64_t steps_ = 0;
  std::int64_t updates_ = 0;
};

/// Returns all cells of the plane, row by row, on every rank. Collective.
[[nodiscard]] std::vector<double> gather_cells(comm::Transport& transport, const Droplet& droplet, const Plane& plane);
/// Compares the blocks with a run on all cells; checks that all ranks have the same directory, and each block one holder.
/// Collective. @return the first difference, the same on every rank; empty if there is none
[[nodiscard]] std::string first_difference(comm::Transport& transport, const Droplet& droplet, const Plane& plane,
                                           const WholeDroplet& whole);

}  // namespace merganser::simulations
