#pragma once
/// Victim and aggressor: how much longer exchanges take on some ranks while others send as much as they can.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "merganser/stats/histogram.hpp"
#include "merganser/stats/order_statistics.hpp"
#include "merganser/topology/measure.hpp"

namespace merganser::topology {

/// What one group of ranks does.
struct TailSide {
  std::vector<int> ranks;  ///< ascending; the two groups share none
  NamedGraph graph;        ///< over the positions in `ranks`
  std::string kernel;
  MessageSize size;
};

/// Who is measured while who disturbs.
struct TailOptions {
  std::vector<TailSide> victims;  ///< measured one after the other, in turns; all on the same ranks
  TailSide aggressor;
  double seconds = 20;
  std::uint64_t seed = 1;
  double watchdog_s = 30;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const Stall&)> on_stall;
};

/// A ratio of quantiles, loaded to idle, with its bootstrap interval (rounds are drawn, not iterations).
struct Inflation {
  double q = 0.5;
  double idle_ns = 0;
  double loaded_ns = 0;
  Interval ratio;
};

/// One victim: its exchanges idle and loaded.
struct TailResult {
  TailSide victim;
  std::vector<Histogram> idle;    ///< per round, exchanges of the victim
  std::vector<Histogram> loaded;  ///< iterations that began and ended while every aggressor was sending
  std::int64_t uncovered = 0;     ///< iterations of loaded rounds that did not
  std::string unusable;           ///< why nothing was measured; empty if it was

  /// How much longer the q-quantile is when loaded.
  /// @return nothing where either sample does not allow the quantile
  [[nodiscard]] std::optional<Inflation> inflation(double q, std::uint64_t seed = 1) const;
};

/// What the aggressors achieved, for judging how much of a load they were.
struct AggressorRate {
  double exchanges_per_s = 0;
  double bytes_per_s = 0;  ///< all its ranks
};

/// All victims, and what the aggressors achieved. Complete on rank 0.
struct TailMeasurement {
  std::vector<TailResult> results;
  AggressorRate aggressor;
  double seconds = 0;
  double clock_error_ns = 0;
};

/// Measures every victim idle (the aggressors sleep) and loaded (they exchange without pause), in interleaved rounds;
/// every byte of both is compared. Complete on rank 0. Collective over `control`.
/// @throws UsageError if the groups overlap or have fewer than two ranks, or if a kernel needs every rank of the job;
/// VerificationError if a byte arrived wrong
[[nodiscard]] TailMeasurement measure_tail(comm::Transport& control, const TailOptions& options);

}  // namespace merganser::topology
