#pragma once
/// Greedy matching of lookers and their nearest partners into pairs, by ascending links::Key, over all ranks.
#include <cstdint>
#include <vector>

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
class GreedyPairs {
 public:
  /// Makes the pairs of a round from PolicySearch::candidates(), and replaces the links of the search by them, each from the leaf to
  /// the centre. Called by every rank; neighbours only. @param looks  per unit: 1 if it looks
  /// @return number of records sent
  std::int64_t match(PolicySearch& search, const Units& units, const std::vector<std::uint8_t>& looks,
                     const links::Channels& channels);

 private:
  /// State of a link: its end `vertex` has proposed it; its other end has; it is dropped; this rank has sent its record.
  enum State : std::uint8_t { kHere = 1, kThere = 2, kDropped = 4, kSent = 8 };
  /// Candidate link with an end on this rank.
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
  /// Link that is not settled yet, while passes over all of them settle links of this rank.
  struct OpenLink {
    double distance2;
    std::uint32_t vertex, other;  // as in Link
    std::uint32_t link;           // in links_
  };
  /// Least open link of a unit.
  struct Least {
    double distance2;
    std::uint32_t link;  // links::kNone: it has none
  };
  void list(PolicySearch& search, const Units& units);
  [[nodiscard]] bool is_before(std::uint32_t a, std::uint32_t b) const;
  void lower(std::uint32_t vertex, const OpenLink& open);
  void settle_here(std::size_t units);
  void list_by_vertex(std::size_t units);
  void exchange();
  void propose(std::uint32_t vertex);
  void pair(std::uint32_t link);
  void drop(std::uint32_t link, std::uint32_t by);
  void send(Link& link, bool proposed);
  void receive(std::uint32_t link, bool proposed);
  void work_off();
  void replace_links(PolicySearch& search, const Units& units, const std::vector<std::uint8_t>& looks);

  comm::Stream* stream_ = nullptr;
  std::vector<links::CrossLink> out_, in_;         // candidate links over ranks
  std::vector<std::size_t> outs_, ins_;            // per arc: number of them
  std::vector<std::size_t> first_out_, first_in_;  // per arc: the first of them
  std::vector<Link> links_;                        // those of this rank's lookers, then those from other ranks
  std::vector<OpenLink> open_;
  std::vector<Least> least_;                      // by unit
  std::vector<std::uint32_t> by_out_;             // index in links_ by out_
  std::vector<std::uint32_t> first_, by_vertex_;  // open links of each unit, ascending
  std::vector<std::uint32_t> next_;               // per unit: the first in by_vertex_ that may not be dropped
  std::vector<std::uint32_t> pair_;               // per unit: the link of its pair
  std::vector<std::uint32_t> waiting_;            // units whose least link may have changed
};

}  // namespace merganser::cluster
