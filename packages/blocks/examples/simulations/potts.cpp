// The cellular Potts simulation on blocks, and its reference run on the whole lattice.
#include "potts.hpp"

#include <merganser/base/error.hpp>
#include <merganser/comm/collectives.hpp>

namespace merganser::simulations {
namespace {

std::array<std::int64_t, kCellValues> to_array(const Cell& c) { return {c.volume, c.surface, c.sum_x, c.sum_y}; }

/// Returns true if the lattice coordinates `a` and `b` are equal modulo n, the sites along a periodic axis.
bool is_congruent(std::int64_t a, std::int64_t b, std::int64_t n) { return (a - b) % n == 0; }

/// Formats the properties of a Potts cell for the description of a difference.
std::string describe_cell(const Cell& c) {
  return "volume " + std::to_string(c.volume) + ", surface " + std::to_string(c.surface);
}

}  // namespace

Potts::Potts(comm::Transport& transport, const PottsModel& model, const blocks::BlockPlacement& placement)
    : model_(model),
      rule_(model),
      halos_(transport, model.plane().grid, placement, 1),
      cells_(transport, model.plane().grid, placement, kCellValues) {
  for (const std::int64_t block : blocks()) {
    Field<Site>& f = fields_.emplace_back(model.edge, 0);
    for (int y = 0; y < model.edge; ++y)
      for (int x = 0; x < model.edge; ++x) {
        const std::int64_t cell = rule_.plane().cell(block, x, y);
        f.at(x, y) = rule_.initial_site(cell % rule_.plane().width(), cell / rule_.plane().width());
      }
  }
  exchange_halos(halos_, fields_);
  begin();
}

/// Counts the parts of the Potts cells in this rank's blocks, and creates the cells in the local exchange. Called by every rank.
void Potts::begin() {
  parts_.resize(fields_.size());
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    std::map<Site, Cell> shares;
    for (int y = 0; y < model_.edge; ++y)
      for (int x = 0; x < model_.edge; ++x) {
        const Site site = fields_[i].at(x, y);
        if (site == 0) continue;
        const std::int64_t cell = rule_.plane().cell(blocks()[i], x, y);
        shares[site] += rule_.share(cell % rule_.plane().width(), cell / rule_.plane().width(), around(i, x, y));
      }
    for (const auto& [site, share] : shares) {
      parts_[i][site] = share.volume;
      cells_.create(i, static_cast<std::uint64_t>(site), to_array(share));
    }
  }
  cells_.step();
}

/// Returns the 3 x 3 lattice sites about (x, y) of a block, row by row; ghost sites must be filled.
std::array<Site, 9> Potts::around(std::size_t local, int x, int y) const {
  std::array<Site, 9> out{};
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      out[static_cast<std::size_t>((dy + 1) * 3 + dx + 1)] = fields_[local].at(x + dx, y + dy);
  return out;
}

Cell Potts::cell(std::size_t local, Site site) const {
  const auto v = cells_.values(local, static_cast<std::uint64_t>(site));
  return {v[0], v[1], v[2], v[3]};
}

void Potts::step() {
  for (int c = 0; c < 4; ++c) colour(c);
  ++steps_;
}

/// Updates the lattice sites of one colour in this rank's blocks and exchanges the changes of cells. Called by every rank. Sites
/// of a colour do not touch, so their order does not matter.
void Potts::colour(int colour) {
  const std::int64_t width = rule_.plane().width();
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const PottsRule::Lookup lookup = [&](Site site) { return cell(i, site); };
    std::map<Site, Cell> changes;
    for (int y = colour / 2; y < model_.edge; y += 2)
      for (int x = colour % 2; x < model_.edge; x += 2) {
        const auto near = around(i, x, y);
        const std::int64_t at = rule_.plane().cell(blocks()[i], x, y);
        const Site to = rule_.update(steps_, colour, at % width, at / width, near, lookup);
        if (to == near[4]) continue;
        const auto change = rule_.change(at % width, at / width, near, to, lookup);
        if (near[4] != 0) changes[near[4]] += change.from;
        if (to != 0) changes[to] += change.to;
        if (near[4] != 0) --parts_[i][near[4]];
        if (to != 0) ++parts_[i][to];
        fields_[i].at(x, y) = to;
        ++flips_;
      }
    for (const auto& [site, change] : changes) {
      const bool holds = parts_[i][site] > 0;
      cells_.report(i, static_cast<std::uint64_t>(site), to_array(change), holds);
      if (!holds) parts_[i].erase(site);
    }
  }
  cells_.step();
  exchange_halos(halos_, fields_);
}

void Potts::disturb() {
  for (auto& field : fields_)
    for (int y = 0; y < model_.edge; ++y)
      for (int x = 0; x < model_.edge; ++x) {
        if (field.at(x, y) == 0) continue;
        field.at(x, y) = 0;
        return;
      }
}

std::uint64_t Potts::digest() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < fields_.size(); ++i)
    for (int y = 0; y < model_.edge; ++y)
      for (int x = 0; x < model_.edge; ++x)
        sum += cell_hash(rule_.plane().cell(blocks()[i], x, y), static_cast<std::uint64_t>(fields_[i].at(x, y)));
  return sum;
}

std::map<Site, Cell> Potts::stored_cells(std::size_t local) const {
  std::map<Site, Cell> out;
  for (const std::uint64_t key : cells_.held_keys(local))
    out[static_cast<Site>(key)] = cell(local, static_cast<Site>(key));
  return out;
}

namespace {

/// Returns the 3 x 3 sites about (x, y) of the whole periodic Potts lattice, row by row.
std::array<Site, 9> around_whole(const Plane& plane, const std::vector<Site>& lattice, std::int64_t x, std::int64_t y) {
  std::array<Site, 9> out{};
  const std::int64_t w = plane.width();
  const std::int64_t h = plane.height();
  for (std::int64_t dy = -1; dy <= 1; ++dy)
    for (std::int64_t dx = -1; dx <= 1; ++dx)
      out[static_cast<std::size_t>((dy + 1) * 3 + dx + 1)] =
          lattice[static_cast<std::size_t>((x + dx + w) % w + w * ((y + dy + h) % h))];
  return out;
}

}  // namespace

std::map<Site, Cell> recount(const Plane& plane, const std::vector<Site>& lattice) {
  std::map<Site, Cell> out;
  for (std::int64_t y = 0; y < plane.height(); ++y)
    for (std::int64_t x = 0; x < plane.width(); ++x) {
      const auto near = around_whole(plane, lattice, x, y);
      if (near[4] == 0) continue;
      std::int64_t surface = 0;
      for (const Site n : near) surface += n != near[4] ? 1 : 0;
      out[near[4]] += {1, surface, x, y};
    }
  return out;
}

WholePotts::WholePotts(const PottsModel& model) : rule_(model) {
  const Plane& p = rule_.plane();
  lattice_.resize(static_cast<std::size_t>(p.width() * p.height()));
  for (std::size_t i = 0; i < lattice_.size(); ++i)
    lattice_[i] =
        rule_.initial_site(static_cast<std::int64_t>(i) % p.width(), static_cast<std::int64_t>(i) / p.width());
  for (std::int64_t y = 0; y < p.height(); ++y)
    for (std::int64_t x = 0; x < p.width(); ++x) {
      const auto near = around_whole(p, lattice_, x, y);
      if (near[4] != 0) cells_[near[4]] += rule_.share(x, y, near);
    }
}

void WholePotts::step() {
  const Plane& p = rule_.plane();
  for (int colour = 0; colour < 4; ++colour) {
    const auto counted = recount(p, lattice_);
    for (auto& [site, cell] : cells_) {
      const auto found = counted.find(site);
      cell.volume = found == counted.end() ? 0 : found->second.volume;
      cell.surface = found == counted.end() ? 0 : found->second.surface;
    }
    const auto before = cells_;
    const PottsRule::Lookup lookup = [&](Site site) { return before.at(site); };
    for (std::int64_t y = colour / 2; y < p.height(); y += 2)
      for (std::int64_t x = colour % 2; x < p.width(); x += 2) {
        const auto near = around_whole(p, lattice_, x, y);
        const Site to = rule_.update(steps_, colour, x, y, near, lookup);
        if (to == near[4]) continue;
        const auto change = rule_.change(x, y, near, to, lookup);
        if (near[4] != 0) cells_[near[4]] += change.from;
        if (to != 0) cells_[to] += change.to;
        lattice_[static_cast<std::size_t>(x + p.width() * y)] = to;
      }
  }
  ++steps_;
}

std::uint64_t WholePotts::digest() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < lattice_.size(); ++i)
    sum += cell_hash(static_cast<std::int64_t>(i), static_cast<std::uint64_t>(lattice_[i]));
  return sum;
}

std::vector<Site> gather_lattice(comm::Transport& transport, const Potts& potts, const Plane& plane) {
  std::vector<std::byte> mine;
  for (std::size_t i = 0; i < potts.blocks().size(); ++i)
    for (int y = 0; y < plane.edge; ++y)
      for (int x = 0; x < plane.edge; ++x) {
        blocks::append(mine, plane.cell(potts.blocks()[i], x, y));
        blocks::append(mine, potts.field(i).at(x, y));
      }
  std::vector<Site> lattice(static_cast<std::size_t>(plane.width() * plane.height()), -1);
  for (auto rest : comm::all_gather(transport, mine)) {
    while (!rest.empty()) {
      const auto cell = blocks::extract<std::int64_t>(rest);
      lattice.at(static_cast<std::size_t>(cell)) = blocks::extract<Site>(rest);
    }
  }
  return lattice;
}

std::string first_difference(comm::Transport& transport, const Potts& potts, const Plane& plane) {
  const auto lattice = gather_lattice(transport, potts, plane);
  const auto counted = recount(plane, lattice);
  std::string mine;
  for (std::size_t i = 0; i < potts.blocks().size() && mine.empty(); ++i) {
    const std::int64_t block = potts.blocks()[i];
    const std::string where = "block " + plane.grid.name(block) + ", cell ";
    const auto known = potts.stored_cells(i);
    for (int y = 0; y < plane.edge; ++y)
      for (int x = 0; x < plane.edge; ++x) {
        const Site site = lattice[static_cast<std::size_t>(plane.cell(block, x, y))];
        if (site != 0 && !known.contains(site) && mine.empty()) {
          mine = where + std::to_string(site) + ": has a site there, but is not known";
        }
      }
    for (const auto& [site, cell] : known) {
      const auto found = counted.find(site);
      const Cell truth = found == counted.end() ? Cell{} : found->second;
      if (cell.volume == truth.volume && cell.surface == truth.surface &&
          is_congruent(cell.sum_x, truth.sum_x, plane.width()) &&
          is_congruent(cell.sum_y, truth.sum_y, plane.height())) {
        continue;
      }
      mine = where + std::to_string(site) + ": " + describe_cell(cell) +
             " by local exchange; counted: " + describe_cell(truth);
      break;
    }
  }
  for (const auto theirs : comm::all_gather(transport, mine))
    if (!theirs.empty()) return {theirs.begin(), theirs.end()};
  return {};
}

}  // namespace merganser::simulations
