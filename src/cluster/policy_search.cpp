// Links of a round under a merge policy, over all ranks.
#include "src/cluster/policy_search.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/simulated.hpp"
#include "src/cluster/owner_checks.hpp"
#include "src/cluster/star_core.hpp"

namespace merganser::cluster {
namespace {

/// PartnerQuery to another rank for the nearest admissible partners of a looker. After it come its packed row and the ids that may not be
/// its partners.
struct PartnerQuery {
  Site site;             ///< position and volume of the looker
  std::int64_t id;       ///< its id
  std::int64_t members;  ///< parcels that it holds
  double distance2;      ///< squared distance of the last of its partners so far
  std::int64_t last;     ///< id of that partner
  std::int64_t refused;  ///< number of ids that may not be its partners
};
/// PartnerReply to a query: a partner less than the last so far, or vertex links::kNone. Where lookers have several partners a
/// RemotePartner follows each, and replies to a query end with links::kNone or when they are as many as a looker has.
struct PartnerReply {
  double distance2;
  std::int64_t id;
  std::uint32_t vertex;
  std::uint32_t unused = 0;
};
/// LinkAnnouncement of a link to the rank of its target.
struct LinkAnnouncement {
  RemoteLeaf leaf;
  std::int64_t id;
  double distance2;
  std::uint32_t source;
  std::uint32_t target;
};

/// Takes one object from the front of a message. @throws CommError if it is too short
template <class T>
T take(std::span<const std::byte>& message) {
  if (message.size() < sizeof(T)) throw CommError("a message of queries ends early");
  T out;
  std::memcpy(&out, message.data(), sizeof(T));
  message = message.subspan(sizeof(T));
  return out;
}

}  // namespace

void PolicySearch::find(Units& units, const std::vector<std::uint8_t>& looks, StageTimes& seconds) {
  Laps laps;
  if (begun_) check_merged(units);
  known_ = units.size();
  if (built_) tree_.update();
  single_ = !begun_;
  begun_ = true;
  by_cells_ = build_cells(units, looks);
  queries_ = given_up_ = 0;
  units.changed.clear();
  const std::size_t arcs = mailbox_.graph().out.size();
  spend(Work::search, units.size());
  if (arcs == 0 && by_cells_ && finds_targets()) {
    links_.target.assign(units.size(), links::kNone);
    cells_.find_targets(lookers_, links_.target);
    return laps.add_to(seconds.search);
  }
  search_local(units, looks);
  laps.add_to(seconds.search);
  asked_.assign(arcs, {});
  if (arcs > 0) {
    post_queries(units);
    mailbox_.step();
    answer_queries(units, looks);
    mailbox_.step();
    take_replies();
  }
  laps.add_to(seconds.exchange);
  announce(units);
  if (arcs > 0) {
    mailbox_.step();
    receive_announcements(units);
  }
  laps.add_to(seconds.graph);
}

bool PolicySearch::compact(Units& units) {
  constexpr std::size_t kMany = 8;  // gone units are many if they are more than 1 of so many
  const auto gone = units.size() - static_cast<std::size_t>(std::count(units.gone.begin(), units.gone.end(), 0));
  if (built_ || gone <= units.size() / kMany) return false;
  for (std::size_t v = known_; v < units.size(); ++v) units.changed.push_back(static_cast<std::uint32_t>(v));
  units.compact();
  known_ = units.size();
  return true;
}

/// Checks the columns of the policy in the rows of units that have merged since the last search; PolicyStep has checked parcels.
/// @throws InputError
void PolicySearch::check_merged(const Units& units) const {
  if (filter_.width() == 0 && filter_.columns.integers.empty()) return;
  const auto check = [&](std::size_t v) {
    if (units.gone[v] == 0) filter_.columns.check_row(units.parcels.row(v));
  };
  for (const std::uint32_t v : units.changed) check(v);
  for (std::size_t v = known_; v < units.size(); ++v) check(v);
}

/// Stores the units of a round in cell lists if these find the partners that the tree would, in less time: a tree that is there has
/// little to update, and one that is built after some rounds in which few units looked serves those that follow. @return true if they do
bool PolicySearch::build_cells(const Units& units, const std::vector<std::uint8_t>& looks) {
  if (steps_of_trees_ > 0) cells_.clear();
  if (built_ || steps_of_trees_ > 0 || !UnitCells::suit(filter_, single_)) return false;
  const auto idle = static_cast<std::size_t>(std::count(looks.begin(), looks.end(), 0));
  const std::size_t looking = looks.size() - idle + queries_;
  if (!single_ && looking < units.size() / kFew && (looking == 0 || ++few_rounds_ > kFewRounds)) return false;
  const auto is_refused = [](const auto& of) { return !of.second.refused.empty(); };
  if (std::any_of(units.extra.begin(), units.extra.end(), is_refused)) return false;
  const bool several = fan_ > 1 || !filter_.packed.phase.empty();
  if (cells_.build(units, looks, filter_, fan_) && (!several || !cells_.is_crowded())) return true;
  steps_of_trees_ = kStepsBetweenTries;
  return false;
}

/// Builds the tree of the units of this round, if the step has none.
void PolicySearch::build_tree(const Units& units) {
  if (!built_) tree_.build(units, filter_);
  built_ = true;
}

/// Finds the least admissible partners of every looker among the units of this rank.
void PolicySearch::search_local(const Units& units, const std::vector<std::uint8_t>& looks) {
  list_.clear();
  if (by_cells_) return fan_ > 1 ? search_cells_lazily(units, looks) : search_cells(units);
  lookers_.clear();
  for (std::uint32_t v = 0; v < looks.size(); ++v)
    if (looks[v] != 0) lookers_.push_back(v);
  found_.assign(lookers_.size() * fan_, Partner());
  if (lookers_.empty()) return;
  build_tree(units);
  tree_.sort(lookers_);
  tree_.find_all(lookers_, fan_, found_);
}

/// Finds the least admissible partners of every looker among the units of this rank in cell lists, and those for which these give up in
/// the tree.
void PolicySearch::search_cells(const Units& units) { search_given_up(units, cells_.find_all(lookers_, found_)); }

/// Finds in the tree the partners of lookers for which cell lists gave up, by their places.
void PolicySearch::search_given_up(const Units& units, const std::vector<std::uint32_t>& given_up) {
  if (given_up.empty()) return;
  if (given_up.size() > kFew + lookers_.size() / kFew) steps_of_trees_ = kStepsBetweenTries;
  build_tree(units);
  std::vector<std::uint32_t> rest;
  for (const std::uint32_t k : given_up) rest.push_back(lookers_[k]);
  std::vector<Partner> of_rest(rest.size() * fan_);
  tree_.find_all(rest, fan_, of_rest);
  for (std::size_t i = 0; i < rest.size(); ++i)
    std::copy_n(of_rest.begin() + static_cast<std::ptrdiff_t>(i * fan_), fan_, found(given_up[i]).begin());
}

/// Finds in cell lists the nearest partner of every looker, and all partners of those that may lose it to another link, as is_certain()
/// tells. A link of a looker to its nearest is certain if both look and are each other's nearest. It is also certain if the nearest does
/// not look, and no link to it is as short or shorter: neither one from a looker whose nearest it is too, nor one from a looker that is not certain,
/// to any of its partners. For, of the certain links, take the one of least key that does not become a pair: an end of it is in a pair of
/// lesser key. That is no link to the looker, since no unit has a lesser (distance, id), so it is a link to the nearest, as short or shorter,
/// from a looker that is certain, to another partner than its nearest: that looker has lost its nearest, a link of still lesser key.
void PolicySearch::search_cells_lazily(const Units& units, const std::vector<std::uint8_t>& looks) {
  const auto looking = static_cast<std::size_t>(std::count(looks.begin(), looks.end(), 1));
  found_.reserve(looking + looking / 5 * 2 * fan_);                          // usually enough
  std::vector<std::uint32_t> unknown = cells_.find_first(lookers_, found_);  // these are not certain
  if (unknown.size() > lookers_.size() / 2) {                                // nor would it find more partners
    unknown.resize(lookers_.size());
    std::iota(unknown.begin(), unknown.end(), 0U);
    found_.assign(lookers_.size() * fan_, Partner());
    return search_given_up(units, unknown);
  }
  list_.resize(lookers_.size());
  std::iota(list_.begin(), list_.end(), std::size_t{0});
  for (std::vector<std::uint32_t> rest = list_uncertain(units); !rest.empty(); rest = list_contested(rest)) {
    const std::size_t begin = found_.size();
    found_.resize(begin + rest.size() * fan_);
    for (std::size_t i = 0; i < rest.size(); ++i) list_[rest[i]] = begin + i * fan_;
    std::vector<std::uint32_t> given_up = cells_.find_rest(rest, std::span(found_).subspan(begin));
    for (std::uint32_t& k : given_up) k = rest[k];
    search_given_up(units, given_up);
  }
}

/// Lists lookers, by their places, whose link to their nearest partner is not the only least one of those to nearest partners at both
/// ends, or may be touched by a link from another rank. Which a link is is as good as random, so no branch tells.
std::vector<std::uint32_t> PolicySearch::list_uncertain(const Units& units) {
  const auto n = static_cast<std::uint32_t>(lookers_.size());
  first_.assign(units.size(), {});
  FirstLink* const first = first_.data();
  const std::uint32_t* const lookers = lookers_.data();
  const Partner* const found = found_.data();
  const auto nearest_of = [&](std::uint32_t k) {
    return found[k].vertex == links::kNone ? lookers[k] : found[k].vertex;
  };
  for (std::uint32_t k = 0; k < n; ++k) {
    const std::uint32_t nearest = nearest_of(k);
    first[lookers[k]].nearest = nearest;
    FirstLink& to = first[nearest];
    const bool less = found[k].distance2 < to.distance2;
    to.looker = less ? k : to.looker;  // of several at one distance the others will contest it
    to.distance2 = less ? found[k].distance2 : to.distance2;
  }
  const bool alone = mailbox_.graph().out.empty();
  const Box& box = decomposition_.grid().box;
  double margin = 0;
  for (int axis = 0; axis < 3; ++axis)
    margin = std::max(margin, 1e-9 * box.extent[axis] + 2 * rounding_bound(box, axis));
  std::vector<std::uint32_t> rest(n);
  std::size_t count = 0;
  for (std::uint32_t k = 0; k < n; ++k) {
    FirstLink& to = first[nearest_of(k)];
    bool certain = found[k].vertex != links::kNone &&
                   ((to.nearest == lookers[k]) | ((to.nearest == links::kNone) & (to.looker == k)));
    if (!alone && certain) {
      // Units of other ranks are farther from the nearest than the looker is, with a margin for rounding: the nearest is within d of the
      // looker, so a unit within d of the nearest is within 2 d of the looker, also where the distance has more columns than the position.
      const double reach = distance_to_faces(units.parcels.site(lookers[k])) - margin;
      certain = reach > 0 && reach * reach > 4.001 * found[k].distance2;
      if (!certain && to.looker == k) to.looker = links::kNone;
    }
    rest[count] = k;
    count += certain ? 0 : 1;
  }
  rest.resize(count);
  return rest;
}

/// Lists lookers, by their places ascending, that were certain, but to whose nearest partner a link as short goes from one of some lookers
/// whose partners have all been found.
std::vector<std::uint32_t> PolicySearch::list_contested(std::span<const std::uint32_t> lookers) {
  std::vector<std::uint32_t> contested(lookers.size() * fan_ + 1);
  std::size_t count = 0;
  for (const std::uint32_t k : lookers)
    for (const Partner& p : found(k)) {
      if (p.vertex == links::kNone) break;
      FirstLink& to = first_[p.vertex];
      const bool is = (p.distance2 <= to.distance2) & (to.nearest == links::kNone) & (to.looker != links::kNone);
      contested[count] = to.looker;
      count += is ? 1 : 0;
      to.looker = is ? links::kNone : to.looker;
    }
  contested.resize(count);
  std::sort(contested.begin(), contested.end());
  return contested;
}

/// Returns the distance of a unit of this rank to the nearest face of the rank's block.
double PolicySearch::distance_to_faces(const Site& s) const {
  const auto block = decomposition_.block(rank_);
  const Box& box = decomposition_.grid().box;
  const double rounding = std::max({rounding_bound(box, 0), rounding_bound(box, 1), rounding_bound(box, 2)});
  return std::min({s.x - block.lower[0], block.upper[0] - s.x, s.y - block.lower[1], block.upper[1] - s.y,
                   s.z - block.lower[2], block.upper[2] - s.z}) -
         rounding;
}

/// Finds the least admissible partners of a unit of another rank, less than those given.
void PolicySearch::find_for(const Units& units, const LookingUnit& looking, std::span<Partner> best) {
  // A policy that limits members suits cell lists in the first round alone, in which no query has a unit of several.
  if (by_cells_ && looking.refused.empty()) {
    if (cells_.find(looking, best)) return;
    ++given_up_;
  }
  build_tree(units);
  tree_.find(looking, best);
}

/// Posts the queries of lookers whose partner may be on another rank: its block lies within the distance found, and `within`.
void PolicySearch::post_queries(const Units& units) {
  const auto& out = mailbox_.graph().out;
  std::vector<double> packed(filter_.width());
  for (std::uint32_t k = 0; k < lookers_.size(); ++k) {
    const std::uint32_t v = lookers_[k];
    const Site& s = units.parcels.site(v);
    const Partner& last = found(k).back();
    const double limit = std::min(last.distance2, filter_.within2);
    const double face = distance_to_faces(s);
    if (face > 0 && face * face * (1 - 1e-12) > limit) continue;  // the ball lies in this block
    const std::int64_t id = units.parcels.id(v);
    const auto refused = units.refused(id);
    bool is_packed = packed.empty();
    for (std::size_t arc = 0; arc < out.size(); ++arc) {
      if (decomposition_.distance2_to_block({s.x, s.y, s.z}, out[arc]) > limit) continue;
      if (!is_packed) filter_.pack(units.parcels.row(v), packed.data());
      is_packed = true;
      mailbox_.post(arc, PartnerQuery{s, id, units.members[v], last.distance2, last.id,
                                      static_cast<std::int64_t>(refused.size())});
      mailbox_.post_all(arc, std::span<const double>(packed));
      mailbox_.post_all(arc, refused);
      asked_[arc].push_back(k);
    }
  }
}

/// Answers the queries of other ranks.
void PolicySearch::answer_queries(const Units& units, const std::vector<std::uint8_t>& looks) {
  std::vector<double> packed(filter_.width());
  std::vector<Partner> best(fan_);
  std::vector<std::int64_t> refused;
  for (std::size_t arc = 0; arc < asked_.size(); ++arc) {
    auto message = mailbox_.inbox(arc);
    while (!message.empty()) {
      const auto q = take<PartnerQuery>(message);
      ++queries_;
      for (double& x : packed) x = take<double>(message);
      if (q.refused < 0 || static_cast<std::size_t>(q.refused) > message.size() / sizeof(std::int64_t))
        throw CommError("a message of queries ends early");
      refused.resize(static_cast<std::size_t>(q.refused));
      for (std::int64_t& id : refused) id = take<std::int64_t>(message);
      std::fill(best.begin(), best.end(), Partner{q.distance2, q.last});
      find_for(units, {q.site, q.id, q.members, packed.data(), refused}, best);
      for (const Partner& p : best) {
        mailbox_.post(arc, PartnerReply{p.distance2, p.id, p.vertex});
        if (p.vertex == links::kNone) break;
        if (several_)
          mailbox_.post(arc, RemotePartner{{units.parcels.site(p.vertex), units.members[p.vertex]}, looks[p.vertex]});
      }
    }
  }
  if (given_up_ > kFew + queries_ / kFew) steps_of_trees_ = kStepsBetweenTries;
  spend(Work::search, units.size());
}

/// Takes the replies to this rank's queries: the least partners by (distance2, id) of all ranks.
void PolicySearch::take_replies() {
  partners_.clear();
  for (std::size_t arc = 0; arc < asked_.size(); ++arc) {
    auto message = mailbox_.inbox(arc);
    for (const std::uint32_t k : asked_[arc])
      for (std::size_t i = 0; i < fan_; ++i) {
        const auto r = take<PartnerReply>(message);
        if (r.vertex == links::kNone) break;
        Partner p{r.distance2, r.id, r.vertex, static_cast<std::uint32_t>(arc)};
        if (several_) {
          p.entry = static_cast<std::uint32_t>(partners_.size());
          partners_.push_back(take<RemotePartner>(message));
        }
        if (p < found(k).back()) insert_partner(found(k), p);
      }
    if (!message.empty())
      throw CommError("rank " + std::to_string(mailbox_.graph().in[arc]) + " answered " +
                      std::to_string(asked_[arc].size()) + " queries with " + std::to_string(message.size()) +
                      " bytes too many");
  }
}

/// Stores the links of this rank and posts those to other ranks, numbered on each arc in the order of lookers.
void PolicySearch::announce(const Units& units) {
  links_.target.assign(units.size(), links::kNone);
  links_.out.clear();
  links_.in.clear();
  leaves_.clear();
  distance2_.assign(units.size(), std::numeric_limits<double>::infinity());
  std::vector<std::uint32_t> next(asked_.size() + 1, 0);
  if (!asked_.empty())
    for (const Partner& p : found_)
      if (p.vertex != links::kNone && p.arc != links::kNone) ++next[p.arc + 1];
  for (std::size_t arc = 0; arc < asked_.size(); ++arc) next[arc + 1] += next[arc];
  const std::vector<std::uint32_t> first = next;
  links_.out.resize(next.back());
  for (std::size_t k = 0; k < lookers_.size(); ++k) {
    const Partner& nearest = found(k).front();
    if (nearest.vertex == links::kNone) continue;
    if (!several_) distance2_[lookers_[k]] = nearest.distance2;  // else GreedyPairs sets those of pairs
    links_.target[lookers_[k]] = nearest.arc != links::kNone ? links::kAway | next[nearest.arc] : nearest.vertex;
    if (links_.out.empty()) continue;
    for (Partner& p : found(k)) {
      if (p.vertex == links::kNone) break;
      if (p.arc == links::kNone) continue;
      p.out = next[p.arc]++;
      send_link(units, lookers_[k], p, p.out - first[p.arc]);
    }
  }
}

/// Stores one link of a unit to another rank, and posts it. @param slot  its number on its arc
void PolicySearch::send_link(const Units& units, std::uint32_t vertex, const Partner& p, std::uint32_t slot) {
  links_.out[p.out] = {vertex, p.vertex, p.arc, slot, p.id, p.distance2, mailbox_.graph().out[p.arc]};
  mailbox_.post(p.arc, LinkAnnouncement{{units.parcels.site(vertex), units.members[vertex]},
                                        units.parcels.id(vertex),
                                        p.distance2,
                                        vertex,
                                        p.vertex});
}

/// Stores the links that other ranks have announced, in the order of arcs and slots.
void PolicySearch::receive_announcements(const Units& units) {
  for (std::uint32_t arc = 0; arc < asked_.size(); ++arc) {
    std::uint32_t slot = 0;
    for (auto message = mailbox_.inbox(arc); !message.empty();) {
      const auto a = take<LinkAnnouncement>(message);
      if (a.target >= units.size())
        throw CommError("rank " + std::to_string(mailbox_.graph().in[arc]) + " announced a link to unit " +
                        std::to_string(a.target) + " of " + std::to_string(units.size()));
      if (a.id == units.parcels.id(a.target))
        throw InputError("parcel id " + std::to_string(a.id) + " is on this rank and on rank " +
                         std::to_string(mailbox_.graph().in[arc]) + "; ids must be distinct");
      links_.in.push_back({a.target, a.source, arc, slot++, a.id, a.distance2, mailbox_.graph().in[arc]});
      leaves_.push_back(a.leaf);
    }
  }
}

}  // namespace merganser::cluster
