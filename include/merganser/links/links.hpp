#pragma once
/// The nearest-neighbour graph of one rank: at most one outgoing link per vertex.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::links {

/// Value of Links::target: no link.
inline constexpr std::uint32_t kNone = 0xffffffffU;
/// Bit of Links::target: the link leaves the rank; the other bits are its index in Links::out.
inline constexpr std::uint32_t kAway = 0x80000000U;

/// The strict total order of candidate links, the same from both ends of a pair: squared distance, lower id, higher id.
/// With it a nearest-neighbour graph has cycles of length two only (dual links), exact ties included.
struct Key {
  double distance2 = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
  friend bool operator<(const Key& a, const Key& b) {
    if (a.distance2 != b.distance2) return a.distance2 < b.distance2;
    if (a.low != b.low) return a.low < b.low;
    return a.high < b.high;
  }
  friend bool operator==(const Key&, const Key&) = default;
};

/// A link that crosses ranks, as one of its ends sees it. The arc leads to the other rank or, where the labels of the link
/// are relayed, to the first rank on the way: the same arc there and back.
struct CrossLink {
  std::uint32_t vertex;         ///< the end on this rank
  std::uint32_t remote_vertex;  ///< the end on the other rank, by that rank's numbering
  std::uint32_t arc;            ///< arc to (out) or from (in) the other rank; the graph is symmetric, so one number
  std::uint32_t slot;           ///< position among the links of its arc and direction, the same number at both ends
  std::int64_t remote_id;       ///< global id of the remote end
  double distance2;             ///< squared length of the link
  // For those who keep points, not for the pruning:
  std::int32_t remote_rank = -1;      ///< the other rank
  std::uint32_t remote_position = 0;  ///< of the remote end in what its rank keeps
};

/// A label that passes through this rank, on its way between ends that share no arc. It takes a slot on both arcs.
struct Relay {
  std::uint32_t arc_in;    ///< from the rank that hands it over
  std::uint32_t slot_in;   ///< above those of Links::in on that arc
  std::uint32_t arc_out;   ///< to the rank that gets it
  std::uint32_t slot_out;  ///< not one of Links::out
};

/// The links of one rank. Vertices are numbered 0 .. target.size() - 1.
struct Links {
  std::vector<std::uint32_t> target;  ///< per vertex: a local vertex, kAway | index in `out`, or kNone
  std::vector<CrossLink> out;         ///< links that leave, ordered by arc, then slot
  std::vector<CrossLink> in;          ///< links that arrive, ordered by arc, then slot
  std::vector<Relay> relays;          ///< labels to pass on, ordered by arc_in, then slot_in (prune_single_pass only)
};

/// The stars that pruning leaves: in `links.target` only kept links remain (a source is never a target).
struct Stars {
  std::vector<std::uint8_t> in_kept;   ///< per Links::in: 1 if the remote source merges into our vertex
  std::vector<std::uint8_t> out_kept;  ///< per Links::out: 1 if the source is sent to the remote target
  std::int64_t kept = 0;               ///< kept links whose source is on this rank
  std::int64_t linked_targets = 0;     ///< links within this rank, before pruning, whose target had a link
};

/// Global id of a vertex: the int64 at base + row * stride bytes with row = order ? order[vertex] : vertex; first + row
/// without a base.
struct Ids {
  const std::byte* base = nullptr;
  std::size_t stride = sizeof(std::int64_t);
  const std::uint32_t* order = nullptr;
  std::int64_t first = 0;
  /// Lets the id of a vertex come from memory ahead of time.
  void touch(std::uint32_t vertex) const {
    if (base != nullptr) __builtin_prefetch(base + (order ? order[vertex] : vertex) * stride);
  }
  [[nodiscard]] std::int64_t operator[](std::uint32_t vertex) const {
    const std::uint32_t row = order ? order[vertex] : vertex;
    if (base == nullptr) return first + row;
    std::int64_t id;
    __builtin_memcpy(&id, base + row * stride, sizeof id);
    return id;
  }
};

}  // namespace merganser::links
