#include "merganser/base/log.hpp"

#include <unistd.h>

#include <array>
#include <mutex>
#include <utility>

namespace merganser {
namespace {

constexpr std::array<std::string_view, 4> kNames{"error", "warning", "info", "debug"};

struct Shared {
  std::mutex mutex;
  LogSink sink;
};

Shared& shared() {
  static Shared s;
  return s;
}

}  // namespace

void set_log_sink(LogSink sink) {
  const std::lock_guard lock(shared().mutex);
  shared().sink = std::move(sink);
}

void log(Level level, int rank, std::string_view text) {
  const std::lock_guard lock(shared().mutex);
  if (shared().sink) shared().sink(level, rank, text);
}

std::string_view level_name(Level level) { return kNames[static_cast<std::size_t>(level)]; }

std::optional<Level> level_of(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<Level>(i);
  return std::nullopt;
}

LogSink stderr_sink(Level most, bool every_rank) {
  return [most, every_rank](Level level, int rank, std::string_view text) {
    if (level > most || (rank != 0 && !every_rank)) return;
    std::string line = "merganser: " + std::string(level_name(level)) + ": ";
    if (every_rank) line += "[rank " + std::to_string(rank) + "] ";
    line += text;
    line += '\n';
    // One write, so that lines of several processes do not mix.
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  };
}

}  // namespace merganser
