// Simulated time of local work under SimGrid: by the costs that MERGANSER_SIMULATED_COSTS gives, or as measured on this machine.
#include <simgrid/actor.h>
#include <simgrid/host.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "merganser/base/detail/real_from_chars.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/simulated.hpp"

namespace merganser::detail {
namespace {

constexpr const char* kVariable = "MERGANSER_SIMULATED_COSTS";  // environment variable with the costs of local work
constexpr std::array<std::string_view, 6> kNames{"search", "graph", "prune", "prune-iterative", "migrate", "merge"};
using Costs = std::array<double, kNames.size()>;  // by kind of work: simulated seconds per unit

/// Throws UsageError for a part of MERGANSER_SIMULATED_COSTS that is no cost.
[[noreturn]] void refuse(std::string_view part) {
  std::string names;
  for (const auto name : kNames) names += " " + std::string(name);
  throw UsageError(std::string(kVariable) + " has \"" + std::string(part) +
                   "\"; allowed: NAME=SECONDS with seconds >= 0, separated by commas; names:" + names);
}

/// Parses the simulated cost of one kind of local work, NAME=SECONDS. @throws UsageError for another text
void read_cost(std::string_view part, Costs& costs) {
  const auto equals = part.find('=');
  if (equals == std::string_view::npos) refuse(part);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] != part.substr(0, equals)) continue;
    const auto value = part.substr(equals + 1);
    const auto [end, error] = real_from_chars(value.data(), value.data() + value.size(), costs[i]);
    if (error != std::errc{} || end != value.data() + value.size() || !(costs[i] >= 0) || costs[i] > 1e3) refuse(part);
    return;
  }
  refuse(part);
}

/// Returns the simulated costs of local work per unit, by MERGANSER_SIMULATED_COSTS. @throws UsageError
Costs read_costs() {
  Costs costs{};
  const char* text = std::getenv(kVariable);
  std::string_view rest = text == nullptr ? "" : text;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    read_cost(rest.substr(0, comma), costs);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return costs;
}

/// Returns whether local work of simulated ranks takes, in simulated time, the processor time that it takes on this machine.
bool read_measured() {
  const char* text = std::getenv("MERGANSER_SIMULATED_WORK");
  const std::string_view value = text == nullptr ? "" : text;
  if (!value.empty() && value != "none" && value != "measured")
    throw UsageError("MERGANSER_SIMULATED_WORK is \"" + std::string(value) + "\"; allowed: none, measured");
  return value == "measured";
}

}  // namespace

// Advances the simulated time of a rank by the local work of a stage, in proportion to its number of units.
void spend_simulated(Work work, std::size_t count) {
  static const Costs costs = read_costs();  // shared by all ranks, which are contexts of one process
  const double seconds = costs[static_cast<std::size_t>(work)] * static_cast<double>(count);
  busy_simulated(seconds);
}

void busy_simulated(double seconds) {
  // Executed as work of the host, not slept: a host whose speed changes during the simulation then takes longer.
  if (seconds > 0) sg_actor_execute(seconds * sg_host_get_speed(sg_host_self()));
}

/// Returns the processor time of the process in seconds; -1 if MERGANSER_SIMULATED_WORK is not "measured". All ranks run on one
/// thread, so between two calls without communication it is the time of one rank.
double processor_seconds_simulated() {
  static const bool measured = read_measured();
  if (!measured) return -1;
  timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace merganser::detail
