#pragma once
/// The audit of a merge step: every parcel before it is in exactly one parcel after it.
#include <cstdint>
#include <span>
#include <vector>

#include "merganser/cluster/report.hpp"
#include "merganser/comm/transport.hpp"
#include "merganser/parcels/parcels.hpp"

namespace merganser {

/// Keeps the books of one step on the rank that an id hashes to, so no rank needs them all.
///
///     Ledger ledger(transport, parcels);
///     const StepReport report = clusterer.step(parcels);         // with ClusterOptions::lineage
///     ledger.close(parcels, report.lineage);
///
/// For tests and audits, not for steps that are to be fast. Cost: 32 bytes a parcel, sent and sorted, when it is made and
/// three times that at most when it is closed.
class Ledger {
 public:
  /// Enters the parcels before the step. Collective. The transport must outlive this.
  Ledger(comm::Transport& transport, const Parcels& before);

  /// Closes the books. `merged`: every parcel merged away and its centre, each on any one rank. Checks that
  /// every parcel before is either still there or merged, never both and never twice; that nothing else is there; that
  /// every centre is still there; and that the volume of each is, bit for bit, the sum of its members'. Collective.
  /// @throws VerificationError on every rank, naming the parcel
  void close(const Parcels& after, std::span<const StepReport::MergedPair> merged);

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
