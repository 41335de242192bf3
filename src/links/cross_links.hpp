#pragma once
/// Cross-rank links of one rank: where each arc starts, and which links are duals of each other.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/links/links.hpp"

namespace merganser::links {

/// Made anew for every step; keeps its memory.
struct CrossLinks {
  std::vector<std::size_t> count_out;   ///< per arc: links that leave
  std::vector<std::size_t> count_in;    ///< per arc: links that arrive
  std::vector<std::size_t> first_in;    ///< per arc: index of its first link in Links::in
  std::vector<std::uint32_t> dual_out;  ///< per Links::out: index of the opposite link in Links::in, or kNone
  std::vector<std::uint32_t> dual_in;   ///< per Links::in: index of the opposite link in Links::out, or kNone

  /// @throws InputError if links are not ordered by arc and slot, or name no vertex, or disagree with Links::target
  void find(const Links& links, std::size_t arcs);
};

}  // namespace merganser::links
