#include "tests/support/ranks.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <sstream>

#include "merganser/base/error.hpp"

namespace merganser::test {
namespace {

bool over_processes() {
  const char* models = std::getenv("MERGANSER_TEST_MODELS");
  return comm::launched() || (models != nullptr && std::string(models) == "processes");
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Setup& setup) {
  out << setup.backend << " on " << setup.ranks << " ranks";
  return setup.decorators.empty() ? out : out << ", " << setup.decorators;
}

std::vector<Setup> setups(const std::vector<std::string>& decorators, const std::vector<std::string>& more) {
  std::vector<Setup> all;
  auto lists = decorators;
  if (!over_processes()) lists.insert(lists.end(), more.begin(), more.end());
  for (const auto& decorator : lists) {
    if (over_processes()) {
      for (const auto& backend : comm::backends()) {
        if (backend.processes) all.push_back({std::string(backend.name), comm::launcher_world().size, decorator});
      }
      continue;
    }
    const char* numbers = std::getenv("MERGANSER_TEST_RANKS");
    std::istringstream list(numbers != nullptr && *numbers != '\0' ? numbers : "1 2 3 4");
    for (int ranks = 0; list >> ranks;) all.push_back({"threads", ranks, decorator});
  }
  return all;
}

void on_ranks(const Setup& setup, const std::function<void(comm::Transport&)>& body) {
  comm::RunOptions options;
  options.backend = setup.backend;
  options.ranks = setup.ranks;
  options.decorators = setup.decorators;
  try {
    comm::run(options, [&](comm::Transport& transport) {
      body(transport);
      if (testing::Test::HasFatalFailure()) throw CommError("an assertion failed on this rank or another one");
    });
  } catch (const std::exception& e) {
    if (!testing::Test::HasFatalFailure()) ADD_FAILURE() << setup << ": " << e.what();
    if (comm::launched()) {
      std::cerr << "[rank " << comm::launcher_world().rank << "] leaves " << setup << ": " << e.what() << std::endl;
      comm::abort(1);
    }
  }
}

}  // namespace merganser::test
