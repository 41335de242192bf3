// Greedy matching of lookers and their nearest partners into pairs: what a rank settles by itself.
#include <algorithm>
#include <bit>
#include <limits>
#include <span>

#include "src/cluster/greedy_pairs.hpp"

namespace merganser::cluster {

/// Takes the links of this rank in their order, and settles those whose ends have no open link before them.
void GreedyPairs::settle_here(PolicySearch& search, const Units& units) {
  pair_.assign(units.size(), links::kNone);
  blocked_.assign(units.size(), 0);
  turns_.clear();  // some are left if the last step ran out of memory
  settle_nearest(search);
  settle_least(search);
  fill_buckets(search);
  // The first turn is on top of the heap; ids tell which of two links of one length is first. The two links of lookers that have chosen
  // each other have one result in either order.
  const auto is_later = [&](const Turn& a, const Turn& b) {
    if (a.distance2 != b.distance2) return b.distance2 < a.distance2;
    if (a.vertex == b.other && a.other == b.vertex) return false;
    return turn_key(search, units, b) < turn_key(search, units, a);
  };
  for (now_ = 0; now_ < bucket_.size(); ++now_) {
    for (std::uint32_t a = bucket_[now_]; a != links::kNone; a = next_actor_[a]) turns_.push_back(turn_of_[a]);
    if (turns_.size() > 1) std::make_heap(turns_.begin(), turns_.end(), is_later);
    while (!turns_.empty()) {
      if (turns_.size() > 1) std::pop_heap(turns_.begin(), turns_.end(), is_later);
      const Turn turn = turns_.back();
      turns_.pop_back();
      const std::size_t before = turns_.size();
      take_turn(search, units, turn);
      if (turns_.size() > before) std::push_heap(turns_.begin(), turns_.end(), is_later);
    }
  }
}

/// Settles the links that are certain, and those of lookers of this rank that are each other's nearest: among all admissible partners,
/// so that no other link of theirs, from or to any rank, has a lesser key. The other lookers wait for their turns.
void GreedyPairs::settle_nearest(PolicySearch& search) {
  const std::vector<std::uint32_t>& nearest = search.links().target;  // of a rank's own unit its number
  const auto lookers = static_cast<std::uint32_t>(search.lookers().size());
  settled_.resize(lookers);
  waiters_.resize(lookers);
  std::size_t settled = 0;
  const auto settle = [&](std::uint32_t k) {
    const std::uint32_t v = search.lookers()[k];
    const std::uint32_t other = nearest[v];
    settled_[settled] = {search.partners_of(k).front().distance2, v, other};
    settled += pair_[v] == links::kNone ? 1 : 0;  // with branches half of them would be predicted wrong
    pair_[v] = pair_[other] = kSettled;
  };
  // Those that are not certain to the front of waiters_, the others to its end: which are is as good as random, so no branch tells.
  std::size_t uncertain = 0;
  for (std::uint32_t k = 0; k < lookers; ++k) {
    waiters_[uncertain] = waiters_[lookers - 1 - (k - uncertain)] = k;
    uncertain += search.is_certain(k) ? 0 : 1;
  }
  for (std::size_t i = lookers; i-- > uncertain;) settle(waiters_[i]);
  std::size_t waiters = 0;
  for (std::size_t i = 0; i < uncertain; ++i) {
    const std::uint32_t k = waiters_[i];
    const std::uint32_t v = search.lookers()[k];
    const std::uint32_t other = nearest[v];
    if ((other & links::kAway) != 0 || nearest[other] != v)  // kNone has this bit too
      waiters_[waiters++] = k;
    else
      settle(k);
  }
  settled_.resize(settled);
  waiters_.resize(waiters);
}

/// Settles, in a few rounds, the links of this rank that are less than all others of both their ends: these become pairs in any order of
/// turns. Of links of one length at an end none is settled. Whether a link is the least is as good as random, so no branch tells. Lookers
/// that still have a link wait for their turns.
void GreedyPairs::settle_least(const PolicySearch& search) {
  constexpr int kRounds = 3;  // of uniform parcels hardly any are left then
  const auto grow = [](RawBuffer& buffer, std::size_t bytes) {
    if (buffer.bytes() < bytes) buffer = RawBuffer(bytes);
    return buffer.data();
  };
  auto* const open =
      reinterpret_cast<OpenLink*>(grow(open_, (waiters_.size() * search.fan() + in_.size()) * sizeof(OpenLink)));
  auto* const least = reinterpret_cast<Least*>(grow(least_, pair_.size() * sizeof(Least)));
  std::uint32_t* const pair = pair_.data();
  std::size_t count = 0;
  const auto add = [&](const OpenLink& link) {
    open[count] = link;
    count += (pair[link.source] == links::kNone) & (pair[link.target] == links::kNone);
  };
  for (const std::uint32_t k : waiters_) {
    const std::uint32_t v = search.lookers()[k];
    for (const Partner& p : search.partners_of(k)) {
      if (p.vertex == links::kNone) break;
      const bool here = p.arc == links::kNone;
      add({std::bit_cast<std::int64_t>(p.distance2), v, here ? p.vertex : v, k});
    }
  }
  for (const links::CrossLink& in : in_)
    add({std::bit_cast<std::int64_t>(in.distance2), in.vertex, in.vertex, links::kNone});
  const auto lower = [least](std::uint32_t at, std::int64_t distance2, std::uint32_t other) {
    Least& to = least[at];
    const bool less = distance2 < to.distance2;
    const bool equal = (distance2 == to.distance2) & (other != to.other);
    const std::uint32_t same = equal ? links::kNone : to.other;
    to = {less ? distance2 : to.distance2, less ? other : same};
  };
  for (int round = 0; round < kRounds; ++round) {
    const std::span<const OpenLink> links(open, count);
    for (const OpenLink& link : links) least[link.source] = least[link.target] = {};
    for (const OpenLink& link : links) {
      lower(link.source, link.distance2, link.target);
      lower(link.target, link.distance2, link.source);
    }
    std::size_t settled = settled_.size();
    settled_.resize(settled + count);
    for (const OpenLink& link : links) {
      const bool is_least = (least[link.source].other == link.target) & (least[link.target].other == link.source) &
                            (link.source != link.target) & (pair[link.source] == links::kNone);
      settled_[settled] = {std::bit_cast<double>(link.distance2), link.source, link.target};
      settled += is_least;
      static_assert(kSettled == (links::kNone & ~1U));  // so both change from kNone to kSettled
      pair[link.source] &= ~std::uint32_t{is_least};
      pair[link.target] &= ~std::uint32_t{is_least};
    }
    settled_.resize(settled);
    count = 0;
    for (const OpenLink link : links) add(link);
  }
  waiters_.clear();
  for (const OpenLink& link : std::span(open, count)) {
    if (link.waiter == links::kNone || (!waiters_.empty() && waiters_.back() == link.waiter)) continue;
    waiters_.push_back(link.waiter);
  }
}

/// Puts the least link of every looker, and the links from other ranks, to buckets by the logarithm of their length.
void GreedyPairs::fill_buckets(const PolicySearch& search) {
  const std::size_t waiters = waiters_.size();
  const std::size_t actors = waiters + in_.size();
  std::size_t count = in_.size();
  std::uint64_t most = 0;
  least_bits_ = std::numeric_limits<std::uint64_t>::max();
  const auto take = [&](double distance2) {
    const auto bits = std::bit_cast<std::uint64_t>(distance2);  // ascending, since distances are not negative
    most = std::max(most, bits);
    if (bits != 0) least_bits_ = std::min(least_bits_, bits);
  };
  for (const std::uint32_t k : waiters_) {
    const std::span<const Partner> partners = search.partners_of(k);
    std::size_t n = partners.size();
    while (n > 0 && partners[n - 1].vertex == links::kNone) --n;
    count += n;
    if (n == 0) continue;
    take(partners[0].distance2);
    take(partners[n - 1].distance2);
  }
  for (const links::CrossLink& in : in_) take(in.distance2);
  check_link_count(count);
  least_bits_ = std::min(least_bits_, most);
  for (shift_ = 0; (most - least_bits_) >> shift_ >= 4 * actors + 1; ++shift_) {
  }
  bucket_.assign(bucket_of(std::bit_cast<double>(most)) + 1, links::kNone);
  next_actor_.resize(actors);
  turn_of_.resize(actors);
  at_.assign(waiters, 0);
  now_ = bucket_.size();
  for (std::uint32_t a = 0; a < waiters; ++a) wait_for_turn(search, a);
  for (std::uint32_t i = 0; i < in_.size(); ++i)
    wait_for_turn({in_[i].distance2, in_[i].vertex, links::kNone, static_cast<std::uint32_t>(waiters) + i});
}

/// Returns the bucket of links of a squared length; it ascends with the length.
std::size_t GreedyPairs::bucket_of(double distance2) const {
  const auto bits = std::bit_cast<std::uint64_t>(distance2);
  return bits <= least_bits_ ? 0 : (bits - least_bits_) >> shift_;
}

/// Puts a turn to its bucket, or at the end of turns_ if it is the turn of that bucket.
void GreedyPairs::wait_for_turn(const Turn& turn) {
  const std::size_t bucket = bucket_of(turn.distance2);
  if (bucket == now_) return turns_.push_back(turn);
  turn_of_[turn.actor] = turn;
  next_actor_[turn.actor] = bucket_[bucket];
  bucket_[bucket] = turn.actor;
}

/// Puts the next link of a looker that is not dropped to its bucket.
void GreedyPairs::wait_for_turn(const PolicySearch& search, std::uint32_t actor) {
  const std::uint32_t looker = waiters_[actor];
  const std::span<const Partner> partners = search.partners_of(looker);
  std::size_t at = at_[actor];
  const auto is_dropped = [&](const Partner& p) { return p.arc == links::kNone && pair_[p.vertex] != links::kNone; };
  while (at < partners.size() && partners[at].vertex != links::kNone && is_dropped(partners[at])) ++at;
  if (at == partners.size() || partners[at].vertex == links::kNone) return;
  at_[actor] = static_cast<std::uint8_t>(at);
  const Partner& p = partners[at];
  wait_for_turn({p.distance2, search.lookers()[looker], p.arc == links::kNone ? p.vertex : links::kNone, actor});
}

/// Returns the key of the link whose turn it is.
links::Key GreedyPairs::turn_key(const PolicySearch& search, const Units& units, const Turn& turn) const {
  const std::size_t waiters = waiters_.size();
  if (turn.actor >= waiters) return links_[turn.actor - waiters].key;
  const Partner& p = search.partners_of(waiters_[turn.actor])[at_[turn.actor]];
  return key_of(p.distance2, units.parcels.id(turn.vertex), p.id);
}

/// Takes the link whose turn it is: it is dropped, becomes a pair, or stays open. The looker's next link waits.
void GreedyPairs::take_turn(const PolicySearch& search, const Units& units, const Turn& turn) {
  if (pair_[turn.vertex] != links::kNone) return;
  if (turn.other == links::kNone) {
    blocked_[turn.vertex] = 1;
  } else if (pair_[turn.other] == links::kNone) {
    if ((blocked_[turn.vertex] | blocked_[turn.other]) == 0) {
      pair_[turn.vertex] = pair_[turn.other] = kSettled;
      settled_.push_back({turn.distance2, turn.vertex, turn.other});
      return;
    }
    links_.push_back({turn_key(search, units, turn), units.parcels.id(turn.vertex), turn.vertex, turn.other});
    blocked_[turn.vertex] = blocked_[turn.other] = 1;
  }
  if (turn.actor >= at_.size()) return;
  ++at_[turn.actor];
  wait_for_turn(search, turn.actor);
}

}  // namespace merganser::cluster
