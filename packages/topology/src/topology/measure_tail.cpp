// Interference benchmark: rounds of victims, idle and loaded, scheduled by rank 0.
#include "merganser/topology/measure_tail.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/timing.hpp"
#include "merganser/comm/collectives.hpp"
#include "src/topology/measure_round.hpp"

namespace merganser::topology {
namespace {

using namespace detail;

constexpr double kRoundSeconds = 0.05;  // duration of a victim's iterations in a round
constexpr std::uint32_t kMaxIterations = 20'000;

/// Returns the index of a rank of the job in a group of victims or aggressors; -1 if it is not a member.
int index_in_group(const std::vector<int>& ranks, int rank) {
  const auto at = std::find(ranks.begin(), ranks.end(), rank);
  return at == ranks.end() ? -1 : static_cast<int>(at - ranks.begin());
}

/// Exchange of one group of ranks, of victims or of aggressors, on this rank. In the model shmem, whose symmetric
/// memory needs all ranks, exchanges are created by the whole job, with ranks outside the group having no arcs; in
/// other models by the group alone.
class Side {
 public:
  /// Makes one side of measure_tail() with the exchange of its group: collective over the job for the model shmem, else over the
  /// group.
  /// @param group  transport of the group's ranks; null on other ranks
  Side(comm::Transport& control, comm::Transport* group, const TailSide& side) {
    const int place = index_in_group(side.ranks, control.rank());
    member_ = place >= 0;
    const auto& info = kernels::kernel(side.kernel);
    const bool by_all = info.model == "shmem";
    comm::Transport* scope = by_all ? &control : group;
    if (scope == nullptr) return;
    comm::Graph local;
    if (member_) {
      const comm::Graph places = side.graph.graph.local(place);
      bytes_ = arc_bytes(side.graph.graph, places, place, side.size);
      local = places;
      if (by_all) {
        for (int& to : local.out) to = side.ranks[static_cast<std::size_t>(to)];
        for (int& from : local.in) from = side.ranks[static_cast<std::size_t>(from)];
      }
    }
    exchange_ = kernels::make_exchange(*scope, side.kernel, {local, bytes_.out, bytes_.in, 1});
    rank_ = scope->rank();
  }

  /// Returns true if this rank belongs to the group.
  [[nodiscard]] bool is_member() const { return member_; }
  /// Returns the group's exchange; on members only.
  [[nodiscard]] kernels::Exchange& exchange() { return *exchange_; }

  /// Fills the sources of this rank's exchange with the test patterns of a round of the interference benchmark.
  void fill(std::uint64_t round) {
    if (member_) fill_sources(*exchange_, bytes_, {rank_, 1, round});
  }
  /// Completes all operations of the group's exchange, on the ranks that created it.
  void quiesce() {
    if (exchange_) exchange_->quiesce();
  }
  /// Compares the bytes that this rank received with the test patterns of the round. @return first difference; empty: none
  [[nodiscard]] std::string check(std::uint64_t round) {
    return member_ ? check_landings(*exchange_, bytes_, {rank_, 1, round}) : "";
  }

 private:
  bool member_ = false;
  int rank_ = 0;
  ArcBytes bytes_;
  std::unique_ptr<kernels::Exchange> exchange_;
};

/// Throws UsageError unless the groups of the interference benchmark are disjoint, have two ranks of the job or more, and fit their
/// process graphs and kernels.
void check_options(const TailOptions& o, int ranks) {
  std::vector<int> all = o.aggressor.ranks;
  if (o.victims.empty()) throw UsageError("tail: no victim; allowed: at least one");
  all.insert(all.end(), o.victims[0].ranks.begin(), o.victims[0].ranks.end());
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end())
    throw UsageError("tail: rank " + std::to_string(*std::adjacent_find(all.begin(), all.end())) +
                     " is victim and aggressor; allowed: one of them");
  if (all.empty() || all.front() < 0 || all.back() >= ranks)
    throw UsageError("tail: a rank that is not there; allowed: 0 to " + std::to_string(ranks - 1));
  const auto check_side = [](const TailSide& side, const char* what) {
    if (side.ranks.size() < 2)
      throw UsageError(std::string("tail: ") + std::to_string(side.ranks.size()) + " ranks are " + what +
                       "; allowed: 2 and more");
    if (side.graph.graph.ranks() != static_cast<int>(side.ranks.size()))
      throw UsageError("tail: graph " + side.graph.name + " has " + std::to_string(side.graph.graph.ranks()) +
                       " ranks; allowed: " + std::to_string(side.ranks.size()) + ", as its group has");
    const auto& info = kernels::kernel(side.kernel);
    if (info.model == "shmem" && info.completion == kernels::Completion::global)
      throw UsageError("tail: " + side.kernel + " needs every rank of the job; allowed: kernels of other classes");
  };
  check_side(o.aggressor, "aggressors");
  for (const auto& v : o.victims) {
    check_side(v, "victims");
    if (v.ranks != o.victims[0].ranks) throw UsageError("tail: victims on different ranks; allowed: all on the same");
  }
}

/// Task of one round of the interference benchmark, broadcast by rank 0.
struct TailTask {
  std::uint32_t victim = 0;       ///< index of the victim, whose exchange is timed
  std::uint32_t loaded = 0;       ///< 1: aggressors exchange meanwhile; 0: they sleep
  std::uint32_t iterations = 0;   ///< number of the victim's exchanges
  std::uint32_t aggressions = 0;  ///< number of the aggressors' exchanges
  double sleep_s = 0;             ///< expected duration of the victim's exchanges, s, in which idle ranks sleep
  std::uint32_t keep = 1;         ///< 0: the round only measures durations
  std::uint32_t end = 0;          ///< 1: the benchmark has ended
};

/// State of the interference benchmark on one rank.
class Tail {
 public:
  /// Makes the interference benchmark of measure_tail() and starts its watchdog. Collective.
  Tail(comm::Transport& control, const TailOptions& o)
      : control_(control),
        o_(o),
        where_(control.rank()),
        watchdog_(o.watchdog_s,
                  [this](double seconds) {
                    if (o_.on_stall) o_.on_stall(where_.make_report(seconds));
                  }),
        global_(control, clock_) {}

  /// Runs the interference benchmark: creates all exchanges, then runs the rounds that rank 0 plans. Collective.
  /// @return results, complete on rank 0
  TailMeasurement run() {
    start_s_ = now();
    comm::agree(control_, [this] { check_options(o_, control_.size()); });
    victims_ = control_.subset(index_in_group(o_.victims[0].ranks, control_.rank()) >= 0);
    aggressors_ = control_.subset(index_in_group(o_.aggressor.ranks, control_.rank()) >= 0);
    if (victims_) start_ = kernels::make_start(*victims_);
    where_.set_start(start_.get());
    make_sides();
    Plan plan(o_, results_);
    while (true) {
      const TailTask task = broadcast_task(control_.rank() == 0 ? plan.next(now() - start_s_) : TailTask());
      if (task.end != 0) break;
      const auto times = run_round(task);
      if (control_.rank() == 0) {
        plan.record_round(task, add_round(task, times));
        if (o_.on_progress) o_.on_progress({now() - start_s_, o_.seconds, o_.victims.size(), 0});
      }
    }
    where_.set_current(nullptr, "", "", "");
    TailMeasurement m;
    m.results = std::move(results_);
    m.aggressor = aggressor_rate();
    m.seconds = now() - start_s_;
    m.clock_error_ns = global_.error_ns();
    return m;
  }

 private:
  /// Schedule of the interference benchmark's rounds on rank 0: durations of past rounds, and the numbers of iterations that follow
  /// for the next.
  class Plan {
   public:
    /// Makes the schedule for all victims whose exchange could be created, before their first round.
    Plan(const TailOptions& o, const std::vector<TailResult>& results) : o_(o), random_(o.seed, 0x7461696cULL, 0) {
      for (std::size_t v = 0; v < results.size(); ++v)
        if (results[v].unusable.empty()) usable_.push_back(static_cast<std::uint32_t>(v));
      iteration_s_.assign(2 * results.size(), 1e-4);
      last_.assign(2 * results.size(), 20);
    }

    /// Durations measured in one round of the interference benchmark, for the planning of later rounds; filled by add_round().
    struct Seen {
      double iteration_s = 0;   ///< duration of a victim's exchange, s
      double aggression_s = 0;  ///< duration of an aggressor's exchange, s; 0 in idle rounds
      double covered = 1;       ///< share of the victim's exchanges during which every aggressor was exchanging
    };

    /// Returns the task of the next round; a sweep has every usable victim idle and loaded once, in random order.
    /// @param elapsed  seconds since the beginning of the benchmark
    TailTask next(double elapsed) {
      if (queue_.empty()) {
        if (usable_.empty() || (sweeps_ > 2 && elapsed > o_.seconds)) return {0, 0, 0, 0, 0, 0, 1};
        for (const auto v : usable_)
          for (const std::uint32_t loaded : {0U, 1U}) queue_.push_back(plan_round(v, loaded));
        for (std::size_t i = queue_.size(); i > 1; --i) std::swap(queue_[i - 1], queue_[random_.below(i)]);
        ++sweeps_;
      }
      const TailTask t = queue_.back();
      queue_.pop_back();
      return t;
    }

    /// Updates the expected durations of exchanges, from which the numbers of iterations of the next rounds follow.
    void record_round(const TailTask& t, const Seen& seen) {
      double& iteration = iteration_s_[2 * t.victim + t.loaded];
      iteration = sweeps_ <= 1 ? seen.iteration_s : iteration + 0.5 * (seen.iteration_s - iteration);
      last_[2 * t.victim + t.loaded] = t.iterations;
      if (t.loaded == 0) return;
      last_aggressions_ = t.aggressions;
      if (seen.aggression_s > 0) aggression_s_ = seen.aggression_s;
      // Too few victims' exchanges were covered by the aggressors': these exchange longer; else slowly less long, to save time.
      margin_ = std::clamp(seen.covered < 0.7 ? margin_ * 1.3 : margin_ * 0.97, 1.2, 4.0);
    }

   private:
    /// Plans a round of victim `v`: aggressors exchange somewhat longer than its iterations take, by the factor margin_.
    [[nodiscard]] TailTask plan_round(std::uint32_t v, std::uint32_t loaded) const {
      const bool known = sweeps_ > 0;
      const double iteration = iteration_s_[2 * v + loaded];
      const double fit = kRoundSeconds / std::max(iteration, 1e-8);
      TailTask t{v, loaded, 20, 200, 0.002, known ? 1U : 0U, 0};
      if (!known) return t;
      // A few fast iterations may not be typical: a round has at most eight times as many as the one before.
      const double most = std::min(8.0 * last_[2 * v + loaded], static_cast<double>(kMaxIterations));
      t.iterations = static_cast<std::uint32_t>(std::clamp(fit, 10.0, std::max(10.0, most)));
      t.sleep_s = iteration * t.iterations;
      t.aggressions = static_cast<std::uint32_t>(
          std::clamp(margin_ * t.sleep_s / std::max(aggression_s_, 1e-8), 10.0, 8.0 * last_aggressions_));
      return t;
    }

    const TailOptions& o_;
    Random random_;
    std::vector<std::uint32_t> usable_;  // indices of victims with an exchange
    std::vector<double> iteration_s_;    // duration of an exchange by victim, idle then loaded, s
    std::vector<std::uint32_t> last_;    // iterations of the latest round by victim, idle then loaded
    double last_aggressions_ = 200;      // aggressors' exchanges in the latest loaded round
    double aggression_s_ = 1e-4;         // duration of an aggressor's exchange, s
    double margin_ = 1.4;                // duration of the aggressors' exchanges over that of the victim's
    std::vector<TailTask> queue_;        // rest of the current sweep
    int sweeps_ = 0;
  };

  /// Creates the exchanges of all victims and of the aggressors. Collective. A victim whose exchange cannot be created is left out.
  /// @throws CommError on every rank if that of the aggressors cannot be created
  void make_sides() {
    std::string reason;
    aggressor_ = make_side(aggressors_.get(), o_.aggressor, reason);
    comm::agree(control_, [&reason] {
      if (!reason.empty()) throw CommError(reason);
    });
    for (const auto& v : o_.victims) {
      results_.push_back({v, {}, {}, 0, ""});
      sides_.push_back(make_side(victims_.get(), v, results_.back().unusable));
    }
  }

  /// Creates the exchange of one group of victims or aggressors. Collective. @param reason  receives the reason of a failure, the
  /// same on all ranks @return null on every rank after a failure
  std::unique_ptr<Side> make_side(comm::Transport* group, const TailSide& side, std::string& reason) {
    std::unique_ptr<Side> made;
    std::string mine;
    watchdog_.beat();
    try {
      made = std::make_unique<Side>(control_, group, side);
    } catch (const Error& e) {
      mine = e.what();
    }
    for (const auto theirs : comm::all_gather(control_, mine))
      if (!theirs.empty()) reason.assign(theirs.begin(), theirs.end());
    if (!reason.empty()) made.reset();
    return made;
  }

  /// Broadcasts the task of the next round of the interference benchmark from rank 0. Collective.
  TailTask broadcast_task(const TailTask& mine) {
    where_.set_phase(Phase::gather);
    const auto all = comm::all_gather_value(control_, mine);
    watchdog_.beat();
    return all[0];
  }

  /// Runs this rank's exchanges of a round. Victims begin each after a barrier, and all are timed; aggressors exchange without a
  /// pause, and are timed once, from the beginning of the first exchange to the end of the last.
  RankTimes iterate(Side& side, bool victim, std::uint32_t count) {
    RankTimes times;
    const auto ready = [&](std::int64_t) {
      (void)where_.next_iteration();
      watchdog_.beat();
      if (victim) {
        where_.set_phase(Phase::start);
        start_->wait();
      }
      where_.set_phase(Phase::iterate);
    };
    repeat(
        {count}, [this] { return clock_.stamp(); }, ready, [&](std::int64_t) { side.exchange().iterate(0); },
        [&](std::int64_t i, std::uint64_t begin, std::uint64_t end) {
          if (victim || i == 0) times.iterations.push_back({global_.time_ns(begin), 0});
          times.iterations.back().ns = global_.time_ns(end) - times.iterations.back().began;
        });
    return times;
  }

  /// Runs one round of the interference benchmark: victims exchange, aggressors exchange or sleep, every byte is compared.
  /// Collective. @return every rank's times, by rank @throws VerificationError on every rank if a byte arrived wrong
  std::vector<RankTimes> run_round(const TailTask& task) {
    ++round_;
    if (round_ % 8 == 1) global_.synchronise();
    Side& victim = *sides_[task.victim];
    const TailSide& who = victim.is_member() ? o_.victims[task.victim] : o_.aggressor;
    Side& mine = victim.is_member() ? victim : *aggressor_;
    const bool idle = !victim.is_member() && (task.loaded == 0 || !aggressor_->is_member());
    if (!idle) where_.set_current(&mine.exchange(), who.kernel, who.graph.name, size_text(who.size));
    where_.set_phase(Phase::quiesce);
    victim.fill(round_);
    aggressor_->fill(round_);
    victim.quiesce();
    aggressor_->quiesce();
    control_.barrier();
    RankTimes times;
    if (victim.is_member()) {
      times = iterate(victim, true, task.iterations);
    } else if (!idle) {
      times = iterate(*aggressor_, false, task.aggressions);
    } else {
      std::this_thread::sleep_for(std::chrono::duration<double>(std::min(task.sleep_s, 1.0)));
    }
    where_.set_phase(Phase::quiesce);
    victim.quiesce();
    aggressor_->quiesce();
    std::string wrong = victim.check(round_);
    if (wrong.empty() && task.loaded != 0) wrong = aggressor_->check(round_);
    where_.set_phase(Phase::gather);
    auto all = gather_times(control_, times, wrong);
    watchdog_.beat();
    return all;
  }

  /// Adds the times of a round to the results of its victim; on rank 0. Loaded iterations count only if they lie within the time in
  /// which every aggressor was exchanging.
  Plan::Seen add_round(const TailTask& task, const std::vector<RankTimes>& times) {
    double from = -1e300, to = 1e300;  // interval in which every aggressor was exchanging
    Plan::Seen seen;
    if (task.loaded != 0)
      for (const int r : o_.aggressor.ranks) {
        const TimedIteration& all = times[static_cast<std::size_t>(r)].iterations.at(0);
        from = std::max(from, all.began);
        to = std::min(to, all.began + all.ns);
        seen.aggression_s = std::max(seen.aggression_s, all.ns * 1e-9 / task.aggressions);
      }
    if (task.loaded != 0 && task.keep != 0) {
      sent_s_ += seen.aggression_s * task.aggressions;
      sent_ += task.aggressions;
    }
    const auto& ranks = o_.victims[task.victim].ranks;
    Histogram h;
    double first = 1e300, last = -1e300;
    std::int64_t uncovered = 0;
    for (std::uint32_t i = 0; i < task.iterations; ++i) {
      double longest = 0, begin = 1e300, end = -1e300;
      for (const int r : ranks) {
        const TimedIteration& t = times[static_cast<std::size_t>(r)].iterations.at(i);
        longest = std::max(longest, t.ns);
        begin = std::min(begin, t.began);
        end = std::max(end, t.began + t.ns);
      }
      first = std::min(first, begin);
      last = std::max(last, end);
      if (begin < from || end > to) {
        ++uncovered;
      } else {
        h.add(static_cast<std::uint64_t>(std::llround(std::max(0.0, longest))));
      }
    }
    seen.iteration_s = (last - first) * 1e-9 / task.iterations;
    seen.covered = 1 - static_cast<double>(uncovered) / task.iterations;
    if (task.keep == 0) return seen;
    TailResult& result = results_[task.victim];
    result.uncovered += uncovered;
    if (!h.empty()) (task.loaded != 0 ? result.loaded : result.idle).push_back(std::move(h));
    return seen;
  }

  /// Returns the rate at which the aggressors exchanged, over all kept loaded rounds; on rank 0.
  [[nodiscard]] AggressorRate aggressor_rate() const {
    if (sent_s_ <= 0) return {};
    const double rate = static_cast<double>(sent_) / sent_s_;
    return {rate, rate * static_cast<double>(total_bytes(o_.aggressor.graph.graph, o_.aggressor.size))};
  }

  comm::Transport& control_;
  const TailOptions& o_;
  RankPosition where_;
  std::unique_ptr<comm::Transport> victims_, aggressors_;
  std::unique_ptr<kernels::Start> start_;
  std::unique_ptr<Side> aggressor_;
  std::vector<std::unique_ptr<Side>> sides_;
  Watchdog watchdog_;  // its thread reads the members above; it is joined before they are destroyed
  Clock clock_;
  GlobalClock global_;
  std::vector<TailResult> results_;  // by victim
  std::uint64_t round_ = 0;
  std::int64_t sent_ = 0;  // aggressors' exchanges in kept loaded rounds
  double sent_s_ = 0;      // duration of those exchanges, s
  double start_s_ = 0;
};

}  // namespace

// Interference benchmark: how much slower victims' exchanges are while aggressors exchange.
TailMeasurement measure_tail(comm::Transport& control, const TailOptions& options) {
  return Tail(control, options).run();
}

}  // namespace merganser::topology
