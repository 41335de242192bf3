// The droplet simulation: update rule of one cell, and the reference run on all cells.
#include <algorithm>
#include <bit>
#include <cmath>

#include <merganser/base/error.hpp>

#include "droplet.hpp"

namespace merganser::simulations {
namespace {

constexpr double kDiffusion = 0.15;  // diffusion coefficient, in cells squared per step
constexpr double kObstacle = 0.06;   // drives the field to 0 or 1: with kDiffusion, an interface of 5 cells

}  // namespace

Plane DropletModel::plane() const { return {{{blocks.at(0), blocks.at(1), 1}, {true, true, false}}, edge}; }

void DropletModel::check() const {
  const auto require = [](bool ok, const std::string& what) {
    if (!ok) throw UsageError(what);
  };
  require(blocks.size() == 2 && blocks[0] >= 1 && blocks[1] >= 1 && blocks[0] <= 4096 && blocks[1] <= 4096,
          "--blocks: two numbers from 1 to 4096 are needed");
  require(edge >= 4 && edge <= 4096, "--edge " + std::to_string(edge) + "; allowed: 4 to 4096");
  require(plane().width() * plane().height() <= (std::int64_t{1} << 31), "more than 2^31 cells");
  require(radius > 0 && radius <= 1e6, "--radius: " + std::to_string(radius) + "; allowed: above 0 to 1000000");
  // Beyond this sum the update would not be a convex combination of a cell and its neighbours, less the obstacle term.
  require(speed >= 0 && drift >= 0 && speed + drift <= 0.35,
          "--speed + --drift: " + std::to_string(speed + drift) + "; allowed: 0 to 0.35, neither below 0");
  require(std::fabs(growth) <= 0.02, "--growth: " + std::to_string(growth) + "; allowed: -0.02 to 0.02");
}

DropletRule::DropletRule(const DropletModel& model) : model_(model), plane_(model.plane()) {}

double DropletRule::initial_value(std::int64_t x, std::int64_t y) const {
  const auto w = static_cast<double>(plane_.width());
  const auto h = static_cast<double>(plane_.height());
  const double px = static_cast<double>(x) + 0.5;
  const double py = static_cast<double>(y) + 0.5;
  constexpr double kCentres[2][2] = {{0.3, 0.5}, {0.7, 0.0}};  // shares of width and height
  double out = 0;
  for (const auto& centre : kCentres) {
    const double ax = std::fabs(px - centre[0] * w);
    const double ay = std::fabs(py - centre[1] * h);
    const double dx = std::min(ax, w - ax);
    const double dy = std::min(ay, h - ay);
    out = std::max(out, std::clamp(0.5 + 0.2 * (model_.radius - std::sqrt(dx * dx + dy * dy)), 0.0, 1.0));
  }
  return out;
}

double DropletRule::update(std::int64_t y, const Cross& c) const {
  const double laplacian = (c.left + c.right) + (c.below + c.above) - 4 * c.middle;
  // Shear flow along x: fastest to the left at the middle line, to the right at the lower and upper face. Upwind differences.
  const double height = (static_cast<double>(y) + 0.5) / static_cast<double>(plane_.height());
  const double along_x = model_.speed * (4 * std::fabs(height - 0.5) - 1);
  const double carried = along_x >= 0 ? along_x * (c.middle - c.left) : along_x * (c.right - c.middle);
  const double risen = model_.drift * (c.middle - c.below);
  const double bulk = kObstacle * (c.middle - 0.5) + 4 * model_.growth * (c.middle * (1 - c.middle));
  return std::clamp(c.middle + kDiffusion * laplacian + bulk - carried - risen, 0.0, 1.0);
}

WholeDroplet::WholeDroplet(const DropletModel& model) : rule_(model) {
  const Plane& p = rule_.plane();
  for (std::int64_t y = 0; y < p.height(); ++y)
    for (std::int64_t x = 0; x < p.width(); ++x) cells_.push_back(rule_.initial_value(x, y));
  next_.resize(cells_.size());
}

/// Returns the phase field of cell (x, y) of the whole periodic plane and its four neighbours.
DropletRule::Cross WholeDroplet::cross(std::int64_t x, std::int64_t y) const {
  const std::int64_t w = rule_.plane().width();
  const std::int64_t h = rule_.plane().height();
  const auto at = [&](std::int64_t i, std::int64_t j) {
    return cells_[static_cast<std::size_t>((i + w) % w + w * ((j + h) % h))];
  };
  return {at(x, y), at(x - 1, y), at(x + 1, y), at(x, y - 1), at(x, y + 1)};
}

void WholeDroplet::step() {
  const Plane& p = rule_.plane();
  std::size_t i = 0;
  for (std::int64_t y = 0; y < p.height(); ++y)
    for (std::int64_t x = 0; x < p.width(); ++x) next_[i++] = rule_.update(y, cross(x, y));
  cells_.swap(next_);
}

std::uint64_t WholeDroplet::digest() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i)
    sum += cell_hash(static_cast<std::int64_t>(i), std::bit_cast<std::uint64_t>(cells_[i]));
  return sum;
}

}  // namespace merganser::simulations
