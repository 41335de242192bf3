#pragma once
/// Bodies on ranks, started by the C interface.
#include <gtest/gtest.h>

#include <functional>

#include "merganser/merganser.h"

namespace merganser::test {

/// Fails the test, with the text, unless a call ended well.
#define EXPECT_OK(call) EXPECT_EQ(call, MG_OK) << mg_error()
#define ASSERT_OK(call) ASSERT_EQ(call, MG_OK) << mg_error()

/// Runs a body on thread ranks. The status of the run.
inline int run_threads(int ranks, const std::function<int(mg_transport*)>& body) {
  return mg_run_threads(
      ranks,
      [](mg_transport* t, void* user) { return (*static_cast<const std::function<int(mg_transport*)>*>(user))(t); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace merganser::test
