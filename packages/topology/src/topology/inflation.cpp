// Inflation of exchange times under load, with a bootstrap interval over rounds.
#include <algorithm>

#include "merganser/base/random.hpp"
#include "merganser/stats/summary.hpp"
#include "merganser/topology/measure_tail.hpp"

namespace merganser::topology {
namespace {

constexpr int kResamples = 500;

/// Sums the histograms of a victim's rounds to that of all its exchange times.
Histogram merge_rounds(const std::vector<Histogram>& rounds) {
  Histogram all;
  for (const auto& h : rounds) all += h;
  return all;
}

/// Draws one bootstrap resample of a victim's exchange times: as many rounds as there are, with replacement. Rounds are drawn and
/// not iterations, since iterations of a round are dependent.
Histogram resample_rounds(const std::vector<Histogram>& rounds, Random& random) {
  Histogram all;
  for (std::size_t i = 0; i < rounds.size(); ++i) all += rounds[random.below(rounds.size())];
  return all;
}

}  // namespace

// Ratio of a quantile of exchange times under load to that of the idle machine, with its bootstrap interval.
std::optional<Inflation> TailResult::inflation(double q, std::uint64_t seed) const {
  const Histogram quiet = merge_rounds(idle);
  const Histogram busy = merge_rounds(loaded);
  if (quiet.empty() || busy.empty() || !allows_quantile(quiet.count(), q) || !allows_quantile(busy.count(), q))
    return std::nullopt;
  Inflation out{q, quiet.quantile(q), busy.quantile(q), {}};
  std::vector<double> ratios;
  for (std::uint32_t i = 0; i < kResamples; ++i) {
    Random random(seed, 0x626f6f74ULL, i);
    const double a = resample_rounds(idle, random).quantile(q);
    const double b = resample_rounds(loaded, random).quantile(q);
    if (a > 0) ratios.push_back(b / a);
  }
  const double value = out.idle_ns > 0 ? out.loaded_ns / out.idle_ns : 0;
  if (ratios.empty()) ratios.push_back(value);
  out.ratio = {std::min(value, quantile(ratios, 0.025)), value, std::max(value, quantile(ratios, 0.975))};
  return out;
}

}  // namespace merganser::topology
