#pragma once
/// Where the bytes of an exchange lie, on both ends of every arc.
#include <cstdint>
#include <vector>

#include "src/kernels/families/support/family.hpp"

namespace merganser::kernels::detail {

/// Zones and flags begin at multiples of this, so that no two arcs share a cache line.
inline constexpr std::size_t kLine = 64;

/// One zone per arc, one set of them per buffer, in a block.
struct Zones {
  std::vector<std::size_t> at;  ///< per arc, within a set
  std::size_t stride = 0;       ///< bytes of a set
};

/// What a rank knows of the zone at the other end of an arc, as places in the other's block.
struct FarZone {
  std::uint64_t at = 0;
  std::uint64_t stride = 0;
  std::uint64_t slot = 0;  ///< number of the arc there
};

struct ExchangePlan {
  const KernelInfo* info = nullptr;
  ExchangeSpec spec;
  Zones sources;
  Zones landings;
  std::vector<FarZone> targets;  ///< per out-arc: where it lands
  std::vector<FarZone> origins;  ///< per in-arc: where it comes from

  [[nodiscard]] std::size_t source_bytes() const { return sources.stride * spec.buffers; }
  [[nodiscard]] std::size_t landing_bytes() const { return landings.stride * spec.buffers; }
  /// Behind the landing zones lies one flag per in-arc: a word that says how far the arc has come.
  [[nodiscard]] std::size_t flag(std::size_t in_arc) const { return landing_bytes() + in_arc * kLine; }
  [[nodiscard]] std::size_t target_flag(std::size_t out_arc) const {
    return targets[out_arc].stride * spec.buffers + targets[out_arc].slot * kLine;
  }
  /// Of the memory that other ranks get from, or put into.
  [[nodiscard]] std::size_t far_bytes() const {
    if (info->pulls) return source_bytes();
    return info->completion == Completion::notified ? flag(spec.graph.in.size()) : landing_bytes();
  }
};

/// Checks a spec here and against what the other ends say. Collective.
/// @throws UsageError on every rank
[[nodiscard]] ExchangePlan make_plan(comm::Transport& control, const KernelEntry& entry, ExchangeSpec spec);

}  // namespace merganser::kernels::detail
