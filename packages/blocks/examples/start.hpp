#pragma once
/// Entry point that the examples share: starts the ranks, and reports errors.
#include <cstdio>
#include <cstdlib>
#include <functional>

#include <merganser/base/error.hpp>
#include <merganser/comm/runtime.hpp>

/// Runs `body`, the program of an example, on every rank: on as many threads as the first argument says, or on the processes that
/// a launcher has started. An error is one line on standard error. Returns the exit code.
inline int start(int argc, char** argv, const std::function<void(merganser::comm::Transport&)>& body) {
  try {
    merganser::comm::run({.ranks = argc > 1 ? std::atoi(argv[1]) : 0}, body);
  } catch (const merganser::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    if (merganser::comm::launched()) merganser::comm::abort(error.exit_code());
    return error.exit_code();
  }
  return 0;
}
