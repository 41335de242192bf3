#pragma once
/// Calls a function with every vector target that this processor has.
#include <hwy/targets.h>

#include <cstdint>

namespace merganser::test {

/// Calls body(name of the target) with the kernels of every vector target that this processor has, the best first.
template <class Body>
void for_every_target(const Body& body) {
  const auto use = [](std::int64_t targets) {
    hwy::SetSupportedTargetsForTest(targets);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  };
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    use(target);
    body(hwy::TargetName(target));
  }
  use(0);
}

}  // namespace merganser::test
