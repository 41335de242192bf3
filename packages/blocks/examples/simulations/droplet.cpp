// The droplet simulation on blocks: halo exchange, creation and removal of blocks over an announcement network.
#include "droplet.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include <merganser/base/error.hpp>
#include <merganser/comm/collectives.hpp>

namespace merganser::simulations {
namespace {

constexpr int kFar = std::numeric_limits<int>::max();

/// Returns the distance along one axis, in cells, from cell `at` of a block to the nearest cell of its neighbour at side -1, 0 or
/// 1.
int axis_distance(int at, int side, int edge) { return side == 0 ? 0 : (side < 0 ? at + 1 : edge - at); }

/// Returns the coordinate of the cell of a block that is nearest to its neighbour at side -1, 0 or 1.
int nearest_cell(int side, int edge) { return side < 0 ? 0 : (side > 0 ? edge - 1 : edge / 2); }

/// Returns the largest time to live that the blocks allow: an interface at one cell per step must not cross a block, with the
/// margin of two cells of Droplet::create_, before an announcement has reached every rank.
int max_time_to_live(const DropletModel& model) { return (model.edge - 2) / 2; }

/// Formats a value of the phase field in hexadecimal, every bit.
std::string hex(double x) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", x);
  return text;
}

}  // namespace

std::unique_ptr<announce::Network> droplet_network(const DropletModel& model, int ranks) {
  const int budget = max_time_to_live(model);
  if (const auto choice = announce::choose_dimension(ranks, std::max(1, budget)); choice && budget >= 1) {
    return announce::make_network("manhattan", ranks, choice->dimension);
  }
  throw UsageError("--edge " + std::to_string(model.edge) + ": the interface crosses a block before " +
                   std::to_string(ranks) +
                   " ranks can know of it, whatever the network; use longer edges or fewer ranks");
}

Droplet::Droplet(comm::Transport& transport, const DropletModel& model, blocks::BlockDirectory::Owner rule)
    : transport_(transport), model_(model), rule_(model) {
  network_ = std::make_unique<announce::AnnouncementNetwork>(transport, *droplet_network(model, transport.size()));
  create_ = network_->time_to_live() + 2;
  keep_ = 2 * network_->time_to_live() + 2;
  create_blocks(rule);
}

/// Computes the initial phase field on every rank, and creates the blocks that have the interface within keep_ cells.
void Droplet::create_blocks(blocks::BlockDirectory::Owner rule) {
  const Plane& p = rule_.plane();
  ownership_.emplace(*network_, p.grid, rule);
  const WholeDroplet whole(model_);
  const auto at = [&](std::int64_t x, std::int64_t y) {
    const std::int64_t w = p.width();
    const std::int64_t h = p.height();
    return whole.cells()[static_cast<std::size_t>((x % w + w) % w + w * ((y % h + h) % h))];
  };
  std::vector<std::int64_t> there;
  for (std::int64_t b = 0; b < p.grid.count(); ++b) {
    const std::int64_t x0 = std::int64_t{p.grid.index(b)[0]} * p.edge;
    const std::int64_t y0 = std::int64_t{p.grid.index(b)[1]} * p.edge;
    bool near = false;
    for (std::int64_t y = y0 - keep_; y < y0 + p.edge + keep_ && !near; ++y)
      for (std::int64_t x = x0 - keep_; x < x0 + p.edge + keep_ && !near; ++x)
        near = DropletRule::is_interface({at(x, y), at(x - 1, y), at(x + 1, y), at(x, y - 1), at(x, y + 1)});
    if (near) there.push_back(b);
    bulk_.push_back(at(x0, y0));
  }
  const auto ranks = static_cast<std::size_t>(transport_.size());
  for (std::size_t i = 0; i < there.size(); ++i)
    ownership_->directory().insert(there[i], static_cast<int>(i * ranks / there.size()));
  halos_.emplace(transport_, p.grid, ownership_->directory().placement(transport_.rank()), 1,
                 blocks::BlockExchange::Wiring::any_rank);
  for (const std::int64_t b : blocks()) {
    Field<double>& f = fields_.emplace_back(p.edge, 0.0);
    for (int y = 0; y < p.edge; ++y)
      for (int x = 0; x < p.edge; ++x) {
        const std::int64_t cell = p.cell(b, x, y);
        f.at(x, y) = whole.cells()[static_cast<std::size_t>(cell)];
      }
  }
  distances_.assign(fields_.size(), Distances(sides().size(), kFar));
  exchange();
  for (std::size_t i = 0; i < fields_.size(); ++i) measure_distances(i);
}

// Step of the droplets on blocks: ghost cells, update, distances of the interface, proposals and removals, one hop of
// announcements.
void Droplet::step() {
  exchange();
  advance();
  propose_and_remove();
  network_->step();
  const auto changes = ownership_->update();
  for (const auto& c : changes) bulk_[static_cast<std::size_t>(c.block)] = std::bit_cast<double>(c.value);
  if (!changes.empty()) update_placement();
  ++steps_;
}

/// Fills the ghost cells of this rank's blocks; with them every block sends a flag: its interface is within keep_ cells of the
/// receiver, which must then not be removed. Called by every rank.
void Droplet::exchange() {
  wanted_.assign(fields_.size(), 0);
  exchange_halos<double>(
      *halos_, fields_,
      [&](std::size_t i, std::size_t side) { return static_cast<std::uint8_t>(distances_[i][side] <= keep_ ? 1 : 0); },
      [&](std::size_t i, std::size_t, std::uint8_t wants) { wanted_[i] |= wants; });
  for (std::size_t i = 0; i < fields_.size(); ++i) close_edges(i);
}

/// Fills the ghosts of sides where no block is with the bulk value there. @throws VerificationError if the cells at that edge
/// differ from it
void Droplet::close_edges(std::size_t local) {
  Field<double>& f = fields_[local];
  const int n = f.edge();
  for (const auto& d : sides()) {
    const std::int64_t other = rule_.plane().grid.neighbour(blocks()[local], d);
    if ((d[0] != 0 && d[1] != 0) || ownership_->directory().exists(other)) continue;
    const double value = bulk(other);
    for (int k = 0; k < n; ++k) {
      const int x = d[0] == 0 ? k : nearest_cell(d[0], n);
      const int y = d[1] == 0 ? k : nearest_cell(d[1], n);
      if (f.at(x, y) != value) {
        throw VerificationError("step " + std::to_string(steps_) + ": the interface has reached the edge of block " +
                                rule_.plane().grid.name(blocks()[local]) + ", but there is no block " +
                                rule_.plane().grid.name(other));
      }
      f.at(x + d[0], y + d[1]) = value;
    }
  }
}

/// Returns the phase field of cell (x, y) of a block and its four neighbours; the ghost cells must be filled.
DropletRule::Cross Droplet::cross(std::size_t local, int x, int y) const {
  const Field<double>& f = fields_[local];
  return {f.at(x, y), f.at(x - 1, y), f.at(x + 1, y), f.at(x, y - 1), f.at(x, y + 1)};
}

/// Updates the phase field in all cells of this rank's blocks by one step, from filled ghost cells. Local.
void Droplet::advance() {
  const Plane& p = rule_.plane();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    measure_distances(i);
    Field<double> next(p.edge, 0.0);
    const std::int64_t y0 = std::int64_t{p.grid.index(blocks()[i])[1]} * p.edge;
    for (int y = 0; y < p.edge; ++y)
      for (int x = 0; x < p.edge; ++x) next.at(x, y) = rule_.update(y0 + y, cross(i, x, y));
    fields_[i] = std::move(next);
    updates_ += std::int64_t{p.edge} * p.edge;
  }
}

/// Measures the distances, in cells, of the droplets' interface in a block to its neighbouring positions. The ghosts must be
/// filled.
void Droplet::measure_distances(std::size_t local) {
  auto& out = distances_[local];
  out.assign(sides().size(), kFar);
  const int n = model_.edge;
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      if (!DropletRule::is_interface(cross(local, x, y))) continue;
      for (std::size_t s = 0; s < out.size(); ++s)
        out[s] = std::min(out[s], std::max(axis_distance(x, sides()[s][0], n), axis_distance(y, sides()[s][1], n)));
    }
}

/// Proposes missing neighbouring blocks that the interface comes near to, and removes blocks of this rank that no interface is
/// near.
void Droplet::propose_and_remove() {
  const auto& grid = rule_.plane().grid;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const std::int64_t block = blocks()[i];
    bool empty = true;
    for (std::size_t s = 0; s < sides().size(); ++s) {
      const int distance = distances_[i][s];
      empty = empty && distance == kFar;
      const std::int64_t other = grid.neighbour(block, sides()[s]);
      // The interface may have come one cell nearer since the distance was measured.
      if (distance - 1 > create_ || ownership_->directory().exists(other)) continue;
      ownership_->propose(other, block, std::bit_cast<std::uint64_t>(bulk(other)));
    }
    if (empty && wanted_[i] == 0 && !ownership_->is_leaving(block)) {
      ownership_->remove(block, std::bit_cast<std::uint64_t>(fields_[i].at(0, 0)));
    }
  }
}

/// Assigns the phase fields to this rank's blocks anew after the block directory has changed: keeps those of blocks still here,
/// fills new ones with bulk.
void Droplet::update_placement() {
  const auto before = blocks();
  auto fields = std::move(fields_);
  halos_->set_placement(ownership_->directory().placement(transport_.rank()));
  fields_.clear();
  for (const std::int64_t block : blocks()) {
    const auto found = std::lower_bound(before.begin(), before.end(), block);
    if (found != before.end() && *found == block) {
      fields_.push_back(std::move(fields[static_cast<std::size_t>(found - before.begin())]));
    } else {
      fields_.emplace_back(model_.edge, bulk(block));
    }
  }
  std::vector<Distances> distances(fields_.size(), Distances(sides().size(), kFar));
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto found = std::lower_bound(blocks().begin(), blocks().end(), before[i]);
    if (found != blocks().end() && *found == before[i]) {
      distances[static_cast<std::size_t>(found - blocks().begin())] = std::move(distances_[i]);
    } else {
      check_gone(before[i], fields[i]);
    }
  }
  distances_ = std::move(distances);
}

/// Validates that the phase field of a removed block is uniform, equal to the bulk value that every rank stores for its position.
void Droplet::check_gone(std::int64_t block, const Field<double>& field) const {
  for (int y = 0; y < model_.edge; ++y)
    for (int x = 0; x < model_.edge; ++x)
      if (field.at(x, y) != bulk(block)) {
        throw VerificationError("step " + std::to_string(steps_) + ": block " + rule_.plane().grid.name(block) +
                                " is removed with the interface in it");
      }
}

void Droplet::disturb() {
  for (auto& field : fields_)
    for (int y = 0; y < model_.edge; ++y)
      for (int x = 0; x < model_.edge; ++x) {
        double& cell = field.at(x, y);
        if (cell == 0 || cell == 1) continue;
        cell = std::nextafter(cell, 0.5);
        return;
      }
}

/// Positions without a block are counted by rank 0 alone, so that the sum over ranks counts every cell once.
std::uint64_t Droplet::digest() const {
  const Plane& p = rule_.plane();
  std::uint64_t sum = 0;
  const auto add = [&](std::int64_t block, const auto& value) {
    for (int y = 0; y < p.edge; ++y)
      for (int x = 0; x < p.edge; ++x) sum += cell_hash(p.cell(block, x, y), std::bit_cast<std::uint64_t>(value(x, y)));
  };
  for (std::size_t i = 0; i < fields_.size(); ++i) add(blocks()[i], [&](int x, int y) { return fields_[i].at(x, y); });
  for (std::int64_t b = 0; b < p.grid.count() && transport_.rank() == 0; ++b)
    if (!directory().exists(b)) add(b, [&](int, int) { return bulk(b); });
  return sum;
}

std::vector<double> gather_cells(comm::Transport& transport, const Droplet& droplet, const Plane& plane) {
  std::vector<double> cells(static_cast<std::size_t>(plane.width() * plane.height()));
  for (std::int64_t b = 0; b < plane.grid.count(); ++b)
    for (int y = 0; y < plane.edge; ++y)
      for (int x = 0; x < plane.edge; ++x) cells[static_cast<std::size_t>(plane.cell(b, x, y))] = droplet.bulk(b);
  std::vector<std::byte> mine;
  for (std::size_t i = 0; i < droplet.blocks().size(); ++i) {
    blocks::append(mine, droplet.blocks()[i]);
    for (int y = 0; y < plane.edge; ++y)
      for (int x = 0; x < plane.edge; ++x) blocks::append(mine, droplet.field(i).at(x, y));
  }
  for (auto rest : comm::all_gather(transport, mine)) {
    while (!rest.empty()) {
      const auto block = blocks::extract<std::int64_t>(rest);
      for (int y = 0; y < plane.edge; ++y)
        for (int x = 0; x < plane.edge; ++x)
          cells[static_cast<std::size_t>(plane.cell(block, x, y))] = blocks::extract<double>(rest);
    }
  }
  return cells;
}

std::string first_difference(comm::Transport& transport, const Droplet& droplet, const Plane& plane,
                             const WholeDroplet& whole) {
  // The directory of every rank (block, owner, generation), then the blocks that each holds.
  std::vector<std::int64_t> mine;
  for (const auto& [block, entry] : droplet.directory().all_blocks()) {
    mine.insert(mine.end(), {block, entry.owner, entry.generation});
  }
  const auto directories = comm::all_gather(transport, mine);
  for (std::size_t r = 1; r < directories.size(); ++r)
    if (!std::equal(directories[r].begin(), directories[r].end(), directories[0].begin(), directories[0].end()))
      return "ranks 0 and " + std::to_string(r) + " have different directories of blocks";
  std::vector<int> holders(static_cast<std::size_t>(plane.grid.count()));
  for (const auto blocks : comm::all_gather(transport, droplet.blocks()))
    for (const std::int64_t b : blocks) ++holders[static_cast<std::size_t>(b)];
  for (std::int64_t b = 0; b < plane.grid.count(); ++b) {
    const int expected = droplet.directory().exists(b) ? 1 : 0;
    if (const int n = holders[static_cast<std::size_t>(b)]; n != expected) {
      return "block " + plane.grid.name(b) + " is held by " + std::to_string(n) +
             " ranks; expected: " + std::to_string(expected);
    }
  }
  const auto cells = gather_cells(transport, droplet, plane);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (std::bit_cast<std::uint64_t>(cells[i]) == std::bit_cast<std::uint64_t>(whole.cells()[i])) continue;
    const auto at = static_cast<std::int64_t>(i);
    return "cell (" + std::to_string(at % plane.width()) + ", " + std::to_string(at / plane.width()) + ") is " +
           hex(cells[i]) + ", the run on all cells has " + hex(whole.cells()[i]);
  }
  return {};
}

}  // namespace merganser::simulations
