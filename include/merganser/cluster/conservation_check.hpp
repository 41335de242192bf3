#pragma once
/// The conservation check of a merge step: every parcel before it is in exactly one parcel after it.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/cluster/report.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Checks that one step conserves parcels and volumes. Each rank checks the parcels whose ids hash to it, so no rank needs all.
///
///     ConservationCheck check(transport, parcels);
///     const StepReport report = clusterer.step(parcels);         // with ClusterOptions::lineage
///     check.verify(parcels, report.lineage);
///
/// For tests and audits, not for steps that are to be fast. Cost: 32 bytes a parcel, sent and sorted, when it is made and
/// three times that at most in verify().
class ConservationCheck {
 public:
  /// Enters the parcels before the step. Collective. The transport must outlive this.
  ConservationCheck(comm::Transport& transport, const Parcels& before);

  /// Compares with the parcels after the step. `merged`: every parcel merged away and its centre, each on any one rank. Checks
  /// that every parcel before is either still there or merged, never both and never twice; that nothing else is there; that
  /// every centre is still there; and that the volume of each is, bit for bit, the sum of its members'. Collective.
  /// @throws VerificationError on every rank, naming the parcel
  void verify(const Parcels& after, std::span<const StepReport::MergedPair> merged);

 private:
  struct Entry {
    std::int64_t id;
    std::int64_t other;
    double volume;
    std::int64_t kind;
  };
  [[nodiscard]] std::vector<Entry> exchange(const std::vector<Entry>& entries) const;

  comm::Transport& transport_;
  std::vector<Entry> before_;
};

}  // namespace merganser
