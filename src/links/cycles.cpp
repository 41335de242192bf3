// Cutting of link cycles longer than two (prune.hpp), which occur only with the search rule cells8.
#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/links/prune.hpp"
#include "src/links/cross_links.hpp"

// Cuts cycles of three or more links at their largest link, by tokens (prune.hpp). In a cycle the link before the
// largest is smaller than it. So the largest link of every cycle starts at a vertex with an arriving link that is
// smaller than its own: an ascent. In a symmetric search there are none. A token is sent from each ascent and follows
// the links while they are smaller than the one it started on. It returns to its origin if and only if that link is the
// largest of a cycle.

namespace merganser::links {
namespace {

/// Token of the search for long cycles: a message that follows nearest-neighbour links back to its origin; `vertex` is the next
/// vertex to visit.
struct Token {
  Key start;                  ///< key of the link on which the token started
  std::int32_t origin_rank;   ///< rank of the ascent from which the token started
  std::uint32_t origin;       ///< vertex of the ascent, by the numbering of origin_rank
  std::uint32_t vertex;       ///< by the numbering of the rank that holds or receives it
  std::uint32_t padding = 0;  // no indeterminate bytes are sent
};

using Origin = std::pair<std::int32_t, std::uint32_t>;  // rank and vertex of the ascent from which a token started

/// Distributed search for cycles of three or more links by tokens, one wave of messages for each hop between ranks.
class CycleCutter {
 public:
  CycleCutter(Links& links, const Ids& ids, const std::vector<double>& distance2, const Channels& channels)
      : links_(links), ids_(ids), distance2_(distance2), channels_(channels), rank_(channels.transport.rank()) {}

  std::int64_t run();

 private:
  void validate();
  void start_tokens();
  bool advance(Token& token);
  void walk(Token token);
  bool forward_tokens();
  void cut_across();
  void remove_links(std::vector<CrossLink>& list, const std::vector<std::vector<std::uint32_t>>& slots, bool leaving);

  [[nodiscard]] bool is_dual(std::uint32_t v) const;
  [[nodiscard]] Key key(std::uint32_t v) const;

  Links& links_;
  const Ids& ids_;
  const std::vector<double>& distance2_;  // by vertex: squared length of its link
  const Channels& channels_;
  std::int32_t rank_;                 // rank of the caller
  CrossLinks cross_;                  // index of the cross-rank links, with the opposite ends of dual links
  std::vector<std::uint8_t> ascent_;  // by vertex, 1: some arriving link is smaller than its own
  std::set<std::pair<std::uint32_t, Origin>> visits_;  // (ascent, origin of token) pairs met
  std::vector<std::uint32_t> cut_;                     // local vertices whose link is cut
  std::int64_t posted_ = 0;                            // tokens posted for the next wave
};

/// Returns the key of a link from its squared length and the ids of its ends, in either order.
Key make_key(double distance2, std::int64_t a, std::int64_t b) { return {distance2, std::min(a, b), std::max(a, b)}; }

/// Returns the key (squared length, lower id, higher id) of the link of vertex v.
Key CycleCutter::key(std::uint32_t v) const {
  const std::uint32_t t = links_.target[v];
  const std::int64_t remote = (t & kAway) != 0 ? links_.out[t & ~kAway].remote_id : ids_[t];
  return make_key(distance2_[v], ids_[v], remote);
}

/// Returns whether the target of vertex v links back to v, on this rank or another.
bool CycleCutter::is_dual(std::uint32_t v) const {
  const std::uint32_t t = links_.target[v];
  return (t & kAway) != 0 ? cross_.dual_out[t & ~kAway] != kNone : links_.target[t] == v;
}

/// Validates the links of this rank and their squared lengths before long cycles are cut. Local. @throws InputError
void CycleCutter::validate() {
  const std::size_t n = links_.target.size();
  if (distance2_.size() < n) {
    throw InputError("cut_long_cycles: " + std::to_string(distance2_.size()) + " distances for " + std::to_string(n) +
                     " vertices");
  }
  require_no_relays(links_);
  cross_.build(links_, channels_.mailbox.graph().out.size());
  std::size_t leaving = 0;
  for (std::uint32_t v = 0; v < n; ++v) {
    const std::uint32_t t = links_.target[v];
    if (t == kNone) continue;
    leaving += (t & kAway) != 0;
    if (t == v || ((t & kAway) == 0 && t >= n)) {
      throw InputError("cut_long_cycles: vertex " + std::to_string(v) + " has target " + std::to_string(t) +
                       "; allowed: another of " + std::to_string(n) + " vertices");
    }
  }
  if (leaving != links_.out.size()) {
    throw InputError("cut_long_cycles: " + std::to_string(leaving) + " vertices have a link that leaves the rank, " +
                     std::to_string(links_.out.size()) + " are listed");
  }
}

/// Marks every ascent of this rank, then starts a token from each. An ascent is compared by distance first; the keys
/// are computed only if the distances do not decide.
void CycleCutter::start_tokens() {
  const auto n = static_cast<std::uint32_t>(links_.target.size());
  std::vector<std::uint32_t> starts;
  ascent_.assign(n, 0);
  const auto mark_if_ascent = [&](double arriving, std::uint32_t v, const auto& arriving_key) {
    if (ascent_[v] || links_.target[v] == kNone || arriving > distance2_[v]) return;
    if (is_dual(v) || !(arriving_key() < key(v))) return;
    ascent_[v] = 1;
    starts.push_back(v);
  };
  for (std::uint32_t u = 0; u < n; ++u) {
    const std::uint32_t v = links_.target[u];
    if (v < n) mark_if_ascent(distance2_[u], v, [&] { return key(u); });
  }
  // Links that arrive from other ranks make ascents too; their keys are computed from the stored length and id.
  for (const CrossLink& link : links_.in) {
    mark_if_ascent(link.distance2, link.vertex,
                   [&] { return make_key(link.distance2, link.remote_id, ids_[link.vertex]); });
  }
  for (const std::uint32_t v : starts) {
    Token token{key(v), rank_, v, v};
    if (advance(token)) walk(token);
  }
}

/// Moves a token of the search for long cycles along the link of its vertex; over a cross-rank link it is posted for the next wave.
/// @return false if it left the rank
bool CycleCutter::advance(Token& token) {
  const std::uint32_t t = links_.target[token.vertex];
  if ((t & kAway) == 0) {
    token.vertex = t;
    return true;
  }
  const CrossLink& link = links_.out[t & ~kAway];
  token.vertex = link.remote_vertex;
  channels_.mailbox.post(link.arc, token);
  ++posted_;
  return false;
}

/// Advances a token along links of this rank until it reaches its origin, whose link is then cut, leaves the rank or is dropped at
/// a link that is larger than the one on which it started.
void CycleCutter::walk(Token token) {
  const Origin origin{token.origin_rank, token.origin};
  do {
    const std::uint32_t v = token.vertex;
    if (origin == Origin{rank_, v}) {
      cut_.push_back(v);
      return;
    }
    if (links_.target[v] == kNone || is_dual(v) || token.start < key(v)) return;
    // A token in a cycle of smaller links would circulate forever; it passes the largest of them, an ascent, so a
    // second visit there ends it.
    if (ascent_[v] && !visits_.insert({v, origin}).second) return;
  } while (advance(token));
}

/// Exchanges the tokens of the search for long cycles that have left their rank and advances those that arrive. Collective: one
/// reduction and one wave. @return whether any rank had posted one
bool CycleCutter::forward_tokens() {
  const std::int64_t posted = channels_.transport.all_reduce(std::exchange(posted_, 0), comm::Op::max);
  if (posted == 0) return false;
  channels_.mailbox.step();
  std::vector<Token> arrived;
  for (std::size_t arc = 0; arc < channels_.mailbox.graph().in.size(); ++arc) {
    const auto tokens = channels_.mailbox.records<Token>(arc);
    arrived.insert(arrived.end(), tokens.begin(), tokens.end());
  }
  for (const Token& token : arrived) {
    if (token.vertex >= links_.target.size()) {
      throw CommError("cut_long_cycles: a token arrives at vertex " + std::to_string(token.vertex) + " of " +
                      std::to_string(links_.target.size()));
    }
    walk(token);
  }
  return true;
}

/// Removes the cross-rank links with these slots (ascending, by arc) from a list and renumbers the others from 0 on each arc. Both
/// ends remove the same slots and keep the order of the rest, so their numbering stays equal.
void CycleCutter::remove_links(std::vector<CrossLink>& list, const std::vector<std::vector<std::uint32_t>>& slots,
                               bool leaving) {
  std::size_t kept = 0;
  std::vector<std::uint32_t> next(slots.size(), 0);
  for (CrossLink link : list) {
    const auto& gone = slots[link.arc];
    if (std::binary_search(gone.begin(), gone.end(), link.slot)) {
      if (leaving) links_.target[link.vertex] = kNone;
      continue;
    }
    link.slot = next[link.arc]++;
    if (leaving) links_.target[link.vertex] = kAway | static_cast<std::uint32_t>(kept);
    list[kept++] = link;
  }
  list.resize(kept);
}

/// Cuts the largest links of long cycles, those of the vertices in `cut_`, and sends the slots of cross-rank ones to the ranks of
/// their targets. Collective: one wave.
void CycleCutter::cut_across() {
  const std::size_t arcs = channels_.mailbox.graph().out.size();
  std::vector<std::vector<std::uint32_t>> leaving(arcs);
  std::vector<std::vector<std::uint32_t>> arriving(arcs);
  // Local links are cut at once; of cross-rank links the slots are sent, so that both ends remove the same ones.
  for (const std::uint32_t v : cut_) {
    const std::uint32_t t = links_.target[v];
    if ((t & kAway) == 0) {
      links_.target[v] = kNone;
    } else {
      leaving[links_.out[t & ~kAway].arc].push_back(links_.out[t & ~kAway].slot);
    }
  }
  for (std::size_t arc = 0; arc < arcs; ++arc) {
    std::sort(leaving[arc].begin(), leaving[arc].end());
    for (const std::uint32_t slot : leaving[arc]) channels_.mailbox.post(arc, slot);
  }
  channels_.mailbox.step();
  for (std::size_t arc = 0; arc < arcs; ++arc) {
    const auto slots = channels_.mailbox.records<std::uint32_t>(arc);
    arriving[arc].assign(slots.begin(), slots.end());
  }
  remove_links(links_.out, leaving, true);
  remove_links(links_.in, arriving, false);
}

/// Cuts all cycles of three or more links at their largest link. Collective. @return number of cycles cut on all ranks
std::int64_t CycleCutter::run() {
  comm::agree(channels_.transport, [this] { validate(); });
  start_tokens();
  while (forward_tokens()) {
  }
  const std::int64_t cut = channels_.transport.all_reduce(static_cast<std::int64_t>(cut_.size()), comm::Op::sum);
  if (cut > 0) cut_across();
  return cut;
}

}  // namespace

// Cuts the cycles of three and more links that the search rule cells8 may leave; the step between search and pruning.
std::int64_t cut_long_cycles(Links& links, const Ids& ids, const std::vector<double>& distance2,
                             const Channels& channels) {
  return CycleCutter(links, ids, distance2, channels).run();
}

}  // namespace merganser::links
