#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "merganser/comm/runtime.hpp"

namespace {

/// Prints failures only, with the rank: the other ranks are silent where rank 0 tells the story.
class FailuresOnly : public testing::EmptyTestEventListener {
  // Remembered, since asking for it where a result is reported locks GoogleTest up.
  void OnTestStart(const testing::TestInfo& test) override {
    name_ = std::string(test.test_suite_name()) + "." + test.name() + " ";
  }
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::cerr << "[rank " << merganser::comm::launcher_world().rank << "] " << name_
              << (result.file_name() != nullptr ? result.file_name() : "") << ":" << result.line_number() << ": "
              << result.message() << std::endl;
  }

  std::string name_;
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (merganser::comm::launcher_world().rank > 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }
  return RUN_ALL_TESTS();
}
