// Distributed nearest-neighbour search of a merge step: the local search leaves points whose nearest parcel may be on
// another rank; they are searched by queries to candidate ranks, and links across ranks are announced to their targets.
#include "src/cluster/distributed_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/base/huge_pages.hpp"
#include "merganser/base/numbers.hpp"
#include "merganser/base/release_memory.hpp"
#include "merganser/base/simulated.hpp"
#include "src/cluster/spare_buffers.hpp"

namespace merganser::cluster {
namespace {

/// Query of the distributed nearest-neighbour search to a candidate rank, for a point that is nearer to `point` than the
/// nearest point found so far. A record whose `point` is NaN marks that the sender's block is not full; it is not a query, and
/// has no reply.
struct Query {
  Vec3 point;
  double distance2;  ///< squared distance of the nearest point found so far; infinite if none
  std::int64_t id;   ///< id of that point; larger than any id if none
};
/// Reply to a Query of the distributed nearest-neighbour search: the point of the replying rank that is nearest to the query's
/// point, if nearer than the nearest known to the query's sender.
struct Reply {
  double distance2;
  std::int64_t id;
  std::uint32_t vertex;  // vertex on the replying rank; kNone: no nearer point there
  std::uint32_t position;
};
/// Announcement of a link between ranks, from the rank of its source to the rank of its target, which the pruning needs.
struct Announcement {
  std::uint32_t target;  ///< vertex of the link's target, on the receiving rank
  std::uint32_t source;  ///< vertex of the link's source, on the sending rank
  std::int64_t source_id;
  double distance2;
};

}  // namespace

// Region of a rank's cell list, from the decomposition.
nearest::Region block_region(const Decomposition& d, int rank) {
  nearest::Region r;
  const auto block = d.block(rank);
  r.lower = block.lower;
  r.upper = block.upper;
  const auto walls = d.walls(rank);
  for (int a = 0; a < 3; ++a) {
    r.wall_lower[a] = walls[a][0];
    r.wall_upper[a] = walls[a][1];
  }
  return r;
}

// Sampling of the candidate ranks: the largest nearest-neighbour distance within this rank bounds how far blocks of
// candidates may be apart.
double largest_gap(const nearest::PointSet& points, const Decomposition& decomposition, int rank) {
  if (points.size() < 2) return std::numeric_limits<double>::infinity();
  nearest::CellList cells(decomposition.grid().box, block_region(decomposition, rank));
  cells.bin(points, {});
  RawBuffer sorted = SpareBuffers::take(points.size() * sizeof(Site));
  RawBuffer scratch = SpareBuffers::take(nearest::CellList::scratch_bytes(points.size()));
  cells.sort(points, reinterpret_cast<Site*>(sorted.data()), scratch.data());
  const links::Ids ids = points.ids(cells.order());
  double gap2 = 0;
  for (std::uint32_t v = 0; v < cells.size(); ++v) {
    nearest::Best best;
    const Site& s = cells.sites()[v];
    cells.nearest({{s.x, s.y, s.z}, v}, ids, best);
    gap2 = std::max(gap2, best.distance2);
  }
  SpareBuffers::give_back(sorted);
  SpareBuffers::give_back(scratch);
  return std::sqrt(gap2);
}

// Keeps the per-arc state of the search; the cover test is used by the exact search only, hence the infinite cutoff for
// cells8.
DistributedSearch::DistributedSearch(comm::Mailbox& mailbox, const Decomposition& decomposition, int rank,
                                     const SearchCutoff& cutoff, const SearchOptions& options)
    : mailbox_(mailbox),
      decomposition_(decomposition),
      rank_(rank),
      cutoff2_(cutoff.own2),
      cover_(decomposition, rank, options.search == Search::exact ? cutoff.min : kInfinity),
      options_(options),
      cells_(decomposition.grid().box, block_region(decomposition, rank)) {
  const std::size_t arcs = mailbox_.graph().out.size();
  queries_by_arc_.resize(arcs);
  queried_.resize(arcs);
  querying_.resize(arcs);
  open_neighbours_.resize(arcs);
}

// First stage of a merge step's search: local search, then one wave of queries over all arcs.
bool DistributedSearch::send_queries(const nearest::PointSet& points, Site* sorted, RawBuffer& scratch,
                                     StepNumbers& report) {
  points_ = &points;
  own_ids_.assign(points);
  foreign_ids_.begin(own_ids_, rank_);
  if constexpr (kSimulated) own_ids_.release();
  nearest::CellList::Cut cut;
  if (options_.search == Search::cells8) {
    const auto c = decomposition_.coordinates(rank_);
    for (int a = 0; a < 3; ++a) {
      cut.first[a] = decomposition_.cut(a, c[a]);
      cut.cells[a] = decomposition_.cut(a, c[a] + 1) - cut.first[a];
    }
    cut.grid = &decomposition_.grid();
  }
  small_ = cells_.bin(points, cut);
  report.small = small_;
  full_ = cover_.is_full(points);
  sorted_ = false;
  open_.clear();
  for (auto& list : queries_by_arc_) list.clear();
  links_.target.clear();
  links_.out.clear();
  links_.in.clear();
  links_.relays.clear();
  if (small_ > 0) {
    sort(sorted, scratch);
    search_local();
    if constexpr (kSimulated) SpareBuffers::give_back(scratch);  // other ranks of the process run next
    spend(Work::search, points.size());
    post_queries();
  }
  if (mailbox_.graph().out.empty()) return small_ > 0;
  if (!receive_queries() && small_ == 0) return false;
  sort(sorted, scratch);
  return true;
}

/// Sends the posted nearest-neighbour queries to the candidate ranks and receives theirs, in one wave. @return true if a
/// candidate rank has sent a query to this rank
bool DistributedSearch::receive_queries() {
  // Sent last on each arc, so that the receiver finds it at the end of the message. A full rank adds nothing.
  const Query not_full{{std::nan(""), 0, 0}, 0, 0};
  for (std::size_t arc = 0; arc < queries_by_arc_.size(); ++arc) {
    queried_[arc] = !queries_by_arc_[arc].empty();
    if (!full_) mailbox_.post(arc, not_full);
  }
  mailbox_.step();
  bool asked = false;
  for (std::size_t arc = 0; arc < queries_by_arc_.size(); ++arc) {
    const auto queries = mailbox_.records<Query>(arc);
    open_neighbours_[arc] = !queries.empty() && std::isnan(queries.back().point[0]);
    querying_[arc] = queries.size() > open_neighbours_[arc];
    asked = asked || querying_[arc];
  }
  return asked;
}

/// Sorts this rank's points into the order of cells, once in a merge step, when that order is first needed by the search.
void DistributedSearch::sort(Site* sorted, RawBuffer& scratch) {
  if (sorted_) return;
  sorted_ = true;
  const std::size_t bytes = nearest::CellList::scratch_bytes(points_->size());
  if (scratch.bytes() < bytes) {
    SpareBuffers::give_back(scratch);
    scratch = SpareBuffers::take(bytes);
  }
  cells_.sort(*points_, sorted, scratch.data());
  reserve_on_huge_pages(links_.target, points_->size());
  // The exact search of small points writes every target.
  links_.target.resize(points_->size());
  if (small_ == 0 || options_.search == Search::cells8)
    std::fill(links_.target.begin(), links_.target.end(), links::kNone);
  if (options_.search == Search::cells8) distance2_.resize(points_->size());
}

/// Local part of the nearest-neighbour search: finds the nearest point of this rank to each small point; small points whose
/// nearest may be on another rank are listed in open_.
void DistributedSearch::search_local() {
  const links::Ids id = ids();
  if (options_.search == Search::exact) {
    for (const auto& o : cells_.search_exact(links_.target, id)) open_.push_back({o});
    return;
  }
  for (std::size_t c = 0; c < static_cast<std::size_t>(cells_.cell_count()); ++c)
    for (std::uint32_t v = cells_.start(2 * c); v < cells_.start(2 * c + 1); ++v) {
      const Site& s = cells_.sites()[v];
      nearest::Best best;
      cells_.nearest_cells8({{s.x, s.y, s.z}, v}, id, best);
      links_.target[v] = best.vertex;
      distance2_[v] = best.distance2;
      if (best.vertex == links::kNone || !owners_cells8({s.x, s.y, s.z}).empty()) open_.push_back({{v, best}});
    }
}

/// Search rule cells8: returns the arcs to the other ranks that own one of the 8 cells around the grid node nearest to p, each
/// once.
std::vector<std::uint32_t> DistributedSearch::owners_cells8(const Vec3& p) const {
  std::vector<std::uint32_t> arcs;
  const Grid& grid = decomposition_.grid();
  std::array<std::array<int, 2>, 3> part;
  std::array<int, 3> count{0, 0, 0};
  for (int a = 0; a < 3; ++a) {
    const std::int64_t node = grid.node(a, p[a]);
    for (std::int64_t c = node - 1; c <= node; ++c) {
      const std::int64_t g = grid.box.periodic[a] ? (c + grid.cells[a]) % grid.cells[a] : c;
      if (g < 0 || g >= grid.cells[a]) continue;
      const int owner = decomposition_.part_of_cell(a, g);
      if (count[a] == 1 && part[a][0] == owner) continue;
      part[a][static_cast<std::size_t>(count[a]++)] = owner;
    }
  }
  const auto& neighbours = mailbox_.graph().out;
  for (int i = 0; i < count[0]; ++i)
    for (int j = 0; j < count[1]; ++j)
      for (int k = 0; k < count[2]; ++k) {
        const int owner =
            decomposition_.rank_at({part[0][static_cast<std::size_t>(i)], part[1][static_cast<std::size_t>(j)],
                                    part[2][static_cast<std::size_t>(k)]});
        if (owner == rank_) continue;
        const auto at = std::lower_bound(neighbours.begin(), neighbours.end(), owner);
        arcs.push_back(static_cast<std::uint32_t>(at - neighbours.begin()));
      }
  return arcs;
}

/// Posts nearest-neighbour queries to candidate ranks: in the exact search to those whose blocks lie within the distance found.
/// Equal distance counts, since a point there may have a lower id.
void DistributedSearch::post_queries() {
  const auto& neighbours = mailbox_.graph().out;
  if (neighbours.empty()) return;
  for (std::uint32_t i = 0; i < open_.size(); ++i) {
    const Site& s = cells_.sites()[open_[i].local.vertex];
    const nearest::Best& best = open_[i].local.best;
    const Vec3 p{s.x, s.y, s.z};
    const Query query{p, best.distance2, best.vertex == links::kNone ? INT64_MAX : best.id};
    const auto post = [&](std::uint32_t arc) {
      mailbox_.post(arc, query);
      queries_by_arc_[arc].push_back(i);
    };
    if (options_.search == Search::cells8) {
      for (const std::uint32_t arc : owners_cells8(p)) post(arc);
    } else {
      for (std::uint32_t arc = 0; arc < neighbours.size(); ++arc)
        if (decomposition_.distance2_to_block(p, neighbours[arc]) <= best.distance2) post(arc);
    }
  }
}

// Second stage of a merge step's search: replies to neighbours' queries, then the best of the received replies and the
// local nearest becomes each point's link.
void DistributedSearch::exchange_replies() {
  const links::Ids id = ids();
  for (std::size_t arc = 0; arc < querying_.size(); ++arc) {
    if (!querying_[arc]) continue;
    const auto queries = mailbox_.records<Query>(arc);
    for (const Query& q : queries.first(queries.size() - open_neighbours_[arc])) {
      if (q.id != INT64_MAX) check_foreign_id(q.id, mailbox_.graph().in[arc]);
      nearest::Best best{q.distance2, q.id, links::kNone};
      if (options_.search == Search::cells8) {
        cells_.nearest_cells8({q.point}, id, best);
      } else {
        cells_.nearest({q.point}, id, best);
      }
      const std::uint32_t position = best.vertex == links::kNone ? 0 : cells_.order()[best.vertex];
      mailbox_.post(arc, Reply{best.distance2, best.id, best.vertex, position});
    }
    if constexpr (kSimulated) own_ids_.release();
    spend(Work::search, queries.size());
  }
  if (!queries_by_arc_.empty()) mailbox_.step(querying_, queried_);
  for (std::size_t arc = 0; arc < queries_by_arc_.size(); ++arc) {
    if (!queried_[arc]) continue;
    const auto replies = mailbox_.records<Reply>(arc);
    if (replies.size() != queries_by_arc_[arc].size())
      throw CommError("rank " + std::to_string(mailbox_.graph().in[arc]) + " answered " +
                      std::to_string(replies.size()) + " of " + std::to_string(queries_by_arc_[arc].size()) +
                      " questions");
    for (std::size_t k = 0; k < replies.size(); ++k) {
      const Reply& a = replies[k];
      if (a.vertex == links::kNone) continue;
      check_foreign_id(a.id, mailbox_.graph().in[arc]);
      OpenPoint& o = open_[queries_by_arc_[arc][k]];
      nearest::Best& best = o.local.best;
      // Several ranks may reply. The order is the total one of (distance, id), so the result does not depend on theirs.
      const bool none = best.vertex == links::kNone && o.remote_vertex == links::kNone;
      if (!none && (a.distance2 > best.distance2 || (a.distance2 == best.distance2 && a.id > best.id))) continue;
      best = {a.distance2, a.id, links::kNone};
      o.remote_vertex = a.vertex;
      o.remote_position = a.position;
      o.arc = static_cast<std::uint32_t>(arc);
    }
  }
  if constexpr (kSimulated) own_ids_.release();
}

// Input of the far search: points of this rank whose nearest found so far is not within the search cutoff.
std::vector<FarQuery> DistributedSearch::far_queries() {
  std::vector<FarQuery> queries;
  far_open_.clear();
  for (std::uint32_t i = 0; i < open_.size(); ++i) {
    const OpenPoint& o = open_[i];
    const nearest::Best& best = o.local.best;
    if (best.distance2 < cutoff2_) continue;
    const std::uint32_t v = o.local.vertex;
    far_open_.emplace_back(v, i);
    const Site& s = cells_.sites()[v];
    const bool none = best.vertex == links::kNone && o.remote_vertex == links::kNone;
    queries.push_back(
        {{s.x, s.y, s.z}, best.distance2, none ? INT64_MAX : best.id, ids()[v], v, cells_.order()[v], rank_});
  }
  std::sort(far_open_.begin(), far_open_.end());
  return queries;
}

// Local step of the far search: the point of this rank nearest to the point of a query flooded by another rank.
void DistributedSearch::nearest(const Vec3& point, Site* sorted, RawBuffer& scratch, nearest::Best& best) {
  sort(sorted, scratch);
  cells_.nearest({point}, ids(), best);
}

// Result of the far search: the link of this vertex leads to a rank that is no candidate and travels along a route
// instead of an arc.
void DistributedSearch::mark_far_link(std::uint32_t vertex) {
  const auto at = std::lower_bound(far_open_.begin(), far_open_.end(), std::pair(vertex, std::uint32_t{0}));
  OpenPoint& o = open_[at->second];
  o.is_far_link = true;
  o.remote_vertex = links::kNone;
}

// Third stage of a merge step's search: each link across ranks is numbered on its arc and announced to the rank of its
// target, which the pruning needs.
void DistributedSearch::announce(StepNumbers& report) {
  for (const OpenPoint& o : open_)
    if (!o.is_far_link && o.remote_vertex == links::kNone && o.local.best.vertex == links::kNone) ++report.unmatched;
  // Counting sort by arc. Within an arc links keep the order of open_, in which they are announced: the receiver
  // numbers them by arrival, so both ends have the same slots.
  std::vector<std::uint32_t> next(queries_by_arc_.size() + 1, 0);
  for (const OpenPoint& o : open_)
    if (o.remote_vertex != links::kNone) ++next[o.arc + 1];
  for (std::size_t arc = 0; arc < queries_by_arc_.size(); ++arc) next[arc + 1] += next[arc];
  const std::vector<std::uint32_t> first = next;
  links_.out.resize(next.back());
  for (const OpenPoint& o : open_) {
    if (o.remote_vertex == links::kNone) continue;
    const std::uint32_t at = next[o.arc]++;
    const std::uint32_t v = o.local.vertex;
    links_.out[at] = {v,
                      o.remote_vertex,
                      o.arc,
                      at - first[o.arc],
                      o.local.best.id,
                      o.local.best.distance2,
                      mailbox_.graph().out[o.arc],
                      o.remote_position};
    links_.target[v] = links::kAway | at;
    if (!distance2_.empty()) distance2_[v] = o.local.best.distance2;
  }
  if (queries_by_arc_.empty()) return;
  const links::Ids id = ids();
  for (const auto& l : links_.out)
    mailbox_.post(l.arc, Announcement{l.remote_vertex, l.vertex, id[l.vertex], l.distance2});
  // Positions of the sources, where they are needed, follow the announcements in the same order.
  if (options_.positions)
    for (const auto& l : links_.out) mailbox_.post(l.arc, cells_.order()[l.vertex]);
  mailbox_.step(queried_, querying_);
  receive_announcements();
  if constexpr (kSimulated) {
    own_ids_.release();
    foreign_ids_ = {};
    release_memory(open_);
    for (auto& list : queries_by_arc_) release_memory(list);
  }
}

/// Reads from the inbox the links that other ranks announced to this one, and appends them to Links::in; the slot of a link is
/// its position in the message of its arc. Local, after the step of the mailbox.
void DistributedSearch::receive_announcements() {
  const std::size_t bytes = sizeof(Announcement) + (options_.positions ? sizeof(std::uint32_t) : 0);
  for (std::uint32_t arc = 0; arc < querying_.size(); ++arc) {
    if (!querying_[arc]) continue;
    const auto message = mailbox_.inbox(arc);
    const std::size_t count = message.size() / bytes;
    const int rank = mailbox_.graph().in[arc];
    if (message.size() != count * bytes)
      throw CommError("rank " + std::to_string(rank) + " announced links in " + std::to_string(message.size()) +
                      " bytes; must be a multiple of " + std::to_string(bytes));
    const std::byte* const positions = message.data() + count * sizeof(Announcement);
    for (std::uint32_t slot = 0; slot < count; ++slot) {
      Announcement a;
      std::memcpy(&a, message.data() + slot * sizeof a, sizeof a);
      check_foreign_id(a.source_id, rank);
      std::uint32_t position = 0;
      if (options_.positions) std::memcpy(&position, positions + slot * sizeof position, sizeof position);
      links_.in.push_back({a.target, a.source, arc, slot, a.source_id, a.distance2, rank, position});
    }
  }
}

}  // namespace merganser::cluster
