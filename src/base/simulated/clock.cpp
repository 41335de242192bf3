// Clock of Profile, Scope and timings in builds for SimGrid: the simulated time.
#include <simgrid/engine.h>

#include "merganser/base/timer.hpp"

namespace merganser {

double now() { return simgrid_get_clock(); }

}  // namespace merganser
