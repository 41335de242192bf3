#pragma once
/// Cross-rank links of one rank: where each arc starts, and which links are duals of each other.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/links/links.hpp"

namespace merganser::links {

/// Made anew for every step; keeps its memory.
struct CrossLinks {
  std::vector<std::size_t> count_out;    ///< per arc: links that leave, and relays
  std::vector<std::size_t> count_in;     ///< per arc: links that arrive, and relays
  std::vector<std::size_t> links_in;     ///< per arc: links that arrive; their slots come first
  std::vector<std::size_t> first_in;     ///< per arc: index of its first link in Links::in
  std::vector<std::size_t> first_relay;  ///< per arc: index of its first relay in Links::relays
  std::vector<std::uint32_t> dual_out;   ///< per Links::out: index of the opposite link in Links::in, or kNone
  std::vector<std::uint32_t> dual_in;    ///< per Links::in: index of the opposite link in Links::out, or kNone

  /// @throws InputError if links or relays are not ordered by arc and slot, or do not fill the slots of an arc, or if
  /// links name no vertex or disagree with Links::target
  void find(const Links& links, std::size_t arcs);
};

/// For what cannot pass labels on. @throws InputError if there are relays
void refuse_relays(const Links& links);

}  // namespace merganser::links
