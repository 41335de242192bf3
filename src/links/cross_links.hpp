#pragma once
/// Index of the cross-rank links of one rank: slot counts per arc, and the opposite link of each dual link. Validates
/// the numbering on which both ends rely.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/links/links.hpp"

namespace merganser::links {

/// Index of one rank's cross-rank links, for pruning and contraction. Rebuilt by each call of build(); buffers are
/// reused.
struct CrossLinks {
  std::vector<std::size_t> count_out;    ///< per arc: links that leave, and relays
  std::vector<std::size_t> count_in;     ///< per arc: links that arrive, and relays
  std::vector<std::size_t> links_in;     ///< per arc: links that arrive; their slots come first
  std::vector<std::size_t> first_in;     ///< per arc: index of its first link in Links::in
  std::vector<std::size_t> first_relay;  ///< per arc: index of its first relay in Links::relays
  std::vector<std::uint32_t> dual_out;   ///< per Links::out: index of the opposite link in Links::in, or kNone
  std::vector<std::uint32_t> dual_in;    ///< per Links::in: index of the opposite link in Links::out, or kNone

  /// Indexes the cross-rank links and relays of this rank over `arcs` arcs. Local.
  /// @throws InputError if links or relays are not ordered by arc and slot, or do not fill the slots of an arc, or if
  /// links name no vertex or disagree with Links::target
  void build(const Links& links, std::size_t arcs);
};

/// Checks that `links` holds no relays, for algorithms that communicate along arcs only. Local. @throws InputError if
/// there are any
void require_no_relays(const Links& links);

}  // namespace merganser::links
