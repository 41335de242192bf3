// One round of the benchmark on one rank: patterns, synchronised timed iterations, validation, gathering.
#include "src/topology/measure_round.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <thread>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/base/timing.hpp"
#include "merganser/comm/collectives.hpp"

namespace merganser::topology {

namespace detail {
namespace {

// Odd, so that the words of a pattern, first + i * kStep modulo 2^64, are distinct.
constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ULL;

/// Returns the first word of the test pattern of a message, a counter-based random number of (from, to, buffer, round).
std::uint64_t pattern_start(PatternOf of) {
  const auto block = philox({static_cast<std::uint32_t>(of.from), static_cast<std::uint32_t>(of.to),
                             static_cast<std::uint32_t>(of.round), static_cast<std::uint32_t>(of.round >> 32)},
                            {static_cast<std::uint32_t>(of.buffer), 0x70617474U});
  return block[0] | static_cast<std::uint64_t>(block[1]) << 32;
}

}  // namespace

// Position that the watchdog reports if this rank stalls: under a lock, since its thread follows the pointer to the exchange.
void RankPosition::set_current(const kernels::Exchange* exchange, const std::string& kernel, const std::string& graph,
                               const std::string& size) {
  const std::scoped_lock lock(mutex_);
  exchange_ = exchange;
  stall_.kernel = kernel;
  stall_.graph = graph;
  stall_.size = size;
}

// Report of the watchdog's thread about a measurement that hangs: position of this rank, and ranks it waits for.
Stall RankPosition::make_report(double seconds) const {
  const std::scoped_lock lock(mutex_);
  Stall s = stall_;
  s.seconds = seconds;
  s.phase = phase_.load(std::memory_order_relaxed);
  s.iteration = std::max<std::int64_t>(0, iteration_.load(std::memory_order_relaxed) - 1);
  if (s.phase == Phase::iterate && exchange_ != nullptr) s.missing = exchange_->missing();
  if (const auto* start = start_.load(); s.phase == Phase::start && start != nullptr && start->waits_for() >= 0)
    s.missing = {start->waits_for()};
  return s;
}

void fill_pattern(std::span<std::byte> bytes, PatternOf of) {
  std::uint64_t word = pattern_start(of);
  const std::size_t whole = bytes.size() / 8;
  for (std::size_t i = 0; i < whole; ++i, word += kStep) std::memcpy(bytes.data() + 8 * i, &word, 8);
  if (bytes.size() % 8 != 0) std::memcpy(bytes.data() + 8 * whole, &word, bytes.size() % 8);
}

// Validation of a received message: differences of all words are collected without a branch, and the byte is searched for only if
// there is one.
std::size_t first_difference(std::span<const std::byte> bytes, PatternOf of) {
  std::uint64_t word = pattern_start(of);
  const std::size_t whole = bytes.size() / 8;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < whole; ++i, word += kStep) {
    std::uint64_t found = 0;
    std::memcpy(&found, bytes.data() + 8 * i, 8);
    wrong |= found ^ word;
  }
  const bool tail_right = bytes.size() % 8 == 0 || std::memcmp(bytes.data() + 8 * whole, &word, bytes.size() % 8) == 0;
  if (wrong == 0 && tail_right) return bytes.size();
  std::vector<std::byte> right(bytes.size());
  fill_pattern(right, of);
  return static_cast<std::size_t>(std::mismatch(bytes.begin(), bytes.end(), right.begin()).first - bytes.begin());
}

// Before the iterations of a round: every source buffer gets the test pattern of its arc.
void fill_sources(kernels::Exchange& exchange, const ArcBytes& bytes, const Filling& of) {
  const auto& out = exchange.graph().out;
  for (std::size_t b = 0; b < of.buffers; ++b)
    for (std::size_t a = 0; a < out.size(); ++a)
      fill_pattern(exchange.source(a, b).first(bytes.out[a]), {of.rank, out[a], b, of.round});
}

// After the iterations of a round: every byte of every landing zone is compared with the sender's test pattern.
std::string check_landings(kernels::Exchange& exchange, const ArcBytes& bytes, const Filling& of) {
  const auto& in = exchange.graph().in;
  for (std::size_t b = 0; b < of.buffers; ++b)
    for (std::size_t a = 0; a < in.size(); ++a) {
      const auto landed = std::span<const std::byte>(exchange.landing(a, b)).first(bytes.in[a]);
      const std::size_t at = first_difference(landed, {in[a], of.rank, b, of.round});
      if (at < landed.size())
        return std::string(exchange.info().name) + " of " + std::to_string(landed.size()) + " bytes: byte " +
               std::to_string(at) + " from rank " + std::to_string(in[a]) + " to rank " + std::to_string(of.rank) +
               " arrived wrong";
    }
  return "";
}

// End of a round: all times come together, and an error of validation on one rank becomes the error of all.
std::vector<RankTimes> gather_times(comm::Transport& control, const RankTimes& mine, const std::string& wrong) {
  // The first entry carries the duration of the loop, and whether a byte arrived wrong: one message for all.
  std::vector<TimedIteration> message{{mine.loop_s, wrong.empty() ? 0.0 : 1.0}};
  message.insert(message.end(), mine.iterations.begin(), mine.iterations.end());
  std::vector<RankTimes> out;
  bool failed = false;
  for (const auto theirs : comm::all_gather(control, message)) {
    failed = failed || theirs[0].ns != 0;
    out.push_back({{theirs.begin() + 1, theirs.end()}, theirs[0].began});
  }
  // All ranks have gathered the same flags, so all or none enter agree().
  if (failed)
    comm::agree(control, [&wrong] {
      if (!wrong.empty()) throw VerificationError(wrong);
    });
  return out;
}

RoundRunner::RoundRunner(comm::Transport& control, const MeasureOptions& options, RankPosition& where,
                         Watchdog& watchdog)
    : control_(control),
      options_(options),
      where_(where),
      watchdog_(watchdog),
      global_(control, clock_),
      start_(kernels::make_start(control)),
      hooked_(options.hooks.before || options.hooks.inside_before || options.hooks.inside_after) {
  where_.set_start(start_.get());
  global_.synchronise();
}

/// Flushes the cache lines of this rank's sources and landing zones in one set of message buffers, where the processor has an
/// instruction for it (Buffers::flush of the benchmark).
void RoundRunner::flush(kernels::Exchange& exchange, std::size_t buffer) const {
  const auto lines = [](std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += 64) {
#if defined(__x86_64__)
      __builtin_ia32_clflush(bytes.data() + i);
#elif defined(__aarch64__)
      asm volatile("dc civac, %0" ::"r"(bytes.data() + i) : "memory");
#endif
    }
#if defined(__x86_64__)
    if (!bytes.empty()) __builtin_ia32_clflush(bytes.data() + bytes.size() - 1);
    __builtin_ia32_mfence();
#elif defined(__aarch64__)
    asm volatile("dsb ish" ::: "memory");
#endif
  };
  for (std::size_t a = 0; a < exchange.graph().out.size(); ++a) lines(exchange.source(a, buffer));
  for (std::size_t a = 0; a < exchange.graph().in.size(); ++a) lines(exchange.landing(a, buffer));
}

/// Waits until the beginning of an iteration, a moment of rank 0's clock [ns]. @return false if it had passed already, or the wait
/// ended later by more than the clock's error
bool RoundRunner::wait_until(double moment) {
  constexpr double kSpinNs = 50'000;  // shorter than a time slice of the scheduler
  constexpr double kToleranceNs = 1000;
  double time = global_.now_ns();
  const bool in_time = time <= moment;
  while (time < moment) {
    if (moment - time > kSpinNs) std::this_thread::yield();
    time = global_.now_ns();
  }
  return in_time && time - moment <= std::max(kToleranceNs, global_.error_ns());
}

/// Returns a moment of rank 0's clock [ns], the same on all ranks and in the future of all: the first iteration of a round begins
/// then (Sync::roundtime). Collective.
double RoundRunner::agree_on_moment() {
  const auto all = comm::all_gather_value(control_, global_.now_ns());
  return *std::max_element(all.begin(), all.end()) + 300'000;  // 0.3 ms, in which all ranks should leave the gathering
}

/// Executes one iteration of a round on this rank: the exchange kernel, between the hooks of the options. Collective.
void RoundRunner::iterate(const Loop& loop, std::size_t buffer, std::int64_t number) {
  if (hooked_ && options_.hooks.inside_before) options_.hooks.inside_before(loop.exchange, number);
  loop.exchange.iterate(buffer);
  if (hooked_ && options_.hooks.inside_after) options_.hooks.inside_after(loop.exchange, number);
}

/// Runs `count` iterations of a round of the benchmark, each after the synchronisation of ranks that the options choose.
/// Collective.
/// @param times  receives this rank's time of each iteration, unless null (warm-up)
/// @return seconds that all iterations took on this rank, synchronisation included
double RoundRunner::run_iterations(const Loop& loop, std::uint32_t count, std::vector<TimedIteration>* times) {
  const std::uint64_t loop_begin = clock_.stamp();
  const bool flushed = options_.buffers == Buffers::flush;
  double moment = options_.sync == Sync::roundtime ? agree_on_moment() : 0;
  if (options_.sync != Sync::dissemination) start_->wait();
  std::vector<std::array<std::uint64_t, 2>> stamps(count);
  std::vector<std::uint8_t> late(count, 0);
  std::int64_t number = 0;
  const auto ready = [&](std::int64_t i) {
    number = where_.next_iteration();
    watchdog_.beat();
    if (hooked_ && options_.hooks.before) options_.hooks.before(loop.exchange, number);
    if (flushed) flush(loop.exchange, static_cast<std::size_t>(i) % loop.buffers);
    where_.set_phase(Phase::start);
    if (options_.sync == Sync::dissemination) {
      start_->wait();
    } else if (options_.sync == Sync::roundtime) {
      late[static_cast<std::size_t>(i)] = wait_until(moment) ? 0 : 1;
      moment += loop.window_ns;
    }
    where_.set_phase(Phase::iterate);
  };
  repeat(
      {count, 0, options_.sync == Sync::none && !flushed}, [this] { return clock_.stamp(); }, ready,
      [&](std::int64_t i) { iterate(loop, static_cast<std::size_t>(i) % loop.buffers, number); },
      [&](std::int64_t i, std::uint64_t begin, std::uint64_t end) {
        stamps[static_cast<std::size_t>(i)] = {begin, end};
      });
  const double seconds = clock_.ns(clock_.stamp() - loop_begin) * 1e-9;
  watchdog_.beat();
  if (times == nullptr) return seconds;
  for (std::size_t i = 0; i < count; ++i) {
    const auto [begin, end] = stamps[i];
    const double ns = std::max(0.0, clock_.ns(end - begin) + resolution_shift(i));
    times->push_back({global_.time_ns(begin), late[i] != 0 ? -1 - ns : ns});
  }
  return seconds;
}

/// Returns a shift within the resolution of stamps, 10 ns on some machines, for the i-th time of a round. A difference of stamps
/// is off by up to one step either way; shifts spread evenly over a step (multiples of the golden ratio) keep medians from
/// jumping from step to step.
double RoundRunner::resolution_shift(std::size_t i) const {
  constexpr double kGolden = 0.61803398874989485;
  const double turn = static_cast<double>(i + 1) * kGolden;
  return (turn - std::floor(turn) - 0.5) * clock_.resolution_ns();
}

// One round: new patterns, quiesce, warm-up, timed iterations, quiesce, validation of every byte, gathering of all ranks' times.
std::vector<RankTimes> RoundRunner::run(kernels::Exchange& exchange, const ArcBytes& bytes, std::size_t buffers,
                                        const Task& task) {
  ++round_;
  const Loop loop{exchange, buffers, task.window_ns};
  const std::size_t used = std::min<std::size_t>(buffers, std::max(task.warmup, task.iterations));
  where_.set_phase(Phase::quiesce);
  exchange.resize(bytes.out, bytes.in);
  const Filling filling{control_.rank(), used, round_};
  fill_sources(exchange, bytes, filling);
  exchange.quiesce();
  watchdog_.beat();
  (void)run_iterations(loop, task.warmup, nullptr);
  RankTimes mine;
  mine.loop_s = run_iterations(loop, task.iterations, &mine.iterations);
  where_.set_phase(Phase::quiesce);
  exchange.quiesce();
  watchdog_.beat();
  const std::string wrong = check_landings(exchange, bytes, filling);
  where_.set_phase(Phase::gather);
  auto all = gather_times(control_, mine, wrong);
  watchdog_.beat();
  return all;
}

}  // namespace detail
}  // namespace merganser::topology
