// Statistics of configurations from the times of all ranks: per round, and over rounds.
#include "src/topology/measure_collect.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "merganser/stats/summary.hpp"

namespace merganser::topology {
namespace {

constexpr std::size_t kFewBlocks = 5;  // fewer medians of launches or rounds give no reliable interval

}  // namespace

// Columns of the table of published exchange benchmarks, from the ranks' mean times of one configuration.
PublishedColumns published_columns(const std::vector<double>& rank_mean_ns, std::int64_t arcs) {
  PublishedColumns p;
  if (rank_mean_ns.empty() || arcs == 0) return p;
  std::vector<double> us = rank_mean_ns;
  for (double& x : us) x /= 1000;
  std::sort(us.begin(), us.end());
  const auto ranks = static_cast<double>(us.size());
  const double sum = std::accumulate(us.begin(), us.end(), 0.0);
  const double square = std::inner_product(us.begin(), us.end(), us.begin(), 0.0);
  const auto place = static_cast<std::size_t>(std::ceil(0.99 * ranks));
  p.average_us = sum / static_cast<double>(arcs);
  p.p99_us = us[place - 1] / 2;
  p.max_us = us.back() / 2;
  p.stddev_us = std::sqrt(std::max(0.0, square / ranks - sum / ranks * (sum / ranks)));
  return p;
}

// Median exchange time of a configuration, with its interval over launches, or over rounds if there are too few
// launches.
Interval CellResult::p50() const {
  if (exchange.empty()) return {};
  std::vector<double> blocks;
  if (launches.size() >= kFewBlocks) {
    for (const auto& launch : launches) blocks.push_back(launch.value);
  } else {
    for (const auto& r : rounds) blocks.push_back(r.p50_ns);
  }
  Interval interval = quantile_interval(exchange, 0.5);
  const double value = interval.value;
  if (!blocks.empty()) {
    const Interval of_blocks = block_median_interval(blocks);
    // With few blocks their interval is unreliable: the union with that of all iterations is used.
    interval.low = blocks.size() < kFewBlocks ? std::min(interval.low, of_blocks.low) : of_blocks.low;
    interval.high = blocks.size() < kFewBlocks ? std::max(interval.high, of_blocks.high) : of_blocks.high;
  }
  return {std::min(value, interval.low), value, std::max(value, interval.high)};
}

namespace detail {

Collector::Collector(CellResult result, int ranks)
    : result_(std::move(result)),
      rank_sum_ns_(static_cast<std::size_t>(ranks), 0),
      rank_p50_(static_cast<std::size_t>(ranks)) {
  result_.slowest.assign(static_cast<std::size_t>(ranks), 0);
}

// Evaluation of one round on rank 0: an exchange takes as long as on its slowest rank, and an iteration that began late
// on any rank counts on none.
RoundSummary Collector::add(const std::vector<RankTimes>& by_rank, bool keep) {
  RoundSummary s;
  const std::size_t ranks = by_rank.size();
  std::vector<double> exchange, skew;
  std::vector<std::vector<double>> own(ranks);
  for (std::size_t i = 0; i < by_rank[0].iterations.size(); ++i) {
    const auto at = [&](std::size_t r) -> const TimedIteration& { return by_rank[r].iterations[i]; };
    bool late = false;
    std::size_t slowest = 0;
    double first = at(0).began;
    double last = first;
    for (std::size_t r = 0; r < ranks; ++r) {
      late = late || at(r).ns < 0;
      if (at(r).ns > at(slowest).ns) slowest = r;
      first = std::min(first, at(r).began);
      last = std::max(last, at(r).began);
      s.longest_ns = std::max(s.longest_ns, std::abs(at(r).ns));
    }
    if (late) {
      ++s.late;
      continue;
    }
    exchange.push_back(at(slowest).ns);
    skew.push_back(last - first);
    for (std::size_t r = 0; r < ranks; ++r) own[r].push_back(at(r).ns);
    if (!keep) continue;
    ++result_.slowest[slowest];
    result_.exchange.add(static_cast<std::uint64_t>(std::llround(exchange.back())));
    for (std::size_t r = 0; r < ranks; ++r) {
      result_.ranks.add(static_cast<std::uint64_t>(std::llround(own[r].back())));
      rank_sum_ns_[r] += own[r].back();
    }
  }
  // Iterations late on one rank are late for all: the exchange did not begin together.
  for (const auto& t : by_rank) s.loop_s = std::max(s.loop_s, t.loop_s);
  if (keep) result_.late += s.late;
  if (exchange.empty()) return s;
  s.round.iterations = static_cast<std::int64_t>(exchange.size());
  s.round.p50_ns = median(exchange);
  s.round.mean_ns = summarise(exchange).mean;
  if (allows_quantile(exchange.size(), 0.99)) s.round.p99_ns = quantile(exchange, 0.99);
  s.p90_ns = quantile(exchange, 0.9);
  s.start_skew_ns = median(skew);
  for (auto& times : own) s.rank_p50_ns.push_back(median(std::move(times)));
  if (!keep) return s;
  result_.rounds.push_back(s.round);
  skews_.push_back(s.start_skew_ns);
  for (std::size_t r = 0; r < ranks; ++r) rank_p50_[r].push_back(s.rank_p50_ns[r]);
  return s;
}

// Result of a configuration after its last round: statistics of ranks over all rounds, and the median of this launch.
CellResult Collector::final_result() const {
  CellResult out = result_;
  if (out.exchange.empty()) return out;
  out.start_skew_ns = median(skews_);
  for (const auto& p50 : rank_p50_) out.rank_p50_ns.push_back(median(p50));
  for (const double sum : rank_sum_ns_) out.rank_mean_ns.push_back(sum / static_cast<double>(out.exchange.count()));
  out.launches = {out.p50()};
  return out;
}

}  // namespace detail
}  // namespace merganser::topology
