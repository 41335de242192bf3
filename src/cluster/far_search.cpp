// Far search: nearest neighbours beyond the candidate ranks, over large holes in the parcels, by flooding around the hole.
#include "src/cluster/far_search.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "merganser/base/error.hpp"

namespace merganser::cluster {

// Far search of a Clusterer or StarFinder. Far links are possible only in the exact search, and only where not all
// ranks are candidates (then the cutoff is finite).
FarSearch::FarSearch(comm::Mailbox& mailbox, const Decomposition& decomposition, const CandidateRanks& candidates,
                     int rank, bool exact)
    : mailbox_(mailbox),
      decomposition_(decomposition),
      rank_(rank),
      possible_(exact && std::isfinite(candidates.min_cutoff())),
      component_(
          mailbox, [&candidates](int r) { return candidates.compute(r); }, rank) {}

// Component through which redistribute() sends merged parcels; null where the step had no far links.
FarComponent* FarSearch::component() { return away_ ? &component_ : nullptr; }

// True if a far link begins or ends at a parcel of this rank; links that only pass through do not count.
bool FarSearch::has_link_ends() const {
  return std::any_of(links_.begin(), links_.end(),
                     [this](const FarLink& l) { return l.source_rank == rank_ || l.target_rank == rank_; });
}

// Start of the far search of a step: the far links and routes of the step before are dropped.
void FarSearch::clear() {
  away_ = false;
  links_.clear();
  ways_.clear();
  out_.clear();
  in_.clear();
  far_out_.clear();
  far_in_.clear();
}

// Stage `far` of a merge step: queries that the candidate ranks could not decide are flooded around the hole, answered,
// and the best replies become far links.
void FarSearch::find(DistributedSearch& search, Site* sorted, RawBuffer& scratch) {
  clear();
  if (!possible_) return;
  component_.gather(search.is_full(), search.open_neighbours(), search.far_queries());
  if (component_.queries().empty()) return;
  search_replies(search, sorted, scratch);
  flood_replies();
  store_links(search);
  away_ = !links_.empty();
  find_routes();
}

/// Stores a reply to a flooded far query if it is the best one so far, by (squared distance, id). Returns true if it is.
bool FarSearch::update_best(const Reply& reply) {
  Reply& best = best_[reply.query];
  if (best.rank >= 0 && std::tie(best.distance2, best.id) <= std::tie(reply.distance2, reply.id)) return false;
  best = reply;
  return true;
}

/// Local part of the far search: finds the parcel of this rank nearest to the point of each flooded query from a rank
/// that is no candidate, and stores it as a reply to be flooded.
void FarSearch::search_replies(DistributedSearch& search, Site* sorted, RawBuffer& scratch) {
  const auto& queries = component_.queries();
  const auto& neighbours = mailbox_.graph().out;
  best_.assign(queries.size(), {0, 0, 0, kNone, -1, 0});
  fresh_.clear();
  if (search.size() == 0) return;
  for (std::uint32_t i = 0; i < queries.size(); ++i) {
    const FarQuery& q = queries[i];
    if (q.rank == rank_ || std::binary_search(neighbours.begin(), neighbours.end(), q.rank) ||
        decomposition_.distance2_to_block(q.point, rank_) > q.distance2)
      continue;
    search.check_foreign_id(q.source_id, q.rank);
    nearest::Best best{q.distance2, q.id, kNone};
    search.nearest(q.point, sorted, scratch, best);
    if (best.vertex == kNone) continue;
    const Reply found{best.distance2, best.id, i, best.vertex, rank_, search.cells().order()[best.vertex]};
    if (update_best(found)) fresh_.push_back(found);
  }
}

/// Floods, in the far search of a merge step, the replies to far queries among the ranks around a hole: in each wave a rank forwards the replies that were better than its best
/// reply to the same query, and drops the others. Afterwards every member has the best reply to every query.
void FarSearch::flood_replies() {
  const std::size_t arcs = mailbox_.graph().out.size();
  for (int wave = 1; wave <= component_.waves(); ++wave) {
    for (std::size_t arc = 0; arc < arcs; ++arc)
      if (component_.is_active(arc, wave)) mailbox_.post_all(arc, std::span<const Reply>(fresh_));
    component_.step(wave);
    fresh_.clear();
    for (std::size_t arc = 0; arc < arcs; ++arc)
      for (const Reply& a : mailbox_.records<Reply>(arc)) {
        if (a.query >= best_.size())
          throw CommError("rank " + std::to_string(mailbox_.graph().in[arc]) + " passed on an answer to question " +
                          std::to_string(a.query) + " of " + std::to_string(best_.size()));
        if (update_best(a)) fresh_.push_back(a);
      }
  }
}

/// Makes a far link of each flooded query that has a reply; the same links on every member rank of the component. Marks those of
/// this rank in the search and checks received ids.
void FarSearch::store_links(DistributedSearch& search) {
  const auto& queries = component_.queries();
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const FarQuery& q = queries[i];
    const Reply& a = best_[i];
    if (a.rank < 0) continue;
    links_.push_back({q.rank, a.rank, q.vertex, a.vertex, q.position, a.position, q.source_id, a.id, a.distance2});
    if (q.rank != rank_) search.check_foreign_id(q.source_id, q.rank);
    if (a.rank != rank_) search.check_foreign_id(a.id, a.rank);
    if (q.rank == rank_) search.mark_far_link(q.vertex);
  }
}

/// Computes the route of every far link and lists the links that pass over arcs of this rank, in the order by which
/// both ends of an arc number their slots.
void FarSearch::find_routes() {
  for (std::uint32_t i = 0; i < links_.size(); ++i) {
    ways_.push_back(component_.route(links_[i].source_rank, links_[i].target_rank));
    const std::vector<int>& way = ways_.back();
    const auto here = std::find(way.begin(), way.end(), rank_);
    if (here == way.end()) continue;
    const auto arc_to = [this](int rank) { return static_cast<std::uint32_t>(component_.arc_to(rank)); };
    if (here != way.begin()) in_.push_back({arc_to(*(here - 1)), here + 1 != way.end(), i, 0});
    if (here + 1 != way.end()) out_.push_back({arc_to(*(here + 1)), here + 2 != way.end(), i, 0});
  }
  const auto by_slot = [](const RouteArc& a, const RouteArc& b) {
    return std::tie(a.arc, a.on, a.link) < std::tie(b.arc, b.on, b.link);
  };
  std::sort(out_.begin(), out_.end(), by_slot);
  std::sort(in_.begin(), in_.end(), by_slot);
}

/// Numbers the slots of far links on each arc, in which the pruning sends their labels: they follow the ordinary cross-rank
/// links, so both ends of the arc compute the same numbers.
void FarSearch::number_slots(std::vector<RouteArc>& passes, const std::vector<links::CrossLink>& ordinary) {
  std::vector<std::uint32_t> next(mailbox_.graph().out.size(), 0);
  for (const auto& l : ordinary) ++next[l.arc];
  for (RouteArc& p : passes) p.slot = next[p.arc]++;
}

// Input of the pruning: far links that start or end on this rank become cross-rank links with a slot on the first or
// last arc of their route; those that pass through become relays.
void FarSearch::number_links(links::Links& links) {
  number_slots(out_, links.out);
  number_slots(in_, links.in);
  std::vector<RouteArc> relayed_in(links_.size(), {0, false, kNone, 0});
  const auto by_slot = [](const links::CrossLink& a, const links::CrossLink& b) {
    return std::tie(a.arc, a.slot) < std::tie(b.arc, b.slot);
  };
  std::vector<links::CrossLink>& out = links.out;
  std::vector<links::CrossLink>& in = links.in;
  for (const RouteArc& p : in_) {
    const FarLink& l = links_[p.link];
    if (p.on) {
      relayed_in[p.link] = p;
    } else {
      in.push_back({l.target, l.source, p.arc, p.slot, l.source_id, l.distance2, l.source_rank, l.source_position});
    }
  }
  for (const RouteArc& p : out_) {
    const FarLink& l = links_[p.link];
    if (l.source_rank == rank_) {
      out.push_back({l.source, l.target, p.arc, p.slot, l.target_id, l.distance2, l.target_rank, l.target_position});
    } else {
      links.relays.push_back({relayed_in[p.link].arc, relayed_in[p.link].slot, p.arc, p.slot});
    }
  }
  std::sort(in.begin(), in.end(), by_slot);
  std::sort(out.begin(), out.end(), by_slot);
  std::sort(links.relays.begin(), links.relays.end(), [](const links::Relay& a, const links::Relay& b) {
    return std::tie(a.arc_in, a.slot_in) < std::tie(b.arc_in, b.slot_in);
  });
  for (std::uint32_t k = 0; k < out.size(); ++k) links.target[out[k].vertex] = links::kAway | k;
  far_out_.assign(out.size(), kNone);
  far_in_.assign(in.size(), kNone);
  const auto find = [](const std::vector<links::CrossLink>& list, const RouteArc& p) {
    const auto at = std::lower_bound(list.begin(), list.end(), p, [](const links::CrossLink& l, const RouteArc& pass) {
      return std::tie(l.arc, l.slot) < std::tie(pass.arc, pass.slot);
    });
    return static_cast<std::size_t>(at - list.begin());
  };
  for (const RouteArc& p : out_)
    if (links_[p.link].source_rank == rank_) far_out_[find(out, p)] = p.link;
  for (const RouteArc& p : in_)
    if (!p.on) far_in_[find(in, p)] = p.link;
}

/// Makes one wave of the migration along far links: each parcel that is at hop `hop` of its route is forwarded to the next
/// rank of the route. @param load  per far link: its byte "kept" and its parcel, where this rank holds it
/// @throws CommError if a message is shorter than the parcels that it must hold
void FarSearch::migrate_hop(std::size_t hop, std::size_t bytes, std::vector<std::vector<std::byte>>& load) {
  Arcs out(mailbox_.graph().out.size(), 0);
  Arcs in(out.size(), 0);
  const auto is_here = [&](const RouteArc& p, std::size_t at) {
    const auto& way = ways_[p.link];
    return at < way.size() && way[at] == rank_;
  };
  bool takes_part = false;
  for (const RouteArc& p : out_) {
    if (!is_here(p, hop)) continue;
    out[p.arc] = 1;
    takes_part = true;
    mailbox_.post_all(p.arc, std::span<const std::byte>(load[p.link]));
  }
  for (const RouteArc& p : in_) {
    if (!is_here(p, hop + 1)) continue;
    in[p.arc] = 1;
    takes_part = true;
  }
  if (!takes_part) return;
  mailbox_.step(out, in);
  std::vector<std::size_t> read(in.size(), 0);
  for (const RouteArc& p : in_) {
    if (!is_here(p, hop + 1)) continue;
    const auto message = mailbox_.inbox(p.arc).subspan(read[p.arc]);
    const std::size_t length = message.empty() || message[0] == std::byte{0} ? 1 : 1 + bytes;
    if (message.size() < length)
      throw CommError("rank " + std::to_string(mailbox_.graph().in[p.arc]) +
                      " sent fewer parcels than links of its arc");
    load[p.link].assign(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(length));
    read[p.arc] += length;
  }
}

// Stage `migrate` of a merge step for far links: leaves travel along the routes to the ranks of their centres.
void FarSearch::migrate(const links::Stars& stars, const Payload& payload) {
  // Per link: one byte, 1 if it is kept, then the parcel.
  std::vector<std::vector<std::byte>> load(links_.size());
  for (std::size_t k = 0; k < far_out_.size(); ++k) {
    if (far_out_[k] == kNone) continue;
    auto& parcel = load[far_out_[k]];
    parcel.push_back(std::byte{stars.out_kept[k]});
    if (stars.out_kept[k]) payload.pack(links_[far_out_[k]].source, parcel);
  }
  std::size_t hops = 0;
  for (const auto& way : ways_) hops = std::max(hops, way.size() - 1);
  for (std::size_t hop = 0; hop < hops; ++hop) migrate_hop(hop, payload.bytes, load);
  for (std::size_t i = 0; i < far_in_.size(); ++i) {
    if (far_in_[i] == kNone) continue;
    const auto& parcel = load[far_in_[i]];
    if ((parcel.size() > 1) != (stars.in_kept[i] != 0))
      throw CommError("a parcel of rank " + std::to_string(links_[far_in_[i]].source_rank) +
                      " and its label do not agree on whether it merges");
    if (parcel.size() > 1) payload.unpack(i, std::span(parcel).subspan(1));
  }
}

}  // namespace merganser::cluster
