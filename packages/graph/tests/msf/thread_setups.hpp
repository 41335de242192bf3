#pragma once
/// Setups of tests of algorithms over ranks, to which it is no matter what carries the messages: threads only.
#include <string>
#include <vector>

#include "tests/support/ranks.hpp"

namespace merganser::test {

/// Returns 1, 2, 3, 4 and 7 ranks as threads, and 2 and 7 with a decorator, if one is named.
inline std::vector<Setup> thread_setups(const std::string& decorator = "") {
  std::vector<Setup> all;
  for (const int ranks : {1, 2, 3, 4, 7}) all.push_back({"threads", ranks, ""});
  if (decorator.empty()) return all;
  for (const int ranks : {2, 7}) all.push_back({"threads", ranks, decorator});
  return all;
}

}  // namespace merganser::test
