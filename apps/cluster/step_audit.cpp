// Audit of merge steps: conservation of parcels and volume, and the weight on grid nodes.
#include "apps/cluster/step_audit.hpp"

#include <algorithm>

namespace merganser::app {

void StepAudit::verify(const Parcels& after, const StepReport& report, DepositionError& error) {
  conservation_.verify(after, report.lineage, promise_, report.splits);
  const DepositionError found = deposition_.compare(after);
  error.largest = std::max(error.largest, found.largest);
  error.rms = std::max(error.rms, found.rms);
}

}  // namespace merganser::app
