#pragma once
/// Tests of vectorised code with every kind of vectors of the processor.
#include <gtest/gtest.h>
#include <hwy/targets.h>

namespace merganser::test {

/// Calls body() with each kind of vectors in turn that the processor has and the program was compiled for.
template <class Body>
void with_all_vectors(const Body& body) {
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace merganser::test
