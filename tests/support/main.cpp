#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <string_view>

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

/// The file of a suite, without folder and extension. Suites are of one file each.
std::string file_of(const testing::TestSuite& suite) {
  std::set<std::string> files;
  for (int t = 0; t < suite.total_test_count(); ++t) {
    std::string_view file = suite.GetTestInfo(t)->file();
    file.remove_prefix(file.rfind('/') + 1);
    files.emplace(file.substr(0, file.rfind('.')));
  }
  if (files.size() != 1) {
    std::cerr << "the suite " << suite.name() << " is of " << files.size() << " files; allowed: one\n";
    std::exit(2);
  }
  return *files.begin();
}

/// True if a suite has parameters: Models/FriendsTest, of which there is a test for each communication model.
bool has_parameters(const testing::TestSuite& suite) {
  return std::string_view(suite.name()).find('/') != std::string_view::npos;
}

/// Leaves of the tests those of the files NAME.cpp, among them what --gtest_filter asks for. Under a launcher, where every rank would
/// repeat what one process has tested, also the suites without parameters are left out of files that have others.
void leave_those_of(const std::set<std::string>& names) {
  const auto& all = *testing::UnitTest::GetInstance();
  std::set<std::string> files;
  std::set<std::string> over_models;
  const std::string asked = GTEST_FLAG_GET(filter);
  const bool repeated = merganser::comm::launched() && asked == "*";
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const std::string file = file_of(*all.GetTestSuite(s));
    files.insert(file);
    if (repeated && has_parameters(*all.GetTestSuite(s))) over_models.insert(file);
  }
  std::string wanted;
  std::string others;
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    const auto& suite = *all.GetTestSuite(s);
    const std::string file = file_of(suite);
    const bool run = names.contains(file) && (has_parameters(suite) || !over_models.contains(file));
    (run ? wanted : others) += std::string(suite.name()) + ".*:";
  }
  for (const std::string& name : names) {
    if (files.contains(name)) continue;
    std::cerr << "there is no file of tests \"" << name << "\" in this program; allowed:";
    for (const auto& file : files) std::cerr << " " << file;
    std::cerr << std::endl;
    std::exit(2);
  }
  if (asked == "*")
    GTEST_FLAG_SET(filter, wanted);
  else
    GTEST_FLAG_SET(filter, asked + (asked.find('-') == std::string::npos ? "-" : ":") + others);
}

}  // namespace

/// `test_MODULE [NAME...] [options of GoogleTest]`: the tests of tests/MODULE/NAME.cpp; of all files of the module without a name.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) leave_those_of({argv + 1, argv + argc});
  if (merganser::comm::launcher_world().rank > 0) {
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOnly);
  }
  return RUN_ALL_TESTS();
}
