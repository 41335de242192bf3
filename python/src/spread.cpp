/// Points of Python's arrays spread over ranks (spread.hpp).
#include "python/src/spread.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/geometry/box_checks.hpp"

namespace merganser::python {
namespace {

constexpr std::int64_t kSlabs = 1024;  // bins of the histograms along an axis; blocks are cut between bins

constexpr double kMaxCoordinate = 1e150;  // limit without a box: the squares of differences stay finite

/// Throws the error of a point outside the box or not finite. @throws InputError naming the point
[[noreturn]] void throw_outside(const SpreadPoints& spread, const Vec3& p, std::size_t i) {
  std::string at = "(" + number_text(p[0]) + ", " + number_text(p[1]);
  if (spread.points.shape(1) == 3) at += ", " + number_text(p[2]);
  const std::string allowed =
      spread.box ? "finite numbers between the walls of the box " + box_text(*spread.box)
                 : "finite numbers from " + number_text(-kMaxCoordinate) + " to " + number_text(kMaxCoordinate);
  throw InputError("points: point " + std::to_string(i) + " is " + at + "); allowed: " + allowed);
}

}  // namespace

Box to_box(const BoxGiven& given) {
  Box box{{0, 0, 0}, {1, 1, 1}, {false, false, false}};
  const auto& [lower, extent, periodic] = given;
  for (std::size_t a = 0; a < std::min<std::size_t>(3, lower.size()); ++a) {
    box.lower[a] = lower[a];
    box.extent[a] = extent[a];
    box.periodic[a] = periodic[a];
  }
  return box;
}

Vec3 SpreadPoints::at(std::size_t i, const Box& in) const {
  const std::size_t d = points.shape(1);
  const double* const p = points.data() + i * d;
  return {p[0], p[1], d == 3 ? p[2] : in.lower[2]};
}

Vec3 SpreadPoints::wrapped_at(std::size_t i, const Box& in) const { return wrapped(in, at(i, in)); }

std::vector<comm::UniformValue> uniform_values(const SpreadPoints& spread,
                                               const std::optional<Line<std::int64_t>>& ids) {
  return {{"the dimension of `points`", std::to_string(spread.points.shape(1))},
          {"the argument `box`", spread.box ? "given" : "None"},
          {"the argument `ids`", ids ? "given" : "None"}};
}

// Bounding box of all ranks' points; its upper faces are rounded up until they hold the greatest points.
Box common_box(const SpreadPoints& spread, RowRange share, comm::Transport& transport) {
  const double most = std::numeric_limits<double>::infinity();
  std::array<Vec3, 2> corners{Vec3{most, most, most}, Vec3{-most, -most, -most}};
  const Box zero{{0, 0, 0}, {1, 1, 1}, {false, false, false}};
  comm::agree(transport, [&] {
    for (std::size_t i = share.begin; i < share.end; ++i) {
      const Vec3 p = spread.at(i, spread.box ? *spread.box : zero);
      const bool good = spread.box ? is_between_walls(*spread.box, p) : std::all_of(p.begin(), p.end(), [](double x) {
        return std::isfinite(x) && std::fabs(x) <= kMaxCoordinate;
      });
      if (!good) throw_outside(spread, p, i);
      for (std::size_t a = 0; a < 3; ++a) {
        corners[0][a] = std::min(corners[0][a], p[a]);
        corners[1][a] = std::max(corners[1][a], p[a]);
      }
    }
  });
  if (spread.box) return *spread.box;
  for (const auto& theirs : comm::all_gather_value(transport, corners))
    for (std::size_t a = 0; a < 3; ++a) {
      corners[0][a] = std::min(corners[0][a], theirs[0][a]);
      corners[1][a] = std::max(corners[1][a], theirs[1][a]);
    }
  Box box = zero;
  for (std::size_t a = 0; a < 3; ++a) {
    if (!(corners[0][a] <= corners[1][a])) continue;
    box.lower[a] = corners[0][a];
    double extent = corners[1][a] - corners[0][a];
    if (extent <= 0) extent = std::max(1.0, std::fabs(box.lower[a]));
    // The difference is rounded: lower + extent may lie below the greatest point.
    while (!(box.lower[a] + extent >= corners[1][a])) extent = std::nextafter(extent, most);
    box.extent[a] = extent;
  }
  return box;
}

// Cuts between bins of histograms, so that ranks exchange numbers of fixed length.
Decomposition balanced_blocks(const SpreadPoints& spread, RowRange share, const Box& box, comm::Transport& transport) {
  const std::int64_t deep = spread.points.shape(1) == 3 ? kSlabs : 1;
  const Grid grid{box, {kSlabs, kSlabs, deep}};
  std::array<std::vector<std::int64_t>, 3> weight;
  for (std::size_t a = 0; a < 3; ++a) weight[a].assign(static_cast<std::size_t>(grid.cells[a]), 0);
  for (std::size_t i = share.begin; i < share.end; ++i) {
    const Vec3 p = spread.wrapped_at(i, box);
    for (int a = 0; a < 3; ++a) ++weight[a][static_cast<std::size_t>(grid.cell(a, p[a]))];
  }
  for (auto& axis : weight) {
    const auto all = comm::all_gather(transport, axis);
    std::fill(axis.begin(), axis.end(), 0);
    for (const auto& theirs : all)
      std::transform(theirs.begin(), theirs.end(), axis.begin(), axis.begin(), std::plus<>());
  }
  return Decomposition(grid, transport.size()).balanced(weight);
}

std::vector<std::int64_t> spread_ids(const std::optional<Line<std::int64_t>>& ids, RowRange share,
                                     comm::Transport& transport) {
  std::vector<std::int64_t> mine;
  if (ids) {
    mine.assign(ids->data() + share.begin, ids->data() + share.end);
    if (transport.size() > 1) check_distinct(mine, transport);
    return mine;
  }
  mine.resize(share.size());
  std::iota(mine.begin(), mine.end(), static_cast<std::int64_t>(comm::compute_share(transport, share.size()).before));
  return mine;
}

}  // namespace merganser::python
