#pragma once
/// What an exchange along the arcs of a process graph costs: every iteration of every kernel, on every rank.
///
/// A cell is one kernel on one graph with one size of messages. Cells are measured in rounds, shuffled and interleaved,
/// so that what a noisy machine does falls on all of them: a round fills the sources with a pattern of its own, quiesces,
/// warms up, times some iterations, and compares every byte that arrived.
/// packages/topology/docs/topology-bench.md says what the numbers mean and how far they can be trusted.
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

/// How the iterations of a round begin.
enum class Sync : std::uint8_t {
  dissemination,  ///< each after a dissemination barrier (kernels::Start), outside the clock
  roundtime,      ///< each at a moment of the synchronised clock; one that begins late is counted, and not used
  none,           ///< one after the other, as published: a rank may run ahead
};
/// What of the buffers is in the caches when an iteration begins.
enum class Buffers : std::uint8_t {
  warm,    ///< what the iteration before left there
  rotate,  ///< several sets of buffers take turns
  flush,   ///< nothing: the lines of sources and landing zones are flushed before each iteration, outside the clock
};

/// Bytes along an arc.
struct MessageSize {
  double bytes = 0;      ///< of a weighted size: bytes per unit of the arc's weight
  bool weights = false;  ///< bytes times the weight of the arc, rounded
  /// Bytes of this size along an arc.
  [[nodiscard]] std::size_t on(const graphs::ProcessGraph::Arc& arc) const;
  friend bool operator==(const MessageSize&, const MessageSize&) = default;
};

/// A size as text: "8", "weights", "weights*0.5".
[[nodiscard]] std::string size_text(MessageSize size);

/// A process graph and what reports call it.
struct NamedGraph {
  std::string name;
  graphs::ProcessGraph graph;
};

/// Where a rank stands.
enum class Phase : std::uint8_t { setup, quiesce, start, iterate, gather };

/// A rank on which no iteration has ended for too long.
struct Stall {
  int rank = 0;
  Phase phase = Phase::setup;
  std::string kernel;  ///< empty before the first cell
  std::string graph;
  std::string size;
  std::int64_t iteration = 0;  ///< of this rank, from 0, warm-up and all cells counted
  double seconds = 0;
  std::vector<int> missing;  ///< ranks it waits for, as far as it can know
};

/// Told on rank 0 between rounds.
struct Progress {
  double seconds = 0;        ///< since the beginning
  double total_seconds = 0;  ///< when it is expected to end
  std::size_t cells = 0;
  std::size_t converged = 0;  ///< cells whose median is known well enough
};

/// For tests and studies: called by every rank around iterate(), with the number of the iteration (see Stall).
struct Hooks {
  std::function<void(kernels::Exchange&, std::int64_t)> before;         ///< before the start
  std::function<void(kernels::Exchange&, std::int64_t)> inside_before;  ///< inside the clock, before the exchange
  std::function<void(kernels::Exchange&, std::int64_t)> inside_after;   ///< inside the clock, after the exchange
};

/// What is measured, for how long; graphs, kernels, sizes, sync and buffers are the same on every rank.
struct MeasureOptions {
  std::vector<NamedGraph> graphs;  ///< of as many ranks as the transport has
  std::vector<std::string> kernels;
  std::vector<MessageSize> sizes;
  Sync sync = Sync::dissemination;
  Buffers buffers = Buffers::warm;
  double seconds = 60;      ///< for everything, set-up included (which leaves half of it at least); begun rounds end
  double width = 0.02;      ///< a cell has converged when the interval of its median is at most this wide, relatively
  std::uint64_t seed = 1;   ///< of the order of rounds
  double memory_bytes = 0;  ///< per rank, for buffers; 0: no limit
  double watchdog_s = 30;   ///< 0: none
  Hooks hooks;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const Stall&)> on_stall;  ///< called in a thread of the watchdog, on every rank that waits
};

/// One block of iterations of a cell, timed in one go.
struct Round {
  int launch = 0;
  std::int64_t iterations = 0;
  double p50_ns = 0;  ///< of the iterations' maxima over ranks
  double mean_ns = 0;
  std::optional<double> p99_ns;  ///< where the round allows it
};

/// What is known of a cell. "Exchange" is the time of an iteration on its slowest rank: what a program waits for.
struct CellResult {
  std::size_t graph = 0;  ///< index into the options
  std::string kernel;
  MessageSize size;
  std::int64_t bytes_total = 0;  ///< per exchange, all ranks
  std::int64_t messages_total = 0;
  Histogram exchange;  ///< one sample per iteration
  Histogram ranks;     ///< one sample per iteration and rank
  std::vector<Round> rounds;
  std::vector<double> rank_p50_ns;    ///< median over rounds of the rank's median
  std::vector<double> rank_mean_ns;   ///< over all iterations
  std::vector<std::int64_t> slowest;  ///< iterations in which this rank was the slowest
  double start_skew_ns = 0;           ///< between the first and the last rank to begin an iteration; median over rounds
  std::int64_t late = 0;              ///< iterations begun late (roundtime), in no statistic
  double seconds = 0;

  /// Median of the exchange with its interval, by launch, each from its own rounds. measure() is one launch.
  std::vector<Interval> launches;

  /// Median of the exchange, all launches pooled; its interval comes from the medians of launches where there are five
  /// or more, else from those of rounds.
  [[nodiscard]] Interval p50() const;
};

/// The columns of the published program, which come from the means of ranks and look at no iteration.
struct PublishedColumns {
  double average_us = 0;  ///< sum over ranks of their mean times, divided by the arcs
  double p99_us = 0;      ///< mean time at position ceil(0.99 ranks) of the ranks in order, divided by two
  double max_us = 0;      ///< largest mean time of a rank, divided by two
  double stddev_us = 0;   ///< of the ranks' mean times
};
/// Computes the columns from the mean time of each rank. All 0 without ranks or arcs. Local.
/// @param arcs  of the process graph, over all ranks
[[nodiscard]] PublishedColumns published_columns(const std::vector<double>& rank_mean_ns, std::int64_t arcs);

/// A cell, or all sizes of a kernel on a graph, that could not be measured.
struct UnusableCell {
  std::string kernel;
  std::string graph;  ///< empty: on any
  std::string size;   ///< empty: of any
  std::string reason;
};

/// Complete on rank 0; the other ranks know nothing but `clock_error_ns`.
struct Measurement {
  std::vector<CellResult> cells;  ///< by graph, kernel, size
  std::vector<UnusableCell> unusable;
  double seconds = 0;
  double clock_error_ns = 0;  ///< bound of the error of the ranks' common clock
  double timer_ns = 0;        ///< cost of a stamp, which is inside every time
  double record_ns = 0;       ///< cost of recording an iteration
  double resolution_ns = 0;   ///< step of the stamps; single times are spread evenly over it
  std::string timer;          ///< where stamps come from
};

/// Measures all cells: every kernel on every graph with every size. Collective over `control`; kernels that it cannot
/// run, and cells that do not fit into memory, are reported as unusable. The time is divided evenly; what cells that
/// have converged leave goes to the others.
/// @throws UsageError for options that contradict each other, VerificationError if a byte arrived wrong; on every rank
[[nodiscard]] Measurement measure(comm::Transport& control, const MeasureOptions& options);

}  // namespace merganser::topology
