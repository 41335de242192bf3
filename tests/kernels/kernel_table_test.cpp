/// Table of the benchmark kernels of a build: order, names, completion classes.
#include <gtest/gtest.h>

#include <string_view>

#include "merganser/kernels/exchange.hpp"

namespace {

using namespace merganser::kernels;

TEST(Kernels, are_listed_by_model_and_name) {
  std::string_view last_name;
  std::string_view last_model;
  for (const auto& info : kernels()) {
    EXPECT_EQ(info.name.substr(0, info.name.find('.')), info.model);
    EXPECT_FALSE(info.description.empty());
    if (info.model == last_model) {
      EXPECT_LT(last_name, info.name);
    }
    last_name = info.name;
    last_model = info.model;
    EXPECT_EQ(&kernel(info.name), &kernel(info.name));
  }
  EXPECT_EQ(kernels().front().model, "threads");
  EXPECT_EQ(completion_name(kernel("threads.copy").completion), "remote");
  EXPECT_EQ(completion_name(kernel("threads.copy-flag").completion), "notified");
  EXPECT_EQ(completion_name(kernel("threads.copy-barrier").completion), "global");
  EXPECT_EQ(completion_name(Completion::local), "local");
}

}  // namespace
