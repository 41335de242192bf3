// Links of a round under a merge policy, over all ranks.
#include "src/cluster/policy_search.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "merganser/base/error.hpp"
#include "merganser/base/simulated.hpp"
#include "src/cluster/star_core.hpp"

namespace merganser::cluster {
namespace {

/// PartnerQuery to another rank for the nearest admissible partner of a looker. After it come its packed row and the ids that may not be
/// its partners.
struct PartnerQuery {
  Site site;             ///< position and volume of the looker
  std::int64_t id;       ///< its id
  std::int64_t members;  ///< parcels that it holds
  double distance2;      ///< squared distance of the best partner so far
  std::int64_t best;     ///< id of that partner
  std::int64_t refused;  ///< number of ids that may not be its partners
};
/// PartnerReply to a query: a partner less than the best so far, or vertex links::kNone.
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

void PolicySearch::find(const Units& units, const std::vector<std::uint8_t>& looks, StageTimes& seconds) {
  Laps laps;
  tree_.build(units, filter_);
  search_local(units, looks);
  laps.add_to(seconds.search);
  const std::size_t arcs = mailbox_.graph().out.size();
  asked_.assign(arcs, {});
  if (arcs > 0) {
    post_queries(units);
    mailbox_.step();
    answer_queries(units);
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

/// Finds the least admissible partner of every looker among the units of this rank.
void PolicySearch::search_local(const Units& units, const std::vector<std::uint8_t>& looks) {
  lookers_.clear();
  for (std::uint32_t v = 0; v < looks.size(); ++v) {
    if (!looks[v]) continue;
    Looker l{v};
    const std::int64_t id = units.parcels.id(v);
    tree_.find({units.parcels.site(v), id, units.members[v], tree_.packed(v), units.refused(id)}, l.best);
    lookers_.push_back(l);
  }
  spend(Work::search, units.size());
}

/// Posts the queries of lookers whose partner may be on another rank: its block lies within the distance found, and `within`.
void PolicySearch::post_queries(const Units& units) {
  const auto block = decomposition_.block(rank_);
  const auto& out = mailbox_.graph().out;
  for (std::uint32_t k = 0; k < lookers_.size(); ++k) {
    const Looker& l = lookers_[k];
    const Site& s = units.parcels.site(l.vertex);
    const double limit = std::min(l.best.distance2, filter_.within2);
    const double face = std::min({s.x - block.lower[0], block.upper[0] - s.x, s.y - block.lower[1],
                                  block.upper[1] - s.y, s.z - block.lower[2], block.upper[2] - s.z});
    if (face > 0 && face * face * (1 - 1e-12) > limit) continue;  // the ball lies in this block
    const std::int64_t id = units.parcels.id(l.vertex);
    const auto refused = units.refused(id);
    for (std::size_t arc = 0; arc < out.size(); ++arc) {
      if (decomposition_.distance2_to_block({s.x, s.y, s.z}, out[arc]) > limit) continue;
      mailbox_.post(arc, PartnerQuery{s, id, units.members[l.vertex], l.best.distance2, l.best.id,
                                      static_cast<std::int64_t>(refused.size())});
      mailbox_.post_all(arc, std::span(tree_.packed(l.vertex), filter_.width()));
      mailbox_.post_all(arc, refused);
      asked_[arc].push_back(k);
    }
  }
}

/// Answers the queries of other ranks.
void PolicySearch::answer_queries(const Units& units) {
  std::vector<double> packed(filter_.width());
  std::vector<std::int64_t> refused;
  for (std::size_t arc = 0; arc < asked_.size(); ++arc) {
    auto message = mailbox_.inbox(arc);
    while (!message.empty()) {
      const auto q = take<PartnerQuery>(message);
      for (double& x : packed) x = take<double>(message);
      if (q.refused < 0 || static_cast<std::size_t>(q.refused) > message.size() / sizeof(std::int64_t))
        throw CommError("a message of queries ends early");
      refused.resize(static_cast<std::size_t>(q.refused));
      for (std::int64_t& id : refused) id = take<std::int64_t>(message);
      Partner best{q.distance2, q.best, links::kNone};
      tree_.find({q.site, q.id, q.members, packed.data(), refused}, best);
      mailbox_.post(arc, PartnerReply{best.distance2, best.id, best.vertex});
    }
  }
  spend(Work::search, units.size());
}

/// Takes the replies to this rank's queries: the least partner by (distance2, id) of all ranks.
void PolicySearch::take_replies() {
  for (std::size_t arc = 0; arc < asked_.size(); ++arc) {
    const auto replies = mailbox_.records<PartnerReply>(arc);
    if (replies.size() != asked_[arc].size())
      throw CommError("rank " + std::to_string(mailbox_.graph().in[arc]) + " answered " +
                      std::to_string(replies.size()) + " of " + std::to_string(asked_[arc].size()) + " queries");
    for (std::size_t k = 0; k < replies.size(); ++k) {
      const PartnerReply& r = replies[k];
      Looker& l = lookers_[asked_[arc][k]];
      if (r.vertex == links::kNone) continue;
      if (r.distance2 > l.best.distance2 || (r.distance2 == l.best.distance2 && r.id >= l.best.id)) continue;
      l.best = {r.distance2, r.id, r.vertex};
      l.arc = static_cast<std::uint32_t>(arc);
    }
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
  for (const Looker& l : lookers_)
    if (l.arc != links::kNone) ++next[l.arc + 1];
  for (std::size_t arc = 0; arc < asked_.size(); ++arc) next[arc + 1] += next[arc];
  const std::vector<std::uint32_t> first = next;
  links_.out.resize(next.back());
  for (const Looker& l : lookers_) {
    if (l.best.vertex == links::kNone) continue;
    distance2_[l.vertex] = l.best.distance2;
    if (l.arc == links::kNone) {
      links_.target[l.vertex] = l.best.vertex;
      continue;
    }
    const std::uint32_t at = next[l.arc]++;
    links_.out[at] = {
        l.vertex, l.best.vertex, l.arc, at - first[l.arc], l.best.id, l.best.distance2, mailbox_.graph().out[l.arc]};
    links_.target[l.vertex] = links::kAway | at;
    mailbox_.post(l.arc, LinkAnnouncement{{units.parcels.site(l.vertex), units.members[l.vertex]},
                                          units.parcels.id(l.vertex),
                                          l.best.distance2,
                                          l.vertex,
                                          l.best.vertex});
  }
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
