#pragma once
/// Conservation check of a merge step: every parcel before it is in exactly one parcel after it, and volumes add up.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "merganser/cluster/merge_policy.hpp"
#include "merganser/cluster/report.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Promise of a merge step about the volumes of parcels, which ConservationCheck verifies.
enum class VolumePromise : std::uint8_t {
  exact,    ///< the volume of each is the sum of its members', added in the order of the merge, bit for bit
  rounded,  ///< the same, but members have been added in several rounds: up to rounding, 1e-12 of the sum
  shared,  ///< parcels share the volume of their members, or have split: the sum over all parcels alone, up to rounding
};
/// Returns what steps under a policy promise about volumes. @throws UsageError for levelling thinning and friends of friends, for
/// which steps report no lineage
[[nodiscard]] VolumePromise promise_of(const MergePolicy& policy);

/// Verifier of one merge step: parcels and volumes are conserved. Each rank checks the parcels whose ids hash to it, so
/// no rank needs all.
///
///     ConservationCheck check(transport, parcels);
///     const StepReport report = clusterer.step(parcels);         // with ClusterOptions::lineage
///     check.verify(parcels, report.lineage);
///
/// For tests and audits, not for production steps. Cost: 32 bytes a parcel, sent and sorted, in the constructor and
/// three times that at most in verify().
class ConservationCheck {
 public:
  /// Stores the parcels before the step on the ranks to which their ids hash. Collective. The transport must outlive
  /// this object.
  ConservationCheck(comm::Transport& transport, const Parcels& before);

  /// Compares with the parcels after the step: every parcel before is either still there or merged, never both and
  /// never twice; nothing else is there; every centre is still there; and the volume of each is, bit for bit, the sum
  /// of its members'. Collective.
  /// @param after  parcels of this rank after the step
  /// @param merged  every parcel merged away and its centre, each on any one rank
  /// @param promise  what is compared of volumes: see VolumePromise
  /// @param splits  every parcel that splitting has added, which is then in the output and not before the step; each on any one rank
  /// @throws VerificationError on every rank, naming the parcel
  void verify(const Parcels& after, std::span<const StepReport::MergedPair> merged,
              VolumePromise promise = VolumePromise::exact, std::span<const StepReport::SplitPair> splits = {});

 private:
  /// Entry of the conservation check about one parcel, sent to the rank to which its id hashes.
  struct Entry {
    std::int64_t id;
    std::int64_t other;
    double volume;
    std::int64_t kind;
  };
  [[nodiscard]] std::vector<Entry> exchange(const std::vector<Entry>& entries) const;
  [[nodiscard]] std::string take_children(std::vector<Entry>& fates) const;
  static std::string compare_volumes(const std::vector<Entry>& by_centre, VolumePromise promise);
  [[nodiscard]] std::string compare_sums(const Parcels& after) const;

  comm::Transport& transport_;
  std::vector<Entry> before_;
};

}  // namespace merganser
