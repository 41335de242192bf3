// Accumulation of wall-clock times by named stage of a program.
#include "merganser/base/timer.hpp"

#include <algorithm>

namespace merganser {

// Adds one call to a stage of the profile, which its first call creates.
void Profile::add(std::string_view stage, double seconds) {
  auto at = std::find_if(stages_.begin(), stages_.end(), [&](const Stage& s) { return s.name == stage; });
  if (at == stages_.end()) at = stages_.insert(at, Stage{std::string(stage), 0, 0});
  at->seconds += seconds;
  ++at->calls;
}

double Profile::seconds(std::string_view stage) const {
  for (const auto& s : stages_)
    if (s.name == stage) return s.seconds;
  return 0;
}

}  // namespace merganser
