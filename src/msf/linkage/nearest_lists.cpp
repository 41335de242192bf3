#include "merganser/msf/nearest_lists.hpp"

#include <numeric>

#include "merganser/comm/collectives.hpp"
#include "merganser/msf/new_points.hpp"

namespace merganser::msf {
namespace {

/// The lists of some points, and whose they are.
struct Piece {
  std::vector<std::uint64_t> ids;
  std::vector<std::int64_t> points;
  std::vector<double> cores;
};

Piece piece_of(const PointSet& set, const std::vector<NearPoint>& near, std::size_t each, std::uint64_t before) {
  Piece piece;
  piece.ids.assign(set.ids.begin(), set.ids.end());
  if (piece.ids.empty()) {
    piece.ids.resize(set.size());
    std::iota(piece.ids.begin(), piece.ids.end(), before);
  }
  piece.points.reserve(near.size());
  for (const NearPoint& p : near) piece.points.push_back(static_cast<std::int64_t>(p.id));
  for (std::size_t i = each; i <= near.size(); i += each) piece.cores.push_back(near[i - 1].distance);
  return piece;
}

}  // namespace

NearestLists nearest_lists(const PointSet& points, comm::Transport& transport, const EuclideanOptions& options,
                           Report& report) {
  const auto each = static_cast<std::size_t>(options.min_samples);
  Piece mine = piece_of(points, nearest_points(points, points, options.min_samples, transport, options, report), each,
                        comm::share_of(transport, points.size()).before);
  NearestLists all{each, {}, {}};
  if (transport.size() == 1 && points.ids.empty()) {
    all.points = std::move(mine.points);
    all.core_distances = std::move(mine.cores);
    return all;
  }
  const auto ids = comm::gather_to_first(transport, mine.ids);
  const auto lists = comm::gather_to_first(transport, mine.points);
  const auto cores = comm::gather_to_first(transport, mine.cores);
  const auto ranks = transport.rank() == 0 ? static_cast<std::size_t>(transport.size()) : 0;
  std::size_t count = 0;
  for (std::size_t r = 0; r < ranks; ++r) count += ids[r].size();
  all.points.resize(count * each);
  all.core_distances.resize(count);
  for (std::size_t r = 0; r < ranks; ++r) {
    for (std::size_t i = 0; i < ids[r].size(); ++i) {
      const auto id = static_cast<std::size_t>(ids[r][i]);
      std::copy_n(lists[r].begin() + static_cast<std::ptrdiff_t>(i * each), each,
                  all.points.begin() + static_cast<std::ptrdiff_t>(id * each));
      all.core_distances[id] = cores[r][i];
    }
  }
  return all;
}

}  // namespace merganser::msf
