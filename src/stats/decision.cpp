// Choice of the fastest of several candidates by a bootstrap over launches and samples, the same on every rank.
#include "merganser/stats/decision.hpp"

#include <algorithm>
#include <cmath>

#include "merganser/base/error.hpp"
#include "merganser/base/random.hpp"
#include "merganser/stats/summary.hpp"

namespace merganser {
namespace {

constexpr std::uint32_t kNoiseStream = 1U << 20;  // first index of random sequences for noise; lower ones: launches

/// Checks that a candidate has positive, finite times and a valid uncertainty. @throws UsageError if not
void check(const Candidate& c) {
  std::size_t samples = 0;
  for (const auto& launch : c.launches) {
    samples += launch.size();
    for (const double x : launch)
      if (!(x > 0) || !std::isfinite(x))
        throw UsageError("a time of " + c.name + " is " + std::to_string(x) + "; allowed: positive numbers");
  }
  if (samples == 0) throw UsageError(c.name + " has no times to decide by; allowed: at least one");
  if (!(c.uncertainty >= 0) || !std::isfinite(c.uncertainty))
    throw UsageError("the uncertainty of " + c.name + " is " + std::to_string(c.uncertainty) + "; allowed: 0 and more");
}

/// Returns the estimated time of a candidate: the median over launches of the median of each.
double central_time(const Candidate& c) { return median(sample_medians(c.launches)); }

/// Draws an approximately standard normal number as a sum of 12 uniform ones: unlike log() and cos(), it has the same bits on every
/// machine.
double normal(Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += random.uniform();
  return sum;
}

/// Computes the time of a candidate in one bootstrap resample. Candidates with equal numbers of launches and samples draw the same
/// indices, so that a disturbance of a turn, which all share, cancels in their comparison.
double resample_time(const Candidate& c, std::size_t index, const DecisionOptions& o, int resample) {
  const auto stream = static_cast<std::uint64_t>(resample);
  std::vector<double> medians, drawn;
  for (std::uint32_t slot = 0; slot < c.launches.size(); ++slot) {
    Random random(o.seed, stream, slot);
    const auto& launch = c.launches[random.below(c.launches.size())];
    drawn.clear();
    for (std::size_t i = 0; i < launch.size(); ++i) drawn.push_back(launch[random.below(launch.size())]);
    if (!drawn.empty()) medians.push_back(median(drawn));
  }
  const double time = medians.empty() ? central_time(c) : median(std::move(medians));
  if (c.uncertainty == 0) return time;
  Random noise(o.seed, stream, kNoiseStream + static_cast<std::uint32_t>(index));
  const double z = c.uncertainty * normal(noise);
  return z >= 0 ? time * (1 + z) : time / (1 - z);  // symmetric as a ratio, and never negative
}

/// Times of all candidates in all bootstrap resamples; draw_resamples() fills it.
struct Resamples {
  std::vector<std::vector<double>> times;  // by candidate, by resample: its time
  std::vector<int> wins;                   // by candidate: resamples in which it is the fastest
};

/// Computes the time of every candidate in every bootstrap resample, and counts in how many each is the fastest.
Resamples draw_resamples(std::span<const Candidate> candidates, const DecisionOptions& o) {
  Resamples d{std::vector<std::vector<double>>(candidates.size()), std::vector<int>(candidates.size())};
  for (int r = 0; r < o.resamples; ++r) {
    std::size_t best = 0;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      d.times[i].push_back(resample_time(candidates[i], i, o, r));
      if (d.times[i].back() < d.times[best].back()) best = i;
    }
    ++d.wins[best];
  }
  return d;
}

/// Returns the relative saving of the fastest candidate over another, `share`, with its 95 % interval over the resamples.
Interval saving_interval(const std::vector<double>& best, const std::vector<double>& other, double share) {
  std::vector<double> shares(best.size());
  for (std::size_t i = 0; i < best.size(); ++i) shares[i] = 1 - best[i] / other[i];
  return {quantile(shares, 0.025), share, quantile(shares, 0.975)};
}

}  // namespace

const Standing& Decision::standing(std::size_t candidate) const {
  for (const auto& s : order)
    if (s.candidate == candidate) return s;
  throw UsageError("candidate " + std::to_string(candidate) + " took no part in the decision; allowed: its candidates");
}

// Ranks the candidates by central time, chooses the first within the tie of the fastest, and compares all with that by resamples.
Decision decide(std::span<const Candidate> candidates, const DecisionOptions& o) {
  if (candidates.empty()) throw UsageError("a decision without candidates; allowed: at least one");
  if (o.resamples < 1) throw UsageError("resamples is " + std::to_string(o.resamples) + "; allowed: 1 and more");
  for (const auto& c : candidates) check(c);
  const Resamples draws = draw_resamples(candidates, o);
  Decision decision;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    Standing s;
    s.candidate = i;
    s.time = {quantile(draws.times[i], 0.025), central_time(candidates[i]), quantile(draws.times[i], 0.975)};
    s.probability = static_cast<double>(draws.wins[i]) / o.resamples;
    decision.order.push_back(s);
  }
  std::stable_sort(decision.order.begin(), decision.order.end(),
                   [](const Standing& a, const Standing& b) { return a.time.value < b.time.value; });
  const std::size_t fastest = decision.order.front().candidate;
  const double least = decision.order.front().time.value;
  decision.chosen = candidates.size();
  for (auto& s : decision.order) {
    const auto& mine = draws.times[s.candidate];
    const auto& best = draws.times[fastest];
    // Compared resample by resample, in which candidates share the disturbances of a turn.
    int slower = 0;
    for (std::size_t r = 0; r < mine.size(); ++r) slower += mine[r] > best[r] ? 1 : 0;
    const bool within = s.time.value <= least * (1 + o.tie);
    s.told_apart = s.candidate == fastest || slower >= o.confidence * o.resamples;
    s.near_tie = s.candidate != fastest && (within || !s.told_apart);
    s.saving = saving_interval(best, mine, 1 - least / s.time.value);
    if (within) decision.chosen = std::min(decision.chosen, s.candidate);
  }
  return decision;
}

}  // namespace merganser
