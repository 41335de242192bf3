#include "tests/support/ranks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <utility>

#include "merganser/base/error.hpp"

namespace merganser::test {
namespace {

/// MERGANSER_TEST_MODELS: "processes", "processes/0" or "processes/1"; empty if it is not set.
std::string wanted_models() {
  const char* models = std::getenv("MERGANSER_TEST_MODELS");
  return models == nullptr ? "" : models;
}

bool over_processes() { return comm::launched() || wanted_models().rfind("processes", 0) == 0; }

/// Returns the names of the models of processes that the launch tests: every second one with "processes/0" or "processes/1". A library with only one
/// has it in both halves.
std::vector<std::string> models_of_processes() {
  std::vector<std::string> names;
  for (const auto& backend : comm::backends()) {
    if (backend.processes) names.emplace_back(backend.name);
  }
  const std::string wanted = wanted_models();
  if (names.size() < 2 || wanted.find('/') == std::string::npos) return names;
  std::vector<std::string> half;
  for (std::size_t i = wanted.back() == '0' ? 0 : 1; i < names.size(); i += 2) half.push_back(names[i]);
  return half;
}

bool in_first_part(const std::string& parts, int rank, int size) {
  return parts == "halves" ? rank % 2 == 0 : rank < std::max(1, size / 3);
}

/// The transport of this rank's part.
std::unique_ptr<comm::Transport> part_of(comm::Transport& transport, const std::string& parts) {
  const bool first = in_first_part(parts, transport.rank(), transport.size());
  auto one = transport.subset(first);
  auto other = transport.subset(!first);
  return first ? std::move(one) : std::move(other);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Setup& setup) {
  out << setup.backend << " on " << setup.ranks << " ranks";
  if (!setup.parts.empty()) out << " in " << setup.parts;
  return setup.decorators.empty() ? out : out << ", " << setup.decorators;
}

std::vector<Setup> setups(const std::vector<std::string>& decorators, const std::vector<std::string>& more) {
  std::vector<Setup> all;
  auto lists = decorators;
  if (!over_processes()) lists.insert(lists.end(), more.begin(), more.end());
  for (const auto& decorator : lists) {
    if (over_processes()) {
      for (const auto& model : models_of_processes()) all.push_back({model, comm::launcher_world().size, decorator});
      continue;
    }
    const char* numbers = std::getenv("MERGANSER_TEST_RANKS");
    std::istringstream list(numbers != nullptr && *numbers != '\0' ? numbers : "1 2 3 4 7");
    for (int ranks = 0; list >> ranks;) all.push_back({"threads", ranks, decorator});
  }
  return all;
}

std::vector<Setup> setups_in_parts() {
  std::vector<Setup> all;
  for (Setup setup : setups()) {
    for (const char* parts : {"halves", "unequal"}) {
      setup.parts = parts;
      if (setup.ranks > 1) all.push_back(setup);
    }
  }
  return all;
}

std::vector<Setup> with_parts(std::vector<Setup> all) {
  const auto parts = setups_in_parts();
  all.insert(all.end(), parts.begin(), parts.end());
  return all;
}

void on_ranks(const Setup& setup, const std::function<void(comm::Transport&)>& body) {
  comm::RunOptions options;
  options.backend = setup.backend;
  options.ranks = setup.ranks;
  options.decorators = setup.decorators;
  try {
    comm::run(options, [&](comm::Transport& transport) {
      const auto part = setup.parts.empty() ? nullptr : part_of(transport, setup.parts);
      body(part ? *part : transport);
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
