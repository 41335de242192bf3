#pragma once
/// Vectorised list passes of the single-pass pruning, dispatched at run time to the vector instructions of the CPU. All
/// list order is ascending and kept.
#include <cstddef>
#include <cstdint>

namespace merganser::links {

/// Entries beyond the last one that list_local() and split_list() may overwrite in a list of vertices: one whole vector.
inline constexpr std::size_t kListSlack = 64;

/// Counts of the vertices of this rank that list_local() returns, by their nearest-neighbour link.
struct LocalLinks {
  std::size_t local;     ///< vertices listed, those whose target is on this rank
  std::size_t unlinked;  ///< vertices of this rank without a link
};
/// Lists the vertices whose link has its target on this rank (target[v] < n), in ascending order, for the single-pass
/// pruning. Local. @param list  room for n + kListSlack entries
LocalLinks list_local(const std::uint32_t* target, std::uint32_t n, std::uint32_t* list);

/// Destination of an entry in split_list(), for lists of vertices in the single-pass pruning; entries of any value but kKept and
/// kApart are dropped.
enum Kind : std::uint8_t { kKept = 0, kGone = 1, kApart = 2 };

/// Lengths of the two lists of vertices that split_list() writes.
struct SplitLinks {
  std::size_t kept;   ///< vertices left in the list
  std::size_t apart;  ///< vertices moved to the other list
};
/// Splits a list of vertices of the single-pass pruning by the kind of its entries, in place for kKept and into `apart` for kApart;
/// both parts keep their order. `apart` has room for its entries + kListSlack.
SplitLinks split_list(const std::uint8_t* kinds, std::uint32_t* list, std::size_t count, std::uint32_t* apart);

}  // namespace merganser::links
