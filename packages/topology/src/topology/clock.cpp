// Calibration of time stamps, and synchronisation of the ranks' clocks along a binomial tree.
#include "merganser/topology/clock.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace merganser::topology {
namespace {

/// Returns true if the counter that Clock::stamp() reads has a constant rate, whatever the processor's frequency.
bool counter_is_steady() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d >> 8 & 1) != 0;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

/// Returns the resolution of time stamps, in ticks of the counter: the largest step of which nearly all differences of stamps are
/// multiples, up to a tick; 1 if there is no such step.
std::uint64_t find_resolution(std::vector<std::uint64_t> differences) {
  if (differences.empty()) return 1;
  std::sort(differences.begin(), differences.end());
  const std::uint64_t smallest = differences[differences.size() / 20];  // the 5 % quantile, against outliers
  for (std::uint64_t part = 1; smallest / part > 4; ++part) {
    const std::uint64_t step = (smallest + part / 2) / part;
    const auto fits = [step](std::uint64_t d) {
      const std::uint64_t times = (d + step / 2) / step;
      return d < 20 * step && d + 1 + times / 4 >= times * step && d <= times * step + 1 + times / 4;
    };
    const auto considered = std::lower_bound(differences.begin(), differences.end(), 20 * step) - differences.begin();
    const auto fitting = std::count_if(differences.begin(), differences.end(), fits);
    if (fitting * 10 > considered * 9) return step;
  }
  return 1;
}

}  // namespace

// Time of CLOCK_MONOTONIC, ns: the reference of the benchmark's time stamps, and their source without a steady counter.
std::uint64_t Clock::monotonic_ns() noexcept {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

/// Reads a stamp and the monotonic time at the same moment, for the calibration of the stamps: of several tries the one
/// that took least.
Clock::Anchor Clock::anchor() const noexcept {
  Anchor best;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t before = stamp();
    const std::uint64_t ns = monotonic_ns();
    const std::uint64_t took = stamp() - before;
    if (took < least) {
      least = took;
      best = {before + took / 2, ns};
    }
  }
  return best;
}

// Calibration of time stamps against the monotonic clock over some milliseconds, and measurement of their resolution.
Clock::Clock(bool counter) : counter_(counter && counter_is_steady()) {
  first_ = anchor();
  origin_ = first_.stamp;
  if (counter_) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const Anchor middle = anchor();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    refine();
    // The rates of both halves must agree, else the counter is not constant (a virtual machine that was migrated, say).
    const double early = static_cast<double>(middle.monotonic_ns - first_.monotonic_ns) /
                         static_cast<double>(std::max<std::uint64_t>(1, middle.stamp - first_.stamp));
    if (!(early > 0.999 * ns_per_tick_ && early < 1.001 * ns_per_tick_)) {
      counter_ = false;
      first_ = anchor();
      origin_ = first_.stamp;
      ns_per_tick_ = 1;
    }
  }
  measure_costs();
}

// Better calibration of time stamps, over the whole time since the constructor.
void Clock::refine() {
  if (!counter_) return;
  const Anchor last = anchor();
  if (last.stamp <= first_.stamp || last.monotonic_ns <= first_.monotonic_ns) return;
  ns_per_tick_ =
      static_cast<double>(last.monotonic_ns - first_.monotonic_ns) / static_cast<double>(last.stamp - first_.stamp);
}

std::string_view Clock::source() const noexcept {
  if (!counter_) return "CLOCK_MONOTONIC";
#if defined(__aarch64__)
  return "CNTVCT";
#else
  return "TSC";
#endif
}

// Cost of the clock: time of reading one stamp, time of storing both stamps of an iteration, and resolution of stamps.
void Clock::measure_costs() {
  constexpr std::size_t kCalls = 256;
  struct Kept {  // stamps of one iteration
    std::uint64_t begin;
    std::uint64_t end;
  };
  std::array<Kept, kCalls> kept{};
  stamp_cost_ns_ = record_cost_ns_ = std::numeric_limits<double>::max();
  for (int repeat = 0; repeat < 20; ++repeat) {
    const std::uint64_t start = stamp();
    std::uint64_t last = start;
    for (std::size_t i = 0; i < kCalls; ++i) last = stamp();
    stamp_cost_ns_ = std::min(stamp_cost_ns_, ns(last - start) / kCalls);
    const std::uint64_t again = stamp();
    for (auto& k : kept) {
      k.begin = stamp();
      k.end = stamp();
    }
    record_cost_ns_ = std::min(record_cost_ns_, ns(kept.back().end - again) / kCalls);
  }
  resolution_ns_ = ns(find_resolution(sample_differences()));
}

/// Returns differences of stamps with varying work between them, so that all residues of the resolution occur.
std::vector<std::uint64_t> Clock::sample_differences() const {
  std::vector<std::uint64_t> out;
  constexpr std::uint64_t kNoise =
      2;  // ticks; differences up to this show no step, since multiples of it are recognised up to a tick
  volatile unsigned work = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    const std::uint64_t first = stamp();
    for (unsigned k = 0; k < i % 40; ++k) work = work + 1;
    const std::uint64_t second = stamp();
    if (second > first + kNoise) out.push_back(second - first);
  }
  return out;
}

// Binomial tree of ranks along which clocks are synchronised, with rank 0 as the root.
GlobalClock::GlobalClock(comm::Transport& transport, Clock& clock) : transport_(transport), clock_(clock) {
  const int rank = transport.rank();
  const int size = transport.size();
  int top = 1;
  while (top < size) top *= 2;
  // A binomial tree: the parent of a rank has its lowest set bit cleared. Distant children, which have the largest subtrees,
  // are served first.
  const int reach = rank == 0 ? top : rank & -rank;
  if (rank != 0) parent_ = rank - reach;
  for (int step = reach / 2; step > 0; step /= 2)
    if (rank + step < size) children_.push_back(rank + step);
  std::vector<int> neighbours = children_;
  if (parent_ >= 0) neighbours.push_back(parent_);
  mailbox_ = transport.mailbox(comm::Graph::symmetric(neighbours));
}

/// Executes one step of the mailbox of the clock synchronisation along one arc of the tree: sends what was posted, or receives.
/// Other arcs take no part.
void GlobalClock::step_arc(std::size_t arc, bool send) {
  const std::size_t arcs = mailbox_->graph().out.size();
  std::vector<std::uint8_t> out(arcs, 0), in(arcs, 0);
  (send ? out : in)[arc] = 1;
  mailbox_->step(out, in);
}

/// Measures the offset of a child's clock on the parent's side of the synchronisation tree: round trips, of which the shortest
/// counts, continue while they are disturbed or still get shorter. Sends the child the sum of offsets from rank 0, and its error.
/// @param trips  least number of round trips @return that sum and its error, ns
GlobalClock::Reading GlobalClock::measure_child(std::size_t arc, int trips) {
  constexpr double kGoodNs = 5000;
  const int most = 16 * trips;
  Reading best{0, std::numeric_limits<double>::max()};
  int since_best = 0;
  for (int i = 1, more = 1; more != 0; ++i) {
    const bool enough = i >= trips && (best.error < kGoodNs || since_best >= 4 * trips);
    more = enough || i >= most ? 0 : 1;
    const double sent = clock_.now_ns();
    mailbox_->post(arc, more);
    step_arc(arc, true);
    step_arc(arc, false);
    const double back = clock_.now_ns();
    const double theirs = mailbox_->records<double>(arc)[0];
    ++since_best;
    if ((back - sent) / 2 >= best.error) continue;
    best = {theirs - (sent + back) / 2, (back - sent) / 2};
    since_best = 0;
  }
  const Reading total{offset_ns_ + best.offset, error_ns_ + best.error};
  mailbox_->post(arc, total);
  step_arc(arc, true);
  return total;
}

/// Replies to the round trips of the parent in the clock synchronisation with this rank's time. @return offset of this rank's clock
/// from rank 0's, and the bound of its error, ns
GlobalClock::Reading GlobalClock::reply_to_parent() {
  const std::size_t arc = children_.size();
  for (int more = 1; more != 0;) {
    step_arc(arc, false);
    more = mailbox_->records<int>(arc)[0];
    mailbox_->post(arc, clock_.now_ns());
    step_arc(arc, true);
  }
  step_arc(arc, false);
  return mailbox_->records<Reading>(arc)[0];
}

// Synchronisation of clocks down the binomial tree: each rank first receives its offset from its parent, then measures those of its
// children. The error is the largest over ranks, so that all use one bound.
void GlobalClock::synchronise(int trips) {
  clock_.refine();
  offset_ns_ = error_ns_ = 0;
  if (parent_ >= 0) {
    const Reading mine = reply_to_parent();
    offset_ns_ = mine.offset;
    error_ns_ = mine.error;
  }
  for (std::size_t i = 0; i < children_.size(); ++i) measure_child(i, trips);
  transport_.all_reduce({&error_ns_, 1}, comm::Op::max);
}

}  // namespace merganser::topology
