// Hooks that delay, drop or kill, and the message of a stalled rank. Faults run inside ranks, without communication.
#include "apps/topo/bench_faults.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <thread>

#include "apps/frame/command.hpp"
#include "apps/frame/job_report.hpp"
#include "apps/frame/table.hpp"
#include "merganser/base/error.hpp"
#include "merganser/base/options.hpp"
#include "merganser/base/simulated.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/comm/runtime.hpp"

namespace merganser::app {
namespace {

/// Accepted forms of faults in topo bench --inject, for error messages.
constexpr const char* kAllowed =
    "allowed: drop:rank=R,iteration=I; slow:rank=R,us=X; late:rank=R,us=X; kill:rank=R,iteration=I";

/// One fault of --inject, as parse_fault() reads it: its kind and its parameters by name.
struct Fault {
  std::string kind;                     ///< "drop", "slow", "late" or "kill"
  std::map<std::string, double> value;  ///< "rank", and "iteration" or "us" (microseconds)
  /// Returns true if topo bench is to inject the fault on this rank.
  [[nodiscard]] bool falls_on(int rank) const { return static_cast<int>(value.at("rank")) == rank; }
};

/// Texts for the phase of a stalled rank, in the order of topology::Phase.
constexpr const char* kWhere[] = {", in setup", ", between rounds, quiescing", ", at its start", ", in the exchange",
                                  ", between rounds, gathering times"};

/// Throws UsageError for a text of topo bench --inject that is no fault.
[[noreturn]] void refuse(const std::string& text) { throw UsageError("--inject: \"" + text + "\"; " + kAllowed); }

/// Parses one fault of --inject, such as "slow:rank=2,us=200". @throws UsageError for another text, or a rank not below `ranks`
Fault parse_fault(const std::string& text, int ranks) {
  static const std::map<std::string, std::string> kParameters{
      {"drop", "iteration"}, {"slow", "us"}, {"late", "us"}, {"kill", "iteration"}};
  const auto colon = text.find(':');
  Fault fault{text.substr(0, colon), {}};
  const auto known = kParameters.find(fault.kind);
  if (colon == std::string::npos || known == kParameters.end()) refuse(text);
  for (const auto& piece : split_commas(text.substr(colon + 1))) {
    const auto equal = piece.find('=');
    const std::string name = piece.substr(0, equal);
    if (equal == std::string::npos || (name != "rank" && name != known->second)) refuse(text);
    fault.value[name] = merganser::detail::parse_number(piece.substr(equal + 1));
  }
  fault.value.try_emplace("iteration", 0);
  const auto rank = fault.value.find("rank");
  if (rank == fault.value.end() || (known->second == "us" && !fault.value.contains("us"))) refuse(text);
  if (!(rank->second >= 0 && rank->second < ranks))
    throw UsageError(
        fmt::format("--inject: \"{}\": rank {}; allowed: 0 to {}", text, number_text(rank->second), ranks - 1));
  return fault;
}

/// Spins on this rank for so many microseconds: an injected delay of an exchange.
void busy(double us) { busy_until(now() + us * 1e-6); }

}  // namespace

// Injection of faults into the benchmark, for tests of its watchdog and statistics: hooks of this rank only.
topology::Hooks make_hooks(const std::string& faults, int rank, int ranks) {
  topology::Hooks hooks;
  for (const auto piece : split_at(faults, ';')) {
    const std::string text(trimmed(piece, " "));
    if (text.empty()) continue;
    const Fault fault = parse_fault(text, ranks);
    if (!fault.falls_on(rank)) continue;
    const auto first = static_cast<std::int64_t>(fault.value.at("iteration"));
    if (fault.kind == "drop") {
      hooks.before = [first, done = false](kernels::Exchange& e, std::int64_t i) mutable {
        if (!done && i >= first && !e.graph().out.empty()) done = e.drop_next(0);
      };
    } else if (fault.kind == "kill") {
      hooks.before = [first](kernels::Exchange&, std::int64_t i) {
        if (i >= first) std::raise(SIGKILL);
      };
    } else {
      const auto wait = [us = fault.value.at("us")](kernels::Exchange&, std::int64_t) { busy(us); };
      (fault.kind == "slow" ? hooks.inside_after : hooks.inside_before) = wait;
    }
  }
  return hooks;
}

std::string stall_text(const topology::Stall& s) {
  std::string text = fmt::format("rank {}: no iteration has ended for {} s", s.rank, fixed_text(s.seconds, 1));
  if (!s.kernel.empty())
    text += fmt::format(": kernel {} on graph {}, size {}, iteration {}", s.kernel, s.graph, s.size, s.iteration);
  text += kWhere[static_cast<std::size_t>(s.phase)];
  for (std::size_t i = 0; i < s.missing.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "; waits for rank " : ", ", s.missing[i]);
  return text;
}

void end_stalled(const topology::Stall& stall) {
  print_error_line(stall_text(stall), 4);
  // The line of the rank that lacks a message matters most; ranks that wait for that rank may get here earlier.
  std::this_thread::sleep_for(std::chrono::duration<double>(std::min(2.0, 0.3 + stall.seconds / 4)));
  end_job(4);
}

}  // namespace merganser::app
