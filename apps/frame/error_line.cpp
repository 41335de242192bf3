#include "apps/frame/error_line.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::app {

std::string_view error_kind(int exit_code) {
  switch (exit_code) {
    case 1:
      return "verification";
    case 2:
      return "usage";
    case 3:
      return "input";
    case 4:
      return "communication";
    case 5:
      return "regression";
    case kInternalError:
      return "internal error";
    default:
      return "interrupted";
  }
}

void print_error(const std::string& message, int exit_code) {
  const int rank = comm::launcher_world().rank;
  if (rank == 0) return print_line(message, exit_code);
  // A launcher ends all when one process ends badly: the first one would be stopped before it has spoken.
  constexpr auto kUntilEnded = std::chrono::seconds(10);
  std::this_thread::sleep_for(kUntilEnded);
  if (exit_code != UsageError("").exit_code()) print_line(fmt::format("rank {}: {}", rank, message), exit_code);
}

void print_line(const std::string& message, int exit_code) {
  const std::string line = std::string(error_kind(exit_code)) + ": " + one_line(message) + '\n';
  std::cout.flush();
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace merganser::app
