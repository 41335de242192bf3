// Registry and factory of the all-gathers that are measured, and the checks that all of them share.
#include "merganser/kernels/gather.hpp"

#include <algorithm>
#include <array>

#include "merganser/base/error.hpp"
#include "merganser/base/simulated.hpp"
#include "src/comm/detail/registry.hpp"
#include "src/kernels/families/support/family.hpp"

namespace merganser::kernels {
namespace {

// Greatest part of a rank in an all-gather, in bytes: counts of MPI are of type int.
constexpr std::int64_t kMaxBytes = 2'147'483'647;

/// Returns the registry entries of the all-gathers of all kernel families, by communication model in the order of backends(), then
/// by kind. In SMPI only the blocking ones.
const std::vector<const detail::GatherEntry*>& gather_entries() {
  static comm::detail::ListOfAll<const detail::GatherEntry*> sorted;
  return sorted.get([] {
    std::vector<const detail::GatherEntry*> all;
    for (const auto* family : detail::kernel_families()) {
      for (const auto& entry : family->gathers) {
        // In SMPI the other kinds are not worth measuring.
        if (kSimulated && entry.info.kind != GatherKind::blocking) continue;
        all.push_back(&entry);
      }
    }
    std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) {
      return std::pair(detail::model_index(a->info.model), a->info.kind) <
             std::pair(detail::model_index(b->info.model), b->info.kind);
    });
    return all;
  });
}

/// Returns the registry entry of the all-gather of a communication model and a kind; null if there is none.
const detail::GatherEntry* find_gather(std::string_view model, GatherKind kind) {
  for (const auto* entry : gather_entries()) {
    if (entry->info.model == model && entry->info.kind == kind) return entry;
  }
  return nullptr;
}

}  // namespace

// Returns the name of a kind of all-gather, as options and records have it.
std::string_view gather_name(GatherKind kind) {
  constexpr std::array<std::string_view, 3> kNames{"blocking", "non-blocking", "neighborhood"};
  const auto at = static_cast<std::size_t>(kind);
  if (at >= kNames.size()) {
    throw UsageError("GatherKind is " + std::to_string(at) + "; allowed: 0 to " + std::to_string(kNames.size() - 1));
  }
  return kNames[at];
}

// Returns the descriptions of all registered all-gathers.
std::span<const GatherInfo> gathers() {
  static comm::detail::ListOfAll<GatherInfo> all;
  return all.get([] { return comm::detail::collect_infos<GatherInfo>(gather_entries()); });
}

// Returns the reason why a benchmark cannot measure an all-gather of this kind on these ranks; empty if it can.
std::string missing_gather(const comm::Transport& transport, GatherKind kind) {
  if (find_gather(transport.name(), kind) != nullptr) return {};
  return std::string(transport.name()) + " has no " + std::string(gather_name(kind)) + " all-gather";
}

// Starts an all-gather with this rank's part and counts its messages; a blocking kind communicates only in complete().
void Gather::start(std::span<const std::byte> mine) {
  if (started_) throw UsageError("Gather::start: what was started before is not completed");
  if (mine.size() != part_bytes_) {
    throw UsageError("Gather::start: " + std::to_string(mine.size()) +
                     " bytes; allowed: " + std::to_string(part_bytes_));
  }
  comm::Counters& counters = control_.counters();
  ++counters.collectives;
  // A neighbourhood collective on the complete graph sends one message per arc to another rank.
  if (info_.kind == GatherKind::neighborhood) {
    const int others = control_.size() - 1;
    counters.messages += others;
    counters.bytes += others * static_cast<std::int64_t>(part_bytes_);
  }
  do_start(mine);
  started_ = true;
}

// Completes the all-gather that start() began and returns the parts of all ranks.
std::span<const std::byte> Gather::complete() {
  if (!started_) throw UsageError("Gather::complete: nothing was started");
  const auto all = do_complete();
  started_ = false;
  return all;
}

// Makes an all-gather in the model of the ranks, after all ranks have agreed on the size of a part.
std::unique_ptr<Gather> make_gather(comm::Transport& control, GatherKind kind, std::size_t part_bytes) {
  const detail::GatherEntry* entry = find_gather(control.name(), kind);
  // -1, which is no size, stands for one that is too large, so that every rank detects it by the reductions.
  const auto bytes = part_bytes > static_cast<std::size_t>(kMaxBytes) ? -1 : static_cast<std::int64_t>(part_bytes);
  const std::int64_t least = control.all_reduce(bytes, comm::Op::min);
  const std::int64_t most = control.all_reduce(bytes, comm::Op::max);
  agree(control, [&] {
    const std::string missing = missing_gather(control, kind);
    if (!missing.empty()) throw UsageError("make_gather: " + missing);
    if (least < 0) {
      throw UsageError("make_gather: parts of more than " + std::to_string(kMaxBytes) + " bytes; allowed: 0 to that");
    }
    if (least != most) {
      throw UsageError("make_gather: parts of " + std::to_string(least) + " and of " + std::to_string(most) +
                       " bytes; they must be equal on all ranks");
    }
  });
  return entry->make(control, entry->info, part_bytes);
}

}  // namespace merganser::kernels
