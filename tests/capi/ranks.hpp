#pragma once
/// Helpers that run a function on ranks that are threads, through the C interface.
#include <gtest/gtest.h>

#include <functional>

#include "merganser/merganser.h"

namespace merganser::test {

/// Fails the test, with the error text, unless a call returns MG_OK.
#define EXPECT_OK(call) EXPECT_EQ(call, MG_OK) << mg_error()
#define ASSERT_OK(call) ASSERT_EQ(call, MG_OK) << mg_error()

/// Runs a function on ranks that are threads. Returns the status of the run.
inline int run_threads(int ranks, const std::function<int(mg_transport*)>& body) {
  return mg_run_threads(
      ranks,
      [](mg_transport* t, void* user) { return (*static_cast<const std::function<int(mg_transport*)>*>(user))(t); },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace merganser::test
