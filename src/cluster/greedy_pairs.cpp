// Greedy matching of lookers and their nearest partners into pairs, over all ranks.
#include "src/cluster/greedy_pairs.hpp"

#include <algorithm>
#include <string>

#include "merganser/base/error.hpp"

namespace merganser::cluster {
namespace {

/// Counts links over ranks by arc. @param first  receives the index of the first link of each arc
void count_by_arc(const std::vector<links::CrossLink>& links, std::size_t arcs, std::vector<std::size_t>& counts,
                  std::vector<std::size_t>& first) {
  counts.assign(arcs, 0);
  first.assign(arcs, 0);
  for (const links::CrossLink& link : links) ++counts[link.arc];
  for (std::size_t arc = 1; arc < arcs; ++arc) first[arc] = first[arc - 1] + counts[arc - 1];
}

/// Pair over ranks that becomes a link, and what the centre needs if the leaf is on the other rank.
struct PairLink {
  links::CrossLink link;
  links::Key key;
  RemoteLeaf leaf;
};

/// Sorts pairs by arc and key, which both their ends know, and numbers them on each arc.
void number(std::vector<PairLink>& pairs) {
  std::sort(pairs.begin(), pairs.end(), [](const PairLink& a, const PairLink& b) {
    return a.link.arc != b.link.arc ? a.link.arc < b.link.arc : a.key < b.key;
  });
  for (std::size_t i = 1; i < pairs.size(); ++i)
    if (pairs[i].link.arc == pairs[i - 1].link.arc) pairs[i].link.slot = pairs[i - 1].link.slot + 1;
}

}  // namespace

void check_link_count(std::size_t links) {
  constexpr std::size_t kMaxLinks = links::kNone / 2;
  if (links <= kMaxLinks) return;
  throw InputError("policy: greedy: " + std::to_string(links) +
                   " links of lookers and partners on a rank; allowed: up to " + std::to_string(kMaxLinks) +
                   "; use more ranks, or fewer fall-backs");
}

std::int64_t GreedyPairs::match(PolicySearch& search, const Units& units, const std::vector<std::uint8_t>& looks,
                                const links::Channels& channels) {
  stream_ = &channels.stream;
  list_crossing(search, units);
  settle_here(search, units);
  list_by_vertex(units.size());
  exchange();
  replace_links(search, units, looks);
  return static_cast<std::int64_t>(out_.size() + in_.size());
}

/// Lists the links over ranks.
void GreedyPairs::list_crossing(PolicySearch& search, const Units& units) {
  out_ = std::move(search.links().out);
  in_ = std::move(search.links().in);
  const Parcels& p = units.parcels;
  links_.clear();
  for (std::uint32_t i = 0; i < in_.size(); ++i) {
    const links::CrossLink& in = in_[i];
    links_.push_back({key_of(in.distance2, in.remote_id, p.id(in.vertex)), in.remote_id, in.vertex});
    links_.back().in = i;
  }
  for (std::uint32_t i = 0; i < out_.size(); ++i) {
    const links::CrossLink& out = out_[i];
    const std::int64_t source = p.id(out.vertex);
    links_.push_back({key_of(out.distance2, source, out.remote_id), source, out.vertex});
    links_.back().out = i;
  }
  if (out_.empty()) return;
  for (std::size_t k = 0; k < search.lookers().size(); ++k)
    for (const Partner& partner : search.partners_of(k))
      if (partner.out != links::kNone) links_[in_.size() + partner.out].entry = partner.entry;
}

/// Returns whether a link comes before another at an end that both have: by ascending key, and of the two links of one key of lookers
/// that have chosen each other, that of the lower id.
bool GreedyPairs::is_before(std::uint32_t a, std::uint32_t b) const {
  const Link& x = links_[a];
  const Link& y = links_[b];
  return x.key == y.key ? x.source_id < y.source_id : x.key < y.key;
}

/// Lists the open links of each unit in their order.
void GreedyPairs::list_by_vertex(std::size_t units) {
  next_.clear();
  if (links_.empty()) return;
  first_.assign(units + 1, 0);
  const auto for_ends = [&](const auto& f) {
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
      if (pair_[links_[i].vertex] != links::kNone) continue;  // it crosses ranks, and is dropped
      f(links_[i].vertex, i);
      if (links_[i].other != links::kNone) f(links_[i].other, i);
    }
  };
  for_ends([&](std::uint32_t v, std::uint32_t) { ++first_[v + 1]; });
  for (std::size_t v = 0; v < units; ++v) first_[v + 1] += first_[v];
  by_vertex_.resize(first_[units]);
  next_.assign(first_.begin(), first_.end() - 1);
  for_ends([&](std::uint32_t v, std::uint32_t i) { by_vertex_[next_[v]++] = i; });
  next_.assign(first_.begin(), first_.end() - 1);
  for (std::size_t v = 0; v < units; ++v)
    std::sort(by_vertex_.begin() + first_[v], by_vertex_.begin() + first_[v + 1],
              [&](std::uint32_t a, std::uint32_t b) { return is_before(a, b); });
}

/// Makes the pairs: proposes links until every record of this round has come. A rank whose links have all been settled here may still
/// receive records of links that both ends dropped.
void GreedyPairs::exchange() {
  const std::size_t arcs = stream_->graph().out.size();
  count_by_arc(out_, arcs, outs_, first_out_);
  count_by_arc(in_, arcs, ins_, first_in_);
  std::vector<std::size_t> all(arcs);
  for (std::size_t arc = 0; arc < arcs; ++arc) all[arc] = outs_[arc] + ins_[arc];
  stream_->open(all, all);
  waiting_.clear();
  for (std::uint32_t i = 0; i < links_.size(); ++i)
    if (links_[i].other == links::kNone && pair_[links_[i].vertex] != links::kNone) drop(i, links_[i].vertex);
  for (std::uint32_t v = 0; v < next_.size(); ++v)
    if (first_[v] < first_[v + 1]) waiting_.push_back(v);
  work_off();
  // On an arc the links of the sender's lookers come first, then those of the receiver's.
  const auto take = [&](std::size_t arc, std::size_t slot, std::uint32_t value) {
    const std::size_t i = slot < ins_[arc] ? first_in_[arc] + slot : in_.size() + first_out_[arc] + slot - ins_[arc];
    receive(static_cast<std::uint32_t>(i), value != 0);
    work_off();
  };
  while (stream_->take(take) != 0) stream_->wait();
  stream_->finish();
}

/// Proposes the least links of units as long as that changes those of others on this rank.
void GreedyPairs::work_off() {
  while (!waiting_.empty()) {
    const std::uint32_t v = waiting_.back();
    waiting_.pop_back();
    propose(v);
  }
}

/// Proposes the least link of a unit that is not dropped, unless it has or the unit has a pair.
void GreedyPairs::propose(std::uint32_t vertex) {
  if (pair_[vertex] != links::kNone) return;
  std::uint32_t& at = next_[vertex];
  while (at < first_[vertex + 1] && (links_[by_vertex_[at]].state & kDropped) != 0) ++at;
  if (at == first_[vertex + 1]) return;
  const std::uint32_t i = by_vertex_[at];
  Link& link = links_[i];
  const State mine = link.vertex == vertex ? kHere : kThere;
  if ((link.state & mine) != 0) return;
  link.state |= mine;
  if (link.other == links::kNone) send(link, true);
  if ((link.state & (kHere | kThere)) == (kHere | kThere)) pair(i);
}

/// Makes a link a pair, and drops the others of its ends.
void GreedyPairs::pair(std::uint32_t link) {
  for (const std::uint32_t v : {links_[link].vertex, links_[link].other}) {
    if (v == links::kNone) continue;
    pair_[v] = link;
    for (std::uint32_t at = first_[v]; at < first_[v + 1]; ++at)
      if (by_vertex_[at] != link) drop(by_vertex_[at], v);
  }
}

/// Drops a link because one of its ends on this rank is in another pair.
void GreedyPairs::drop(std::uint32_t i, std::uint32_t cause) {
  Link& link = links_[i];
  if ((link.state & kDropped) != 0) return;
  link.state |= kDropped;
  if (link.other == links::kNone) {
    send(link, false);
  } else {
    waiting_.push_back(link.vertex == cause ? link.other : link.vertex);
  }
}

/// Sends this rank's record of a link to another rank.
void GreedyPairs::send(Link& link, bool proposed) {
  link.state |= kSent;
  if (link.out != links::kNone) {
    const links::CrossLink& out = out_[link.out];
    stream_->send(out.arc, out.slot, std::uint32_t{proposed});
  } else {
    const links::CrossLink& in = in_[link.in];
    stream_->send(in.arc, outs_[in.arc] + in.slot, std::uint32_t{proposed});
  }
}

/// Processes the record of a link from the rank of its other end.
void GreedyPairs::receive(std::uint32_t i, bool proposed) {
  Link& link = links_[i];
  if ((link.state & kDropped) != 0) return;
  if (proposed) {
    link.state |= kThere;
    if ((link.state & kHere) != 0) pair(i);
    return;
  }
  link.state |= kDropped;
  if ((link.state & kSent) == 0) send(link, false);
  waiting_.push_back(link.vertex);
}

/// Replaces the links of the search by the pairs: from the looker to the other unit, of two lookers from the higher id to the lower.
void GreedyPairs::replace_links(PolicySearch& search, const Units& units, const std::vector<std::uint8_t>& looks) {
  links::Links& l = search.links();
  std::vector<PairLink> out;
  std::vector<PairLink> in;
  std::fill(l.target.begin(), l.target.end(), links::kNone);
  constexpr std::size_t kAhead = 16;
  for (std::size_t i = 0; i < settled_.size(); ++i) {
    const LocalPair& p = settled_[i];
    const LocalPair& ahead = settled_[std::min(i + kAhead, settled_.size() - 1)];
    __builtin_prefetch(units.parcels.row(ahead.source));
    __builtin_prefetch(units.parcels.row(ahead.target));
    const bool source_leaves = looks[p.target] == 0 || units.parcels.id(p.source) > units.parcels.id(p.target);
    const std::uint32_t leaf = source_leaves ? p.source : p.target;
    l.target[leaf] = source_leaves ? p.target : p.source;
    search.distance2()[leaf] = p.distance2;
  }
  for (std::uint32_t v = 0; v < units.size() && !links_.empty(); ++v) {
    if (pair_[v] == links::kNone || pair_[v] == kSettled) continue;
    const Link& link = links_[pair_[v]];
    if (link.vertex != v) continue;  // local pairs are listed at their source
    const bool here = link.in == links::kNone;
    const bool target_looks = !here                        ? looks[v] != 0
                              : link.other != links::kNone ? looks[link.other] != 0
                                                           : search.partners()[link.entry].looks != 0;
    const bool source_leaves = !target_looks || link.source_id == link.key.high;
    if (link.other != links::kNone) {
      const std::uint32_t leaf = source_leaves ? v : link.other;
      l.target[leaf] = source_leaves ? link.other : v;
      search.distance2()[leaf] = link.key.distance2;
      continue;
    }
    PairLink pair{here ? out_[link.out] : in_[link.in], link.key,
                  here ? search.partners()[link.entry].leaf : search.leaves()[link.in]};
    pair.link.slot = 0;
    (here == source_leaves ? out : in).push_back(pair);
  }
  number(out);
  number(in);
  l.out.clear();
  l.in.clear();
  search.leaves().clear();
  for (const PairLink& p : out) {
    l.target[p.link.vertex] = links::kAway | static_cast<std::uint32_t>(l.out.size());
    search.distance2()[p.link.vertex] = p.link.distance2;
    l.out.push_back(p.link);
  }
  for (const PairLink& p : in) {
    l.in.push_back(p.link);
    search.leaves().push_back(p.leaf);
  }
}

}  // namespace merganser::cluster
