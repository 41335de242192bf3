#include <simgrid/engine.h>

#include "merganser/base/timer.hpp"

namespace merganser {

double now() { return simgrid_get_clock(); }

}  // namespace merganser
