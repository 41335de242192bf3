#pragma once
/// Memory layout of an exchange along the arcs of a process graph: the offsets of source and landing zones at both ends of every
/// arc.
#include <cstdint>
#include <vector>

#include "src/kernels/families/support/family.hpp"

namespace merganser::kernels::detail {

/// Alignment of the zones and notification words of an exchange kernel in bytes: a cache line, so that no two arcs share one.
inline constexpr std::size_t kLine = 64;

/// Offsets of the source or landing zones of an exchange on one rank in a block of memory: for each buffer a set with one zone per
/// arc.
struct Zones {
  std::vector<std::size_t> at;  ///< by arc: offset within a set, in bytes
  std::size_t stride = 0;       ///< bytes of a set
};

/// Offsets of the zone at the other end of an arc of an exchange, in the memory of the rank there, for one-sided access.
struct FarZone {
  std::uint64_t at = 0;      ///< offset within a set, in bytes
  std::uint64_t stride = 0;  ///< bytes of a set
  std::uint64_t slot = 0;    ///< number of the arc on that rank, which selects its notification word
  std::uint64_t base = 0;    ///< offset of the zones in the memory that other ranks access, in bytes
};

/// Specification of an exchange that all ranks have agreed on, with the memory layout at both ends of the arcs of this rank.
/// make_plan() fills it.
struct ExchangePlan {
  const KernelInfo* info = nullptr;  ///< kernel by which the exchange is made
  ExchangeSpec spec;                 ///< arcs and capacities of this rank
  Zones sources;                     ///< source zones of this rank
  Zones landings;                    ///< landing zones of this rank
  std::vector<FarZone> targets;      ///< by out-arc: the landing zone on the out-neighbour
  std::vector<FarZone> origins;      ///< by in-arc: the source zone on the in-neighbour

  /// Returns the bytes of the source zones of this rank, all buffers together.
  [[nodiscard]] std::size_t source_bytes() const { return sources.stride * spec.buffers; }
  /// Returns the bytes of the landing zones of this rank, all buffers together.
  [[nodiscard]] std::size_t landing_bytes() const { return landings.stride * spec.buffers; }
  /// Returns the offset of the notification word of an in-arc: a word behind the landing zones of this rank with the number of the
  /// last iteration that has arrived.
  [[nodiscard]] std::size_t flag(std::size_t in_arc) const { return landing_bytes() + in_arc * kLine; }
  /// Returns the offset, in the memory of the out-neighbour, of the notification word of an out-arc.
  [[nodiscard]] std::size_t target_flag(std::size_t out_arc) const {
    return targets[out_arc].base + targets[out_arc].stride * spec.buffers + targets[out_arc].slot * kLine;
  }
  /// Returns the bytes of the memory of this rank that other ranks access: source zones if they get, else landing zones and
  /// notification words.
  [[nodiscard]] std::size_t far_bytes() const {
    if (info->pulls) return source_bytes();
    return info->completion == Completion::notified ? flag(spec.graph.in.size()) : landing_bytes();
  }
};

/// Makes the plan of an exchange: checks the specification of this rank, alone and against those of its neighbours, and
/// computes the layout at both ends of every arc. Collective. @throws UsageError on every rank if a specification is
/// invalid or two contradict each other
[[nodiscard]] ExchangePlan make_plan(comm::Transport& control, const KernelEntry& entry, ExchangeSpec spec);

}  // namespace merganser::kernels::detail
