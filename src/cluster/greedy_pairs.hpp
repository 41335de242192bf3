#pragma once
/// Greedy matching of lookers and their nearest partners into pairs, by ascending links::Key, over all ranks.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "merganser/base/aligned_memory.hpp"
#include "merganser/links/prune.hpp"
#include "src/cluster/policy_search.hpp"

namespace merganser::cluster {

/// Checks that the candidate links with an end on a rank, of which each has up to two ends there, can be numbered with 32 bits.
/// @throws InputError on this rank alone
void check_link_count(std::size_t links);

/// Matching of one round under MergeForm::greedy_pairs. Among candidate links, those of each looker to its nearest partners, pairs
/// are made by ascending links::Key while both ends are free. This is the one matching in which every link either merges or has an end
/// in a pair of a lesser key, so each rank decides by itself: a unit proposes its least link that is not dropped; a link proposed at
/// both ends is a pair, and drops the others of its ends. Over each link between ranks goes one record in each direction: 1 proposed,
/// 0 dropped. A rank is done when all have come.
///
/// First each rank settles the links that are certain, as PolicySearch::is_certain() tells, and those of its lookers that are each other's
/// nearest. Then, in a few rounds, those that are less than all others of both their ends. Then it takes the others in their order, and
/// settles those that no open link of one of their ends precedes; links over ranks are open. A looker has one link at a time in the order,
/// its least that is not settled.
class GreedyPairs {
 public:
  /// Makes the pairs of a round from PolicySearch::partners_of(), and replaces the links of the search by them, each from the leaf to
  /// the centre. Called by every rank; neighbours only. @param looks  per unit: 1 if it looks
  /// @return number of records sent
  std::int64_t match(PolicySearch& search, const Units& units, const std::vector<std::uint8_t>& looks,
                     const links::Channels& channels);

 private:
  static constexpr std::uint32_t kSettled = links::kNone - 1;  // more than any index of a link
  /// State of a link: its end `vertex` has proposed it; its other end has; it is dropped; this rank has sent its record.
  enum State : std::uint8_t { kHere = 1, kThere = 2, kDropped = 4, kSent = 8 };
  /// Candidate link that this rank cannot settle by itself: it crosses ranks, or waits for one that does.
  struct Link {
    links::Key key;
    std::int64_t source_id;              // orders the two links of lookers that have chosen each other
    std::uint32_t vertex;                // the source, or the target of a link from another rank
    std::uint32_t other = links::kNone;  // the target; links::kNone: the other end is on another rank
    std::uint32_t out = links::kNone;    // index in Links::out
    std::uint32_t in = links::kNone;     // index in Links::in
    std::uint32_t entry = links::kNone;  // of a target on another rank: index in PolicySearch::partners()
    std::uint8_t state = 0;
  };
  /// Pair whose link this rank settles by itself.
  struct LocalPair {
    double distance2;
    std::uint32_t source, target;
  };
  /// Link between ends without a pair. One to or from another rank goes from its end here to itself.
  struct OpenLink {
    std::int64_t distance2;  // its bits, which ascend with it
    std::uint32_t source, target;
    std::uint32_t waiter;  // its looker, by the place in PolicySearch::lookers(); kNone: of another rank
  };
  /// Least of the open links of a unit.
  struct Least {
    std::int64_t distance2 = std::numeric_limits<std::int64_t>::max();
    std::uint32_t other = links::kNone;  // its other end; kNone: there is none, or there are several of this length
  };
  /// Turn of a link. An actor has one at a time: a looker by its place in waiters_, behind them a link from another rank.
  struct Turn {
    double distance2;
    std::uint32_t vertex, other;  // as in Link
    std::uint32_t actor;
  };
  /// Returns the key of the link of two units, by their ids.
  [[nodiscard]] static links::Key key_of(double distance2, std::int64_t a, std::int64_t b) {
    return {distance2, std::min(a, b), std::max(a, b)};
  }
  void list_crossing(PolicySearch& search, const Units& units);
  void settle_here(PolicySearch& search, const Units& units);
  void settle_nearest(PolicySearch& search);
  void settle_least(const PolicySearch& search);
  void fill_buckets(const PolicySearch& search);
  [[nodiscard]] std::size_t bucket_of(double distance2) const;
  void wait_for_turn(const Turn& turn);
  void wait_for_turn(const PolicySearch& search, std::uint32_t actor);
  void take_turn(const PolicySearch& search, const Units& units, const Turn& turn);
  [[nodiscard]] links::Key turn_key(const PolicySearch& search, const Units& units, const Turn& turn) const;
  [[nodiscard]] bool is_before(std::uint32_t a, std::uint32_t b) const;
  void list_by_vertex(std::size_t units);
  void exchange();
  void propose(std::uint32_t vertex);
  void pair(std::uint32_t link);
  void drop(std::uint32_t link, std::uint32_t cause);
  void send(Link& link, bool proposed);
  void receive(std::uint32_t link, bool proposed);
  void work_off();
  void replace_links(PolicySearch& search, const Units& units, const std::vector<std::uint8_t>& looks);

  comm::Stream* stream_ = nullptr;
  std::vector<links::CrossLink> out_, in_;         // candidate links over ranks
  std::vector<std::size_t> outs_, ins_;            // per arc: number of them
  std::vector<std::size_t> first_out_, first_in_;  // per arc: the first of them
  std::vector<Link> links_;                // those from other ranks, those to other ranks, then open ones of this rank
  std::vector<LocalPair> settled_;         // pairs of links of this rank
  std::vector<std::uint8_t> blocked_;      // per unit: 1 if it has an open link, before which no later one is settled
  std::vector<std::uint32_t> waiters_;     // places in PolicySearch::lookers() of those whose links have turns
  RawBuffer open_, least_;                 // memory of settle_least(): OpenLink, and Least by unit
  std::vector<std::uint8_t> at_;           // of each of these: its partner whose turn comes next
  std::vector<std::uint32_t> bucket_;      // first actor of each bucket; kNone: none
  std::vector<std::uint32_t> next_actor_;  // per actor: the next one of its bucket
  std::vector<Turn> turn_of_;              // per actor: its turn, while it waits in a bucket
  std::vector<Turn> turns_;                // heap of the bucket whose turn it is, the first on top
  std::uint64_t least_bits_ = 0;           // of the least squared distance above 0
  unsigned shift_ = 0;                     // from bits of squared distances to buckets
  std::size_t now_ = 0;                    // bucket whose turn it is
  std::vector<std::uint32_t> first_, by_vertex_;  // open links of each unit, ascending
  std::vector<std::uint32_t> next_;               // per unit: the first in by_vertex_ that may not be dropped
  std::vector<std::uint32_t> pair_;               // per unit: the link of its pair, or kSettled
  std::vector<std::uint32_t> waiting_;            // units whose least link may have changed
};

}  // namespace merganser::cluster
