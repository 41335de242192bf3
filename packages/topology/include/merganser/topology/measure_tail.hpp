#pragma once
/// Interference benchmark (victim and aggressor): how much longer exchanges take on some ranks while others send as much as
/// they can.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "merganser/stats/histogram.hpp"
#include "merganser/stats/order_statistics.hpp"
#include "merganser/topology/measure.hpp"

namespace merganser::topology {

/// One group of ranks of the interference benchmark, victims or aggressors, and its exchange.
struct TailSide {
  std::vector<int> ranks;  ///< ascending; the two groups are disjoint
  NamedGraph graph;        ///< over the indices in `ranks`
  std::string kernel;      ///< name of the exchange kernel
  MessageSize size;        ///< length of the messages
};

/// Options of the interference benchmark, measure_tail(); the same on every rank.
struct TailOptions {
  std::vector<TailSide> victims;  ///< measured in turns, all on the same ranks
  TailSide aggressor;             ///< exchanges continuously while a victim is measured loaded
  double seconds = 20;            ///< duration of the measurement, s
  std::uint64_t seed = 1;         ///< seed of the order of rounds
  double watchdog_s = 30;         ///< seconds without progress after which on_stall is called; 0: never
  std::function<void(const Progress&)> on_progress;  ///< called on rank 0 after every round
  std::function<void(const Stall&)> on_stall;        ///< called in the watchdog's thread of a stalled rank
};

/// Ratio of a quantile of the exchange, loaded to idle, with its bootstrap interval (rounds are resampled, not iterations).
struct Inflation {
  double q = 0.5;        ///< order of the quantile, in (0, 1)
  double idle_ns = 0;    ///< quantile of the victim's exchange times while aggressors sleep
  double loaded_ns = 0;  ///< quantile of the victim's exchange times while aggressors exchange
  Interval ratio;        ///< loaded to idle, with its 95 % interval
};

/// Results of one victim of the interference benchmark: times of its exchanges, idle and loaded, on its slowest rank, ns.
struct TailResult {
  TailSide victim;                ///< ranks, graph, kernel and size
  std::vector<Histogram> idle;    ///< per round, exchanges of the victim alone
  std::vector<Histogram> loaded;  ///< per round, exchanges that began and ended while every aggressor was exchanging
  std::int64_t uncovered = 0;     ///< exchanges of loaded rounds that did not, and are in no histogram
  std::string unusable;           ///< reason why nothing was measured; empty if it was

  /// Computes the ratio of the q-quantile of the victim's exchange times, loaded to idle, with its bootstrap interval. Local.
  /// @return nothing where a sample is too small for the quantile
  [[nodiscard]] std::optional<Inflation> inflation(double q, std::uint64_t seed = 1) const;
};

/// Rate of the aggressors' exchanges during loaded rounds: a measure of the load.
struct AggressorRate {
  double exchanges_per_s = 0;  ///< exchanges of the whole group per second
  double bytes_per_s = 0;      ///< of all aggressors
};

/// Results of the interference benchmark, filled by measure_tail() on rank 0.
struct TailMeasurement {
  std::vector<TailResult> results;  ///< by victim, in the order of the options
  AggressorRate aggressor;          ///< load that the aggressors made
  double seconds = 0;               ///< wall time of the benchmark
  double clock_error_ns = 0;        ///< bound of the error of the ranks' common clock
};

/// Measures every victim idle (the aggressors sleep) and loaded (they exchange without pause), in interleaved rounds; every
/// byte of both is compared. Collective over `control`; the result is complete on rank 0.
/// @throws UsageError if the groups overlap or have fewer than two ranks, or if a kernel needs every rank of the job;
/// VerificationError if a byte arrived wrong
[[nodiscard]] TailMeasurement measure_tail(comm::Transport& control, const TailOptions& options);

}  // namespace merganser::topology
