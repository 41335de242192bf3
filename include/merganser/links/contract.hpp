#pragma once
/// Contraction of a graph of links: every vertex learns which vertex stands for it from now on.
#include <cstdint>
#include <vector>

#include "merganser/links/links.hpp"
#include "merganser/links/prune.hpp"

namespace merganser::links {

/// Which links a round of contraction keeps.
enum class Policy : std::uint8_t {
  stars,  ///< those that prune_single_pass keeps: short chains of messages, about 0.42 of the vertices remain
  trees,  ///< all but one of each dual link: whole trees contract, about 0.30 remain
};

/// Where a vertex goes: a vertex of some rank, perhaps itself.
struct Root {
  std::int32_t rank = 0;
  std::uint32_t vertex = 0;
  friend bool operator==(const Root&, const Root&) = default;
};

/// What one contraction took on this rank.
struct ContractStatistics {
  std::int64_t rounds = 0;  ///< waves of questions (trees), or as PruneStatistics::rounds (stars)
  std::int64_t asked = 0;   ///< questions of this rank to others (trees), or labels sent (stars)
};

/// Contracts a graph of links and tells the root of every vertex of this rank. Of a dual link the end with the lower
/// global id loses its link; the roots of trees are those ends and the vertices without a link. On return links.target
/// holds the kept links only (kNone elsewhere); a kept link to another rank stays kAway | index.
///
/// trees: chains within a rank are followed, chains over ranks by pointer doubling; a reduction ends the rounds.
/// Collective over the transport; the mailbox's graph must lead to every other rank. stars: see prune_single_pass.
/// @param links  only 2-cycles, CrossLinks ordered by arc, then slot
/// @throws InputError for links that are not as said; for a cycle of three or more links (trees)
/// Cost (trees): O(links) work a round, at most 2 + log2(longest chain of cross-rank links) rounds of two waves.
std::vector<Root> contract(Policy policy, Links& links, const Ids& ids, const Channels& channels,
                           ContractStatistics* statistics = nullptr);

}  // namespace merganser::links
