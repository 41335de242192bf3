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

constexpr std::size_t kChunk = 16;                       // rounds that are agreed on at once
constexpr int kChunksPerClock = 8;                       // after which clocks are synchronised again
constexpr std::size_t kGatherBytes = 8UL * 1024 * 1024;  // of one round, from all ranks

/// What ranks that measure together are given alike; the root alone decides by times and seeds.
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

/// What a round of the whole job is made of, on one rank.
class Bench {
 public:
  Bench(comm::Transport& control, const MeasureOptions& options)
      : control_(control),
        o_(options),
        where_(control.rank()),
        watchdog_(options.watchdog_s,
                  [this](double seconds) {
                    if (o_.on_stall) o_.on_stall(where_.stall(seconds));
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

  Measurement run() {
    runner_.emplace(control_, o_, where_, watchdog_);
    probe();
    exchanges_.resize(cells_.slots.size());
    prepare();
    const double limit = std::max(o_.seconds, now() - start_s_ + o_.seconds / 2);  // a long set-up leaves half of it
    Schedule schedule(cells_, {limit, o_.width, o_.seed, most_iterations()});
    std::vector<Task> sweep;
    for (int chunk = 0;; ++chunk) {
      const auto tasks = agree(root() ? next_tasks(schedule, sweep, limit) : std::vector<Task>());
      if (tasks.empty()) break;
      if (chunk % kChunksPerClock == 0) runner_->synchronise_clocks();
      for (const Task& task : tasks) perform(task, schedule);
    }
    close_transient();
    where_.enter(nullptr, "", "", "");
    return finished();
  }

 private:
  [[nodiscard]] bool root() const { return control_.rank() == 0; }

  [[nodiscard]] std::uint32_t most_iterations() const {
    const std::size_t per_iteration = sizeof(TimedIteration) * static_cast<std::size_t>(control_.size());
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(kGatherBytes / per_iteration, 16, 50'000));
  }

  /// Finds out which kernels can be used here, and makes the cells.
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

  /// What comes next: part of a sweep, so that time that has run out is noticed soon. On rank 0.
  std::vector<Task> next_tasks(Schedule& schedule, std::vector<Task>& sweep, double limit) const {
    const double elapsed = now() - start_s_;
    if (schedule.may_end() && elapsed > limit) return {};
    if (sweep.empty()) sweep = schedule.next(cells_, elapsed);
    const auto end = sweep.begin() + static_cast<std::ptrdiff_t>(std::min(sweep.size(), kChunk));
    std::vector<Task> tasks(sweep.begin(), end);
    sweep.erase(sweep.begin(), end);
    return tasks;
  }

  /// Collectors of all cells, on rank 0.
  void prepare() {
    if (!root()) return;
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

  /// What rank 0 has decided.
  std::vector<Task> agree(const std::vector<Task>& mine) {
    where_.set(Phase::gather);
    auto tasks = comm::from_first(control_, mine);
    watchdog_.beat();
    return tasks;
  }

  [[nodiscard]] ArcBytes bytes_of(const Cell& c) const {
    return arc_bytes(o_.graphs[c.graph].graph, local_[c.graph], control_.rank(), c.size);
  }

  /// The exchange of a slot, made if need be; null if nothing of the slot can be measured. Collective.
  kernels::Exchange* exchange(std::size_t s) {
    if (exchanges_[s]) return exchanges_[s].get();
    Slot& slot = cells_.slots[s];
    if (!slot.kept) close_transient();
    while (!slot.cells.empty()) {
      const std::size_t largest = slot.cells.back();
      auto bytes = bytes_of(cells_.cells[largest]);
      watchdog_.beat();
      try {
        exchanges_[s] =
            kernels::make_exchange(control_, o_.kernels[slot.kernel],
                                   {local_[slot.graph], std::move(bytes.out), std::move(bytes.in), slot.buffers});
        if (!slot.kept) transient_ = s;
        return exchanges_[s].get();
      } catch (const Error& e) {  // the same on every rank
        cells_.give_up(largest, o_, e.what());
      }
    }
    return nullptr;
  }

  void close_transient() {
    if (transient_ == SIZE_MAX) return;
    where_.set(Phase::setup);
    where_.enter(nullptr, "", "", "");
    exchanges_[transient_].reset();
    transient_ = SIZE_MAX;
  }

  void perform(const Task& task, Schedule& schedule) {
    const double began = now();
    where_.set(Phase::setup);
    kernels::Exchange* e = exchange(cells_.cells[task.cell].slot);
    const Cell& cell = cells_.cells[task.cell];
    if (e == nullptr || !cell.usable) return;
    where_.enter(e, o_.kernels[cell.kernel], o_.graphs[cell.graph].name, size_text(cell.size));
    const auto times = runner_->run(*e, bytes_of(cell), cells_.slots[cell.slot].buffers, task);
    if (!root()) return;
    Collector& collector = collectors_[task.cell];
    const RoundSummary summary = collector.add(times, task.keep != 0);
    const double wall = now() - began;
    collector.spent(wall);
    schedule.took(task, wall, summary, collector.result());
    const double elapsed = now() - start_s_;
    if (o_.on_progress)
      o_.on_progress({elapsed, schedule.expected_end(elapsed), cells_.cells.size(), schedule.converged()});
  }

  Measurement finished() {
    Measurement m;
    m.clock_error_ns = runner_->clock_error_ns();
    m.timer_ns = runner_->clock().stamp_cost_ns();
    m.record_ns = runner_->clock().record_cost_ns();
    m.resolution_ns = runner_->clock().resolution_ns();
    m.timer = runner_->clock().source();
    m.seconds = now() - start_s_;
    if (!root()) return m;
    m.unusable = cells_.unusable;
    for (std::size_t c = 0; c < collectors_.size(); ++c)
      if (cells_.cells[c].usable) m.cells.push_back(collectors_[c].finished());
    return m;
  }

  comm::Transport& control_;
  const MeasureOptions& o_;
  Whereabouts where_;
  std::vector<comm::Graph> local_;
  Cells cells_;
  std::optional<RoundRunner> runner_;
  std::vector<std::unique_ptr<kernels::Exchange>> exchanges_;
  std::size_t transient_ = SIZE_MAX;
  std::vector<Collector> collectors_;
  Watchdog watchdog_;  // its thread looks at what is declared before it, and must end first
  double start_s_;
};

}  // namespace

Measurement measure(comm::Transport& control, const MeasureOptions& options) { return Bench(control, options).run(); }

}  // namespace merganser::topology
