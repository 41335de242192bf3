#pragma once
/// Errors of merge policies.
#include <string>

#include "merganser/base/error.hpp"

namespace merganser {

/// Throws the error of two parts of a policy that exclude each other. @throws UsageError
[[noreturn]] inline void exclude(const std::string& one, const std::string& other, const std::string& why) {
  throw UsageError("policy: " + one + " with " + other + "; " + why);
}

/// Throws the error of the parts that belong to splitting in a policy without it. @throws UsageError
[[noreturn]] inline void refuse_without_split() {
  throw UsageError("policy: along or ids without split; allowed: both, or neither");
}

}  // namespace merganser
