#pragma once
/// Benchmark of exchanges along the arcs of process graphs: times of every iteration of every kernel on every rank.
///
/// A configuration (CellResult) is one kernel on one graph with one size of messages. Configurations are measured in rounds,
/// shuffled and interleaved, so that disturbances of the machine affect all of them: a round fills the sources with its own
/// pattern, quiesces, warms up, times some iterations, and compares every byte that arrived.
/// packages/topology/docs/topology-bench.md explains the numbers and their accuracy.
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "merganser/graphs/process_graph.hpp"
#include "merganser/kernels/exchange.hpp"
#include "merganser/stats/histogram.hpp"
#include "merganser/stats/order_statistics.hpp"

namespace merganser::topology {

/// Synchronisation of ranks before each timed exchange of the benchmark.
enum class Sync : std::uint8_t {
  dissemination,  ///< each after a dissemination barrier (kernels::Start), outside the clock
  roundtime,      ///< at a moment of the synchronised clock; an iteration that begins late is counted, but not used
  none,           ///< none, as in the published benchmark: a rank may run ahead
};
/// State of the caches when a timed exchange of the benchmark begins.
enum class Buffers : std::uint8_t {
  warm,    ///< as the preceding iteration left it
  rotate,  ///< several sets of buffers in turns
  flush,   ///< without sources and landing zones, whose lines are flushed before each iteration, outside the clock
};

/// Number of bytes along an arc: constant, or proportional to the weight of the arc.
struct MessageSize {
  double bytes = 0;      ///< bytes per message; with `weights`: bytes per unit of the arc's weight
  bool weights = false;  ///< true: multiplied by the weight of the arc, rounded
  /// Returns the length of the message along an arc of a process graph, bytes.
  [[nodiscard]] std::size_t on(const graphs::ProcessGraph::Arc& arc) const;
  friend bool operator==(const MessageSize&, const MessageSize&) = default;
};

/// Formats a message size of the benchmark: "8", "weights", "weights*0.5".
[[nodiscard]] std::string size_text(MessageSize size);

/// A process graph to measure exchanges on, with its name in reports.
struct NamedGraph {
  std::string name;
  graphs::ProcessGraph graph;
};

/// Phase of the benchmark of exchanges that a rank is in: creation of an exchange, completion of all operations, start barrier,
/// exchange, gathering of times.
enum class Phase : std::uint8_t { setup, quiesce, start, iterate, gather };

/// Report of a rank on which no iteration has ended for longer than the watchdog's limit.
struct Stall {
  int rank = 0;                ///< rank that stalls
  Phase phase = Phase::setup;  ///< phase that it is in
  std::string kernel;          ///< kernel of the current configuration; empty before the first one
  std::string graph;           ///< name of the current process graph
  std::string size;            ///< current message size, as size_text()
  std::int64_t iteration = 0;  ///< current iteration of this rank, from 0, warm-up and all configurations counted
  double seconds = 0;          ///< time since the latest beat of the watchdog, s
  std::vector<int> missing;    ///< ranks whose messages are missing here, as far as the kernel can tell
};

/// Progress of a benchmark of exchanges; passed to on_progress on rank 0 after every round.
struct Progress {
  double seconds = 0;         ///< elapsed time, s
  double total_seconds = 0;   ///< elapsed time at the expected end, s
  std::size_t cells = 0;      ///< number of configurations (kernel, graph, size)
  std::size_t converged = 0;  ///< number of configurations whose median has the required precision
};

/// Callbacks on every rank and in every iteration, with the number of the iteration (see Stall): to inject faults or delays.
struct Hooks {
  std::function<void(kernels::Exchange&, std::int64_t)> before;         ///< before the synchronisation
  std::function<void(kernels::Exchange&, std::int64_t)> inside_before;  ///< inside the clock, before the exchange
  std::function<void(kernels::Exchange&, std::int64_t)> inside_after;   ///< inside the clock, after the exchange
};

/// Options of measure(). Graphs, kernels, sizes, sync and buffers are the same on every rank; rank 0's times and seed count.
struct MeasureOptions {
  std::vector<NamedGraph> graphs;    ///< each with as many ranks as the transport
  std::vector<std::string> kernels;  ///< names of exchange kernels
  std::vector<MessageSize> sizes;    ///< lengths of messages
  Sync sync = Sync::dissemination;   ///< synchronisation of ranks before an iteration
  Buffers buffers = Buffers::warm;   ///< state of the caches before an iteration
  double seconds = 60;      ///< duration, s, set-up included (which leaves at least half); begun rounds are completed
  double width = 0.02;      ///< relative width of the interval of the median at which a configuration has converged
  std::uint64_t seed = 1;   ///< seed of the order of rounds
  double memory_bytes = 0;  ///< limit of the memory for buffers per rank; 0: none
  double watchdog_s = 30;   ///< seconds without progress after which on_stall is called; 0: never
  Hooks hooks;              ///< callbacks in every iteration, to inject faults
  std::function<void(const Progress&)> on_progress;  ///< called on rank 0 after every round
  std::function<void(const Stall&)> on_stall;  ///< called in the watchdog's thread, on every rank without progress
};

/// One timed round of the benchmark: a block of iterations of one configuration, timed without interruption.
struct Round {
  int launch = 0;                ///< launch of the job that the round belongs to, from 0
  std::int64_t iterations = 0;   ///< number of iterations that count
  double p50_ns = 0;             ///< median of the iterations' maxima over ranks
  double mean_ns = 0;            ///< mean of the iterations' maxima over ranks
  std::optional<double> p99_ns;  ///< 99 % quantile; empty where the round has too few iterations
};

/// Results of one configuration of the benchmark: a kernel on a process graph with one message size. An "exchange" is the time of
/// an iteration on its slowest rank.
struct CellResult {
  std::size_t graph = 0;              ///< index into MeasureOptions::graphs
  std::string kernel;                 ///< name of the exchange kernel
  MessageSize size;                   ///< length of the messages
  std::int64_t bytes_total = 0;       ///< bytes per exchange, of all ranks
  std::int64_t messages_total = 0;    ///< messages per exchange, of all ranks
  Histogram exchange;                 ///< times of the slowest rank, ns: one sample per iteration
  Histogram ranks;                    ///< times of all ranks, ns: one sample per iteration and rank
  std::vector<Round> rounds;          ///< timed rounds, in the order of measurement
  std::vector<double> rank_p50_ns;    ///< by rank: median over rounds of the rank's median
  std::vector<double> rank_mean_ns;   ///< by rank: mean over all iterations
  std::vector<std::int64_t> slowest;  ///< by rank: iterations in which it was the slowest
  double start_skew_ns =
      0;                  ///< time between the first and the last rank's beginning of an iteration; median over rounds
  std::int64_t late = 0;  ///< iterations that began late (Sync::roundtime) and are in no statistic
  double seconds = 0;     ///< wall time that the rounds took, s

  /// One entry per launch of the job: the median of the exchange over the rounds of that launch, with its confidence
  /// interval. measure() makes one launch.
  std::vector<Interval> launches;

  /// Returns the median of the exchange over all launches, ns; its interval comes from the medians of launches where there are
  /// five or more, else from those of rounds.
  [[nodiscard]] Interval p50() const;
};

/// Statistics as the published benchmark reports them, computed from the means of ranks and not from iterations.
struct PublishedColumns {
  double average_us = 0;  ///< sum of the ranks' mean times, divided by the number of arcs
  double p99_us = 0;      ///< the ceil(0.99 ranks)-th smallest mean time of a rank, divided by two
  double max_us = 0;      ///< largest mean time of a rank, divided by two
  double stddev_us = 0;   ///< standard deviation of the ranks' mean times
};
/// Computes the published statistics from the mean time of each rank, ns. All 0 without ranks or arcs. Local.
/// @param arcs  number of arcs of the process graph, over all ranks
[[nodiscard]] PublishedColumns published_columns(const std::vector<double>& rank_mean_ns, std::int64_t arcs);

/// A configuration, or all sizes of a kernel on a graph, that could not be measured, with the reason.
struct UnusableCell {
  std::string kernel;  ///< name of the exchange kernel
  std::string graph;   ///< empty: on any graph
  std::string size;    ///< empty: of any size
  std::string reason;  ///< text for the user
};

/// Results of measure(), complete on rank 0; on the other ranks only the properties of clock and timer.
struct Measurement {
  std::vector<CellResult> cells;       ///< by graph, kernel, size
  std::vector<UnusableCell> unusable;  ///< kernels and configurations that could not be measured
  double seconds = 0;                  ///< wall time of the benchmark, s
  double clock_error_ns = 0;           ///< bound of the error of the ranks' common clock
  double timer_ns = 0;                 ///< cost of a time stamp, which is part of every time
  double record_ns = 0;                ///< cost of recording an iteration
  double resolution_ns = 0;  ///< resolution of time stamps; each time is shifted by a part of it, evenly distributed
  std::string timer;         ///< source of time stamps
};

/// Measures all configurations: every kernel on every graph with every size. Collective over `control`; kernels that it cannot
/// run, and configurations whose buffers exceed the memory limit, are reported as unusable. The time is divided evenly; what
/// converged configurations leave of it goes to the others.
/// @throws UsageError for options that contradict each other, VerificationError if a byte arrived wrong; on every rank
[[nodiscard]] Measurement measure(comm::Transport& control, const MeasureOptions& options);

}  // namespace merganser::topology
