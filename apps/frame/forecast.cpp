// Forecast of the memory and disk that a command needs, compared with the free memory of each host and the free disk.
#include "apps/frame/forecast.hpp"

#include <fmt/core.h>

#include "merganser/base/error.hpp"
#include "merganser/base/log.hpp"
#include "merganser/base/resources.hpp"
#include "merganser/base/text.hpp"
#include "merganser/comm/hosts.hpp"

namespace merganser::app {
namespace {

/// Describes how the forecast need of the ranks on this host exceeds its free memory; empty if it fits, or if free memory is
/// unknown.
std::string memory_problem(const Need& need, const comm::HostRanks& host, int ranks) {
  const auto there = static_cast<double>(available_bytes());
  const double first = host.first ? need.first_bytes : 0;
  // 0: the system does not give its free memory, so nothing can be refused.
  if (there == 0 || need.rank_bytes * host.ranks + first <= there) return "";
  std::string text = bytes_text(need.rank_bytes + first) + " of memory";
  if (ranks > 1 && need.rank_bytes * host.ranks >= first)
    text = fmt::format("{} of memory on each of {} ranks", bytes_text(need.rank_bytes), ranks);
  else if (ranks > 1)
    text += " on rank 0";
  text += "; there is " + bytes_text(there);
  return host.ranks > 1 ? fmt::format("{} for {} ranks on a host", text, host.ranks) : text;
}

/// Describes how the forecast files exceed the free space of their disk; empty if they fit or free space is unknown.
std::string disk_problem(const Need& need) {
  if (need.file.empty() || need.file == "-") return "";
  const auto there = static_cast<double>(free_disk_bytes(need.file));
  if (there == 0 || need.disk_bytes <= there) return "";
  return bytes_text(need.disk_bytes) + " on the disk of " + need.file + "; there is " + bytes_text(there);
}

/// Throws the error of a forecast need that does not fit, or with --force logs a warning. @param speaks  whether this rank logs
void throw_or_warn(const Need& need, bool force, const std::string& problem, bool speaks) {
  if (problem.empty()) return;
  const std::string what = need.what + ": needs about " + problem;
  if (force) {
    if (speaks) log(Level::warning, 0, what + "; going on, as --force says");
    return;
  }
  const std::string text = what + "; " + (need.help.empty() ? "" : need.help + ", or ") + "--force to go on anyway";
  if (need.of_file) throw InputError(text);
  throw UsageError(text);
}

/// Logs the forecast of a command's memory and disk at level info.
void log_need(const Need& need, int ranks) {
  std::string text = need.what + ": needs about " + bytes_text(need.rank_bytes) + " of memory";
  if (ranks > 1) text += fmt::format(" on each of {} ranks", ranks);
  if (need.first_bytes > 0) text += " and " + bytes_text(need.first_bytes) + " on the first";
  if (need.disk_bytes > 0) text += ", " + bytes_text(need.disk_bytes) + " on disk";
  log(Level::info, 0, text);
}

}  // namespace

// Forecast check of a command on ranks, before the work: each host must hold the need of its ranks.
void require(const Need& need, bool force, comm::Transport& transport) {
  const comm::HostRanks host = comm::count_host_ranks(transport);
  const bool speaks = transport.rank() == 0;
  if (speaks) log_need(need, transport.size());
  comm::agree(transport, [&] {
    std::string problem = memory_problem(need, host, transport.size());
    if (problem.empty() && speaks) problem = disk_problem(need);
    throw_or_warn(need, force, problem, speaks);
  });
}

// Forecast check of a command in one process.
void require(const Need& need, bool force) {
  log_need(need, 1);
  std::string problem = memory_problem(need, {}, 1);
  if (problem.empty()) problem = disk_problem(need);
  throw_or_warn(need, force, problem, true);
}

}  // namespace merganser::app
