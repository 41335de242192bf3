#include "support/error_line.hpp"

#include <unistd.h>

#include <iostream>

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
  if (comm::launcher_world().rank == 0) print_line(message, exit_code);
}

void print_line(const std::string& message, int exit_code) {
  const std::string line = std::string(error_kind(exit_code)) + ": " + one_line(message) + '\n';
  std::cout.flush();
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace merganser::app
