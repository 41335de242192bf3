// Latency between two ranks: checks of the arguments, and the choice of the kernel family that measures it.
#include "merganser/kernels/pair.hpp"

#include "merganser/base/error.hpp"
#include "src/kernels/families/support/family.hpp"

namespace merganser::kernels {

// Measures the latency between ranks 0 and 1 by the first kernel family that can: the one of MPI.
PairTimes time_pair(comm::Transport& control, double seconds) {
  if (!(seconds > 0)) throw UsageError("time_pair: " + std::to_string(seconds) + " seconds; allowed: more than 0");
  if (control.size() < 2) throw UsageError("time_pair: one rank; needed: two");
  if (!control.capabilities().processes) throw UsageError("time_pair: ranks are threads; needed: processes");
  for (const auto* family : detail::kernel_families()) {
    if (family->time_pair != nullptr) return family->time_pair(control, seconds);
  }
  throw UsageError("time_pair: this build is without MPI");
}

}  // namespace merganser::kernels
