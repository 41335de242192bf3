// The Potts simulation: update rule of one site, and checks of its parameters.
#include <algorithm>
#include <cmath>

#include <merganser/base/error.hpp>
#include <merganser/base/random.hpp>

#include "potts.hpp"

namespace merganser::simulations {
namespace {

constexpr std::int64_t kStartRadius = 2;  // cells begin as 5 x 5 sites
constexpr std::int64_t kEpoch = 25;       // steps for which a cell keeps its direction of motion
constexpr double kMediumContact = 2;      // energy of a pair of neighbouring sites, one of them medium
constexpr double kCellContact = 3;

// Streams of random numbers for cells, disjoint from those of sites, which are numbered 4 step + colour.
constexpr std::uint64_t kSeeds = std::uint64_t{1} << 62;
constexpr std::uint64_t kGrowth = kSeeds + 1;
constexpr std::uint64_t kDirections = kSeeds + 2;

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
std::int64_t wrap(std::int64_t x, std::int64_t n) { return x - n * floor_div(x, n); }
/// Returns the representative of a lattice distance x modulo n, the sites along a periodic axis, that is nearest to 0.
std::int64_t centred_modulo(std::int64_t x, std::int64_t n) { return wrap(x + n / 2, n) - n / 2; }

double contact_energy(Site a, Site b) { return a == b ? 0 : (a == 0 || b == 0 ? kMediumContact : kCellContact); }

double squared(double x) { return x * x; }

/// Counts the sites of a Potts cell among the 8 around the middle of 3 x 3 lattice sites.
int count(const std::array<Site, 9>& around, Site cell) {
  return static_cast<int>(std::count(around.begin(), around.end(), cell)) - (around[4] == cell ? 1 : 0);
}

/// Indices, in the 3 x 3 sites, of the 8 around the middle.
constexpr std::array<std::size_t, 8> kAbout{0, 1, 2, 3, 5, 6, 7, 8};

}  // namespace

Cell& Cell::operator+=(const Cell& o) {
  volume += o.volume;
  surface += o.surface;
  sum_x += o.sum_x;
  sum_y += o.sum_y;
  return *this;
}

Plane PottsModel::plane() const { return {{{blocks.at(0), blocks.at(1), 1}, {true, true, false}}, edge}; }

std::int64_t PottsModel::cells() const {
  const Plane p = plane();
  return (p.width() / pitch) * (p.height() / pitch);
}

void PottsModel::check() const {
  const auto require = [](bool ok, const std::string& what) {
    if (!ok) throw UsageError(what);
  };
  require(blocks.size() == 2 && blocks[0] >= 1 && blocks[1] >= 1 && blocks[0] <= 4096 && blocks[1] <= 4096,
          "--blocks: two numbers from 1 to 4096 are needed");
  require(reach >= 4 && reach <= 1000, "--reach " + std::to_string(reach) + "; allowed: 4 to 1000");
  require(edge % 2 == 0 && edge >= 2 * reach + 6 && edge <= 4096,
          "--edge " + std::to_string(edge) + "; allowed: even numbers from 2 * reach + 6 = " +
              std::to_string(2 * reach + 6) + ", so that no cell is longer than a block, to 4096");
  const auto least = std::min(plane().width(), plane().height());
  require(least >= 4 * reach, "a plane of " + std::to_string(plane().width()) + " x " +
                                  std::to_string(plane().height()) +
                                  " sites; allowed: at least 4 * reach = " + std::to_string(4 * reach) + " along both");
  require(plane().width() * plane().height() <= (std::int64_t{1} << 31), "more than 2^31 sites");
  require(pitch >= 8 && pitch <= least,
          "--pitch " + std::to_string(pitch) + "; allowed: 8 to " + std::to_string(least));
  require(volume >= 25 && volume <= 2 * reach * reach,
          "--volume " + std::to_string(volume) + "; allowed: 25 to 2 * reach^2 = " + std::to_string(2 * reach * reach));
  require(temperature > 0, "--temperature must be greater than 0");
}

PottsRule::PottsRule(const PottsModel& model)
    : model_(model),
      plane_(model.plane()),
      columns_(plane_.width() / model.pitch),
      rows_(plane_.height() / model.pitch) {}

std::array<std::int64_t, 2> PottsRule::cell_seed(Site cell) const {
  const std::int64_t column = (cell - 1) % columns_;
  const std::int64_t row = (cell - 1) / columns_;
  Random random(model_.seed, kSeeds, static_cast<std::uint32_t>(cell));
  const std::int64_t dx = 1 + static_cast<std::int64_t>(random.below(3));
  const std::int64_t dy = 1 + static_cast<std::int64_t>(random.below(3));
  return {plane_.width() * column / columns_ + dx, plane_.height() * row / rows_ + dy};
}

Site PottsRule::initial_site(std::int64_t x, std::int64_t y) const {
  const std::int64_t column = x * columns_ / plane_.width();
  const std::int64_t row = y * rows_ / plane_.height();
  for (std::int64_t r = row - 1; r <= row + 1; ++r)
    for (std::int64_t c = column - 1; c <= column + 1; ++c) {
      const auto cell = static_cast<Site>(1 + wrap(c, columns_) + columns_ * wrap(r, rows_));
      const auto seed = cell_seed(cell);
      if (std::abs(centred_modulo(x - seed[0], plane_.width())) <= kStartRadius &&
          std::abs(centred_modulo(y - seed[1], plane_.height())) <= kStartRadius) {
        return cell;
      }
    }
  return 0;
}

Cell PottsRule::share(std::int64_t x, std::int64_t y, const std::array<Site, 9>& around) const {
  const auto seed = cell_seed(around[4]);
  return {1, 8 - count(around, around[4]), seed[0] + centred_modulo(x - seed[0], plane_.width()),
          seed[1] + centred_modulo(y - seed[1], plane_.height())};
}

std::array<std::int64_t, 2> PottsRule::unwrap(std::int64_t x, std::int64_t y, const Cell& c) const {
  if (c.volume < 1) throw VerificationError("a cell of volume " + std::to_string(c.volume) + " has a site");
  const std::int64_t cx = floor_div(c.sum_x, c.volume);
  const std::int64_t cy = floor_div(c.sum_y, c.volume);
  return {cx + centred_modulo(x - cx, plane_.width()), cy + centred_modulo(y - cy, plane_.height())};
}

bool PottsRule::is_in_reach(std::int64_t x, std::int64_t y, const Cell& c) const {
  const auto at = unwrap(x, y, c);
  return std::abs(at[0] * c.volume - c.sum_x) <= model_.reach * c.volume &&
         std::abs(at[1] * c.volume - c.sum_y) <= model_.reach * c.volume;
}

double PottsRule::target(Site cell, std::int64_t step) const {
  Random random(model_.seed, kGrowth, static_cast<std::uint32_t>(cell));
  return std::min(static_cast<double>(model_.volume), 25 + random.uniform(0.5, 1.5) * static_cast<double>(step));
}

double PottsRule::energy(std::int64_t step, const std::array<Site, 9>& around, Site to, int from_side,
                         const Lookup& cell) const {
  const Site from = around[4];
  double change = 0;
  for (const std::size_t n : kAbout) change += contact_energy(to, around[n]) - contact_energy(from, around[n]);
  const auto bulk = [&](Site which, int volume, int surface) {
    if (which == 0) return 0.0;
    const Cell c = cell(which);
    const double t = target(which, step);
    const double s = 10.6 * std::sqrt(t);  // surface of a disc of volume t, in pairs of sites
    const auto v0 = static_cast<double>(c.volume);
    const auto s0 = static_cast<double>(c.surface);
    return model_.stiffness * (squared(v0 + volume - t) - squared(v0 - t)) +
           model_.tension * (squared(s0 + surface - s) - squared(s0 - s));
  };
  change += bulk(to, 1, 8 - 2 * count(around, to));
  change += bulk(from, -1, 2 * count(around, from) - 8);
  if (to != 0) {
    const auto epoch = static_cast<std::uint64_t>(step / kEpoch);
    Random random(model_.seed, kDirections + epoch, static_cast<std::uint32_t>(to));
    const auto& direction = sides()[random.below(8)];
    const auto& source = sides()[static_cast<std::size_t>(from_side)];
    change += model_.pull * (direction[0] * source[0] + direction[1] * source[1]);  // it grows away from the source
  }
  return change;
}

Site PottsRule::update(std::int64_t step, int colour, std::int64_t x, std::int64_t y, const std::array<Site, 9>& around,
                       const Lookup& cell) const {
  const Site from = around[4];
  if (from != 0 && !is_in_reach(x, y, cell(from))) return 0;
  Random random(model_.seed, static_cast<std::uint64_t>(step) * 4 + static_cast<std::uint64_t>(colour),
                static_cast<std::uint32_t>(x + plane_.width() * y));
  const auto side = static_cast<int>(random.below(8));
  const Site to = around[kAbout[static_cast<std::size_t>(side)]];
  if (to == from || (to != 0 && !is_in_reach(x, y, cell(to)))) return from;
  const double change = energy(step, around, to, side, cell);
  return change <= 0 || random.uniform() < std::exp(-change / model_.temperature) ? to : from;
}

PottsRule::Change PottsRule::change(std::int64_t x, std::int64_t y, const std::array<Site, 9>& around, Site to,
                                    const Lookup& cell) const {
  Change out;
  const Site from = around[4];
  if (from != 0) {
    const auto at = unwrap(x, y, cell(from));
    out.from = {-1, 2 * count(around, from) - 8, -at[0], -at[1]};
  }
  if (to != 0) {
    const auto at = unwrap(x, y, cell(to));
    out.to = {1, 8 - 2 * count(around, to), at[0], at[1]};
  }
  return out;
}

}  // namespace merganser::simulations
