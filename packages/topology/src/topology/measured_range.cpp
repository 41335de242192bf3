// Range of loads that predictions from given measurements hold for.
#include <algorithm>

#include "merganser/base/text.hpp"
#include "merganser/topology/predict.hpp"

namespace merganser::topology {
namespace {

// Largest factors between a load and the measured ones; predictions were validated that far (docs/topology-advice.md).
constexpr double kRanks = 2;
constexpr double kRanksPerCore = 1.5;
constexpr double kDegree = 2;
constexpr double kSize = 4;
constexpr double kShort = 8;  // bytes; shorter messages cost the same

/// Smallest and largest value of one property (ranks, degree, message size) among the measured loads of exchanges.
struct Ends {
  double least = 0, most = 0;
  /// Returns true if x lies between the ends, or outside by no more than a factor.
  [[nodiscard]] bool covers(double x, double factor) const { return x <= most * factor && x * factor >= least; }
};

/// Finds the smallest and the largest value of a property of(load) among the measured loads of exchanges; at least one is given.
template <class Of>
Ends find_ends(const std::vector<Load>& loads, const Of& of) {
  const auto [least, most] =
      std::minmax_element(loads.begin(), loads.end(), [&of](const Load& a, const Load& b) { return of(a) < of(b); });
  return {of(*least), of(*most)};
}

/// Formats the measured range of a load's property for a reason: "8 to 64", or one number.
std::string format_range(const Ends& e) {
  return e.least == e.most ? number_text(e.most) : number_text(e.least) + " to " + number_text(e.most);
}

/// Returns the bytes per arc of a load for the comparison with measured sizes; messages shorter than 8 bytes count as 8.
double effective_bytes(const Load& l) { return std::max(kShort, l.size()); }

}  // namespace

void MeasuredRange::add(const Load& load) { loads_.push_back(load); }

// Reasons to refuse the prediction of an exchange: properties of its load that lie too far from those of measured loads. Only loads
// that share cores alike are compared.
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
  const Ends of_ranks = find_ends(alike, [](const Load& l) { return static_cast<double>(l.ranks); });
  if (!of_ranks.covers(load.ranks, kRanks))
    out.push_back(ranks + ", measured were " + format_range(of_ranks) +
                  ", which tells of twice as many at most and half as many at least" + again);
  const auto ranks_per_core = [](const Load& l) { return static_cast<double>(l.ranks) / l.cores; };
  const Ends of_ranks_per_core = find_ends(alike, ranks_per_core);
  if (out.empty() && load.oversubscribed() && !of_ranks_per_core.covers(ranks_per_core(load), kRanksPerCore))
    out.push_back(number_text(ranks_per_core(load)) + " ranks share a core, measured were " +
                  format_range(of_ranks_per_core) + ", and a factor of " + number_text(kRanksPerCore) + " is allowed" +
                  again);
  const Ends of_degrees = find_ends(alike, [](const Load& l) { return l.degree; });
  if (!of_degrees.covers(load.degree, kDegree))
    out.push_back("the busiest rank has " + number_text(load.degree) + " arcs, measured were " +
                  format_range(of_degrees) + ", and a factor of " + number_text(kDegree) +
                  " is allowed; measure a graph of such a degree");
  const Ends of_sizes = find_ends(alike, effective_bytes);
  if (!of_sizes.covers(effective_bytes(load), kSize))
    out.push_back(number_text(load.size()) + " bytes an arc, measured were " + format_range(of_sizes) +
                  ", and a factor of " + number_text(kSize) + " is allowed; measure such sizes (--sizes)");
  return out;
}

}  // namespace merganser::topology
