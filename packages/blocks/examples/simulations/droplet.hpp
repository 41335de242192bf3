#pragma once
/// Droplets whose interface moves through a grid of blocks (phase field, Allen-Cahn with a double obstacle). Only blocks
/// near the interface exist: they are created and removed by the ranks that see the need, over an announcement network,
/// and the result is that of a run on all cells, bit for bit.
///
/// The field is exactly 0 or 1 away from the interface, and the interface moves at most one cell per step. So what has no
/// block needs none, as long as a block is there when the interface arrives: it is proposed when the interface is
/// time_to_live + 2 cells away, and kept while it is within 2 * time_to_live + 2.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <merganser/blocks/block_ownership.hpp>

#include "halo.hpp"

namespace merganser::simulations {

struct DropletModel {
  std::vector<int> blocks{16, 8};  ///< along x and y; both periodic
  int edge = 16;                   ///< cells along a block
  double radius = 34;              ///< of both droplets, in cells
  double speed = 0.2;              ///< at which the droplets pass each other along x, cells per step
  double drift = 0.1;              ///< at which both move along y
  double growth = 0.005;           ///< of the interface outwards, cells per step, about

  [[nodiscard]] Plane plane() const;
  /// @throws UsageError for numbers that do not fit together
  void check() const;
};

/// The arithmetic of one cell, the same wherever it is done.
class DropletRule {
 public:
  explicit DropletRule(const DropletModel& model);
  [[nodiscard]] double start(std::int64_t x, std::int64_t y) const;
  struct Cross {
    double middle, left, right, below, above;
  };
  [[nodiscard]] double update(std::int64_t y, const Cross& c) const;
  /// A cell that is not as all cells around it, 0 or 1: what a block must cover.
  [[nodiscard]] static bool active(const Cross& c) {
    return (c.middle != 0 && c.middle != 1) || c.left != c.middle || c.right != c.middle || c.below != c.middle ||
           c.above != c.middle;
  }
  [[nodiscard]] const Plane& plane() const { return plane_; }

 private:
  DropletModel model_;
  Plane plane_;
};

/// The same on all cells of one rank: the oracle.
class WholeDroplet {
 public:
  explicit WholeDroplet(const DropletModel& model);
  void step();
  [[nodiscard]] const std::vector<double>& cells() const { return cells_; }
  [[nodiscard]] std::uint64_t digest() const;

 private:
  [[nodiscard]] DropletRule::Cross cross(std::int64_t x, std::int64_t y) const;
  DropletRule rule_;
  std::vector<double> cells_, next_;
};

/// The network and the distances that fit a model and a number of ranks: the Manhattan Street Network of the least
/// dimension that is fast enough for the blocks. Local. @throws UsageError if none is: larger blocks are needed
[[nodiscard]] std::unique_ptr<announce::Network> droplet_network(const DropletModel& model, int ranks);

/// The model on blocks that come and go. Used by every rank together.
class Droplet {
 public:
  /// Collective.
  Droplet(comm::Transport& transport, const DropletModel& model, blocks::BlockDirectory::Owner rule);
  /// One exchange of halos, one hop of announcements. No collective.
  /// @throws VerificationError if the interface reaches the edge of the blocks
  void step();

  /// Changes the last bit of a cell, as a fault would. For tests of what must find it.
  void disturb();

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] const blocks::BlockDirectory& directory() const { return ownership_->directory(); }
  [[nodiscard]] const announce::AnnouncementNetwork& network() const { return *network_; }
  [[nodiscard]] const blocks::BlockExchange& halos() const { return *halos_; }
  [[nodiscard]] const std::vector<std::int64_t>& blocks() const { return halos_->blocks(); }
  [[nodiscard]] const Field<double>& field(std::size_t local) const { return fields_[local]; }
  /// 0 or 1: what fills a position where no block is. Known on every rank.
  [[nodiscard]] double bulk(std::int64_t block) const { return bulk_[static_cast<std::size_t>(block)]; }
  /// Of the cells in blocks of this rank; on rank 0 also of those where no block is. Add up over ranks.
  [[nodiscard]] std::uint64_t digest() const;
  [[nodiscard]] std::int64_t cell_updates() const { return updates_; }

 private:
  void start(blocks::BlockDirectory::Owner rule);
  void place();
  void check_gone(std::int64_t block, const Field<double>& field) const;
  void exchange();
  void close_edges(std::size_t local);
  void advance();
  void look(std::size_t local);
  void decide();
  [[nodiscard]] DropletRule::Cross cross(std::size_t local, int x, int y) const;

  /// What the interface in a block is near to: per side, the distance of the nearest active cell from the neighbour.
  using Distances = std::vector<int>;

  comm::Transport& transport_;
  DropletModel model_;
  DropletRule rule_;
  std::unique_ptr<announce::AnnouncementNetwork> network_;
  std::optional<blocks::BlockOwnership> ownership_;
  std::optional<blocks::BlockExchange> halos_;
  int create_ = 0;  // distance at which a block is proposed
  int keep_ = 0;    // distance within which it is kept
  std::vector<Field<double>> fields_;
  std::vector<Distances> distances_;  // by block
  std::vector<std::uint8_t> wanted_;  // by block: some neighbour's interface is near
  std::vector<double> bulk_;          // by position
  std::int64_t steps_ = 0;
  std::int64_t updates_ = 0;
};

/// All cells, row by row, on every rank. Collective.
[[nodiscard]] std::vector<double> gather_cells(comm::Transport& transport, const Droplet& droplet, const Plane& plane);
/// Compares with the cells of a run on all cells; and that all ranks have the same directory and each block one holder.
/// Empty if all is equal, else the first difference, the same on every rank. Collective.
[[nodiscard]] std::string first_difference(comm::Transport& transport, const Droplet& droplet, const Plane& plane,
                                           const WholeDroplet& whole);

}  // namespace merganser::simulations
