#pragma once
/// One test source over every communication model: threads in a plain process, processes under a launcher.
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "merganser/comm/runtime.hpp"

namespace merganser::test {

struct Setup {
  std::string backend;
  int ranks = 1;
  std::string decorators;
  std::string
      parts{};  ///< "halves", "unequal": two transports of some of the ranks at the same time; empty: one of all
};
std::ostream& operator<<(std::ostream& out, const Setup& setup);

/// Every model that fits the way this process was started, with each list of decorators: `threads` with each number of
/// ranks in the variable MERGANSER_TEST_RANKS (default 1 2 3 4 7), or every model of processes with the number of ranks
/// that the launcher tells. The lists in `more` are for `threads` alone, where a run costs next to nothing.
std::vector<Setup> setups(const std::vector<std::string>& decorators = {""}, const std::vector<std::string>& more = {});

/// The setups() of several ranks over the even and the odd ranks at the same time, and over the first third and the others.
std::vector<Setup> setups_in_parts();
/// These too.
std::vector<Setup> with_parts(std::vector<Setup> all);

/// Name of a setup for INSTANTIATE_TEST_SUITE_P.
template <class Info>
std::string setup_name(const Info& info) {
  std::string name = info.param.backend + "_" + std::to_string(info.param.ranks);
  for (const char c : info.param.decorators) {
    if (c == ',' || c == ':')
      name += '_';
    else
      name += c;
  }
  return info.param.parts.empty() ? name : name + "_" + info.param.parts;
}

/// Runs `body` on every rank, with the transport of its part where there are parts. A failed ASSERT or an error on one rank ends the others too instead of leaving them wait.
void on_ranks(const Setup& setup, const std::function<void(comm::Transport&)>& body);

}  // namespace merganser::test
