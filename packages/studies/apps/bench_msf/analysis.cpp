// Analysis of the study of spanning forests: improvements between models, and correlations with properties of the graphs.
#include "apps/bench_msf/analysis.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "merganser/stats/correlation.hpp"
#include "merganser/stats/summary.hpp"
#include "merganser/studies/msf_published.hpp"

namespace merganser::app {

namespace pub = studies;

std::string format_method(const MsfWay& w) {
  return w.model + " " + w.style + (w.post == "single" ? "" : " " + w.post);
}

double improvement(double before, double after) { return 100 * (before - after) / before; }

double MsfTimes::seconds(const std::string& graph, const MsfWay& way, int ranks) const {
  for (const auto& f : results_.forests)
    if (f.what.graph.name == graph && f.ranks == ranks && f.what.model == way.model && f.what.style == way.style &&
        f.what.post == way.post)
      return f.seconds.empty() ? 0 : median(f.seconds);
  return 0;
}

std::vector<std::string> MsfTimes::graphs() const {
  std::vector<std::string> names;
  for (const auto& f : results_.forests)
    if (std::find(names.begin(), names.end(), f.what.graph.name) == names.end()) names.push_back(f.what.graph.name);
  return names;
}

std::vector<int> MsfTimes::ranks() const {
  std::set<int> all;
  for (const auto& f : results_.forests) all.insert(f.ranks);
  return {all.begin(), all.end()};
}

// Table 8 of [ing2021] for the measured spanning forests: mean over numbers of ranks of the time that one method saves on a graph.
std::vector<MsfImprovement> improvements(const MsfResults& results, const MsfWay& before, const MsfWay& after) {
  const MsfTimes times(results);
  std::vector<MsfImprovement> out;
  for (const auto& g : times.graphs()) {
    MsfImprovement i{g, 0, 0};
    for (const int n : times.ranks()) {
      const double a = times.seconds(g, before, n);
      const double b = times.seconds(g, after, n);
      if (n < 2 || a <= 0 || b <= 0) continue;
      i.percent += improvement(a, b);
      ++i.cases;
    }
    if (i.cases > 0) i.percent /= i.cases;
    out.push_back(i);
  }
  return out;
}

// Correlations of Table 8 of [ing2021] for the measured graphs; graphs without a measured improvement are left out.
std::vector<MsfCorrelations> correlations(const MsfResults& results, const std::vector<MsfImprovement>& improvements) {
  std::vector<double> saved;
  std::vector<double> edges;
  std::vector<double> bytes;
  std::vector<double> ratio;
  for (const auto& i : improvements) {
    const auto at =
        std::find_if(results.graphs.begin(), results.graphs.end(), [&](const auto& g) { return g.graph == i.graph; });
    if (i.cases == 0 || at == results.graphs.end()) continue;
    saved.push_back(i.percent);
    edges.push_back(static_cast<double>(at->edges));
    bytes.push_back(static_cast<double>(at->bytes));
    ratio.push_back(at->arcs_per_vertex());
  }
  if (saved.size() < 3) return {};
  return {{pearson(edges, saved), pearson(bytes, saved), pearson(ratio, saved)}};
}

Json msf_derived_json(const MsfResults& results) {
  Json out;
  for (const auto& d : pub::derived_numbers())
    out["published"].push_back({{"what", d.what}, {"printed", d.printed}, {"recomputed", d.recomputed}});
  for (const auto& [before, after] :
       {std::pair{kMpi, kShmem}, {kMpiTuned, kShmem}, {kMpiTuned, kRma}, {kMpi, kMpiTuned}}) {
    const auto list = improvements(results, before, after);
    Json pair = {{"before", format_method(before)}, {"after", format_method(after)}, {"graphs", Json::array()}};
    for (const auto& i : list)
      if (i.cases > 0) pair["graphs"].push_back({{"graph", i.graph}, {"percent", i.percent}, {"cases", i.cases}});
    for (const auto& c : correlations(results, list))
      pair["pearson"] = {{"edges", c.edges}, {"bytes", c.bytes}, {"arcs_per_vertex", c.arcs_per_vertex}};
    out["measured"].push_back(pair);
  }
  return out;
}

}  // namespace merganser::app
