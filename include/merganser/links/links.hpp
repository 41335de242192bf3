#pragma once
/// Directed nearest-neighbour graph of one rank, with at most one outgoing link per vertex, and the total order of its
/// links.
/// Invariant: ordered by Key, links of a symmetric search form no cycle longer than two (dual links).
#include <cstddef>
#include <cstdint>
#include <vector>

#include "merganser/base/language.hpp"

namespace merganser::links {

/// Value of Links::target for a vertex without a nearest-neighbour link.
inline constexpr std::uint32_t kNone = 0xffffffffU;
/// Bit of Links::target that marks a link to another rank; the other bits are its index in Links::out.
inline constexpr std::uint32_t kAway = 0x80000000U;

/// Key of a candidate link: squared distance, lower id, higher id, compared lexicographically. The order is strict and
/// total, and both ends of a pair compute the same key. With it a nearest-neighbour graph has cycles of length two only
/// (dual links), exact ties included.
struct Key {
  double distance2 = 0;   ///< squared distance of the ends, >= 0
  std::int64_t low = 0;   ///< lower global id of the two ends
  std::int64_t high = 0;  ///< higher global id of the two ends
  friend bool operator<(const Key& a, const Key& b) {
    if (a.distance2 != b.distance2) return a.distance2 < b.distance2;
    if (a.low != b.low) return a.low < b.low;
    return a.high < b.high;
  }
  friend bool operator==(const Key&, const Key&) = default;
};

/// Cross-rank link as stored on the rank of one of its ends. The arc leads to the rank of the other end or, where
/// labels of the link are relayed, to the first rank on the route; the arc in the opposite direction has the same
/// number.
struct CrossLink {
  std::uint32_t vertex;         ///< end of the link on this rank, a local vertex
  std::uint32_t remote_vertex;  ///< the end on the other rank, by that rank's numbering
  std::uint32_t arc;            ///< arc to (out) or from (in) the other rank; the graph is symmetric, so one number
  std::uint32_t slot;           ///< position among the links of its arc and direction, the same number at both ends
  std::int64_t remote_id;       ///< global id of the end on the other rank
  double distance2;             ///< squared length of the link
  // Read by StarFinder, not by the pruning:
  std::int32_t remote_rank = -1;      ///< rank of the remote end; -1: not set
  std::uint32_t remote_position = 0;  ///< position of the remote end in the arrays of its rank
};

/// Forwarding entry for a label between two ranks that share no arc. It occupies one slot on the arc of each hop.
struct Relay {
  std::uint32_t arc_in;    ///< in-arc on which the label arrives
  std::uint32_t slot_in;   ///< its slot there, above those of Links::in on that arc
  std::uint32_t arc_out;   ///< out-arc on which it is forwarded
  std::uint32_t slot_out;  ///< its slot there, none of those of Links::out
};

/// Nearest-neighbour links of one rank: the outgoing link of each local vertex, and the cross-rank links that leave or arrive.
/// Vertices are numbered 0 .. target.size() - 1.
struct Links {
  std::vector<std::uint32_t> target;  ///< per vertex: a local vertex, kAway | index in `out`, or kNone
  std::vector<CrossLink> out;         ///< links that leave, ordered by arc, then slot
  std::vector<CrossLink> in;          ///< links that arrive, ordered by arc, then slot
  std::vector<Relay> relays;          ///< labels to forward, ordered by arc_in, then slot_in (prune_single_pass only)
};

/// Stars of one rank after pruning of nearest-neighbour links; the prunings fill it. Kept links are those that remain in
/// Links::target; no kept target is itself a kept source.
struct Stars {
  /// Per Links::in: 1 if the remote source merges into its target on this rank, else 0
  std::vector<std::uint8_t> in_kept;
  std::vector<std::uint8_t> out_kept;  ///< per Links::out: 1 if the local source merges into the remote target, else 0
  std::int64_t kept = 0;               ///< number of kept links whose source is on this rank
  std::int64_t linked_targets = 0;     ///< number of links within this rank, before pruning, whose target had a link
};

/// View of the global ids of the local vertices of a graph of links. The id of a vertex is the int64 at base + row * stride bytes
/// with row = order ? order[vertex] : vertex; without a base it is first + row.
struct Ids {
  const std::byte* base = nullptr;            ///< null: consecutive ids from `first`
  std::size_t stride = sizeof(std::int64_t);  ///< bytes from one id to the next
  const std::uint32_t* order = nullptr;       ///< row of each vertex; null: the vertex itself
  std::int64_t first = 0;                     ///< id of row 0 where `base` is null
  /// Prefetches the cache line that holds the global id of a vertex.
  void prefetch(std::uint32_t vertex) const {
    if (base != nullptr) __builtin_prefetch(base + (order ? order[vertex] : vertex) * stride);
  }
  /// Returns the global id of a local vertex, without a range check.
  [[nodiscard]] std::int64_t operator[](std::uint32_t vertex) const {
    const std::uint32_t row = order ? order[vertex] : vertex;
    if (base == nullptr) return first + row;
    std::int64_t id;
    __builtin_memcpy(&id, base + row * stride, sizeof id);
    return id;
  }
};

}  // namespace merganser::links
