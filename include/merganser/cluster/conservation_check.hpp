#pragma once
/// Conservation check of a merge step: every parcel before it is in exactly one parcel after it, and volumes add up.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/cluster/report.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

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
  /// @throws VerificationError on every rank, naming the parcel
  void verify(const Parcels& after, std::span<const StepReport::MergedPair> merged);

 private:
  /// Entry of the conservation check about one parcel, sent to the rank to which its id hashes.
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
