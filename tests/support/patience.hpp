#pragma once
/// How much longer than on a machine of its own a test waits for a program before it says that it hangs.
#include <cstdlib>

namespace merganser::test {

/// MERGANSER_TEST_PATIENCE, as cmake/testing.cmake takes it; 1 if it is not set. Limits are multiplied by it.
inline int patience() {
  const char* value = std::getenv("MERGANSER_TEST_PATIENCE");
  const int times = value != nullptr ? std::atoi(value) : 1;
  return times > 1 ? times : 1;
}

}  // namespace merganser::test
