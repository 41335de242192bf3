#pragma once
/// Audit of merge steps for `cluster --audit`: conservation of parcels and volume, and the weight on grid nodes.
#include "merganser/cluster/conservation_check.hpp"
#include "merganser/cluster/deposition_check.hpp"

namespace merganser::app {

/// Audit of one merge step: what every policy promises, and by how much the weight deposited on grid nodes changes.
class StepAudit {
 public:
  /// Stores the parcels before the step. Collective. The transport must outlive this object.
  StepAudit(comm::Transport& transport, const Grid& grid, const MergePolicy& policy, const Parcels& before)
      : promise_(promise_of(policy)), conservation_(transport, before), deposition_(transport, grid, before) {}

  /// Compares with the parcels after the step. Collective. @param error  its members become the greater of their values and those of
  /// this step @throws VerificationError on every rank, naming the parcel
  void verify(const Parcels& after, const StepReport& report, DepositionError& error);

 private:
  VolumePromise promise_;
  ConservationCheck conservation_;
  DepositionCheck deposition_;
};

}  // namespace merganser::app
