#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "merganser/base/error.hpp"
#include "merganser/links/prune.hpp"
#include "src/links/cross_links.hpp"

// In a cycle the link before the largest is smaller than it. So the largest link of every cycle starts at a vertex with
// an arriving link that is smaller than its own: an ascent. In a symmetric search there are none. From each ascent a
// token walks along the links while they are smaller than the one it started on. It comes back if and only if that one
// is the largest of a cycle.

namespace merganser::links {
namespace {

/// A token, on its way to `vertex`.
struct Token {
  Key start;  ///< the link it started on
  std::int32_t origin_rank;
  std::uint32_t origin;
  std::uint32_t vertex;  ///< by the numbering of the rank that holds or receives it
  std::uint32_t padding = 0;
};

using Origin = std::pair<std::int32_t, std::uint32_t>;  // rank, vertex

class Cutter {
 public:
  Cutter(Links& links, const Ids& ids, const std::vector<double>& distance2, const Channels& channels)
      : links_(links), ids_(ids), distance2_(distance2), channels_(channels), rank_(channels.transport.rank()) {}

  std::int64_t run();

 private:
  void check();
  void start_tokens();
  bool advance(Token& token);
  void walk(Token token);
  bool wave();
  void cut_across();
  void remove(std::vector<CrossLink>& list, const std::vector<std::vector<std::uint32_t>>& slots, bool leaving);

  [[nodiscard]] bool is_dual(std::uint32_t v) const;
  [[nodiscard]] Key key(std::uint32_t v) const;

  Links& links_;
  const Ids& ids_;
  const std::vector<double>& distance2_;
  const Channels& channels_;
  std::int32_t rank_;
  CrossLinks cross_;
  std::vector<std::uint8_t> ascent_;
  std::set<std::pair<std::uint32_t, Origin>> visits_;  // ascent, token
  std::vector<std::uint32_t> cut_;                     // vertices that lose their link
  std::int64_t posted_ = 0;
};

Key make_key(double distance2, std::int64_t a, std::int64_t b) { return {distance2, std::min(a, b), std::max(a, b)}; }

Key Cutter::key(std::uint32_t v) const {
  const std::uint32_t t = links_.target[v];
  const std::int64_t remote = (t & kAway) != 0 ? links_.out[t & ~kAway].remote_id : ids_[t];
  return make_key(distance2_[v], ids_[v], remote);
}

bool Cutter::is_dual(std::uint32_t v) const {
  const std::uint32_t t = links_.target[v];
  return (t & kAway) != 0 ? cross_.dual_out[t & ~kAway] != kNone : links_.target[t] == v;
}

void Cutter::check() {
  const std::size_t n = links_.target.size();
  if (distance2_.size() < n) {
    throw InputError("cut_long_cycles: " + std::to_string(distance2_.size()) + " distances for " + std::to_string(n) +
                     " vertices");
  }
  refuse_relays(links_);
  cross_.find(links_, channels_.mailbox.graph().out.size());
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

/// Marks every ascent, then sends a token from each.
void Cutter::start_tokens() {
  const auto n = static_cast<std::uint32_t>(links_.target.size());
  std::vector<std::uint32_t> starts;
  ascent_.assign(n, 0);
  const auto look = [&](double arriving, std::uint32_t v, const auto& arriving_key) {
    if (ascent_[v] || links_.target[v] == kNone || arriving > distance2_[v]) return;
    if (is_dual(v) || !(arriving_key() < key(v))) return;
    ascent_[v] = 1;
    starts.push_back(v);
  };
  for (std::uint32_t u = 0; u < n; ++u) {
    const std::uint32_t v = links_.target[u];
    if (v < n) look(distance2_[u], v, [&] { return key(u); });
  }
  for (const CrossLink& link : links_.in) {
    look(link.distance2, link.vertex, [&] { return make_key(link.distance2, link.remote_id, ids_[link.vertex]); });
  }
  for (const std::uint32_t v : starts) {
    Token token{key(v), rank_, v, v};
    if (advance(token)) walk(token);
  }
}

/// Moves a token along the link of its vertex. @return false if it left the rank
bool Cutter::advance(Token& token) {
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

/// Walks a token that has come to a vertex until it dies, is home or leaves the rank.
void Cutter::walk(Token token) {
  const Origin origin{token.origin_rank, token.origin};
  do {
    const std::uint32_t v = token.vertex;
    if (origin == Origin{rank_, v}) {
      cut_.push_back(v);
      return;
    }
    if (links_.target[v] == kNone || is_dual(v) || token.start < key(v)) return;
    // Caught in a cycle of smaller links, it would pass the largest of them, an ascent, again and again.
    if (ascent_[v] && !visits_.insert({v, origin}).second) return;
  } while (advance(token));
}

/// Passes tokens on. @return whether any rank had one to pass
bool Cutter::wave() {
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

/// Takes the links with these slots (ascending, by arc) out of a list and numbers the others anew.
void Cutter::remove(std::vector<CrossLink>& list, const std::vector<std::vector<std::uint32_t>>& slots, bool leaving) {
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

/// Cuts, and tells the owners of targets on other ranks.
void Cutter::cut_across() {
  const std::size_t arcs = channels_.mailbox.graph().out.size();
  std::vector<std::vector<std::uint32_t>> leaving(arcs);
  std::vector<std::vector<std::uint32_t>> arriving(arcs);
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
  remove(links_.out, leaving, true);
  remove(links_.in, arriving, false);
}

std::int64_t Cutter::run() {
  comm::agree(channels_.transport, [this] { check(); });
  start_tokens();
  while (wave()) {
  }
  const std::int64_t cut = channels_.transport.all_reduce(static_cast<std::int64_t>(cut_.size()), comm::Op::sum);
  if (cut > 0) cut_across();
  return cut;
}

}  // namespace

std::int64_t cut_long_cycles(Links& links, const Ids& ids, const std::vector<double>& distance2,
                             const Channels& channels) {
  return Cutter(links, ids, distance2, channels).run();
}

}  // namespace merganser::links
