#pragma once
/// The vectorised first passes of the single pass, chosen at run time for the CPU.
#include <cstddef>
#include <cstdint>

namespace merganser::links {

/// Entries beyond the last one that the functions below may overwrite in a list.
inline constexpr std::size_t kListSlack = 64;

struct LocalLinks {
  std::size_t local;     ///< vertices listed
  std::size_t unlinked;  ///< vertices without a link
};
/// Lists the vertices with target[v] < n, in ascending order. `list` has room for n + kListSlack.
LocalLinks list_local(const std::uint32_t* target, std::uint32_t n, std::uint32_t* list);

/// What becomes of an entry of a list; any other value: it goes.
enum Kind : std::uint8_t { kKept = 0, kGone = 1, kApart = 2 };

struct SplitLinks {
  std::size_t kept;   ///< entries left in the list
  std::size_t apart;  ///< entries moved to the other one
};
/// Splits a list by the kind of its entries; both parts keep their order. `apart` has kListSlack more than it needs.
SplitLinks split_list(const std::uint8_t* kinds, std::uint32_t* list, std::size_t count, std::uint32_t* apart);

}  // namespace merganser::links
