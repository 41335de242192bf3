// The benchmark: probes kernels, runs rounds as rank 0 schedules them, and collects results on rank 0.
#include "merganser/topology/measure.hpp"

#include <algorithm>
#include <map>

#include "merganser/base/error.hpp"
#include "merganser/base/timer.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/topology/measure_schedule.hpp"

namespace merganser::topology {
namespace {

using namespace detail;

constexpr std::size_t kChunk = 16;                       // rounds per broadcast of tasks
constexpr int kChunksPerClock = 8;                       // chunks between synchronisations of the clocks
constexpr std::size_t kGatherBytes = 8UL * 1024 * 1024;  // limit of the times of one round, from all ranks

/// Returns the options of measure() that must be equal on all ranks, as named texts; times and seed are used on rank 0 alone.
std::vector<comm::UniformValue> uniform_values(const MeasureOptions& o) {
  std::string graphs;
  std::string kernels;
  std::string sizes;
  for (const auto& g : o.graphs) graphs += " " + g.graph.digest();
  for (const auto& k : o.kernels) kernels += " " + k;
  for (const MessageSize& s : o.sizes) sizes += " " + size_text(s);
  return {{"the list of graphs (digests)", "'" + graphs + "'"},
          {"the list of kernels", "'" + kernels + "'"},
          {"the list of sizes", "'" + sizes + "'"},
          {"sync", std::to_string(static_cast<int>(o.sync))},
          {"buffers", std::to_string(static_cast<int>(o.buffers))}};
}

/// State of the benchmark of exchanges, measure(), on one rank.
class Bench {
 public:
  /// Makes the benchmark of measure(): checks its options and starts its watchdog. Collective. @throws UsageError on every rank
  Bench(comm::Transport& control, const MeasureOptions& options)
      : control_(control),
        o_(options),
        where_(control.rank()),
        watchdog_(options.watchdog_s,
                  [this](double seconds) {
                    if (o_.on_stall) o_.on_stall(where_.make_report(seconds));
                  }),
        start_s_(now()) {
    comm::agree(control, [this] {
      for (const auto& g : o_.graphs)
        if (g.graph.ranks() != control_.size())
          throw UsageError("graph " + g.name + " has " + std::to_string(g.graph.ranks()) +
                           " ranks; allowed: " + std::to_string(control_.size()) + ", as the job has");
    });
    comm::check_uniform_across_ranks(control, "measure", uniform_values(o_));
    for (const auto& g : o_.graphs) local_.push_back(g.graph.local(control.rank()));
  }

  /// Runs the benchmark: probes kernels, then runs the rounds that rank 0 schedules until the time is over. Collective.
  /// @return results, complete on rank 0
  Measurement run() {
    runner_.emplace(control_, o_, where_, watchdog_);
    probe();
    exchanges_.resize(cells_.slots.size());
    create_collectors();
    const double limit = std::max(o_.seconds, now() - start_s_ + o_.seconds / 2);  // at least half is left after set-up
    Schedule schedule(cells_, {limit, o_.width, o_.seed, max_iterations()});
    std::vector<Task> sweep;
    for (int chunk = 0;; ++chunk) {
      const auto tasks = broadcast_tasks(is_root() ? next_tasks(schedule, sweep, limit) : std::vector<Task>());
      if (tasks.empty()) break;
      if (chunk % kChunksPerClock == 0) runner_->synchronise_clocks();
      for (const Task& task : tasks) run_round(task, schedule);
    }
    close_transient();
    where_.set_current(nullptr, "", "", "");
    return make_measurement();
  }

 private:
  /// Returns true on rank 0, which schedules the rounds and keeps the results.
  [[nodiscard]] bool is_root() const { return control_.rank() == 0; }

  /// Returns the largest number of iterations of a round whose times fit into kGatherBytes.
  [[nodiscard]] std::uint32_t max_iterations() const {
    const std::size_t per_iteration = sizeof(TimedIteration) * static_cast<std::size_t>(control_.size());
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(kGatherBytes / per_iteration, 16, 50'000));
  }

  /// Probes which exchange kernels run on this transport, and makes the configurations of the benchmark from those. Collective.
  void probe() {
    std::vector<std::string> usable;
    std::map<std::string, std::string> reasons;
    for (const auto& u : kernels::probe_kernels(control_, o_.kernels)) reasons.emplace(u.kernel, u.reason);
    watchdog_.beat();
    std::vector<UnusableCell> unusable;
    for (const auto& k : o_.kernels) {
      if (const auto at = reasons.find(std::string(kernels::kernel(k).name)); at != reasons.end()) {
        unusable.push_back({k, "", "", at->second});
      } else {
        usable.push_back(k);
      }
    }
    comm::agree(control_, [&] { cells_ = make_cells(o_, usable); });
    cells_.unusable.insert(cells_.unusable.begin(), unusable.begin(), unusable.end());
  }

  /// Returns the next tasks of a sweep over configurations, at most kChunk, so that the benchmark stops soon after its time; empty:
  /// it has ended. On rank 0. @param sweep  tasks of the current sweep that are left @param limit  seconds of the benchmark
  std::vector<Task> next_tasks(Schedule& schedule, std::vector<Task>& sweep, double limit) const {
    const double elapsed = now() - start_s_;
    if (schedule.has_measured_all() && elapsed > limit) return {};
    if (sweep.empty()) sweep = schedule.next_sweep(cells_, elapsed);
    const auto end = sweep.begin() + static_cast<std::ptrdiff_t>(std::min(sweep.size(), kChunk));
    std::vector<Task> tasks(sweep.begin(), end);
    sweep.erase(sweep.begin(), end);
    return tasks;
  }

  /// Creates the accumulators of times of all configurations, on rank 0.
  void create_collectors() {
    if (!is_root()) return;
    for (const Cell& c : cells_.cells) {
      const graphs::ProcessGraph& graph = o_.graphs[c.graph].graph;
      CellResult r;
      r.graph = c.graph;
      r.kernel = o_.kernels[c.kernel];
      r.size = c.size;
      r.bytes_total = total_bytes(graph, c.size);
      r.messages_total = graph.arcs();
      collectors_.emplace_back(std::move(r), control_.size());
    }
  }

  /// Broadcasts the tasks of the next rounds from rank 0. Collective. @param mine  read on rank 0 only
  std::vector<Task> broadcast_tasks(const std::vector<Task>& mine) {
    where_.set_phase(Phase::gather);
    auto tasks = comm::broadcast_from_first(control_, mine);
    watchdog_.beat();
    return tasks;
  }

  /// Returns the message lengths of a configuration along this rank's out- and in-arcs, bytes.
  [[nodiscard]] ArcBytes cell_bytes(const Cell& c) const {
    return arc_bytes(o_.graphs[c.graph].graph, local_[c.graph], control_.rank(), c.size);
  }

  /// Returns the exchange object of a slot, created if need be with room for the slot's largest usable message; null if no
  /// configuration of the slot can be measured. Collective: creation fails on all ranks or on none.
  kernels::Exchange* acquire_exchange(std::size_t s) {
    if (exchanges_[s]) return exchanges_[s].get();
    Slot& slot = cells_.slots[s];
    if (!slot.kept) close_transient();
    while (!slot.cells.empty()) {
      const std::size_t largest = slot.cells.back();
      auto bytes = cell_bytes(cells_.cells[largest]);
      watchdog_.beat();
      try {
        exchanges_[s] =
            kernels::make_exchange(control_, o_.kernels[slot.kernel],
                                   {local_[slot.graph], std::move(bytes.out), std::move(bytes.in), slot.buffers});
        if (!slot.kept) transient_ = s;
        return exchanges_[s].get();
      } catch (const Error& e) {  // make_exchange() throws on all ranks or on none
        cells_.mark_unusable(largest, o_, e.what());
      }
    }
    return nullptr;
  }

  /// Frees the exchange object that was created for the rounds of one slot only, if there is one. Collective.
  void close_transient() {
    if (transient_ == SIZE_MAX) return;
    where_.set_phase(Phase::setup);
    where_.set_current(nullptr, "", "", "");
    exchanges_[transient_].reset();
    transient_ = SIZE_MAX;
  }

  /// Runs one round of a configuration, and passes its times to its accumulator and to the schedule on rank 0. Collective.
  void run_round(const Task& task, Schedule& schedule) {
    const double began = now();
    where_.set_phase(Phase::setup);
    kernels::Exchange* e = acquire_exchange(cells_.cells[task.cell].slot);
    const Cell& cell = cells_.cells[task.cell];
    if (e == nullptr || !cell.usable) return;
    where_.set_current(e, o_.kernels[cell.kernel], o_.graphs[cell.graph].name, size_text(cell.size));
    const auto times = runner_->run(*e, cell_bytes(cell), cells_.slots[cell.slot].buffers, task);
    if (!is_root()) return;
    Collector& collector = collectors_[task.cell];
    const RoundSummary summary = collector.add(times, task.keep != 0);
    const double wall = now() - began;
    collector.add_wall_time(wall);
    schedule.record_round(task, wall, summary, collector.result());
    const double elapsed = now() - start_s_;
    if (o_.on_progress)
      o_.on_progress({elapsed, schedule.expected_end(elapsed), cells_.cells.size(), schedule.num_converged()});
  }

  /// Assembles the results of the benchmark; on other ranks than 0 only the properties of clock and timer.
  Measurement make_measurement() {
    Measurement m;
    m.clock_error_ns = runner_->clock_error_ns();
    m.timer_ns = runner_->clock().stamp_cost_ns();
    m.record_ns = runner_->clock().record_cost_ns();
    m.resolution_ns = runner_->clock().resolution_ns();
    m.timer = runner_->clock().source();
    m.seconds = now() - start_s_;
    if (!is_root()) return m;
    m.unusable = cells_.unusable;
    for (std::size_t c = 0; c < collectors_.size(); ++c)
      if (cells_.cells[c].usable) m.cells.push_back(collectors_[c].final_result());
    return m;
  }

  comm::Transport& control_;
  const MeasureOptions& o_;
  RankPosition where_;
  std::vector<comm::Graph> local_;
  Cells cells_;
  std::optional<RoundRunner> runner_;
  std::vector<std::unique_ptr<kernels::Exchange>> exchanges_;
  std::size_t transient_ = SIZE_MAX;  ///< slot whose exchange exists for its rounds only; SIZE_MAX: none
  std::vector<Collector> collectors_;
  Watchdog watchdog_;  // declared last: its thread reads the members above and must be joined before they are destroyed
  double start_s_;
};

}  // namespace

Measurement measure(comm::Transport& control, const MeasureOptions& options) { return Bench(control, options).run(); }

}  // namespace merganser::topology
