// Bounds around measured loads, beyond which no prediction is made.
// Loads whose ranks share cores and loads whose ranks do not are never compared.
#include <algorithm>

#include "merganser/base/text.hpp"
#include "merganser/topology/predict.hpp"

namespace merganser::topology {
namespace {

// Factors by which a load may differ from a measured one: held-out predictions were good up to there
// (packages/topology/docs/topology-advice.md).
constexpr double kRanks = 2;
constexpr double kRanksPerCore = 1.5;
constexpr double kDegree = 2;
constexpr double kSize = 4;
constexpr double kShort = 8;  // bytes; shorter messages cost the same

/// Ends of a range of values.
struct Ends {
  double least = 0, most = 0;
  [[nodiscard]] bool has_near(double x, double factor) const { return x <= most * factor && x * factor >= least; }
};

template <class Of>
Ends ends(const std::vector<Load>& loads, const Of& of) {
  const auto [least, most] =
      std::minmax_element(loads.begin(), loads.end(), [&of](const Load& a, const Load& b) { return of(a) < of(b); });
  return {of(*least), of(*most)};
}

std::string range_text(const Ends& e) {
  return e.least == e.most ? number_text(e.most) : number_text(e.least) + " to " + number_text(e.most);
}

double bytes_in(const Load& l) { return std::max(kShort, l.size()); }

}  // namespace

void MeasuredRange::add(const Load& load) { loads_.push_back(load); }

std::vector<std::string> MeasuredRange::misses(const Load& load) const {
  std::vector<std::string> out;
  std::vector<Load> alike;
  for (const auto& l : loads_)
    if (l.oversubscribed() == load.oversubscribed()) alike.push_back(l);
  const std::string ranks = std::to_string(load.ranks) + (load.ranks == 1 ? " rank" : " ranks");
  const std::string again = "; measure it on " + ranks;
  if (alike.empty()) {
    out.push_back(load.oversubscribed()
                      ? ranks + " share " + std::to_string(load.cores) +
                            " cores, and of what was measured each rank had its own" + again
                      : ranks + " have a core each, and of what was measured ranks shared cores" + again);
    return out;
  }
  const Ends of_ranks = ends(alike, [](const Load& l) { return static_cast<double>(l.ranks); });
  if (!of_ranks.has_near(load.ranks, kRanks))
    out.push_back(ranks + ", measured were " + range_text(of_ranks) +
                  ", which tells of twice as many at most and half as many at least" + again);
  const auto ranks_per_core = [](const Load& l) { return static_cast<double>(l.ranks) / l.cores; };
  const Ends of_ranks_per_core = ends(alike, ranks_per_core);
  if (out.empty() && load.oversubscribed() && !of_ranks_per_core.has_near(ranks_per_core(load), kRanksPerCore))
    out.push_back(number_text(ranks_per_core(load)) + " ranks share a core, measured were " +
                  range_text(of_ranks_per_core) + ", and a factor of " + number_text(kRanksPerCore) + " is allowed" +
                  again);
  const Ends of_degrees = ends(alike, [](const Load& l) { return l.degree; });
  if (!of_degrees.has_near(load.degree, kDegree))
    out.push_back("the busiest rank has " + number_text(load.degree) + " arcs, measured were " +
                  range_text(of_degrees) + ", and a factor of " + number_text(kDegree) +
                  " is allowed; measure a graph of such a degree");
  const Ends of_sizes = ends(alike, bytes_in);
  if (!of_sizes.has_near(bytes_in(load), kSize))
    out.push_back(number_text(load.size()) + " bytes an arc, measured were " + range_text(of_sizes) +
                  ", and a factor of " + number_text(kSize) + " is allowed; measure such sizes (--sizes)");
  return out;
}

}  // namespace merganser::topology
