/// Star finding for merganser.stars(): points are sent to the owners of their positions where needed, and the resulting links
/// are returned to the ranks that passed the points.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/base/release_memory.hpp"
#include "merganser/cluster/cluster.hpp"
#include "merganser/comm/collectives.hpp"
#include "merganser/geometry/box_checks.hpp"
#include "python/src/spread.hpp"
#include "python/src/stars.hpp"

namespace merganser::python {
namespace {

/// Message of merganser.stars() with one point, to the rank whose block contains the point.
struct SentPoint {
  Vec3 at;                 ///< coordinates, wrapped into the box
  std::int64_t id;         ///< id of the point, unique over all ranks
  std::uint32_t position;  ///< index of the point in the arrays of the rank that passed it
  std::int32_t rank;       ///< rank that passed the point
  std::int64_t small;      ///< not 0: the point is small, so it links to its nearest neighbour
};
/// Identity of a point of merganser.stars(): the rank that passed it, and its index in the arrays there.
struct PointIdentity {
  std::int64_t position;
  std::int32_t rank;
  std::int32_t unused = 0;
};
/// Link from the source to the centre of a star, both points identified by the ranks that passed them.
struct StarPair {
  PointIdentity source;
  PointIdentity centre;
};
/// Message of merganser.stars() to the owner of a source point's position: the identity of the centre of the source's star.
struct CentreOf {
  std::uint32_t source;  ///< index of the source among the points that the receiving rank owns
  std::uint32_t unused = 0;
  PointIdentity centre;
};

/// Returns the decomposition of the box into the blocks that the callers of all ranks passed to merganser.stars(). Collective.
/// @throws InputError unless the blocks tile the box
Decomposition gather_blocks(const StarTask& task, const Box& box, comm::Transport& transport) {
  return Decomposition::from_boxes(Grid{box}, comm::all_gather_value(transport, *task.block));
}

/// Runs a StarFinder (nearest-neighbour links of small points, pruned to stars) on the caller's array without a copy; the points
/// must lie in the block of this rank. Collective. @throws InputError on every rank for invalid points
void run_finder(const StarTask& task, StarFinder& finder, comm::Transport& transport, const Stars& stars) {
  const std::size_t n = task.points.shape(0);
  const double* const p = task.points.data();
  const PointView points = task.points.shape(1) == 3 ? PointView::rows(p, n) : PointView::rows_2d(p, n);
  if (transport.size() > 1) comm::agree(transport, [&] { finder.check(points, to_span(task.small), stars.ids); });
  finder.find(points, to_span(task.small), stars.ids);
}

/// Fills `stars` for points that lie in the blocks of the ranks that passed them, so that no point is sent. Collective.
void find_in_place(const StarTask& task, StarFinder& finder, comm::Transport& transport, Stars& stars) {
  run_finder(task, finder, transport, stars);
  for (const StarLink& l : finder.links()) {
    stars.centre[l.source] = l.centre;
    stars.rank[l.source] = l.rank;
  }
  for (const StarReceive& a : finder.receives()) stars.receives.push_back({a.centre, a.source, a.rank});
}

/// Finds the stars among points that were sent to the owners of their positions, and exchanges the identities of centres between
/// the owners. Collective. @return the links of kept sources whose positions this rank owns
std::vector<StarPair> find_pairs(const std::vector<SentPoint>& came, StarFinder& finder, comm::Transport& transport) {
  static_assert(sizeof(SentPoint) == 6 * sizeof(double));  // stride of the view of coordinates below
  std::vector<std::uint8_t> small(came.size());
  std::vector<std::int64_t> ids(came.size());
  for (std::size_t i = 0; i < came.size(); ++i) {
    small[i] = came[i].small != 0;
    ids[i] = came[i].id;
  }
  const double* const first = came.empty() ? nullptr : came[0].at.data();
  PointView points{first, first + 1, first + 2, 6, came.size()};
  if (came.empty()) points = {};
  finder.find(points, small, ids);
  const auto place = [&](std::uint32_t i) { return PointIdentity{came[i].position, came[i].rank}; };
  std::vector<std::vector<CentreOf>> centres(static_cast<std::size_t>(transport.size()));
  // A link between ranks is known with both identities to neither end: the owner of the centre sends that of the centre.
  for (const StarReceive& a : finder.receives())
    centres[static_cast<std::size_t>(a.rank)].push_back({a.source, 0, place(a.centre)});
  std::vector<StarPair> pairs;
  for (const StarLink& l : finder.links())
    if (l.rank == transport.rank()) pairs.push_back({place(l.source), place(l.centre)});
  for (const auto& theirs : comm::all_to_all(transport, std::move(centres)))
    for (const CentreOf& c : theirs) pairs.push_back({place(c.source), c.centre});
  return pairs;
}

/// Fills `stars` for points at any positions: sends each point to the rank whose block contains it, finds stars there, and sends
/// each link back to the ranks that passed its source and its centre. Collective.
void find_after_redistribution(const StarTask& task, RowRange share, const Decomposition& blocks,
                               comm::Transport& transport, Stars& stars) {
  const SpreadPoints spread{task.points, task.box};
  std::vector<SentPoint> mine;
  mine.reserve(share.size());
  for (std::size_t i = share.begin; i < share.end; ++i)
    mine.push_back({spread.wrapped_at(i, stars.box), stars.ids[i - share.begin],
                    static_cast<std::uint32_t>(i - share.begin), transport.rank(), task.small.data()[i]});
  auto came = comm::send_to_owners(transport, std::span<const SentPoint>(mine), [&](const SentPoint& t) {
                return blocks.owner(t.at);
              }).flat();
  release_memory(mine);
  StarFinder finder(transport, blocks);
  const auto pairs = find_pairs(came, finder, transport);
  const int me = transport.rank();
  auto to_source = comm::send_to_owners(transport, std::span<const StarPair>(pairs),
                                        [](const StarPair& p) { return p.source.rank; });
  for (const auto& theirs : to_source)
    for (const StarPair& p : theirs) {
      stars.centre[static_cast<std::size_t>(p.source.position)] = p.centre.position;
      stars.rank[static_cast<std::size_t>(p.source.position)] = p.centre.rank;
    }
  auto to_centre = comm::send_to_owners(transport, std::span<const StarPair>(pairs),
                                        [](const StarPair& p) { return p.centre.rank; });
  for (const auto& theirs : to_centre)
    for (const StarPair& p : theirs)
      if (p.source.rank != me) stars.receives.push_back({p.centre.position, p.source.position, p.source.rank});
}

/// Lists the source points that this rank sends to centres on other ranks, and sorts these sends and the receives by rank, then by
/// the source's position, so that both ends of a message of merganser.Stars.migrate() number its rows alike. Local.
void sort_messages(Stars& stars, int me) {
  for (std::size_t i = 0; i < stars.rank.size(); ++i)
    if (stars.rank[i] != me) stars.sends.push_back(static_cast<std::int64_t>(i));
  std::stable_sort(stars.sends.begin(), stars.sends.end(), [&](std::int64_t a, std::int64_t b) {
    return stars.rank[static_cast<std::size_t>(a)] < stars.rank[static_cast<std::size_t>(b)];
  });
  std::sort(stars.receives.begin(), stars.receives.end(), [](const Receive& a, const Receive& b) {
    return a.rank != b.rank ? a.rank < b.rank : a.source < b.source;
  });
}

}  // namespace

// Body of merganser.stars() on one rank: points stay if the caller says that each rank passed those of its own block;
// else all are sent to the owners of their positions, and links come back.
void find_stars(const StarTask& task, RowRange share, comm::Transport& transport, Stars& stars) {
  const SpreadPoints spread{task.points, task.box};
  auto uniform = uniform_values(spread, task.ids);
  uniform.push_back({"whether the points lie in the block of their rank", task.block ? "yes" : "no"});
  comm::check_uniform_across_ranks(transport, "stars", uniform);
  stars.box = common_box(spread, share, transport);
  stars.dimension = static_cast<int>(task.points.shape(1));
  stars.centre.resize(share.size());
  std::iota(stars.centre.begin(), stars.centre.end(), 0);
  stars.rank.assign(share.size(), transport.rank());
  stars.ids = spread_ids(task.ids, share, transport);
  if (transport.size() == 1 || task.block) {
    StarFinder finder(transport, task.block ? gather_blocks(task, stars.box, transport)
                                            : Decomposition(Grid{stars.box}, transport.size()));
    find_in_place(task, finder, transport, stars);
  } else {
    find_after_redistribution(task, share, balanced_blocks(spread, share, stars.box, transport), transport, stars);
  }
  sort_messages(stars, transport.rank());
}

// Rows of merganser.Stars.migrate(): each source's row goes to the rank that passed its centre.
std::vector<std::byte> migrate(const Stars& stars, std::span<const std::byte> rows, std::size_t row_bytes,
                               comm::Transport& transport) {
  std::vector<std::vector<std::byte>> to(static_cast<std::size_t>(transport.size()));
  for (const std::int64_t i : stars.sends) {
    const auto row = rows.subspan(static_cast<std::size_t>(i) * row_bytes, row_bytes);
    auto& out = to[static_cast<std::size_t>(stars.rank[static_cast<std::size_t>(i)])];
    out.insert(out.end(), row.begin(), row.end());
  }
  std::vector<std::byte> came;
  for (const auto& theirs : transport.all_to_all(to)) came.insert(came.end(), theirs.begin(), theirs.end());
  if (came.size() != stars.receives.size() * row_bytes)
    throw CommError("migrate: " + std::to_string(came.size()) + " bytes came for " +
                    std::to_string(stars.receives.size()) + " rows of " + std::to_string(row_bytes) +
                    "; allowed: rows of one length on every rank");
  return came;
}

}  // namespace merganser::python
