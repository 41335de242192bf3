// Clock of Profile, Scope and timings in builds for real machines: the monotonic clock of the system.
#include <chrono>

#include "merganser/base/timer.hpp"

namespace merganser {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}  // namespace merganser
